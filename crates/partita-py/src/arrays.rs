//! NumPy arrays of 64-bit integers in and out, through the buffer protocol.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::buffers::WarmMemory;
use crate::convert::{index, shown};
use crate::errors::layout_error;

/// Smaller arrays are NumPy's business.
const WARM_FROM_BYTES: usize = 1 << 20;

/// Rows of indices as a dense array, with the memory it lies in.
#[derive(Debug)]
pub(crate) struct Rows {
    buffer: PyBuffer<i64>,
    pub n_rows: usize,
}

impl Rows {
    /// Takes `(n, ndim)` integers, or `(n,)` for one dimension; copies only if it must.
    pub(crate) fn new(value: &Bound<'_, PyAny>, ndim: usize) -> PyResult<Self> {
        let py = value.py();
        let numpy = py.import("numpy")?;
        let array = numpy.call_method1("asarray", (value,)).map_err(|error| {
            // Anything else, such as a lack of memory, is not the indices' fault.
            if !error.is_instance_of::<PyValueError>(py) {
                return error;
            }
            let message =
                format!("indices {} are no array; use rows of equal length", shown(value));
            layout_error(py, &message, "index-ragged")
        })?;
        let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
        let shape: Vec<usize> = array.getattr("shape")?.extract()?;
        let n_elements: usize = shape.iter().product();
        if n_elements > 0 && !matches!(kind.as_str(), "i" | "u") {
            let dtype = array.getattr("dtype")?.to_string();
            let message = format!("indices of dtype {dtype}; use integers");
            return Err(layout_error(py, &message, "index-dtype"));
        }
        let n_rows = match shape[..] {
            [n_rows, width] if width == ndim => n_rows,
            [n_rows] if ndim == 1 => n_rows,
            [0] => 0,
            _ => {
                let message =
                    format!("indices of shape {shape:?} for {ndim} dimensions; use (n, {ndim})");
                return Err(layout_error(py, &message, "index-ndim"));
            }
        };
        if n_elements > 0 && kind == "u" {
            // A cast to signed numbers would make negative ones of these.
            index(&array.call_method0("max")?, "index")?;
        }
        let kwargs = PyDict::new(py);
        kwargs.set_item("dtype", "int64")?;
        let array = numpy.call_method("ascontiguousarray", (array,), Some(&kwargs))?;
        Ok(Self { buffer: PyBuffer::get(&array)?, n_rows })
    }

    /// First and last address.
    pub(crate) fn memory(&self) -> (usize, usize) {
        memory(&self.buffer)
    }

    /// The numbers, row after row.
    pub(crate) fn numbers(&self) -> &[i64] {
        // SAFETY: the buffer is C-contiguous 64-bit integers (`ascontiguousarray` and `PyBuffer`
        // checked both) and lives as long as `self`; Python code that changes it meanwhile gives
        // other indices, which are checked like any.
        unsafe { slice(&self.buffer) }
    }
}

/// A NumPy array of 64-bit integers to write to.
#[derive(Debug)]
pub(crate) struct Output<'py> {
    pub array: Bound<'py, PyAny>,
    buffer: PyBuffer<i64>,
}

impl<'py> Output<'py> {
    /// A new one. Large ones come from the pool of warm memory: touching fresh pages would cost more
    /// than translating the indices.
    pub(crate) fn fresh(py: Python<'py>, shape: &[usize]) -> PyResult<Self> {
        let numpy = py.import("numpy")?;
        let n_bytes = shape.iter().product::<usize>() * size_of::<i64>();
        let shape = pyo3::types::PyTuple::new(py, shape)?;
        let array = if n_bytes < WARM_FROM_BYTES {
            numpy.call_method1("empty", (shape, "int64"))?
        } else {
            let memory = Bound::new(py, WarmMemory::new(py, n_bytes)?)?;
            numpy
                .call_method1("frombuffer", (memory, "int64"))?
                .call_method1("reshape", (shape,))?
        };
        let buffer = PyBuffer::get(&array)?;
        Ok(Self { array, buffer })
    }

    /// The caller's: dense, writable, of this shape.
    pub(crate) fn given(array: Bound<'py, PyAny>, shape: &[usize]) -> PyResult<Self> {
        let fits = |buffer: &PyBuffer<i64>| {
            !buffer.readonly() && buffer.is_c_contiguous() && buffer.shape() == shape
        };
        match PyBuffer::<i64>::get(&array).ok().filter(fits) {
            Some(buffer) => Ok(Self { array, buffer }),
            None => {
                let message = format!(
                    "out {} does not fit; use a writable C-contiguous int64 array of shape {shape:?}",
                    shown(&array)
                );
                Err(layout_error(array.py(), &message, "out-array"))
            }
        }
    }

    /// First and last address.
    pub(crate) fn memory(&self) -> (usize, usize) {
        memory(&self.buffer)
    }

    /// The numbers to write. The caller has checked that nothing else of the call lies there.
    pub(crate) fn numbers(&mut self) -> &mut [i64] {
        let length = self.buffer.item_count();
        if length == 0 {
            return &mut [];
        }
        // SAFETY: the buffer is writable C-contiguous 64-bit integers (made by `numpy.empty` or
        // checked in `given`) and lives as long as `self`.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.buf_ptr().cast(), length) }
    }
}

fn memory(buffer: &PyBuffer<i64>) -> (usize, usize) {
    let start = buffer.buf_ptr() as usize;
    (start, start + buffer.len_bytes())
}

/// Checks that no two stretches of memory overlap.
pub(crate) fn apart(stretches: &[(usize, usize)]) -> Result<(), &'static str> {
    for (at, a) in stretches.iter().enumerate() {
        if stretches[at + 1..].iter().any(|b| a.0.max(b.0) < a.1.min(b.1)) {
            return Err("out shares memory with the indices or with itself; use separate arrays");
        }
    }
    Ok(())
}

/// # Safety
/// The buffer must be C-contiguous.
unsafe fn slice(buffer: &PyBuffer<i64>) -> &[i64] {
    if buffer.item_count() == 0 {
        return &[];
    }
    // SAFETY: the caller vouches for contiguity; a dense array has no padding between items.
    unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast(), buffer.item_count()) }
}

/// A list of integers as a NumPy array.
pub(crate) fn from_numbers<'py>(
    py: Python<'py>,
    numbers: impl ExactSizeIterator<Item = i64>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut fresh = Output::fresh(py, &[numbers.len()])?;
    for (to, from) in fresh.numbers().iter_mut().zip(numbers) {
        *to = from;
    }
    Ok(fresh.array)
}
