//! Element types of NumPy, and errors of array programs.

use partita_array::LocalError;
use partita_array::api::ApiError;
use partita_kernel::Dtype;
use pyo3::exceptions::{
    PyIndexError, PyMemoryError, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::errors::{error_of_team, team_error};

/// NumPy's object for each element type, in their order; bfloat16 has one only where it is known.
static TYPES: PyOnceLock<Vec<Py<PyAny>>> = PyOnceLock::new();

/// NumPy's object for a type.
pub(crate) fn dtype_object(py: Python<'_>, dtype: Dtype) -> PyResult<Py<PyAny>> {
    let types = TYPES.get_or_try_init(py, || {
        let hook = py.import("partita._array.dtypes")?.getattr("of_name")?;
        let object = |dtype: Dtype| Ok(hook.call1((dtype.name(),))?.unbind());
        Dtype::ALL.into_iter().map(object).collect::<PyResult<Vec<_>>>()
    })?;
    Ok(types[dtype as usize].clone_ref(py))
}

/// The element type that somebody names: NumPy's object, a name, a type of Python.
pub(crate) fn dtype_given(object: &Bound<'_, PyAny>) -> PyResult<Dtype> {
    let py = object.py();
    for dtype in Dtype::ALL {
        if dtype_object(py, dtype)?.is(object) {
            return Ok(dtype);
        }
    }
    let hook = py.import("partita._array.dtypes")?.getattr("name_of")?;
    let name: String = hook.call1((object,))?.extract()?;
    let found = Dtype::ALL.into_iter().find(|dtype| dtype.name() == name);
    let refused = || PyTypeError::new_err(format!("no element type {name}; use numbers"));
    found.ok_or_else(refused)
}

/// NumPy's error for an axis that is not there: both an `IndexError` and a `ValueError`.
fn axis_error(py: Python<'_>, message: String) -> PyErr {
    let class = py.import("numpy.exceptions").and_then(|room| room.getattr("AxisError"));
    match class.and_then(|class| class.call1((message,))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// An error of an array program, as the exception that NumPy would raise.
pub(crate) fn api_error(py: Python<'_>, error: &ApiError) -> PyErr {
    let message = error.to_string();
    if let ApiError::Local { error: LocalError::Team { error } } = error {
        return team_error(py, error);
    }
    if let ApiError::Local { error: differ @ LocalError::ProgramsDiffer { rank, .. } } = error {
        let about = (message.as_str(), differ.reason(), Some(*rank as u64));
        return error_of_team(py, "MismatchError", about);
    }
    let raised = match error {
        ApiError::Local {
            error:
                LocalError::NoMemory { .. }
                | LocalError::MemoryLimit { .. }
                | LocalError::MemoryLimitOn { .. },
        } => PyMemoryError::new_err(message),
        ApiError::Local { error: LocalError::Lost { .. } } => PyRuntimeError::new_err(message),
        ApiError::AxisOutside { .. } => axis_error(py, message),
        ApiError::TypeRefused { .. }
        | ApiError::NumberComplex { .. }
        | ApiError::TypesApart { .. }
        | ApiError::ResultType { .. } => PyTypeError::new_err(message),
        ApiError::NumberOutside { .. } => PyOverflowError::new_err(message),
        ApiError::TooManyIndices { .. }
        | ApiError::IndexOutside { .. }
        | ApiError::TwoEllipses { .. } => PyIndexError::new_err(message),
        _ => PyValueError::new_err(message),
    };
    // A reason to match, as all errors have one here.
    let reason = match error {
        ApiError::Local { error } => error.reason(),
        other => other.reason(),
    };
    let _ = raised.value(py).setattr("reason", reason);
    raised
}
