//! Arrays that one rank has alone, as arrays of NumPy's: a copy, or the memory itself.

use partita_array::LocalError;
use partita_array::local::Here;
use partita_kernel::Dtype;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyTuple, PyType};

use super::array::{Array, Handle};
use super::memory::SharedMemory;
use super::types::{api_error, dtype_object};

/// Fewer bytes are copied without a loop of the engine's, which has to be found.
const COPY_AS_BYTES_BELOW: usize = 1 << 16;

#[pymethods]
impl Array {
    /// All elements in memory of their own as an array of NumPy's; None on several ranks.
    fn _copied_alone<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, handle) = (slf.py(), slf.get().handle(slf)?);
        let (rank, array) = (handle.rank.get(), &*handle.array);
        let Some(dtype) = numpy_dtype(py, handle)? else { return Ok(None) };
        let failed = |error: LocalError| api_error(py, &error.into());
        if array.n_elements().saturating_mul(array.dtype().size()) < COPY_AS_BYTES_BELOW {
            let bytes = rank.detached(py, |_| array.to_bytes()).map_err(failed)?;
            let shape = PyTuple::new(py, array.shape())?;
            return ndarray(py)?.call1((shape, dtype, PyByteArray::new(py, &bytes))).map(Some);
        }
        let here = rank.detached(py, |engine| engine.copy(array)?.share_here());
        seen_by_numpy(handle, here.map_err(failed)?, dtype, true).map(Some)
    }

    /// The memory of all elements as an array of NumPy's; None on several ranks.
    fn _shown_alone<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, handle) = (slf.py(), slf.get().handle(slf)?);
        let Some(dtype) = numpy_dtype(py, handle)? else { return Ok(None) };
        let here = handle.rank.get().detached(py, |_| handle.array.share_here());
        let here = here.map_err(|error| api_error(py, &error.into()))?;
        let is_writable = handle.array.check_writable().is_ok();
        seen_by_numpy(handle, here, dtype, is_writable).map(Some)
    }
}

fn ndarray(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static NDARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    NDARRAY.import(py, "numpy", "ndarray")
}

/// NumPy's type of an array that one rank has alone; bfloat16 it holds only with the help of others.
fn numpy_dtype<'py>(py: Python<'py>, handle: &Handle) -> PyResult<Option<Bound<'py, PyAny>>> {
    let dtype = handle.array.dtype();
    if handle.rank.get().n_ranks() > 1 || dtype == Dtype::BFloat16 {
        return Ok(None);
    }
    Ok(Some(dtype_object(py, dtype)?.into_bound(py)))
}

/// What lies here as an array of NumPy's, which keeps the memory.
fn seen_by_numpy<'py>(
    handle: &Handle,
    here: Here,
    dtype: Bound<'py, PyAny>,
    is_writable: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, Here { array, buffer, .. }) = (dtype.py(), here);
    let (memory, offset) = SharedMemory::new(py, &handle.rank, array, &buffer, is_writable);
    let (shape, strides) = (PyTuple::new(py, buffer.shape)?, PyTuple::new(py, buffer.strides)?);
    ndarray(py)?.call1((shape, dtype, memory, offset, strides))
}
