//! From run lists to nests.
//!
//! A few runs in a dimension become one nest each. Long lists, as unstructured maps give, are
//! grouped by shape: runs that differ only in where they start are turns of one loop, so that the
//! price of a nest is paid per shape and not per run.

use std::collections::HashMap;
use std::sync::Arc;

use partita_layout::{Level, Run};

use super::Region;
use super::nest::{List, Loop, Nest, Offset, sum};

/// Up to so many runs in a dimension are kept apart.
const FEW_RUNS: usize = 8;

/// Runs of one dimension that differ in their starts only.
#[derive(Debug)]
struct Group {
    loops: [Loop; 3],
    starts: Arc<[Offset]>,
    stride: usize,
}

/// All nests of a region between buffers with these strides in bytes.
pub(super) fn nests(region: Region<'_>, source: &[isize], target: &[isize]) -> Vec<Nest> {
    assert!(
        source.len() == region.runs.len() && target.len() == region.runs.len(),
        "a region of {} dimensions needs as many strides on each side",
        region.runs.len()
    );
    let dimensions: Vec<_> = region
        .runs
        .iter()
        .zip(source.iter().zip(target))
        .map(|(runs, (&source, &target))| groups(runs, (source, target)))
        .collect();
    let mut nests = Vec::new();
    choose(&dimensions, &mut Vec::new(), &mut |chosen| {
        spread(region.item_bytes, chosen, &mut nests);
    });
    nests
}

fn groups(runs: &[Run], strides: Offset) -> Vec<Group> {
    let mut shapes: Vec<([Level; 3], Vec<Offset>)> = Vec::new();
    let mut known = HashMap::new();
    for run in runs {
        let start = scale(strides, run.source as i64, run.target as i64);
        let is_last = shapes.last().is_some_and(|(levels, _)| *levels == run.levels);
        let at = match is_last {
            _ if runs.len() <= FEW_RUNS => shapes.len(),
            true => shapes.len() - 1,
            false => *known.entry(run.levels).or_insert(shapes.len()),
        };
        match shapes.get_mut(at) {
            Some((_, starts)) => starts.push(start),
            None => shapes.push((run.levels, vec![start])),
        }
    }
    let stride = strides.0.unsigned_abs();
    shapes
        .into_iter()
        .map(|(levels, starts)| Group {
            loops: levels.map(|level| to_loop(level, strides)),
            starts: starts.into(),
            stride,
        })
        .collect()
}

fn scale(strides: Offset, source: i64, target: i64) -> Offset {
    (strides.0.wrapping_mul(source as isize), strides.1.wrapping_mul(target as isize))
}

fn to_loop(level: Level, strides: Offset) -> Loop {
    let (source, target) = scale(strides, level.source_step, level.target_step);
    Loop { count: level.count as usize, source, target }
}

/// Every way to take one group per dimension.
fn choose<'a>(
    dimensions: &'a [Vec<Group>],
    chosen: &mut Vec<&'a Group>,
    put: &mut impl FnMut(&[&'a Group]),
) {
    let Some((first, rest)) = dimensions.split_first() else { return put(chosen) };
    for group in first {
        chosen.push(group);
        choose(rest, chosen, put);
        chosen.pop();
    }
}

/// One nest per start; the longest list of starts stays a list.
fn spread(item_bytes: usize, chosen: &[&Group], nests: &mut Vec<Nest>) {
    let loops: Vec<Loop> = chosen.iter().flat_map(|group| group.loops).collect();
    let longest = (0..chosen.len()).max_by_key(|&at| chosen[at].starts.len());
    let list = longest.map(|at| chosen[at]).filter(|group| group.starts.len() > 1);
    let list = list.map(|group| List { offsets: group.starts.clone(), stride: group.stride });
    let mut starts: Vec<Offset> = vec![(0, 0)];
    for (at, group) in chosen.iter().enumerate() {
        if list.is_none() || longest != Some(at) {
            let pairs = starts.iter().flat_map(|&a| group.starts.iter().map(move |&b| sum(a, b)));
            starts = pairs.collect();
        }
    }
    nests.extend(
        starts
            .into_iter()
            .filter_map(|start| Nest::new(start, item_bytes, loops.clone(), list.clone())),
    );
}
