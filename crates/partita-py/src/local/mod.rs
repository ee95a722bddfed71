//! Work on one rank's memory for `partita._local`: sorting, choosing, matrices, Fourier transforms,
//! random numbers, sparse matrices. Converts arguments and forwards; results are written where the
//! caller says.
//!
//! - `block`: a NumPy array's memory as elements of a type.
//! - `sorting`, `choosing`, `owners`, `matrices`, `fourier`, `randomness`: a function per algorithm.
//! - `sparse`: the same for sparse matrices, whose results bring their own memory.

mod block;
mod choosing;
mod fourier;
mod matrices;
mod owners;
mod randomness;
mod sorting;
mod sparse;

use partita_numeric::Cores;
use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    sorting::add(module)?;
    choosing::add(module)?;
    owners::add(module)?;
    matrices::add(module)?;
    fourier::add(module)?;
    randomness::add(module)?;
    sparse::add(module)
}

/// The processor's best instructions on so many threads.
fn cores(n_threads: usize) -> Cores {
    Cores { n_threads, ..Cores::best() }
}
