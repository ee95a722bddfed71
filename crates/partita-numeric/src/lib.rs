//! What a fused loop cannot do on local memory.
//!
//! - [`sort`]: sorting, positions that sort, merging, searching.
//! - [`choose`]: packing by a mask, gathering, scattering, counting.
//! - [`random`]: random numbers that depend on their position alone.
//!
//! ```
//! use partita_numeric::{Cores, Scratch, sort};
//! let mut data = [3.0, f64::NAN, -1.0];
//! sort::sort(&mut data, &mut Scratch::default(), Cores::best());
//! assert_eq!(data[..2], [-1.0, 3.0]);
//! ```
//!
//! Nothing here knows of ranks, layouts or Python.

pub mod choose;
mod cores;
pub mod error;
pub mod random;
mod scratch;
pub mod sort;

pub use cores::{Cores, Shared};
pub use error::{NumericError, Result};
pub use scratch::Scratch;
