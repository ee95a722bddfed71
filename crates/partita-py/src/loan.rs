//! Bytes that one process lends to others of its machine, with the buffer protocol.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::os::raw::c_int;

use partita_team as core;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::buffers::show;
use crate::errors::team_error;

/// Bytes of this process that others may read, or of another that this one reads, as long as the
/// object lives.
#[pyclass(frozen, module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct LentBytes {
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    Own(core::Loan),
    Borrowed(core::Borrowed),
}

#[pymethods]
impl LentBytes {
    /// Bytes to fill; None where there is no memory that others can reach.
    #[staticmethod]
    fn lend(py: Python<'_>, n_bytes: usize) -> Option<Self> {
        py.detach(|| core::Loan::new(n_bytes)).map(|loan| Self { bytes: Bytes::Own(loan) })
    }

    /// Borrows what a note tells of; None where it is gone or out of reach.
    #[staticmethod]
    fn borrow(py: Python<'_>, note: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let numbers = note.extract().map_err(|_| {
            let problem = format!("is {note}, no nine numbers of 64 bits");
            core::TeamError::LoanNote { problem }
        });
        let found =
            numbers.and_then(|note| py.detach(|| core::Borrowed::new(core::LoanNote(note))));
        let found = found.map_err(|error| team_error(py, &error))?;
        Ok(found.map(|borrowed| Self { bytes: Bytes::Borrowed(borrowed) }))
    }

    /// Where others find the bytes, as long as their lender lends them.
    #[getter]
    fn note(&self) -> [u64; 9] {
        match &self.bytes {
            Bytes::Own(loan) => loan.note().0,
            Bytes::Borrowed(borrowed) => borrowed.note().0,
        }
    }

    fn __len__(&self) -> usize {
        self.memory().1
    }

    /// # Safety
    /// Called by Python with a view to fill.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let this = slf.get();
        // What is borrowed is another's to write.
        let is_writable = matches!(this.bytes, Bytes::Own(_));
        // SAFETY: Python hands a valid view; the bytes stay where they are while the object lives.
        unsafe { show(view, flags, slf.as_any(), this.memory(), is_writable) }
    }
}

impl LentBytes {
    /// Address and length.
    fn memory(&self) -> (usize, usize) {
        match &self.bytes {
            Bytes::Own(loan) => (loan.address(), loan.n_bytes()),
            Bytes::Borrowed(borrowed) => (borrowed.address(), borrowed.n_bytes()),
        }
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
