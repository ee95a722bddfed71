//! Errors on their way to Python: the classes of `partita._errors`, with their reason.

use partita_layout::LayoutError;
use partita_plan::PlanError;
use pyo3::prelude::*;

/// A `partita.LayoutError` with a message and a reason.
pub(crate) fn layout_error(py: Python<'_>, message: &str, reason: &str) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let class = py.import("partita._errors")?.getattr("LayoutError")?;
        Ok(PyErr::from_value(class.call1((message, reason))?))
    };
    make().unwrap_or_else(|error| error)
}

/// Turns an error of the core crates into a Python exception.
pub(crate) trait OrRaise<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, LayoutError> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| layout_error(py, &error.to_string(), error.reason()))
    }
}

impl<T> OrRaise<T> for Result<T, PlanError> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| layout_error(py, &error.to_string(), error.reason()))
    }
}
