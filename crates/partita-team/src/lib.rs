//! Teams of ranks and what runs plans on them.
//!
//! The crate has rooms, each a folder. A room uses those that stand before it here, and none that
//! stand behind it (`tests/rooms.rs`):
//!
//! 1. `error`: what can go wrong, the same on every rank.
//! 2. [`copy`]: the kernels that carry out moves between buffers at the speed of memory.
//! 3. `memory`: buffers, warm memory for results, and memory that processes share.
//! 4. `program`: one rank's share of a plan, prepared for the buffers at hand.
//! 5. `team`: ordered ranks that meet and act together, whatever the engine.
//! 6. `far`: windows of processes whose memory is out of reach.
//! 7. The engines, which know nothing of each other: [`threads`], ranks that are threads of one
//!    process and share memory; [`mpi`], ranks that are processes and send messages.
//!
//! Failure is part of the interface: an error on one rank becomes an error on every rank of its
//! team, and a rank that does not come is named after a deadline. `threads/README.md` has the
//! protocol.

pub mod copy;
mod error;
mod far;
mod memory;
pub mod mpi;
mod program;
mod team;
pub mod threads;

pub use error::circle::{Circle, Wait};
pub use error::{Differing, Engine, Failure, FailureKind, Host, Mismatch, Rank, Result, TeamError};
pub use far::reader::{FarFetched, FarListing, FarLook, FarNote, FarWindow, Unheard};
pub use memory::buffer::{Access, Buffer};
pub use memory::loan::{Borrowed, Loan, LoanNote, machine_name, set_kept_loans};
pub use memory::pool::Memory;
pub use memory::seen_window::{Fetched, Listing, Look, MappedArray, SeenWindow};
pub use memory::shown_window::{Readers, ShownWindow, ShownWords, Spans, Unmapped, WindowNote};
pub use program::parts::{Giving, Part, Taking};
pub use team::cache::Waits;
pub use team::claim::Claim;
pub use team::interrupt::{is_interrupted, set_interrupt_check};
pub use team::patience::Patience;
pub use team::team::Team;

/// The Rust blocks of the project's README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
