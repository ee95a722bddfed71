//! Memory of Python objects, through the buffer protocol, and memory of ours as one.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::ffi::{CStr, c_int, c_void};

use partita_plan::Dtype;
use partita_team::{Access, Buffer, Memory};
use pyo3::exceptions::{PyBufferError, PyMemoryError};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::errors::layout_error;

/// A Python object's memory, held until dropped.
pub(crate) struct HeldMemory {
    view: Box<ffi::Py_buffer>,
    pub buffer: Buffer,
}

// SAFETY: a buffer view may be read and released from any thread that holds the interpreter, and
// `HeldMemory` is only dropped with it held.
unsafe impl Send for HeldMemory {}
// SAFETY: nothing in it changes after `new`.
unsafe impl Sync for HeldMemory {}

impl HeldMemory {
    /// Takes hold of an object's memory as elements of this type.
    pub(crate) fn new(object: &Bound<'_, PyAny>, dtype: Dtype, side: &str) -> PyResult<Self> {
        let py = object.py();
        let mut view = Box::new(ffi::Py_buffer::new());
        let flags = ffi::PyBUF_STRIDES | ffi::PyBUF_FORMAT;
        // SAFETY: the object is alive and the view is ours to fill.
        let status = unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &raw mut *view, flags) };
        if status != 0 {
            let error = PyErr::fetch(py);
            if let Some(bits) = bits_of(object) {
                return Self::new(&bits, dtype, side);
            }
            let kind = object.get_type();
            let message =
                format!("the {side} buffer {kind} gives no memory ({error}); use a NumPy array");
            return Err(layout_error(py, &message, "buffer-type"));
        }
        // SAFETY: the view was filled; a null format means bytes.
        let held = unsafe { Self::read(view) };
        held.check_dtype(py, dtype, side)?;
        Ok(held)
    }

    /// Takes hold of an object's memory, whatever its elements are; says what.
    pub(crate) fn any(object: &Bound<'_, PyAny>, side: &str) -> PyResult<(Self, Dtype)> {
        let py = object.py();
        let name: String = object.getattr("dtype")?.getattr("name")?.extract()?;
        let Ok(dtype) = Dtype::parse(&name) else {
            let message = format!("the {side} buffer has {name}; use numbers or truth values");
            return Err(layout_error(py, &message, "buffer-dtype"));
        };
        Ok((Self::new(object, dtype, side)?, dtype))
    }

    /// # Safety
    /// The view must have been filled by `PyObject_GetBuffer`.
    unsafe fn read(view: Box<ffi::Py_buffer>) -> Self {
        let ndim = view.ndim as usize;
        let numbers = |from: *mut ffi::Py_ssize_t| -> Vec<isize> {
            if from.is_null() || ndim == 0 {
                return Vec::new();
            }
            // SAFETY: the protocol promises `ndim` numbers.
            unsafe { std::slice::from_raw_parts(from, ndim) }.to_vec()
        };
        let shape = numbers(view.shape).into_iter().map(|length| length as u64).collect();
        let access = if view.readonly == 0 { Access::Write } else { Access::Read };
        let buffer =
            Buffer { address: view.buf as usize, shape, strides: numbers(view.strides), access };
        Self { view, buffer }
    }

    fn check_dtype(&self, py: Python<'_>, wanted: Dtype, side: &str) -> PyResult<()> {
        let format = if self.view.format.is_null() {
            "B".to_string()
        } else {
            // SAFETY: a format is a C string that lives as long as the view.
            unsafe { CStr::from_ptr(self.view.format) }.to_string_lossy().into_owned()
        };
        let found = dtype_of(&format, self.view.itemsize as u64);
        // The buffer protocol has no word for bfloat16: its bits come as integers.
        let are_bits = wanted == Dtype::Bf16 && found == Some(Dtype::U16);
        if found == Some(wanted) || are_bits {
            return Ok(());
        }
        let found = found.map_or_else(|| described(&format), |dtype| dtype.name().to_string());
        let message =
            format!("the {side} buffer has {found}, the plan {}; convert it first", wanted.name());
        Err(layout_error(py, &message, "buffer-dtype"))
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        Python::attach(|_| {
            // SAFETY: filled in `new`, released once, with the interpreter held.
            unsafe { ffi::PyBuffer_Release(&raw mut *self.view) };
        });
    }
}

/// An array of bfloat16 as integers: the buffer protocol has no word for it.
fn bits_of<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let class = object.py().import("numpy").ok()?.getattr("ndarray").ok()?;
    let is_array = object.is_instance(&class).ok()?;
    let name = object.getattr("dtype").ok()?.getattr("name").ok()?;
    let is_bfloat = is_array && name.eq(Dtype::Bf16.name()).ok()?;
    is_bfloat.then(|| object.call_method1("view", (Dtype::U16.name(),)).ok())?
}

fn described(format: &str) -> String {
    if format.starts_with('>') || format.starts_with('!') {
        return format!("big-endian elements (format {format})");
    }
    format!("elements of format {format}")
}

/// The element type of a struct format in native or little-endian order.
fn dtype_of(format: &str, item_bytes: u64) -> Option<Dtype> {
    let code = format.trim_start_matches(['@', '=', '<', '|']);
    let candidates: &[Dtype] = match code {
        "?" => &[Dtype::Bool],
        "b" | "h" | "i" | "l" | "q" | "n" => &[Dtype::I8, Dtype::I16, Dtype::I32, Dtype::I64],
        "B" | "H" | "I" | "L" | "Q" | "N" => &[Dtype::U8, Dtype::U16, Dtype::U32, Dtype::U64],
        "e" | "f" | "d" => &[Dtype::F16, Dtype::F32, Dtype::F64],
        "Zf" | "Zd" => &[Dtype::C64, Dtype::C128],
        _ => &[],
    };
    candidates.iter().copied().find(|dtype| dtype.n_bytes() == item_bytes)
}

/// Warm memory from the pool, as an object with the buffer protocol.
#[pyclass(frozen, name = "WarmMemory", module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct WarmMemory {
    pub(crate) memory: Memory,
}

#[pymethods]
impl WarmMemory {
    #[new]
    pub(crate) fn new(py: Python<'_>, n_bytes: usize) -> PyResult<Self> {
        let memory = py.detach(|| Memory::try_new(n_bytes));
        let refused = || PyMemoryError::new_err(format!("the system has no {n_bytes} bytes left"));
        Ok(Self { memory: memory.ok_or_else(refused)? })
    }

    fn __len__(&self) -> usize {
        self.memory.n_bytes()
    }

    /// # Safety
    /// Called by Python with a view to fill.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let memory = &slf.get().memory;
        // SAFETY: Python hands a valid view, and the block has its memory as long as it lives.
        unsafe { show(view, flags, slf.as_any(), (memory.address(), memory.n_bytes()), true) }
    }
}

impl WarmMemory {
    pub(crate) fn address(&self) -> usize {
        self.memory.address()
    }
}

/// Fills a view of an object's memory, (address, bytes).
///
/// # Safety
/// The view is Python's, and the memory stays where it is as long as the object lives.
pub(crate) unsafe fn show(
    view: *mut ffi::Py_buffer,
    flags: c_int,
    owner: &Bound<'_, PyAny>,
    (address, n_bytes): (usize, usize),
    is_writable: bool,
) -> PyResult<()> {
    let (at, length) = (address as *mut c_void, n_bytes as ffi::Py_ssize_t);
    // SAFETY: as the caller says; the view holds a reference to the owner.
    let status = unsafe {
        ffi::PyBuffer_FillInfo(view, owner.as_ptr(), at, length, c_int::from(!is_writable), flags)
    };
    if status == 0 { Ok(()) } else { Err(PyBufferError::new_err("cannot show the memory")) }
}
