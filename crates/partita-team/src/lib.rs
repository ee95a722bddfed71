//! Teams of ranks and what runs plans on them.
//!
//! - [`copy`]: the kernels that carry out moves between buffers at the speed of memory. Every engine
//!   uses them, whatever made the buffers reachable.
//! - [`threads`]: ranks that are threads of one process and share memory.
//! - [`mpi`]: ranks that are processes and send messages.
//! - [`Buffer`], [`TeamError`]: what engines have in common.
//!
//! Failure is part of the interface: an error on one rank becomes an error on every rank of its
//! team, and a rank that does not come is named after a deadline. `threads/README.md` has the
//! protocol.

pub mod copy;

mod arena;
mod buffer;
mod call;
mod callers;
mod circle;
mod cut;
mod error;
mod foreign;
mod interrupt;
mod loan;
mod meeting;
mod members;
mod memory;
pub mod mpi;
mod packing;
mod parts;
mod porch;
mod program;
mod reach;
mod scatter;
mod snapshot;
mod sync;
mod team;
pub mod threads;
mod wait;

pub use buffer::{Access, Buffer};
pub use circle::{Circle, Wait};
pub use error::{Failure, FailureKind, Rank, Result, TeamError};
pub use interrupt::set_interrupt_check;
pub use loan::{Borrowed, Loan, Note, machine_name, set_kept_loans};
pub use meeting::Claim;
pub use memory::Memory;
pub use parts::{Giving, Part, Taking};
pub use team::Team;
pub use wait::Patience;

/// The Rust blocks of the project's README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
