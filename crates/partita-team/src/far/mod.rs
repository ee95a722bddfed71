//! Windows of processes whose memory is out of reach: asked for over a connection.
//!
//! Ranks of several hosts, or without shared memory, read each other's windows without the owner's
//! help as those of one node do: a thread of the owner's process serves them, whatever the owner
//! does meanwhile, and knows nothing of MPI. What is served lies in `memory/served_window.rs`; the
//! README of `mpi/` tells why MPI's own one-sided calls are not used.
//!
//! - `addresses`: how other hosts reach this one.
//! - `words`: what reader and server tell each other.
//! - `server`: the thread that serves.
//! - `reader`: windows of far processes.

pub(crate) mod addresses;
pub(crate) mod reader;
pub(crate) mod server;
mod words;
