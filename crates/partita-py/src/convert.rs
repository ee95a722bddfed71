//! Python arguments as numbers, with errors that name the value and the cure.

use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::layout_error;

/// What a number is, for messages and reasons: `shape`, `grid`, `rank`, ...
type What = &'static str;

fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map(|text| text.to_string()).unwrap_or_else(|_| "it".into());
    if text.chars().count() > 60 { text.chars().take(57).collect::<String>() + "..." } else { text }
}

/// An integer that is not negative.
pub(crate) fn natural(value: &Bound<'_, PyAny>, what: What) -> PyResult<u64> {
    let py = value.py();
    let number = integer(value, what)?;
    u64::try_from(number).map_err(|_| {
        let (side, reason) =
            if number < 0 { ("negative", "negative") } else { ("too large", "overflow") };
        let message = format!("{what} {number} is {side}; use an integer from 0 to 2^63");
        layout_error(py, &message, &format!("{what}-{reason}"))
    })
}

/// Any integer, Python's or NumPy's; no float, no text.
pub(crate) fn integer(value: &Bound<'_, PyAny>, what: What) -> PyResult<i128> {
    let number = value.call_method0("__index__").and_then(|index| index.extract::<i128>());
    number.map_err(|_| {
        let message = format!("{what} {} is no integer in range; use an integer", shown(value));
        layout_error(value.py(), &message, &format!("{what}-not-integer"))
    })
}

/// An integer that fits a signed 64-bit index.
pub(crate) fn index(value: &Bound<'_, PyAny>, what: What) -> PyResult<i64> {
    let number = integer(value, what)?;
    i64::try_from(number).map_err(|_| {
        let message = format!("{what} {number} does not fit 64 bits; use a smaller one");
        layout_error(value.py(), &message, &format!("{what}-overflow"))
    })
}

/// The items of a sequence; text is none.
pub(crate) fn items<'py>(
    value: &Bound<'py, PyAny>,
    what: What,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let wrong = || {
        let message = format!("{what} {} is no sequence; use a tuple or list", shown(value));
        layout_error(value.py(), &message, &format!("{what}-not-sequence"))
    };
    if value.is_instance_of::<PyString>() {
        return Err(wrong());
    }
    let items = value.try_iter().map_err(|_| wrong())?;
    items.collect()
}

/// A tuple of extents; a single integer is a tuple of one.
pub(crate) fn naturals(value: &Bound<'_, PyAny>, what: What) -> PyResult<Vec<u64>> {
    if value.hasattr("__index__")? {
        return Ok(vec![natural(value, what)?]);
    }
    items(value, what)?.iter().map(|item| natural(item, what)).collect()
}

/// A tuple of indices; a single integer is a tuple of one.
pub(crate) fn indices(value: &Bound<'_, PyAny>, what: What) -> PyResult<Vec<i64>> {
    if value.hasattr("__index__")? && !value.hasattr("__len__")? {
        return Ok(vec![index(value, what)?]);
    }
    items(value, what)?.iter().map(|item| index(item, what)).collect()
}
