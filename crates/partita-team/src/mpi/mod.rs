//! The MPI engine: ranks are processes.
//!
//! Processes of one node touch each other's memory: arrays that partita allocates lie in an arena
//! that neighbours map, and what ranks post to each other goes through rings there. Between nodes,
//! and for memory that is not partita's, messages carry the data, packed once, in chunks of half a
//! megabyte.
//!
//! Everything is point to point and polled: a rank that fails still answers, a rank that does not
//! come is named after the deadline, and nobody ever blocks inside MPI.
//!
//! - [`World`]: a process's side of all its teams; `inbox`, `wire`: what comes in, and how it is
//!   written.
//! - `node`: neighbours and the memory they share; `rings`, `stream`: messages through it; `peers`:
//!   who still lives, of other hosts by their `doors` and the `ways` to them.
//! - `round`: what a rank does in a round of its team, whatever messages travel by; `relays`: how posts
//!   reach all by few messages; [`simulation`]: both without MPI; `meeting`: waiting for rounds; `circles`: waits that can never end;
//!   `transfer`: data by messages; `chunk_memory`: what they are packed into.

mod chunk_memory;
mod circles;
mod doors;
mod hosts;
mod inbox;
mod meeting;
mod near;
mod near_notes;
mod node;
mod outflow;
mod peers;
mod posts;
mod relays;
mod rings;
mod roll;
mod round;
pub mod simulation;
mod stream;
mod transfer;
mod ways;
mod wire;
mod words;
mod world;

pub use world::{Sharing, World};
