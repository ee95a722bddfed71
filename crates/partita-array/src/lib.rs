//! Runs array programs: local computation in fused loops, movement by plans.
//!
//! - [`local`]: arrays, computed when somebody looks.
//! - [`run`]: programs on the ranks of a team.
//! - [`sparse`]: sparse tensors, and which rank holds which slice of them.
//! - [`timeline`]: what a rank did, and when.

pub mod api;
mod boxes;
pub mod error;
mod explain;
pub mod local;
pub mod run;
pub mod sparse;
mod threads;
pub mod timeline;

pub use error::LocalError;
pub use explain::{ExplainError, explain};
pub use threads::{run_on_threads, run_recorded_on_threads};
