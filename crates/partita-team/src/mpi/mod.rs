//! The MPI engine: ranks are processes.
//!
//! Processes of one node touch each other's memory: arrays that partita allocates lie in an arena
//! that neighbours map, and what ranks post to each other goes through rings there. Between nodes,
//! and for memory that is not partita's, messages carry the data, packed once, in letters of half a
//! megabyte.
//!
//! Everything is point to point and polled: a rank that fails still answers, a rank that does not
//! come is named after the deadline, and nobody ever blocks inside MPI.
//!
//! - [`Office`]: a process's side of all its teams; `inbox`, `wire`: what comes in, and how it is
//!   written.
//! - `node`, `board`: neighbours and the memory they share; `peers`: who still lives.
//! - `hall`: a team's rounds; `circles`: waits that can never end; `courier`: letters.

mod board;
mod circles;
mod courier;
mod hall;
mod inbox;
mod node;
mod office;
mod peers;
mod stream;
mod wire;

pub use office::{Office, Sharing};
