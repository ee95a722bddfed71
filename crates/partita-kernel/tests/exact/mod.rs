//! Exact values: elementary functions to about 100 bits, slowly and by their definitions.
//!
//! Nothing is shared with the functions under test. `math_accuracy.rs` first holds these values
//! against those of mpmath in `data/hard.txt`.

pub mod complex;
pub mod constants;
pub mod pair;
pub mod real;

pub use complex::Complex;
pub use pair::Pair;
