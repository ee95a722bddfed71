//! Numbers and tuples of numbers, with findings that name the value and the cure.

use crate::MOST_DIMS;
use crate::finding::Findings;
use crate::value::Value;

/// Where a value stands and which reasons its mistakes have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    /// Its name.
    pub name: &'static str,
    /// It is no number, or no tuple of numbers.
    pub wrong_type: &'static str,
    /// It is below 0.
    pub negative: &'static str,
    /// The smallest number that passes in the end.
    pub least: u64,
    /// It is 2^63 or more.
    pub overflow: &'static str,
}

/// Makes a [`Field`] and its reasons from its name.
macro_rules! field {
    ($name:literal) => {
        field!($name, $name)
    };
    ($name:literal, $code:literal) => {
        field!($name, $code, 0)
    };
    ($name:literal, $code:literal, $least:literal) => {
        $crate::numbers::Field {
            name: $name,
            wrong_type: concat!($code, "-type"),
            negative: concat!($code, "-negative"),
            least: $least,
            overflow: concat!($code, "-overflow"),
        }
    };
}
pub(crate) use field;

/// A path that is written only when something is wrong.
pub(crate) type Path<'a> = &'a dyn Fn() -> String;

/// An integer from 0 to 2^63 - 1.
pub(crate) fn natural(
    value: &Value,
    field: Field,
    path: Path<'_>,
    found: &mut Findings,
) -> Option<u64> {
    let number = integer(value, field, path, found)?;
    if number < 0 {
        let message = format!("{} {number} is negative; use {} or more", field.name, field.least);
        found.add(path(), field.negative, message);
        return None;
    }
    Some(number as u64)
}

/// An integer that fits 64 bits with its sign.
pub(crate) fn integer(
    value: &Value,
    field: Field,
    path: Path<'_>,
    found: &mut Findings,
) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        Value::Huge(_) => {
            let message =
                format!("{} {} is too large; use less than 2^63", field.name, value.words());
            found.add(path(), field.overflow, message);
            None
        }
        Value::Float(number) if number.is_nan() => {
            let message = format!(
                "{} is nan, an unknown length; let the producer find it first (Dask: \
                 compute_chunk_sizes())",
                field.name
            );
            found.add(path(), "length-unknown", message);
            None
        }
        _ => {
            let message = format!("{} is {}; use an integer", field.name, value.kind_and_words());
            found.add(path(), field.wrong_type, message);
            None
        }
    }
}

/// A tuple of integers from 0; lists pass.
pub(crate) fn naturals(
    value: &Value,
    field: Field,
    path: Path<'_>,
    found: &mut Findings,
) -> Option<Vec<u64>> {
    let items = sequence(value, field, path, found)?;
    let mut numbers = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        // The usual case first: this runs for every partition.
        if let Value::Int(number @ 0..) = item {
            numbers.push(*number as u64);
            continue;
        }
        if let Some(number) = natural(item, field, &|| format!("{}[{at}]", path()), found) {
            numbers.push(number);
        }
    }
    (numbers.len() == items.len()).then_some(numbers)
}

/// The items of a list or tuple of at most 64.
pub(crate) fn sequence<'a>(
    value: &'a Value,
    field: Field,
    path: Path<'_>,
    found: &mut Findings,
) -> Option<&'a [Value]> {
    let Some(items) = value.items() else {
        let message =
            format!("{} is {}; use a tuple of integers", field.name, value.kind_and_words());
        found.add(path(), field.wrong_type, message);
        return None;
    };
    if items.len() > MOST_DIMS {
        let message =
            format!("{} has {} entries; use at most {MOST_DIMS}", field.name, items.len());
        found.add(path(), "too-many-dims", message);
        return None;
    }
    if matches!(value, Value::List(_)) {
        let message = format!("{} {} is a list; use a tuple", field.name, value.words());
        found.add_list(path(), field.wrong_type, message);
    }
    Some(items)
}

/// Whether strides and sizes of this shape fit 64 bits; zero extents hide nothing.
pub(crate) fn fits(shape: &[u64]) -> bool {
    shape
        .iter()
        .filter(|extent| **extent > 0)
        .try_fold(1_u64, |product, extent| product.checked_mul(*extent))
        .is_some()
}
