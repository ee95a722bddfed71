//! Reads a `__distarray__` dictionary and notes everything that is wrong with it.

use std::sync::Arc;

use crate::MOST_DIMS;
use crate::check::Origin;
use crate::distarray::dims::{Context, Dim, read_dim};
use crate::finding::Findings;
use crate::partitioned;
use crate::value::{Facts, Role, Thing, Value};

/// One rank's dictionary that passed.
#[derive(Debug, Clone, PartialEq)]
pub struct Distarray {
    /// One rule per dimension.
    pub dims: Vec<Dim>,
    /// Element type of the buffer, if it is known.
    pub dtype: Option<Arc<str>>,
    /// Which of the caller's objects the buffer is.
    pub buffer: usize,
}

/// Editions of the protocol that are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// `start` and `stop` leave out communication padding; `'n'` is undistributed.
    V0_9,
    /// The text.
    V0_10,
}

/// Reads a dictionary; gives it if nothing is wrong.
pub fn read(value: &Value, origin: Origin, found: &mut Findings) -> Option<Distarray> {
    let before = found.count();
    let Some(entries) = value.entries() else {
        let message = format!("{} is a {}; use a dictionary", value.words(), value.kind());
        found.add("", "not-a-dict", message);
        return None;
    };
    check_keys(entries, found);
    let version = required(value, "__version__", found).and_then(|v| read_version(v, found));
    let buffer = required(value, "buffer", found).map(|buffer| read_buffer(buffer, origin, found));
    let facts = buffer.as_ref().and_then(|(_, facts)| facts.as_deref());
    let dim_data = required(value, "dim_data", found).and_then(|dims| read_list(dims, found));
    let dims = dim_data.map(|dims| {
        check_ndim(dims, facts, found);
        let version = version.unwrap_or(Version::V0_10);
        let extent = |at: usize| facts.and_then(|facts| facts.shape.get(at).copied());
        let dims = dims.iter().enumerate();
        dims.map(|(at, dim)| read_dim(dim, Context { at, extent: extent(at), version }, found))
            .collect::<Vec<Option<Dim>>>()
    });
    check_product(dims.as_deref(), found);
    if found.count() > before {
        return None;
    }
    let (number, facts) = buffer?;
    let dims: Option<Vec<Dim>> = dims?.into_iter().collect();
    let dtype = facts.map(|facts| Arc::clone(&facts.dtype));
    Some(Distarray { dims: dims?, dtype, buffer: number })
}

fn required<'a>(value: &'a Value, name: &'static str, found: &mut Findings) -> Option<&'a Value> {
    let field = value.get(name);
    if field.is_none() {
        let message = format!("required field '{name}' is missing; add it");
        found.add(name, "field-missing", message);
    }
    field
}

fn check_keys(entries: &[(Value, Value)], found: &mut Findings) {
    partitioned::repeated_keys(entries, found);
    for (key, _) in entries {
        let is_known = ["__version__", "buffer", "dim_data"].iter().any(|name| key.is_text(name));
        if !is_known {
            let message = format!("field {} is not in the protocol; remove it", key.words());
            found.add_strict(key.words(), "field-unknown", message);
        }
    }
}

fn read_version(value: &Value, found: &mut Findings) -> Option<Version> {
    let wrong = |found: &mut Findings, reason, cure: &str| {
        found.add("__version__", reason, format!("version {}; {cure}", value.words()));
        None
    };
    let Value::Text(text) = value else {
        return wrong(found, "version-type", "use text such as '0.10.0'");
    };
    let numbers: Vec<Option<u32>> = text.split('.').map(version_number).collect();
    if text.split('.').any(|word| word.len() > 1 && word.starts_with('0')) {
        let message =
            format!("version {} has numbers that begin with 0; use '0.10.0'", value.words());
        found.add_strict("__version__", "version-unknown", message);
    }
    match numbers[..] {
        [Some(0), Some(10), Some(patch)] => {
            if patch != 0 {
                let message = format!("version {} is not '0.10.0'", value.words());
                found.add_strict("__version__", "version-unknown", message);
            }
            Some(Version::V0_10)
        }
        [Some(0), Some(9), Some(_)] => {
            let message = "version 0.9 is an old draft; use '0.10.0'";
            found.add_strict("__version__", "version-unknown", message);
            Some(Version::V0_9)
        }
        [Some(1), Some(0), Some(0)] => wrong(
            found,
            "version-draft",
            "this is the draft before 0.9, which had other field names; use '0.10.0'",
        ),
        _ => wrong(found, "version-unknown", "use '0.10.0' (0.9 is understood too)"),
    }
}

/// A number of a version: digits only, no sign.
fn version_number(word: &str) -> Option<u32> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?
}

/// Number and facts of the buffer; no facts where a file cannot say.
fn read_buffer(value: &Value, origin: Origin, found: &mut Findings) -> (usize, Option<Arc<Facts>>) {
    match value {
        Value::Thing(Thing { role: Role::Array(facts), number, .. }) => {
            if let Some(defect) = &facts.defect {
                let message = format!("a {} of {}: {defect}", value.kind(), facts.dtype);
                found.add("buffer", "buffer-type", message);
            }
            return (*number, Some(Arc::clone(facts)));
        }
        Value::Null | Value::Text(_) | Value::List(_) if origin == Origin::File => {
            return (usize::MAX, file_facts(value).map(Arc::new));
        }
        _ => {}
    }
    let message = format!(
        "buffer {} is a {}; use an object with the buffer protocol, such as a NumPy array",
        value.words(),
        value.kind()
    );
    found.add("buffer", "buffer-type", message);
    (usize::MAX, None)
}

/// A file may write a buffer as lists within lists.
fn file_facts(value: &Value) -> Option<Facts> {
    let mut shape = Vec::new();
    let mut at = value;
    while let Value::List(items) = at {
        shape.push(items.len() as u64);
        match items.first() {
            Some(first) => at = first,
            None => break,
        }
    }
    (!shape.is_empty()).then(|| Facts { shape, ..Facts::default() })
}

fn read_list<'a>(value: &'a Value, found: &mut Findings) -> Option<&'a [Value]> {
    let Some(items) = value.items() else {
        let cure = match value {
            Value::Dict(_) => {
                "a dict; use a tuple of dicts, (dim,) with its comma for one dimension"
            }
            _ => "no tuple; use a tuple of one dict per dimension",
        };
        found.add("dim_data", "dim-data-type", format!("dim_data {} is {cure}", value.words()));
        return None;
    };
    if items.len() > MOST_DIMS {
        let message = format!("{} dimensions; use at most {MOST_DIMS}", items.len());
        found.add("dim_data", "too-many-dims", message);
        return None;
    }
    if matches!(value, Value::List(_)) {
        found.add_list("dim_data", "dim-data-type", "dim_data is a list; use a tuple");
    }
    Some(items)
}

fn check_ndim(dims: &[Value], facts: Option<&Facts>, found: &mut Findings) {
    let Some(facts) = facts.filter(|facts| facts.shape.len() != dims.len()) else { return };
    let message = format!(
        "{} dimension dicts for a buffer of {} dimensions; give one per dimension",
        dims.len(),
        facts.shape.len()
    );
    found.add("dim_data", "dim-data-ndim", message);
}

fn check_product(dims: Option<&[Option<Dim>]>, found: &mut Findings) {
    let Some(sizes) = dims.and_then(|dims| dims.iter().map(|d| Some(d.as_ref()?.size)).collect())
    else {
        return;
    };
    let sizes: Vec<u64> = sizes;
    if !crate::numbers::fits(&sizes) {
        let message = format!("the product of the sizes {sizes:?} leaves 64 bits; use less");
        found.add("dim_data", "size-overflow", message);
    }
}
