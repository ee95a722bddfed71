//! `a[key]` and `a[key] = value`.

use partita_array::api::{Key, Number, Operand, Selected, assign, gather, select};
use partita_array::local::{Array as LocalArray, Engine};
use partita_kernel::{Dtype, Kind};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyFloat, PyInt, PySlice, PyTuple};
use smallvec::SmallVec;

use super::array::Array;
use super::given::Given;
use super::rank::Rank;
use super::types::api_error;

/// The entries of an index, and the arrays among them, which must stay.
type Keys = SmallVec<[Key; 4]>;

#[pymethods]
impl Array {
    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Self>> {
        let (py, handle) = (slf.py(), slf.get().handle(slf)?);
        let keys = keys_of(key, &handle.rank)?;
        let has_dots = keys.iter().any(|key| matches!(key, Key::Ellipsis));
        let picked = |engine: &Engine| match select(engine, &handle.array, &keys)? {
            // A single element is a number in NumPy, which no later write changes.
            Selected::View(view) if view.ndim() == 0 && !has_dots => Ok(engine.copy(&view)?),
            Selected::View(view) => Ok(view),
            Selected::Elements { view, axes, indices, at } => gather(&view, &axes, &indices, at),
        };
        // Arrays among the keys are dropped under the lock, too.
        let made = match has_arrays(&keys) {
            true => Self::looked_at(py, &handle.rank, picked),
            false => Self::made(py, &handle.rank, picked),
        };
        handle.rank.get().with(py, |_| drop(keys));
        made
    }

    fn __setitem__(
        slf: &Bound<'_, Self>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (py, handle) = (slf.py(), slf.get().handle(slf)?);
        // A float64 of NumPy is a float of Python, and here, too, its type does not matter.
        let given = match value.cast::<PyFloat>() {
            Ok(float) => Some(Given::Number(Number::Float(float.value()))),
            Err(_) => Given::new(value, &handle.rank)?,
        };
        let Some(given) = given else {
            let kind = value.get_type().name()?;
            let message = format!("a {kind} is no array element; use numbers or arrays");
            return Err(PyTypeError::new_err(message));
        };
        let keys = keys_of(key, &handle.rank)?;
        let value = given.operand()?;
        if let Operand::Array(source) = value {
            warn_of_lost_parts(py, source.dtype(), handle.array.dtype())?;
        }
        let looks = has_arrays(&keys);
        let written = |engine: &Engine| {
            let outcome = assign(engine, &handle.array, &keys, value);
            drop(keys);
            outcome.map(|()| engine.has_ready())
        };
        let outcome = match looks {
            true => handle.rank.get().detached(py, written),
            false => handle.rank.get().with(py, written),
        };
        match outcome.map_err(|error| api_error(py, &error))? {
            true => handle.rank.get().run_ready(py),
            false => Ok(()),
        }
    }
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
fn has_arrays(keys: &[Key]) -> bool {
    keys.iter().any(|key| matches!(key, Key::Array(_)))
}

fn keys_of(key: &Bound<'_, PyAny>, rank: &Py<Rank>) -> PyResult<Keys> {
    match key.cast_exact::<PyTuple>() {
        Ok(items) => items.iter().map(|item| key_of(&item, rank)).collect(),
        Err(_) => Ok(SmallVec::from_elem(key_of(key, rank)?, 1)),
    }
}

fn key_of(item: &Bound<'_, PyAny>, rank: &Py<Rank>) -> PyResult<Key> {
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
    if item.cast_exact::<PyBool>().is_err() && item.cast::<Array>().is_err() {
        // Integers of NumPy and others.
        if let Ok(index) = item.call_method0("__index__") {
            return Ok(Key::Int(position(&index)?));
        }
    }
    let py = item.py();
    let made = py.import("partita._array.enter")?.getattr("index")?.call1((item, rank))?;
    let array = made.cast::<Array>()?;
    let local = array.get().handle(array)?;
    Ok(Key::Array(rank.get().with(py, |_| LocalArray::clone(&local.array))))
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
