//! Runs array programs: local computation in fused loops, movement by plans.
//!
//! - [`local`]: arrays of one rank, computed when somebody looks.
//! - [`run`]: programs on the ranks of a team.
//! - [`timeline`]: what a rank did, and when.

pub mod error;
pub mod local;
pub mod run;
mod threads;
pub mod timeline;

pub use error::LocalError;
pub use threads::{run_on_threads, run_recorded_on_threads};
