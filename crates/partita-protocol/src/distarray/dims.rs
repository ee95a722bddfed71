//! One dimension dictionary: read, judged, and brought into one form for all editions.

use std::collections::HashSet;
use std::sync::Arc;

use crate::distarray::read::Version;
use crate::finding::Findings;
use crate::numbers::{Field, field, natural, naturals};
use crate::value::{Role, Thing, Value};

const SIZE: Field = field!("size");
const GRID_SIZE: Field = field!("proc_grid_size", "grid-size", 1);
const GRID_RANK: Field = field!("proc_grid_rank", "grid-rank");
const START: Field = field!("start");
const STOP: Field = field!("stop");
const PADDING: Field = field!("padding");
const BLOCK_SIZE: Field = field!("block_size", "block-size", 1);

/// One dimension of one rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Dim {
    /// Extent of the whole array.
    pub size: u64,
    /// Number of coordinates.
    pub grid_size: u64,
    /// This rank's coordinate.
    pub grid_rank: u64,
    /// What this coordinate has.
    pub rule: Rule,
}

/// What a coordinate has of a dimension.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// One interval.
    Block(Block),
    /// Blocks in turn. A slice of an array begins with the blocks of another coordinate than 0.
    Cyclic {
        /// Indices per block.
        block: u64,
        /// First index, a multiple of `block`; the size or more where there is none.
        start: u64,
    },
    /// The listed indices.
    Unstructured {
        /// In the order of the buffer.
        indices: Arc<[i64]>,
        /// Whether no index may be on two coordinates.
        one_to_one: bool,
    },
}

/// An interval that a coordinate owns, with what it holds around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// First owned index.
    pub start: u64,
    /// End of the owned indices.
    pub stop: u64,
    /// Indices of neighbours held on the left and on the right.
    pub halo: (u64, u64),
    /// Padding at the ends of the array: counted in the size, owned.
    pub boundary: (u64, u64),
    /// Whether the ends meet.
    pub periodic: bool,
    /// Where the padding at the ends of a periodic dimension lies.
    pub edge: Edge,
}

/// Padding at the ends of a periodic dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// Inside the size, as 0.10 has it; filled from the other end all the same.
    Inside,
    /// Outside the size, as 0.9 has it: a halo like any other.
    Outside,
}

/// What else is known when a dimension is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    pub at: usize,
    pub extent: Option<u64>,
    pub version: Version,
}

impl Context {
    fn path(&self, key: &str) -> String {
        format!("dim_data[{}].{key}", self.at)
    }

    fn number(&self, dim: &Value, field: Field, found: &mut Findings) -> Option<u64> {
        let Some(value) = dim.get(field.name) else {
            let message = format!("required field '{}' is missing; add it", field.name);
            found.add(self.path(field.name), "field-missing", message);
            return None;
        };
        natural(value, field, &|| self.path(field.name), found)
    }

    fn flag(&self, dim: &Value, key: &str, reason: &'static str, found: &mut Findings) -> bool {
        match dim.get(key) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                let message = format!("{key} {} is no flag; use True or False", other.words());
                found.add(self.path(key), reason, message);
                false
            }
        }
    }

    /// The length of the buffer must be what the rule says.
    fn check_length(&self, length: u128, reason: &'static str, what: &str, found: &mut Findings) {
        if let Some(extent) = self.extent.filter(|extent| u128::from(*extent) != length) {
            let message = format!(
                "{what} {length} indices, the buffer has {extent} in dimension {}; make them equal",
                self.at
            );
            found.add(format!("dim_data[{}]", self.at), reason, message);
        }
    }
}

/// Reads a dimension; gives it if nothing is wrong.
pub(crate) fn read_dim(dim: &Value, context: Context, found: &mut Findings) -> Option<Dim> {
    let before = found.count();
    let Some(entries) = dim.entries() else {
        let message = format!("{} is a {}; use a dictionary", dim.words(), dim.kind());
        found.add(format!("dim_data[{}]", context.at), "dim-type", message);
        return None;
    };
    if entries.is_empty() && context.version == Version::V0_10 {
        let size = context.extent?;
        return Some(Dim { size, grid_size: 1, grid_rank: 0, rule: whole(size) });
    }
    let kind = read_kind(dim, context, found)?;
    let size = context.number(dim, SIZE, found);
    if kind == 'n' {
        return read_undistributed(dim, size?, context, found);
    }
    let grid_size = context.number(dim, GRID_SIZE, found);
    let grid_rank = context.number(dim, GRID_RANK, found);
    check_grid(grid_size, grid_rank, context, found);
    let at = grid_size.filter(|n| *n > 0).zip(grid_rank);
    let rule = match kind {
        'b' => read_block(dim, size, at, context, found).map(Rule::Block),
        'c' => read_cyclic(dim, size, at, context, found),
        _ => read_lists(dim, size, grid_size, context, found),
    };
    check_places(dim, kind, context, found);
    if found.count() > before {
        return None;
    }
    Some(Dim { size: size?, grid_size: grid_size?, grid_rank: grid_rank?, rule: rule? })
}

fn whole(size: u64) -> Rule {
    let edge = Edge::Inside;
    Rule::Block(Block {
        start: 0,
        stop: size,
        halo: (0, 0),
        boundary: (0, 0),
        periodic: false,
        edge,
    })
}

fn read_kind(dim: &Value, context: Context, found: &mut Findings) -> Option<char> {
    let path = || context.path("dist_type");
    match dim.get("dist_type") {
        None => {
            found.add(path(), "field-missing", "required field 'dist_type' is missing; add it");
            None
        }
        Some(Value::Text(text)) => match (&**text, context.version) {
            ("b", _) => Some('b'),
            ("c", _) => Some('c'),
            ("u", _) => Some('u'),
            ("n", Version::V0_9) => Some('n'),
            _ => {
                let message =
                    format!("dist_type {:?}; use 'b', 'c' or 'u'", crate::value::clip(text));
                found.add(path(), "dist-type", message);
                None
            }
        },
        Some(other) => {
            let message = format!("dist_type {} is no text; use 'b', 'c' or 'u'", other.words());
            found.add(path(), "dist-type", message);
            None
        }
    }
}

/// `'n'` of 0.9: the whole dimension on every rank of its axis.
fn read_undistributed(
    dim: &Value,
    size: u64,
    context: Context,
    found: &mut Findings,
) -> Option<Dim> {
    let (left, right) = read_padding(dim, context, found)?;
    context.check_length(u128::from(size), "block-buffer", "dist_type 'n' has", found);
    let Rule::Block(mut block) = whole(size) else { return None };
    block.boundary = (left, right);
    Some(Dim { size, grid_size: 1, grid_rank: 0, rule: Rule::Block(block) })
}

fn check_grid(size: Option<u64>, rank: Option<u64>, context: Context, found: &mut Findings) {
    if size == Some(0) {
        let message = "proc_grid_size is 0; use 1 or more";
        found.add(context.path("proc_grid_size"), "grid-size-zero", message);
    } else if let (Some(size), Some(rank)) = (size, rank)
        && rank >= size
    {
        let message = format!("proc_grid_rank {rank} of {size}; use one from 0 to {}", size - 1);
        found.add(context.path("proc_grid_rank"), "grid-rank-outside", message);
    }
}

/// Fields that another dist_type has.
fn check_places(dim: &Value, kind: char, context: Context, found: &mut Findings) {
    let known: &[&str] = match kind {
        'b' => &["start", "stop", "padding", "periodic"],
        'c' => &["start", "block_size"],
        _ => &["indices", "one_to_one"],
    };
    let common = ["dist_type", "size", "proc_grid_size", "proc_grid_rank"];
    for (key, _) in dim.entries().unwrap_or_default() {
        let is_known = common.iter().chain(known).any(|name| key.is_text(name));
        if !is_known {
            let message = format!("field {} has no meaning for dist_type '{kind}'", key.words());
            found.add_strict(context.path(&key.words()), "field-unknown", message);
        }
    }
}

fn read_padding(dim: &Value, context: Context, found: &mut Findings) -> Option<(u64, u64)> {
    let Some(value) = dim.get("padding") else { return Some((0, 0)) };
    let widths = naturals(value, PADDING, &|| context.path("padding"), found)?;
    let [left, right] = widths[..] else {
        let message =
            format!("padding {} has {} widths; use (left, right)", value.words(), widths.len());
        found.add(context.path("padding"), "padding-type", message);
        return None;
    };
    Some((left, right))
}

fn read_block(
    dim: &Value,
    size: Option<u64>,
    at: Option<(u64, u64)>,
    context: Context,
    found: &mut Findings,
) -> Option<Block> {
    let start = context.number(dim, START, found);
    let stop = context.number(dim, STOP, found);
    let padding = read_padding(dim, context, found);
    let periodic = context.flag(dim, "periodic", "periodic-type", found);
    let (start, stop, size, (grid_size, grid_rank)) = (start?, stop?, size?, at?);
    if !check_interval(start, stop, size, context, found) {
        return None;
    }
    let (is_first, is_last) = (grid_rank == 0, grid_rank + 1 == grid_size);
    if is_first && start != 0 {
        let message = format!("the first rank starts at {start}; let it start at 0");
        found.add(context.path("start"), "block-first", message);
    }
    if is_last && stop != size {
        let message = format!("the last rank stops at {stop}, the size is {size}; make them equal");
        found.add(context.path("stop"), "block-last", message);
    }
    let (left, right) = padding?;
    let edges = (if is_first { left } else { 0 }, if is_last { right } else { 0 });
    let inner = (left - edges.0, right - edges.1);
    place_padding(Spread { start, stop, inner, edges, periodic }, context, found)
}

fn check_interval(
    start: u64,
    stop: u64,
    size: u64,
    context: Context,
    found: &mut Findings,
) -> bool {
    if stop < start {
        let message = format!("stop {stop} lies before start {start}; use start or more");
        found.add(context.path("stop"), "stop-before-start", message);
    } else if stop > size {
        let hint = if size == stop - start {
            format!(
                " (size {size} looks like the local length; give the length of the whole array)"
            )
        } else {
            String::new()
        };
        let message =
            format!("stop {stop} is greater than size {size}; use at most the size{hint}");
        found.add(context.path("stop"), "stop-outside", message);
    } else {
        return true;
    }
    false
}

/// An interval with its padding, split by where it lies.
#[derive(Clone, Copy)]
struct Spread {
    start: u64,
    stop: u64,
    /// Padding towards neighbours.
    inner: (u64, u64),
    /// Padding at the ends of the array.
    edges: (u64, u64),
    periodic: bool,
}

/// Brings both editions into one form: what is owned, and what is held around it.
fn place_padding(spread: Spread, context: Context, found: &mut Findings) -> Option<Block> {
    let Spread { start, stop, inner, edges, periodic } = spread;
    let wide = |a: u64, b: u64| u128::from(a) + u128::from(b);
    let length = u128::from(stop - start);
    let is_old = context.version == Version::V0_9;
    let (outer, reach) =
        if is_old { (length + wide(inner.0, inner.1), length) } else { (length, length) };
    let beyond = outer + wide(edges.0, edges.1);
    let is_outside =
        periodic && edges != (0, 0) && (is_old || context.extent.map(u128::from) == Some(beyond));
    context.check_length(
        if is_outside { beyond } else { outer },
        "block-buffer",
        "start to stop covers",
        found,
    );
    if is_outside && !is_old {
        let message = format!(
            "start to stop covers {outer} indices, the buffer has {beyond} in dimension {}: its ends lie \
             outside the size; hand over the buffer without them, or count them in size",
            context.at
        );
        found.add_strict(format!("dim_data[{}]", context.at), "block-buffer", message);
    }
    let counted = if is_outside { 0 } else { wide(edges.0, edges.1) };
    let needed = if is_old { counted } else { wide(inner.0, inner.1) + counted };
    if needed > reach {
        let message = format!(
            "padding ({}, {}) is wider than the {reach} indices from start to stop; use less",
            wide(inner.0, edges.0),
            wide(inner.1, edges.1)
        );
        found.add(context.path("padding"), "padding-wide", message);
        return None;
    }
    let (start, stop) = if is_old { (start, stop) } else { (start + inner.0, stop - inner.1) };
    let (halo, boundary) =
        if is_outside { ((inner.0 + edges.0, inner.1 + edges.1), (0, 0)) } else { (inner, edges) };
    let edge = if is_outside { Edge::Outside } else { Edge::Inside };
    Some(Block { start, stop, halo, boundary, periodic, edge })
}

fn read_cyclic(
    dim: &Value,
    size: Option<u64>,
    at: Option<(u64, u64)>,
    context: Context,
    found: &mut Findings,
) -> Option<Rule> {
    let start = context.number(dim, START, found);
    let block = match dim.get("block_size") {
        None => Some(1),
        Some(value) => natural(value, BLOCK_SIZE, &|| context.path("block_size"), found),
    };
    if block == Some(0) {
        let message = "block_size is 0; use 1 or more";
        found.add(context.path("block_size"), "block-size-zero", message);
        return None;
    }
    let (start, block, size, (grid_size, _)) = (start?, block?, size?, at?);
    // An empty rank may say where it would start, or the size, or anything behind it.
    let start = start.min(size);
    if start < size && (start % block > 0 || start / block >= grid_size) {
        let message = format!(
            "start {start} of blocks of {block} over {grid_size} ranks; use a multiple of {block} \
             among the first {grid_size} blocks"
        );
        found.add(context.path("start"), "cyclic-start", message);
        return None;
    }
    let n_owned =
        if start < size { n_owned_cyclic(size, grid_size, start / block, block) } else { 0 };
    context.check_length(u128::from(n_owned), "cyclic-buffer", "this rank has", found);
    Some(Rule::Cyclic { block, start })
}

/// How many indices the coordinate with the `grid_rank`-th first block owns.
#[must_use]
pub fn n_owned_cyclic(size: u64, grid_size: u64, grid_rank: u64, block: u64) -> u64 {
    let (n_blocks, rest) = (size / block, size % block);
    let (n_turns, last) = (n_blocks / grid_size, n_blocks % grid_size);
    let whole = (n_turns + u64::from(grid_rank < last)) * block;
    whole + if grid_rank == last { rest } else { 0 }
}

fn read_lists(
    dim: &Value,
    size: Option<u64>,
    grid_size: Option<u64>,
    context: Context,
    found: &mut Findings,
) -> Option<Rule> {
    let one_to_one = context.flag(dim, "one_to_one", "one-to-one-type", found);
    let path = || context.path("indices");
    let indices: Arc<[i64]> = match dim.get("indices") {
        None => {
            found.add(path(), "field-missing", "required field 'indices' is missing; add it");
            return None;
        }
        Some(Value::Thing(Thing { role: Role::Array(facts), .. })) if facts.shape.len() != 1 => {
            let message = format!("indices of {} dimensions; use one", facts.shape.len());
            found.add(path(), "indices-type", message);
            return None;
        }
        Some(Value::Thing(Thing { role: Role::Array(facts), .. })) => match &facts.numbers {
            Some(numbers) => Arc::clone(numbers),
            None => {
                let message = format!("indices of {}; use integers below 2^63", facts.dtype);
                found.add(path(), "indices-type", message);
                return None;
            }
        },
        Some(other) => listed_indices(other, context, found)?,
    };
    let mut seen = HashSet::with_capacity(indices.len());
    if let Some(index) = indices.iter().find(|index| !seen.insert(**index)) {
        let message = format!("index {index} stands twice; list every index once per rank");
        found.add(path(), "indices-duplicate", message);
    }
    context.check_length(indices.len() as u128, "indices-buffer", "indices lists", found);
    let n_listed = indices.len() as u64;
    // Several ranks have the indices together; one rank has all of them.
    if let Some(size) = size.filter(|n| n_listed > *n || (grid_size == Some(1) && n_listed < *n)) {
        let message = format!("{n_listed} indices on this rank, the size is {size}; make them fit");
        found.add(path(), "indices-total", message);
    }
    Some(Rule::Unstructured { indices, one_to_one })
}

/// A list is no buffer, but it can be understood.
fn listed_indices(value: &Value, context: Context, found: &mut Findings) -> Option<Arc<[i64]>> {
    let path = || context.path("indices");
    let Some(items) = value.items() else {
        let message =
            format!("indices {} is a {}; use a buffer of integers", value.words(), value.kind());
        found.add(path(), "indices-type", message);
        return None;
    };
    found.add_list(path(), "indices-type", "indices is a list; use a buffer of integers");
    let number = |item: &Value| match item {
        Value::Int(number) => Some(*number),
        _ => None,
    };
    if let Some(at) = items.iter().position(|item| number(item).is_none()) {
        let message = format!("index {} is no integer below 2^63; use integers", items[at].words());
        found.add(format!("{}[{at}]", path()), "indices-type", message);
        return None;
    }
    Some(items.iter().filter_map(number).collect())
}
