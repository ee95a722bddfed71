//! `a[key]` and `a[key] = value`.

use partita_array::api::{Key, Number, Operand, assign, fill_where, select};
use partita_kernel::{Dtype, Kind};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyFloat, PyInt, PySlice, PyTuple};
use smallvec::SmallVec;

use super::array::{Array, Handle};
use super::given::Given;

use super::types::api_error;

/// The entries of an index.
type Keys = SmallVec<[Key; 4]>;

#[pymethods]
impl Array {
    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        if has_arrays(key) {
            let made = access(py)?.call_method1("read", (slf, key))?;
            return Ok(made.cast_into::<Self>()?);
        }
        let handle = slf.get().handle(slf)?;
        let keys = keys_of(key)?;
        let has_dots = keys.iter().any(|key| matches!(key, Key::Ellipsis));
        Self::made(py, &handle.rank, |_| {
            let view = select(&handle.array, &keys)?;
            // A single element is a number in NumPy, which no later write changes.
            match view.ndim() == 0 && !has_dots {
                true => Ok(view.engine().copy(&view)?),
                false => Ok(view),
            }
        })
    }

    fn __setitem__(
        slf: &Bound<'_, Self>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (py, handle) = (slf.py(), slf.get().handle(slf)?);
        let given_object = value;
        // A float64 of NumPy is a float of Python, and here, too, its type does not matter.
        let given = match value.cast::<PyFloat>() {
            Ok(float) => Some(Given::Number(Number::Float(float.value()))),
            Err(_) => Given::assigned(value, &handle.rank, handle.array.dtype())?,
        };
        let Some(given) = given else {
            let kind = value.get_type().name()?;
            let message = format!("a {kind} is no array element; use numbers or arrays");
            return Err(PyTypeError::new_err(message));
        };
        let value = given.operand()?;
        if let Operand::Array(source) = value {
            warn_of_lost_parts(py, source.dtype(), handle.array.dtype())?;
        }
        let outcome = if has_arrays(key) {
            let mask = key.cast_exact::<Self>().ok().map(|mask| mask.get().handle(mask));
            let Some(mask) = mask.transpose()?.filter(|mask| is_simple(mask, handle, &value))
            else {
                access(py)?.call_method1("write", (slf, key, given_object))?;
                return Ok(());
            };
            handle.rank.get().with(py, |engine| {
                fill_where(engine, &handle.array, &mask.array, value).map(|()| engine.has_ready())
            })
        } else {
            let keys = keys_of(key)?;
            handle.rank.get().with(py, |engine| {
                assign(engine, &handle.array, &keys, value).map(|()| engine.has_ready())
            })
        };
        match outcome.map_err(|error| api_error(py, &error))? {
            true => handle.rank.get().run_ready(py),
            false => Ok(()),
        }
    }
}

/// Whether one value goes where a mask of the first dimensions is true: that needs no positions.
fn is_simple(mask: &Handle, array: &Handle, value: &Operand<'_>) -> bool {
    let is_single = match value {
        Operand::Array(array) => array.ndim() == 0,
        Operand::Number(_) => true,
    };
    let is_mask = mask.array.dtype() == Dtype::Bool && mask.rank.is(&array.rank);
    is_single && is_mask && array.array.shape().starts_with(mask.array.shape())
}

/// What is done where arrays say which elements.
fn access(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("partita._chosen.access")
}

/// NumPy's warning where real numbers are made of complex ones.
fn warn_of_lost_parts(py: Python<'_>, from: Dtype, to: Dtype) -> PyResult<()> {
    if from.kind() != Kind::Complex || matches!(to.kind(), Kind::Complex | Kind::Bool) {
        return Ok(());
    }
    let class = py.import("numpy.exceptions")?.getattr("ComplexWarning")?;
    PyErr::warn(py, &class, c"complex numbers become real: their imaginary parts are lost", 1)
}

/// Whether elements of arrays say what is selected.
fn has_arrays(key: &Bound<'_, PyAny>) -> bool {
    match key.cast_exact::<PyTuple>() {
        Ok(items) => items.iter().any(|item| is_array(&item)),
        Err(_) => is_array(key),
    }
}

/// Whether an entry of an index is neither integer nor slice, ellipsis or new axis.
fn is_array(item: &Bound<'_, PyAny>) -> bool {
    let is_plain = item.cast_exact::<PySlice>().is_ok()
        || item.cast_exact::<PyInt>().is_ok()
        || item.is_none()
        || item.cast::<PyEllipsis>().is_ok();
    if is_plain {
        return false;
    }
    if item.cast_exact::<PyBool>().is_ok() || item.cast::<Array>().is_ok() {
        return true;
    }
    // Integers of NumPy and others are positions.
    item.call_method0("__index__").is_err()
}

fn keys_of(key: &Bound<'_, PyAny>) -> PyResult<Keys> {
    match key.cast_exact::<PyTuple>() {
        Ok(items) => items.iter().map(|item| key_of(&item)).collect(),
        Err(_) => Ok(SmallVec::from_elem(key_of(key)?, 1)),
    }
}

fn key_of(item: &Bound<'_, PyAny>) -> PyResult<Key> {
    if let Ok(slice) = item.cast_exact::<PySlice>() {
        return slice_of(slice);
    }
    if item.cast_exact::<PyInt>().is_ok() {
        return Ok(Key::Int(position(item)?));
    }
    if item.is_none() {
        return Ok(Key::NewAxis);
    }
    if item.cast::<PyEllipsis>().is_ok() {
        return Ok(Key::Ellipsis);
    }
    Ok(Key::Int(position(&item.call_method0("__index__")?)?))
}

fn position(item: &Bound<'_, PyAny>) -> PyResult<i64> {
    item.extract().map_err(|_| {
        PyIndexError::new_err(format!("index {item} has more than 64 bits; use one inside"))
    })
}

fn slice_of(slice: &Bound<'_, PySlice>) -> PyResult<Key> {
    let (mut start, mut stop, mut step) = (0, 0, 0);
    // SAFETY: the object is a slice, and the numbers are ours to fill.
    let status = unsafe {
        ffi::PySlice_Unpack(slice.as_ptr(), &raw mut start, &raw mut stop, &raw mut step)
    };
    if status != 0 {
        return Err(PyErr::fetch(slice.py()));
    }
    Ok(Key::Slice { start: Some(start as i64), stop: Some(stop as i64), step: Some(step as i64) })
}
