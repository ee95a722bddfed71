//! Bytes that one process lends to others of its machine, with the buffer protocol.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::os::raw::c_int;

use partita_team as core;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::buffers::show;

/// Bytes of this process that others may read as long as this object lives.
#[pyclass(frozen, module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct Loan {
    core: core::Loan,
}

#[pymethods]
impl Loan {
    /// Bytes to fill; None where there is no memory that others can reach.
    #[staticmethod]
    fn of(py: Python<'_>, n_bytes: usize) -> Option<Self> {
        py.detach(|| core::Loan::new(n_bytes)).map(|core| Self { core })
    }

    /// Where others find the bytes.
    #[getter]
    fn note(&self) -> [u64; 9] {
        self.core.note().0
    }

    fn __len__(&self) -> usize {
        self.core.n_bytes()
    }

    /// # Safety
    /// Called by Python with a view to fill.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let core = &slf.get().core;
        // SAFETY: Python hands a valid view, and the loan has its memory as long as it lives.
        unsafe { show(view, flags, slf.as_any(), (core.address(), core.n_bytes()), true) }
    }
}

/// Bytes of another process, to read.
#[pyclass(frozen, module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct Borrowed {
    core: core::Borrowed,
}

#[pymethods]
impl Borrowed {
    /// Borrows what a note tells of; None where it is gone or out of reach.
    #[staticmethod]
    fn of(py: Python<'_>, note: [u64; 9]) -> Option<Self> {
        py.detach(|| core::Borrowed::new(core::Note(note))).map(|core| Self { core })
    }

    /// Where others find the bytes, as long as their lender lends them.
    #[getter]
    fn note(&self) -> [u64; 9] {
        self.core.note().0
    }

    fn __len__(&self) -> usize {
        self.core.n_bytes()
    }

    /// # Safety
    /// Called by Python with a view to fill.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let core = &slf.get().core;
        // SAFETY: Python hands a valid view; what is borrowed stays as long as this object lives.
        unsafe { show(view, flags, slf.as_any(), (core.address(), core.n_bytes()), false) }
    }
}

/// Sets how much memory this process keeps warm for results, and as much for loans.
#[pyfunction]
pub(crate) fn set_kept_bytes(n_bytes: usize) {
    core::Memory::set_pool_limit(n_bytes);
    core::set_kept_loans(n_bytes);
}

/// Names the processes that can borrow from each other; None where this one cannot lend.
#[pyfunction]
pub(crate) fn machine_name() -> Option<String> {
    core::machine_name()
}
