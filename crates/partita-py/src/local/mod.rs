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

use partita_kernel::room::{NoRoom, told};
use partita_numeric::Cores;
use pyo3::exceptions::PyMemoryError;
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

/// What work returns that needs no interpreter; a `MemoryError` where the system has none left.
fn detached<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    let refused = |NoRoom { n_bytes }| {
        PyMemoryError::new_err(format!("the system has no {n_bytes} bytes of memory left"))
    };
    py.detach(|| told(work)).map_err(refused)
}

/// The processor's best instructions on so many threads.
fn cores(n_threads: usize) -> Cores {
    Cores { n_threads, ..Cores::best() }
}
