//! Do the partitions tile the array? One pass over them, one over the cuts.

use std::collections::HashSet;

use partita_layout::position_of;

use crate::finding::Findings;
use crate::value::{Value, tuple_words};

/// A partition as far as it could be read.
#[derive(Debug)]
pub(crate) struct ReadPartition<'a> {
    pub key: &'a Value,
    pub position: Option<Vec<u64>>,
    pub start: Option<Vec<u64>>,
    pub shape: Option<Vec<u64>>,
    pub entry: &'a Value,
}

/// Notes fields that stand twice; only files can have them.
pub(crate) fn repeated_keys(entries: &[(Value, Value)], found: &mut Findings) {
    let mut seen = HashSet::new();
    for (key, _) in entries {
        if let Value::Text(name) = key
            && !seen.insert(name)
        {
            let message = format!("field {} stands twice; give it once", key.words());
            found.add(key.words(), "field-twice", message);
        }
    }
}

/// C-order number of a position, if it lies inside.
///
/// Unlike [`partita_layout::number_of`] it trusts nothing: a dictionary may name any tiling.
pub(crate) fn number_inside(position: &[u64], tiling: &[u64]) -> Option<u64> {
    if position.len() != tiling.len() || position.iter().zip(tiling).any(|(at, n)| at >= n) {
        return None;
    }
    position.iter().zip(tiling).try_fold(0_u64, |number, (at, n)| {
        number.checked_mul(*n).and_then(|number| number.checked_add(*at))
    })
}

/// The tiling that the positions speak of, where the dictionary names none.
pub(crate) fn derived_tiling(
    value: &Value,
    parts: &[ReadPartition<'_>],
    ndim: usize,
) -> Option<Vec<u64>> {
    if value.get("partition_tiling").is_some() {
        return None;
    }
    let mut tiling = vec![1; ndim];
    for position in parts.iter().filter_map(|part| part.position.as_ref()) {
        for (count, at) in tiling.iter_mut().zip(position) {
            *count = (*count).max(at + 1);
        }
    }
    Some(tiling)
}

/// Partitions in C order of their positions, if every position has exactly one.
pub(crate) fn numbered<'a, 'b>(
    parts: &'b [ReadPartition<'a>],
    tiling: &[u64],
) -> Vec<&'b ReadPartition<'a>> {
    let mut order: Vec<(u64, &ReadPartition<'_>)> = parts
        .iter()
        .filter_map(|part| Some((number_inside(part.position.as_ref()?, tiling)?, part)))
        .collect();
    // Producers mostly list them in order already.
    if !order.is_sorted_by_key(|(number, _)| *number) {
        order.sort_by_key(|(number, _)| *number);
    }
    order.into_iter().map(|(_, part)| part).collect()
}

/// Checks positions, then cuts; gives the bounds of each dimension if they tile it.
pub(crate) fn check(
    shape: &[u64],
    tiling: &[u64],
    parts: &[ReadPartition<'_>],
    found: &mut Findings,
) -> Option<Vec<Vec<u64>>> {
    let before = found.count();
    check_positions(tiling, parts, found);
    let cuts = collect_cuts(tiling, parts, found)?;
    if found.count() > before {
        return None;
    }
    check_draft(shape, tiling, &cuts, found);
    if found.count() > before {
        return None;
    }
    for (dim, own) in cuts.iter().enumerate() {
        check_chain(dim, shape[dim], own, found);
    }
    if found.count() > before {
        return None;
    }
    let bounds = |own: &Vec<(u64, u64)>| {
        let mut stop = 0;
        let stops = own.iter().map(move |(_, length)| {
            stop += length;
            stop
        });
        std::iter::once(0).chain(stops).collect()
    };
    Some(cuts.iter().map(bounds).collect())
}

fn check_positions(tiling: &[u64], parts: &[ReadPartition<'_>], found: &mut Findings) {
    let mut numbers = Vec::with_capacity(parts.len());
    for part in parts {
        let Some(position) = &part.position else { continue };
        if position.len() != tiling.len() || position.iter().zip(tiling).any(|(at, n)| at >= n) {
            let message = format!(
                "position {} lies outside the grid {}; correct it or partition_tiling",
                tuple_words(position),
                tuple_words(tiling)
            );
            found.add(format!("partitions[{}]", part.key.words()), "position-outside", message);
        } else if let Some(number) = number_inside(position, tiling) {
            numbers.push(number);
        }
    }
    if !numbers.is_sorted() {
        numbers.sort_unstable();
    }
    if let Some(pair) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
        let position = tuple_words(&position_of(pair[0], tiling));
        let message = format!("position {position} stands twice; give it once");
        found.add(format!("partitions[{position}]"), "position-twice", message);
    }
    numbers.dedup();
    report_missing(tiling, &numbers, found);
}

/// Names the first positions that have no partition, and counts the rest.
fn report_missing(tiling: &[u64], numbers: &[u64], found: &mut Findings) {
    const MOST: usize = 3;
    let product = tiling.iter().try_fold(1_u128, |product, n| product.checked_mul(u128::from(*n)));
    if product == Some(numbers.len() as u128) {
        return;
    }
    let n_missing = product.map(|product| product - numbers.len() as u128);
    let present: HashSet<u64> = numbers.iter().copied().collect();
    // Some number up to the count is free, so the search is as long as the list.
    let last = numbers.len() as u64 + MOST as u64;
    let free = (0..last).filter(|number| !present.contains(number));
    let free = free.filter(|number| product.is_none_or(|product| u128::from(*number) < product));
    let first: Vec<String> =
        free.take(MOST).map(|number| tuple_words(&position_of(number, tiling))).collect();
    let count = n_missing.map_or("more than 2^128".to_string(), |n| n.to_string());
    let more = if n_missing.is_some_and(|n| n <= first.len() as u128) { "" } else { ", …" };
    let message = format!(
        "the grid {} has partitions at {} positions and none at {count}: [{}{more}]; add them or \
         correct partition_tiling",
        tuple_words(tiling),
        numbers.len(),
        first.join(", ")
    );
    found.add("partitions", "position-missing", message);
}

type Cuts = Vec<Vec<(u64, u64)>>;

/// Start and length of each row of the grid; every partition of a row must agree.
fn collect_cuts(tiling: &[u64], parts: &[ReadPartition<'_>], found: &mut Findings) -> Option<Cuts> {
    if tiling.iter().any(|n| *n > parts.len() as u64) {
        return None;
    }
    let mut cuts: Vec<Vec<Option<(u64, u64)>>> =
        tiling.iter().map(|n| vec![None; *n as usize]).collect();
    for part in parts {
        let (Some(position), Some(start), Some(shape)) = (&part.position, &part.start, &part.shape)
        else {
            continue;
        };
        if position.iter().zip(tiling).any(|(at, n)| at >= n) {
            continue;
        }
        let dims = cuts.iter_mut().zip(position).zip(start.iter().zip(shape));
        for (dim, ((own, at), (start, length))) in dims.enumerate() {
            let known = *own[*at as usize].get_or_insert((*start, *length));
            // A partition without elements lies nowhere; some producers say 0.
            let is_empty = known.1 == 0 && *length == 0;
            if known.1 != *length || (known.0 != *start && !is_empty) {
                report_uneven(part, dim, *at, (*start, *length), known, found);
            }
        }
    }
    cuts.into_iter().map(|own| own.into_iter().collect()).collect()
}

fn report_uneven(
    part: &ReadPartition<'_>,
    dim: usize,
    at: u64,
    (start, length): (u64, u64),
    known: (u64, u64),
    found: &mut Findings,
) {
    let message = format!(
        "start {start} and length {length} in dimension {dim}, but another partition of row {at} \
         has start {} and length {}; cut the array in straight lines",
        known.0, known.1
    );
    found.add(format!("partitions[{}]", part.key.words()), "partitions-uneven", message);
}

/// In the first drafts `shape` was the grid.
fn check_draft(shape: &[u64], tiling: &[u64], cuts: &Cuts, found: &mut Findings) {
    let totals: Vec<u64> = cuts
        .iter()
        .map(|own| own.iter().fold(0_u64, |sum, cut| sum.saturating_add(cut.1)))
        .collect();
    if shape == tiling && totals != shape && totals.iter().zip(shape).all(|(total, n)| total >= n) {
        let message = format!(
            "shape {} is the partition grid, the partitions hold {}; this looks like the 2021-07 \
             draft of the protocol: give the array's extents in shape and the grid in \
             partition_tiling",
            tuple_words(shape),
            tuple_words(&totals)
        );
        found.add("shape", "draft-2021-07", message);
    }
}

/// The rows of the grid must follow each other from 0 to the extent.
fn check_chain(dim: usize, extent: u64, cuts: &[(u64, u64)], found: &mut Findings) {
    let mut stop = 0_u64;
    for (at, (start, length)) in cuts.iter().enumerate() {
        let start = if *length == 0 {
            if *start != stop {
                let message = format!(
                    "the empty row {at} of dimension {dim} starts at {start}; let it start at {stop}"
                );
                found.add_strict("partitions", "start-of-empty", message);
            }
            stop
        } else {
            *start
        };
        if start > stop {
            report_gap(dim, stop, start, found);
        }
        if start < stop {
            let message = format!(
                "overlap: indices [{start}, {}) of dimension {dim} are in row {at} of the grid and \
                 before it; correct start or shape",
                stop.min(start.saturating_add(*length))
            );
            found.add("partitions", "partitions-overlap", message);
        }
        stop = stop.max(start.saturating_add(*length));
    }
    if stop < extent {
        report_gap(dim, stop, extent, found);
    }
    if stop > extent {
        let message = format!(
            "the partitions reach index {stop} of dimension {dim}, its extent is {extent}; correct \
             shape"
        );
        found.add("partitions", "partitions-outside", message);
    }
}

fn report_gap(dim: usize, start: u64, stop: u64, found: &mut Findings) {
    let message = format!(
        "gap: indices [{start}, {stop}) of dimension {dim} are in no partition; correct start or \
         shape"
    );
    found.add("partitions", "partitions-gap", message);
}
