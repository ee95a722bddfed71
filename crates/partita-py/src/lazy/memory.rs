//! An array's memory for others: an object with the buffer protocol.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::ffi::c_int;
use std::mem::ManuallyDrop;

use partita_array::local::Array as LocalArray;
use partita_team::Buffer;
use pyo3::ffi;
use pyo3::prelude::*;

use super::rank::Rank;
use crate::buffers::show;

/// Bytes of an array, from its first to its last element.
#[pyclass(frozen, module = "partita._partita")]
pub(crate) struct SharedMemory {
    rank: Py<Rank>,
    /// Keeps the memory: a shared base has the same as long as it lives. Dropped under the lock.
    array: ManuallyDrop<LocalArray>,
    address: usize,
    n_bytes: usize,
    is_writable: bool,
}

// SAFETY: what is not plain data in it is touched under the rank's lock only.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// The memory between the first and the last element of a buffer, and where in it the element
    /// at position zero of every dimension lies.
    pub(crate) fn new(
        py: Python<'_>,
        rank: &Py<Rank>,
        array: LocalArray,
        buffer: &Buffer,
        is_writable: bool,
    ) -> (Self, usize) {
        let (mut low, mut high) = (0_isize, array.dtype().size() as isize);
        for (size, stride) in buffer.shape.iter().zip(&buffer.strides) {
            let reach = (*size as isize - 1) * stride;
            low += reach.min(0);
            high += reach.max(0);
        }
        if buffer.shape.contains(&0) {
            (low, high) = (0, 0);
        }
        let shared = Self {
            rank: rank.clone_ref(py),
            array: ManuallyDrop::new(array),
            address: buffer.address.wrapping_add_signed(low),
            n_bytes: (high - low).unsigned_abs(),
            is_writable,
        };
        (shared, low.unsigned_abs())
    }
}

#[pymethods]
impl SharedMemory {
    /// # Safety
    /// Called by Python with a view to fill.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let own = slf.get();
        // SAFETY: Python hands a valid view, and a shared array's memory stays where it is.
        unsafe { show(view, flags, slf.as_any(), (own.address, own.n_bytes), own.is_writable) }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: taken once, here.
        let array = unsafe { ManuallyDrop::take(&mut self.array) };
        self.rank.get().drop_array(array);
    }
}
