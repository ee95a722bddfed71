//! The classes `Piece` and `Pieces`.

use partita_layout as core;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::convert::{clip, shown};

/// A box of global indices that one rank holds, and the part of it that the rank owns.
#[pyclass(frozen, eq, module = "partita")]
#[derive(Debug, PartialEq)]
pub(crate) struct Piece {
    core: core::Piece,
}

#[pymethods]
impl Piece {
    /// First held index in each dimension.
    #[getter]
    fn start<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.core.start)
    }

    /// Held length in each dimension.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.core.shape)
    }

    /// First owned index in each dimension.
    #[getter]
    fn owned_start<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.core.owned_start)
    }

    /// Owned length in each dimension.
    #[getter]
    fn owned_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.core.owned_shape)
    }

    /// Which of the rank's buffers the piece lies in.
    #[getter]
    fn buffer(&self) -> usize {
        self.core.buffer
    }

    /// Position of the piece in that buffer.
    #[getter]
    fn local_start<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.core.local_start)
    }

    fn __repr__(&self) -> String {
        let words = format!("start={:?}, shape={:?}", self.core.start, self.core.shape);
        format!("Piece({})", clip(&words, 73))
    }
}

/// The pieces of one rank: a sequence that makes each piece on access.
#[pyclass(frozen, sequence, module = "partita")]
#[derive(Debug)]
pub(crate) struct Pieces {
    pub core: core::Pieces,
}

#[pymethods]
impl Pieces {
    fn __len__(&self) -> PyResult<usize> {
        Ok(usize::try_from(self.core.len())?)
    }

    fn __getitem__(&self, number: &Bound<'_, PyAny>) -> PyResult<Piece> {
        let number = number.call_method0("__index__").map_err(|_| {
            PyTypeError::new_err(format!("piece {} is no integer; use one", shown(number)))
        })?;
        let length = i128::from(self.core.len());
        let counted = |number: i128| if number < 0 { length + number } else { number };
        let at = number.extract().ok().and_then(|number| u64::try_from(counted(number)).ok());
        let piece = at.and_then(|at| self.core.get(at));
        let piece = piece.ok_or_else(|| {
            PyIndexError::new_err(format!("piece {number} of {length}; use a number inside"))
        })?;
        Ok(Piece { core: piece })
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        // Python's own iteration over a sequence, which ends at the first IndexError.
        let sequence = slf.py().import("collections.abc")?.getattr("Sequence")?;
        sequence.call_method1("__iter__", (slf,))
    }

    fn __repr__(&self) -> String {
        format!("<{} pieces>", self.core.len())
    }
}
