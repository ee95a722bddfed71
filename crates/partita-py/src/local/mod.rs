//! Work on one rank's memory for `partita._local`: sorting, choosing, matrices, Fourier transforms,
//! random numbers. Converts arguments and forwards; results are written where the caller says.
//!
//! - `block`: a NumPy array's memory as elements of a type.
//! - `sorting`, `choosing`, `matrices`, `fourier`, `randomness`: a function per algorithm.

mod block;
mod choosing;
mod fourier;
mod matrices;
mod randomness;
mod sorting;

use partita_numeric::Cores;
use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    sorting::add(module)?;
    choosing::add(module)?;
    matrices::add(module)?;
    fourier::add(module)?;
    randomness::add(module)
}

/// The processor's best instructions on so many threads.
fn cores(n_threads: usize) -> Cores {
    Cores { n_threads, ..Cores::best() }
}
