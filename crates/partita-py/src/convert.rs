//! Python arguments as numbers, with errors that name the value and the cure.

use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::layout_error;

/// What a number is, for messages and reasons: `shape`, `grid`, `rank`, ...
type What = &'static str;

pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    clip(&value.repr().map(|text| text.to_string()).unwrap_or_else(|_| "it".into()), 60)
}

/// Text that fits into a number of columns.
pub(crate) fn clip(text: &str, n_columns: usize) -> String {
    if text.chars().count() <= n_columns {
        return text.to_string();
    }
    text.chars().take(n_columns - 1).collect::<String>() + "…"
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
    let number = value.call_method0("__index__").map_err(|_| {
        let message = format!("{what} {} is no integer; use an integer", shown(value));
        layout_error(value.py(), &message, &format!("{what}-not-integer"))
    })?;
    number.extract().map_err(|_| {
        let message = format!("{what} {} does not fit 64 bits; use a smaller one", shown(&number));
        layout_error(value.py(), &message, &format!("{what}-overflow"))
    })
}

/// Whether a value is one number; arrays have `__index__` too, and a length.
fn is_number(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(value.hasattr("__index__")? && !value.hasattr("__len__")?)
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

/// Exactly so many items.
pub(crate) fn several<'py, const N: usize>(
    value: &Bound<'py, PyAny>,
    what: What,
) -> PyResult<[Bound<'py, PyAny>; N]> {
    items(value, what)?.try_into().map_err(|found: Vec<_>| {
        let message = format!("{what} {} has {} items; use {N}", shown(value), found.len());
        layout_error(value.py(), &message, &format!("{what}-items"))
    })
}

/// A tuple of extents; a single integer is a tuple of one.
pub(crate) fn naturals(value: &Bound<'_, PyAny>, what: What) -> PyResult<Vec<u64>> {
    if is_number(value)? {
        return Ok(vec![natural(value, what)?]);
    }
    items(value, what)?.iter().map(|item| natural(item, what)).collect()
}

/// A tuple of indices; a single integer is a tuple of one.
pub(crate) fn indices(value: &Bound<'_, PyAny>, what: What) -> PyResult<Vec<i64>> {
    if is_number(value)? {
        return Ok(vec![index(value, what)?]);
    }
    items(value, what)?.iter().map(|item| index(item, what)).collect()
}

/// A buffer's number, as an argument.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BufferNumber(pub usize);

impl<'py> FromPyObject<'_, 'py> for BufferNumber {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let number = natural(&value, "buffer")?;
        Ok(Self(usize::try_from(number).unwrap_or(usize::MAX)))
    }
}
