//! Errors on their way to Python: the classes of `partita._errors`, with their reason.

use std::sync::{Mutex, PoisonError};

use partita_layout::LayoutError;
use partita_plan::PlanError;
use partita_team::TeamError;
use pyo3::prelude::*;

/// A `partita.LayoutError` with a message and a reason.
pub(crate) fn layout_error(py: Python<'_>, message: &str, reason: &str) -> PyErr {
    named_error(py, "LayoutError", message, reason)
}

/// A `partita.ProgramError` with a message and a reason.
pub(crate) fn program_error(py: Python<'_>, message: &str, reason: &str) -> PyErr {
    named_error(py, "ProgramError", message, reason)
}

fn named_error(py: Python<'_>, name: &str, message: &str, reason: &str) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let class = py.import("partita._errors")?.getattr(name)?;
        Ok(PyErr::from_value(class.call1((message, reason))?))
    };
    make().unwrap_or_else(|error| error)
}

/// The exception that a signal has raised while a rank waited.
static INTERRUPT: Mutex<Option<PyErr>> = Mutex::new(None);

/// Lets Ctrl-C end the waiting of this process's ranks.
pub(crate) fn watch_signals() {
    partita_team::set_interrupt_check(|| {
        // None while the interpreter ends: nobody is left to interrupt.
        let Some(Err(error)) = Python::try_attach(|py| py.check_signals()) else { return false };
        *INTERRUPT.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        true
    });
}

/// The exception of a team's error; what names a rank carries it as `.rank`.
pub(crate) fn team_error(py: Python<'_>, error: &TeamError) -> PyErr {
    if *error == TeamError::Interrupted {
        let raised = INTERRUPT.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(raised) = raised {
            return raised;
        }
    }
    let (class, rank) = match error {
        TeamError::Remote(failure) => ("RemoteError", Some(failure.rank.team)),
        TeamError::Mismatch(mismatch) => ("MismatchError", Some(mismatch.other.team)),
        TeamError::TeamsDiffer { .. } => ("MismatchError", None),
        TeamError::Deadline { missing, .. } => {
            ("DeadlineError", missing.first().map(|rank| rank.team))
        }
        TeamError::BufferCount { .. }
        | TeamError::BufferShape { .. }
        | TeamError::BufferReadOnly { .. }
        | TeamError::BufferRepeats { .. }
        | TeamError::BufferOverlap { .. }
        | TeamError::TargetsOverlap { .. }
        | TeamError::MemberTwice { .. }
        | TeamError::MemberUnknown { .. } => {
            return layout_error(py, &error.to_string(), error.reason());
        }
        _ => ("TeamError", None),
    };
    error_of_team(py, class, (&error.to_string(), error.reason(), rank))
}

/// An error of a team: message, reason, rank.
pub(crate) fn error_of_team(
    py: Python<'_>,
    class: &str,
    about: (&str, &str, Option<u64>),
) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let class = py.import("partita._errors")?.getattr(class)?;
        Ok(PyErr::from_value(class.call1(about)?))
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
