//! MPI found, loaded and called at run time.
//!
//! Nothing is linked: one binary works with every MPI of the three ABIs in use
//! (MPICH, Open MPI, the standard one of MPI 5.0), and with the very library
//! that a running mpi4py uses, so that communicators can be shared.
//!
//! ```no_run
//! use partita_mpi::{Op, Search, ThreadLevel};
//!
//! let library = Search::new().open()?;
//! library.init(ThreadLevel::Multiple)?;
//! let team = library.world()?.dup()?;
//! let mut sum = [team.rank() as f64];
//! team.allreduce(&mut sum, Op::Sum)?;
//! drop(team);
//! library.finalize()?;
//! # Ok::<(), partita_mpi::MpiError>(())
//! ```
//!
//! Read in this order: [`Search`] and [`launcher`] (which MPI), `table.rs` and
//! `constants.rs` (how it is called), [`Comm`] (what it does), [`Request`] and
//! [`Patience`] (waiting without blocking for ever).
//!
//! # Threads
//! Handles are plain numbers and may be used from any thread, if MPI was
//! initialised with [`ThreadLevel::Multiple`]. At a lower level the caller
//! lets one thread at a time call, or one thread only, as that level says.
//!
//! # What it deliberately does not do
//! No MPI-IO, topologies, dynamic processes, error recovery or Fortran; no
//! Windows. It never initialises MPI by itself and never finalizes it.
#![cfg(unix)]

mod abi;
mod alltoall;
mod ancestors;
mod chunks;
mod collective;
mod comm;
mod constants;
mod datatype;
mod error;
mod error_class;
mod find;
mod fork;
mod group;
mod handle;
pub mod launcher;
mod library;
mod message;
mod pace;
mod request;
mod request_set;
mod start;
mod status;
mod symbols;
mod table;
mod wait;
mod window;

pub use abi::{Abi, Signs};
pub use alltoall::Part;
pub use collective::Runs;
pub use comm::{Color, Comm, Comparison};
pub use constants::{HandleSource, Number, Predefined, in_place};
pub use datatype::{Datatype, Element, Kind, Op, Subarray};
pub use error::{MpiError, Result};
pub use error_class::ErrorClass;
pub use find::{Attempt, Candidate, LIBRARY_VARIABLE, Origin, Search};
pub use fork::n_forks;
pub use handle::{Handle, Width};
pub use library::{Init, Library, Started, ThreadLevel};
pub use message::{Message, Source, Tag};
pub use request::{Request, RequestKind};
pub use request_set::{Finished, RequestSet};
pub use status::{Status, StatusLayout};
pub use symbols::Load;
pub use wait::{Patience, Step};
pub use window::{Segment, Window};
