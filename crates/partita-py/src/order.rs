//! C order for Python: positions in a grid and their numbers.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use partita_layout as core;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The position of a number in C order.
#[pyfunction]
fn position_of(py: Python<'_>, number: u64, shape: Vec<u64>) -> PyResult<Bound<'_, PyTuple>> {
    if shape.contains(&0) {
        return Err(PyValueError::new_err(format!("a grid of {shape:?} has no places; use 1 up")));
    }
    PyTuple::new(py, core::position_of(number, &shape))
}

/// The number in C order of a position inside a grid.
#[pyfunction]
fn number_of(position: Vec<u64>, shape: Vec<u64>) -> u64 {
    core::number_of(&position, &shape)
}

/// Adds the functions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(position_of, module)?)?;
    module.add_function(wrap_pyfunction!(number_of, module)?)
}
