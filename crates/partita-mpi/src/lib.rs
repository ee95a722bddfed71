//! MPI found, loaded and called at run time.
//!
//! Nothing is linked: one binary works with every MPI of the three ABIs in use
//! (MPICH, Open MPI, the standard one of MPI 5.0), and with the very library
//! that a running mpi4py uses, so that communicators can be shared.
//!
//! ```no_run
//! use partita_mpi::{Search, ThreadLevel};
//!
//! let library = Search::new().open()?;
//! library.init(ThreadLevel::Multiple)?;
//! let team = library.world()?.dup()?;
//! let mut ranks = vec![0; team.size()];
//! team.allgather(&[team.rank() as u64], &mut ranks)?;
//! drop(team);
//! library.finalize()?;
//! # Ok::<(), partita_mpi::MpiError>(())
//! ```
//!
//! Read in this order: [`Search`] and [`launcher`] (which MPI), `table.rs` and
//! `constants.rs` (how it is called), [`Comm`] (what it does), [`Request`] and
//! [`Polling`] (waiting without blocking for ever).
//!
//! # Threads
//! Handles are plain numbers and may be used from any thread, if MPI was
//! initialised with [`ThreadLevel::Multiple`]. At a lower level the caller
//! lets one thread at a time call, or one thread only, as that level says.
//!
//! # What it deliberately does not do
//! Messages are bytes: what they mean, and how values are added, the layers
//! above know. No element types, reductions, groups, windows, MPI-IO,
//! topologies, dynamic processes, error recovery or Fortran; no Windows.
//! It never initialises MPI by itself and never finalizes it.
#![cfg(unix)]

mod abi;
mod ancestors;
mod chunks;
mod collective;
mod comm;
mod connection;
mod constants;
mod error;
mod error_class;
mod find;
mod fork;
mod handle;
pub mod launcher;
mod library;
mod message;
mod mpiexec;
mod pace;
mod polling;
mod process_stat;
mod request;
mod start;
mod status;
mod surroundings;
mod symbols;
mod table;
mod waited;

pub use abi::{Abi, Signs};
pub use comm::Comm;
pub use constants::{HandleSource, Number, Predefined};
pub use error::{MpiError, Result};
pub use error_class::ErrorClass;
pub use find::{Attempt, Candidate, LIBRARY_VARIABLE, Origin, Search};
pub use fork::n_forks;
pub use handle::{Handle, Width};
pub use library::{Init, Library, Started, ThreadLevel};
pub use message::{Message, Source, Tag};
pub use mpiexec::{NO_MPIEXEC, find_mpiexec};
pub use polling::{Polling, Step};
pub use process_stat::ProcessStat;
pub use request::{Request, RequestKind};
pub use status::{Status, StatusLayout};
pub use symbols::Load;
pub use waited::Waited;
