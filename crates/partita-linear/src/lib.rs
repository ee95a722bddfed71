//! What a fused loop cannot do on local memory: products and factorisations, Fourier transforms.
//!
//! - [`matrix`]: products, factorisations, equations, eigenvalues.
//! - [`fourier`]: discrete Fourier transforms along any axes.
//!
//! Arrays are NumPy's: a pointer, extents, and strides in elements that may be zero or negative.
//! The caller owns all results and says how many threads a call may use. The same input gives the
//! same bits for the same number of threads.
//!
//! Nothing here knows of ranks, layouts or Python.

pub mod fourier;
pub mod matrix;
#[cfg(test)]
mod sample;

pub use num_complex::{Complex, Complex32, Complex64};
