//! Reads a `__partitioned__` dictionary and notes everything that is wrong with it.

use partita_layout::position_of;

use crate::MOST_DIMS;
use crate::check::Origin;
use crate::finding::Findings;
use crate::location::{Location, read_locations};
use crate::numbers::{Field, field, fits, naturals};
use crate::partitioned::cover::{self, ReadPartition};
use crate::partitioned::data;
use crate::partitioned::table::Table;
use crate::value::{Role, Thing, Value, tuple_words};

pub(crate) const SHAPE: Field = field!("shape");
const TILING: Field = field!("partition_tiling", "tiling", 1);
const START: Field = field!("start");
const POSITION: Field = field!("position");

/// A dictionary that passed.
#[derive(Debug)]
pub struct Partitioned {
    /// Shape, tiling and cuts.
    pub table: Table,
    /// One entry per position, in C order.
    pub entries: Vec<Entry>,
    /// Numbers of the positions that are local; none where the dictionary is not SPMD.
    pub locals: Option<Vec<u64>>,
    /// Name of the element type, if it is known without fetching anything.
    pub dtype: Option<String>,
}

/// One partition.
#[derive(Debug)]
pub struct Entry {
    /// Which of the caller's objects its data is; none where it is `None`.
    pub data: Option<usize>,
    /// Where it can be read without communication.
    pub locations: Vec<Location>,
}

/// Reads a dictionary; gives it if nothing is wrong.
pub fn read(value: &Value, origin: Origin, found: &mut Findings) -> Option<Partitioned> {
    let before = found.count();
    let Some(entries) = value.entries() else {
        let message = format!("{} is a {}; use a dictionary", value.words(), value.kind());
        found.add("", "not-a-dict", message);
        return None;
    };
    cover::repeated_keys(entries, found);
    check_get(value, origin, found);
    let shape = required(value, "shape", found)
        .and_then(|shape| naturals(shape, SHAPE, &|| "shape".into(), found));
    if let Some(shape) = shape.as_ref().filter(|shape| !fits(shape)) {
        let message =
            format!("the product of the shape {} leaves 64 bits; use less", tuple_words(shape));
        found.add("shape", "shape-overflow", message);
    }
    // A wrong extent hides nothing else: how many there are is still known.
    let extents = value.get("shape").and_then(Value::items);
    let are_numbers = |items: &&[Value]| items.iter().all(is_number) && items.len() <= MOST_DIMS;
    let ndim = extents.filter(are_numbers).map(<[Value]>::len);
    let tiling = read_tiling(value, ndim, found);
    let partitions = read_partitions(value, found);
    let parts = read_parts(partitions.unwrap_or_default(), ndim, origin, found);
    let tiling = tiling.or_else(|| cover::derived_tiling(value, &parts, ndim?));
    let cuts = match (&shape, &tiling, partitions) {
        (Some(shape), Some(tiling), Some(_)) => cover::check(shape, tiling, &parts, found),
        _ => None,
    };
    let locals = read_locals(value, tiling.as_deref(), ndim, origin, found);
    let numbered = tiling.as_ref().map(|tiling| cover::numbered(&parts, tiling));
    let numbered = numbered.filter(|numbered| numbered.len() == parts.len());
    // Positions that cannot be told apart still have data and locations to look at.
    let known_locals = locals.as_ref().filter(|_| numbered.is_some()).map(Option::as_deref);
    let listed = numbered.unwrap_or_else(|| parts.iter().collect());
    data::check(&listed, known_locals, origin, found);
    let entries = read_entries(&listed, found);
    if found.count() > before {
        return None;
    }
    let dtype = data::dtype(&listed);
    let table = Table::new(shape?, tiling?, cuts?);
    Some(Partitioned { table, entries, locals: locals?, dtype })
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::Huge(_) | Value::Float(_))
}

/// A field that must be there.
pub(crate) fn required<'a>(
    value: &'a Value,
    name: &'static str,
    found: &mut Findings,
) -> Option<&'a Value> {
    let field = value.get(name);
    if field.is_none() {
        let message = format!("required field '{name}' is missing; add it");
        found.add(name, "field-missing", message);
    }
    field
}

fn check_get(value: &Value, origin: Origin, found: &mut Findings) {
    match (value.get("get"), origin) {
        // A file can hold no function.
        (None | Some(Value::Null | Value::Text(_)), Origin::File) => {}
        (None, Origin::Live) => {
            found.add("get", "field-missing", "required field 'get' is missing; add it");
        }
        (Some(Value::Thing(Thing { role: Role::Function, .. })), _) => {}
        (Some(other), _) => {
            let message = format!(
                "get {} cannot be called; use a function of a list of handles",
                other.words()
            );
            found.add("get", "get-not-callable", message);
        }
    }
}

fn read_tiling(value: &Value, ndim: Option<usize>, found: &mut Findings) -> Option<Vec<u64>> {
    let Some(given) = value.get("partition_tiling") else {
        let message = "required field 'partition_tiling' is missing; add it";
        found.add_strict("partition_tiling", "field-missing", message);
        return None;
    };
    let tiling = naturals(given, TILING, &|| "partition_tiling".into(), found)?;
    if let Some(ndim) = ndim.filter(|ndim| *ndim != tiling.len()) {
        let message = format!(
            "partition_tiling {} for a shape of {ndim} dimensions; use one number per dimension",
            tuple_words(&tiling)
        );
        found.add("partition_tiling", "tiling-ndim", message);
        return None;
    }
    if let Some(at) = tiling.iter().position(|count| *count == 0) {
        let message = format!("partition_tiling {} has a 0; use 1 or more", tuple_words(&tiling));
        found.add(format!("partition_tiling[{at}]"), "tiling-zero", message);
        return None;
    }
    Some(tiling)
}

fn read_partitions<'a>(value: &'a Value, found: &mut Findings) -> Option<&'a [(Value, Value)]> {
    let partitions = required(value, "partitions", found)?;
    partitions.entries().or_else(|| {
        let message = format!(
            "partitions {} is a {}; use a dictionary",
            partitions.words(),
            partitions.kind()
        );
        found.add("partitions", "partitions-type", message);
        None
    })
}

fn read_parts<'a>(
    partitions: &'a [(Value, Value)],
    ndim: Option<usize>,
    origin: Origin,
    found: &mut Findings,
) -> Vec<ReadPartition<'a>> {
    partitions
        .iter()
        .map(|(key, entry)| {
            let position = read_position(key, ndim, "partitions", origin, found);
            let path = || format!("partitions[{}]", key.words());
            if entry.entries().is_none() {
                let message = format!("{} is a {}; use a dictionary", entry.words(), entry.kind());
                found.add(path(), "partition-type", message);
                return ReadPartition { key, position, start: None, shape: None, entry };
            }
            let start = read_field(entry, "start", START, ndim, &path, found);
            let shape = read_field(entry, "shape", SHAPE, ndim, &path, found);
            for name in ["data", "location"] {
                if entry.get(name).is_none() {
                    let message = format!("required field '{name}' is missing; add it");
                    found.add(format!("{}.{name}", path()), "field-missing", message);
                }
            }
            ReadPartition { key, position, start, shape, entry }
        })
        .collect()
}

fn read_field(
    entry: &Value,
    name: &'static str,
    field: Field,
    ndim: Option<usize>,
    path: &dyn Fn() -> String,
    found: &mut Findings,
) -> Option<Vec<u64>> {
    let path = || format!("{}.{name}", path());
    let Some(value) = entry.get(name) else {
        let message = format!("required field '{name}' is missing; add it");
        found.add(path(), "field-missing", message);
        return None;
    };
    let numbers = naturals(value, field, &path, found)?;
    if let Some(ndim) = ndim.filter(|ndim| *ndim != numbers.len()) {
        let message = format!(
            "{name} {} for {ndim} dimensions; use one number per dimension",
            tuple_words(&numbers)
        );
        found.add(path(), if name == "start" { "start-ndim" } else { "shape-ndim" }, message);
        return None;
    }
    Some(numbers)
}

/// A position: a tuple of as many integers as there are dimensions.
fn read_position(
    key: &Value,
    ndim: Option<usize>,
    name: &str,
    origin: Origin,
    found: &mut Findings,
) -> Option<Vec<u64>> {
    let path = || format!("{name}[{}]", key.words());
    let written = match (key, origin) {
        (Value::Text(text), Origin::File) => position_in_words(text),
        _ => None,
    };
    let key = written.as_ref().unwrap_or(key);
    let wanted = ndim.map_or(String::new(), |ndim| format!(" of length {ndim}"));
    if key.items().is_none() {
        let message = format!("position {} must be a tuple{wanted}", key.words());
        found.add(path(), "position-type", message);
        return None;
    }
    let numbers = naturals(key, POSITION, &path, found)?;
    if ndim.is_some_and(|ndim| ndim != numbers.len()) {
        let message = format!("position {} must be a tuple{wanted}", key.words());
        found.add(path(), "position-ndim", message);
        return None;
    }
    Some(numbers)
}

/// `(0, 1)`, `[0, 1]`, `0,1` or `0`, as files write positions.
fn position_in_words(text: &str) -> Option<Value> {
    let inner = text.trim().trim_start_matches(['(', '[']).trim_end_matches([')', ']']);
    let numbers = inner.split(',').map(str::trim).filter(|word| !word.is_empty());
    let numbers: Option<Vec<Value>> =
        numbers.map(|word| word.parse().ok().map(Value::Int)).collect();
    numbers.map(Value::Tuple)
}

/// Outer none: something is wrong. Inner none: not SPMD.
fn read_locals(
    value: &Value,
    tiling: Option<&[u64]>,
    ndim: Option<usize>,
    origin: Origin,
    found: &mut Findings,
) -> Option<Option<Vec<u64>>> {
    // Heat's own messages call the field `local`.
    let given = value.get("locals").or_else(|| value.get("local"));
    let Some(given) = given.filter(|given| **given != Value::Null) else { return Some(None) };
    let Some(items) = given.items() else {
        let message =
            format!("locals {} is a {}; use a list of positions", given.words(), given.kind());
        found.add("locals", "locals-type", message);
        return None;
    };
    let mut numbers = Vec::with_capacity(items.len());
    let before = found.count();
    for (at, item) in items.iter().enumerate() {
        let Some(position) = read_position(item, ndim, "locals", origin, found) else { continue };
        let Some(tiling) = tiling else { continue };
        match cover::number_inside(&position, tiling) {
            Some(number) => numbers.push(number),
            None => {
                let message = format!(
                    "position {} lies outside the grid {}; use one of its positions",
                    item.words(),
                    tuple_words(tiling)
                );
                found.add(format!("locals[{at}]"), "position-outside", message);
            }
        }
    }
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        let position = tuple_words(&position_of(pair[0], tiling.unwrap_or_default()));
        let message = format!("position {position} stands twice in locals; name it once");
        found.add("locals", "locals-twice", message);
    }
    (found.count() == before).then_some(Some(numbers))
}

fn read_entries(parts: &[&ReadPartition<'_>], found: &mut Findings) -> Vec<Entry> {
    let mut entries = Vec::with_capacity(parts.len());
    for part in parts {
        let path = || format!("partitions[{}].location", part.key.words());
        let locations = part.entry.get("location").map(|value| read_locations(value, &path, found));
        let locations = locations.unwrap_or_default();
        data::check_device(part, &locations, found);
        let data = match part.entry.get("data") {
            Some(Value::Thing(thing)) => Some(thing.number),
            Some(Value::Null) | None => None,
            Some(_) => Some(usize::MAX),
        };
        entries.push(Entry { data, locations });
    }
    entries
}
