//! Sparse matrices for `partita._local.sparse`. Converts arguments and forwards.
//!
//! - `given`: matrices as Python hands them over, and what is wrong with them.
//! - `made`: results, in warm memory.
//! - `building`: matrices from triplets, turned, in parts.
//! - `products`: with dense and with sparse operands.
//! - `rows`: of several matrices at once.

mod building;
mod given;
mod made;
mod products;
mod rows;

use pyo3::prelude::*;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    building::add(module)?;
    products::add(module)?;
    rows::add(module)
}
