//! What the partitions hand over: there where it must be, of one type, of the shape they say.

use std::collections::HashSet;

use crate::check::Origin;
use crate::finding::Findings;
use crate::location::{Device, Location};
use crate::partitioned::cover::ReadPartition;
use crate::value::{Facts, Value, clip, tuple_words};

/// Element types whose names are compared; a producer may write others in its own way.
const KNOWN: [&str; 15] = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
];

/// Looks at the data of all partitions. `locals`: outer none where they could not be read.
pub(crate) fn check(
    parts: &[&ReadPartition<'_>],
    locals: Option<Option<&[u64]>>,
    origin: Origin,
    found: &mut Findings,
) {
    let mut first: Option<(&ReadPartition<'_>, &Value)> = None;
    for part in parts {
        let Some(data) = part.entry.get("data").filter(|data| **data != Value::Null) else {
            continue;
        };
        check_one(part, data, found);
        match first {
            None => first = Some((part, data)),
            Some(known) => compare((part, data), known, found),
        }
    }
    if let (Some(locals), Origin::Live) = (locals, origin) {
        check_missing(parts, locals, found);
    }
    if let Some(locals) = locals {
        check_backend(first, locals.is_some(), found);
    }
}

/// What is known of data that is itself an array or a table.
///
/// An array without dimensions in a partition that has some is a handle, like any number.
fn facts<'a>(part: &ReadPartition<'_>, data: &'a Value) -> Option<&'a Facts> {
    let facts = data.facts()?;
    let is_number = facts.shape.is_empty() && part.shape.as_ref().is_some_and(|s| !s.is_empty());
    (!is_number).then_some(facts)
}

/// `locals` are for ranks, which hold arrays; task systems have references, and no `locals`.
fn check_backend(
    first: Option<(&ReadPartition<'_>, &Value)>,
    has_locals: bool,
    found: &mut Findings,
) {
    let Some((part, data)) = first else { return };
    let is_task = ["ray.", "distributed.", "dask."].iter().any(|it| data.kind().starts_with(it));
    if has_locals && is_task {
        let message = format!(
            "locals beside a {}: only ranks of an SPMD program have locals; leave the field away",
            clip(data.kind())
        );
        found.add_strict("locals", "locals-not-spmd", message);
    }
    if !has_locals && facts(part, data).is_some() {
        let message = format!(
            "a {} itself and no field 'locals'; name what is local, or hand over references",
            clip(data.kind())
        );
        found.add_strict(path(part), "locals-missing", message);
    }
}

/// An array must lie on a device that one of its partition's locations names.
pub(crate) fn check_device(part: &ReadPartition<'_>, locations: &[Location], found: &mut Findings) {
    let data = part.entry.get("data").and_then(|data| facts(part, data));
    let Some(device) = data.and_then(|facts| facts.device) else { return };
    let named: Option<Vec<Device>> = locations.iter().map(Location::memory).collect();
    let Some(named) = named.filter(|named| !named.is_empty()) else { return };
    if named.iter().any(|name| name.may_be(device)) {
        return;
    }
    let words: Vec<String> = named.iter().take(4).map(|name| name.name()).collect();
    let message = format!(
        "the location says {}, the data lies on {}; name its device, or move it",
        words.join(", "),
        device.name()
    );
    found.add(format!("partitions[{}].location", part.key.words()), "device-differs", message);
}

fn path(part: &ReadPartition<'_>) -> String {
    format!("partitions[{}].data", part.key.words())
}

fn check_one(part: &ReadPartition<'_>, data: &Value, found: &mut Findings) {
    let Some(facts) = facts(part, data) else { return };
    if let Some(defect) = &facts.defect {
        let message = format!("a {} of {}: {defect}", data.kind(), facts.dtype);
        found.add(path(part), "data-type", message);
    }
    if let Some(shape) = part.shape.as_ref().filter(|shape| **shape != facts.shape) {
        let message = format!(
            "data of shape {} in a partition of shape {}; make them equal",
            tuple_words(&facts.shape),
            tuple_words(shape)
        );
        found.add(path(part), "data-shape", message);
    }
    let Some(Value::Text(said)) = part.entry.get("dtype") else { return };
    let is_known = |name: &str| KNOWN.contains(&name);
    if is_known(said) && is_known(&facts.dtype) && **said != *facts.dtype {
        let message = format!("dtype {said} beside data of {}; make them equal", facts.dtype);
        found.add(format!("partitions[{}].dtype", part.key.words()), "dtype-differs", message);
    }
}

/// All partitions must be of the type of the first.
fn compare(
    (part, data): (&ReadPartition<'_>, &Value),
    (first, known): (&ReadPartition<'_>, &Value),
    found: &mut Findings,
) {
    if data.kind() != known.kind() {
        let message = format!(
            "a {} here, a {} at {}; use one type for all partitions",
            clip(data.kind()),
            clip(known.kind()),
            first.key.words()
        );
        found.add(path(part), "data-types-differ", message);
        return;
    }
    if let (Some(facts), Some(other)) = (facts(part, data), facts(first, known))
        && facts.dtype != other.dtype
    {
        let message = format!(
            "elements of {} here, of {} at {}; use one dtype for all partitions",
            facts.dtype,
            other.dtype,
            first.key.words()
        );
        found.add(path(part), "data-dtypes-differ", message);
    }
}

fn check_missing(parts: &[&ReadPartition<'_>], locals: Option<&[u64]>, found: &mut Findings) {
    let local: Option<HashSet<u64>> = locals.map(|locals| locals.iter().copied().collect());
    for (number, part) in (0..).zip(parts) {
        if part.entry.get("data") != Some(&Value::Null) {
            continue;
        }
        match &local {
            None => found.add(
                path(part),
                "data-missing",
                "data is None and there is no field 'locals'; use a handle, or name what is local",
            ),
            Some(local) if local.contains(&number) => found.add(
                path(part),
                "data-missing",
                "data is None though 'locals' names the position; hand over its array",
            ),
            Some(_) => {}
        }
    }
}

/// Name of the element type, from data or from the field `dtype`.
pub(crate) fn dtype(parts: &[&ReadPartition<'_>]) -> Option<String> {
    let from_data = |part: &&&ReadPartition<'_>| {
        let facts = facts(part, part.entry.get("data")?)?;
        (!facts.dtype.is_empty()).then(|| facts.dtype.to_string())
    };
    let from_field = |part: &&&ReadPartition<'_>| match part.entry.get("dtype") {
        Some(Value::Text(name)) if KNOWN.contains(&&**name) => Some(name.to_string()),
        _ => None,
    };
    parts
        .iter()
        .find_map(|part| from_data(&part))
        .or_else(|| parts.iter().find_map(|part| from_field(&part)))
}
