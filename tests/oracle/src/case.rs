//! Cases: layouts described in the plainest terms, and a generator of odd ones.

use std::sync::Arc;

use partita_layout::{
    Block, BlockRule, BoxPiece, GridSpec, Halo, Layout, Map, RanksSpec, Result, Unstructured,
};

use crate::rng::Rng;

/// A layout as the tests describe it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Extents.
    pub shape: Vec<u64>,
    /// One of the two forms.
    pub form: CaseForm,
}

/// The two forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseForm {
    /// Maps on a grid.
    Grid {
        /// One per dimension.
        maps: Vec<CaseMap>,
        /// Axis lengths.
        grid: Vec<u64>,
        /// Rank of each place.
        ranks: Vec<u64>,
        /// Partial axes.
        partial: Vec<usize>,
    },
    /// Boxes (start, shape) by place.
    Boxes {
        /// Boxes of each place.
        pieces: Vec<Vec<(Vec<u64>, Vec<u64>)>>,
    },
}

/// A map as the tests describe it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseMap {
    /// `*`
    Whole,
    /// Blocks by a rule.
    Block {
        /// `first`, `last`, `ceil` or sizes.
        rule: CaseRule,
        /// Halo of each coordinate.
        halos: Vec<(u64, u64)>,
        /// Whether halos wrap.
        periodic: bool,
    },
    /// Blocks in turn.
    Cyclic(u64),
    /// A list per coordinate.
    Lists(Vec<Vec<i64>>),
}

/// How blocks are cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseRule {
    /// Extras to the first.
    First,
    /// Extras to the last.
    Last,
    /// Blocks of `ceil(n / p)`.
    Ceil,
    /// As given.
    Sizes(Vec<u64>),
}

impl Case {
    /// The real layout of the case.
    ///
    /// # Errors
    /// What the layout refuses.
    pub fn layout(&self) -> Result<Layout> {
        match &self.form {
            CaseForm::Grid { maps, grid, ranks, partial } => {
                let spec = GridSpec {
                    maps: maps.iter().map(real_map).collect(),
                    grid: Some(grid.clone()),
                    ranks: Some(RanksSpec::List(ranks.clone())),
                    partial: partial.clone(),
                };
                Layout::new(&self.shape, &spec)
            }
            CaseForm::Boxes { pieces } => {
                let real = |boxes: &Vec<(Vec<u64>, Vec<u64>)>| {
                    boxes.iter().map(|(start, shape)| BoxPiece::new(start, shape)).collect()
                };
                Layout::from_boxes(&self.shape, pieces.iter().map(real).collect(), None)
            }
        }
    }
}

fn real_map(map: &CaseMap) -> Map {
    match map {
        CaseMap::Whole => Map::Whole,
        CaseMap::Cyclic(block) => Map::Cyclic { block: *block },
        CaseMap::Lists(lists) => Map::Unstructured(Arc::new(Unstructured::new(lists))),
        CaseMap::Block { rule, halos, periodic } => Map::Block(Block {
            rule: match rule {
                CaseRule::First => BlockRule::First,
                CaseRule::Last => BlockRule::Last,
                CaseRule::Ceil => BlockRule::Ceil,
                CaseRule::Sizes(sizes) => BlockRule::Sizes(sizes.as_slice().into()),
            },
            halo: Halo::Each(halos.as_slice().into()),
            periodic: *periodic,
        }),
    }
}

/// A small shape of up to four dimensions, zero extents among them.
pub fn shape(rng: &mut Rng) -> Vec<u64> {
    let ndim = [0, 1, 1, 1, 2, 2, 2, 3, 3, 4][rng.between(0, 9) as usize];
    let longest = [0, 40, 12, 6, 4][ndim];
    (0..ndim).map(|_| if rng.one_in(12) { 0 } else { rng.between(1, longest) }).collect()
}

/// A layout over a shape; `labels` has the names of the indices where they are not `0..n`.
pub fn layout(rng: &mut Rng, shape: &[u64], labels: &[Option<Vec<i64>>]) -> Case {
    let any_labels = labels.iter().any(Option::is_some);
    if !any_labels && rng.one_in(6) {
        let pieces = if rng.one_in(3) { loose_boxes(rng, shape) } else { tiles(rng, shape) };
        return Case { shape: shape.to_vec(), form: CaseForm::Boxes { pieces } };
    }
    let is_list = |dim: usize| labels[dim].is_some();
    let kinds: Vec<u64> =
        (0..shape.len()).map(|d| if is_list(d) { 7 } else { rng.between(0, 7) }).collect();
    let n_distributed = kinds.iter().filter(|kind| **kind > 0).count();
    let n_extra = if rng.one_in(3) { rng.between(0, 2) as usize } else { 0 };
    let n_axes = n_distributed + n_extra;
    let grid: Vec<u64> =
        (0..n_axes).map(|_| rng.between(1, if n_axes > 2 { 2 } else { 4 })).collect();
    let (partial, axes) = axes(rng, &kinds, &grid);
    let maps = (0..shape.len()).map(|dim| {
        let length = axes[dim].map_or(1, |axis| grid[axis]);
        map(rng, kinds[dim], shape[dim], length, labels[dim].as_deref())
    });
    let maps = maps.collect();
    let n_ranks: u64 = grid.iter().product();
    let first = if rng.one_in(3) { rng.between(0, 5) } else { 0 };
    let mut ranks: Vec<u64> = (first..first + n_ranks).collect();
    if rng.one_in(3) {
        rng.shuffle(&mut ranks);
    }
    Case { shape: shape.to_vec(), form: CaseForm::Grid { maps, grid, ranks, partial } }
}

/// Partial axes, and the axis of each dimension, by the rule in the documentation.
fn axes(rng: &mut Rng, kinds: &[u64], grid: &[u64]) -> (Vec<usize>, Vec<Option<usize>>) {
    let ndim = kinds.len();
    let mut axes = vec![None; ndim];
    if grid.len() == ndim {
        for dim in 0..ndim {
            axes[dim] = (kinds[dim] > 0).then_some(dim);
        }
        let free = (0..ndim).filter(|axis| kinds[*axis] == 0);
        let partial = free.filter(|_| rng.one_in(2)).collect();
        return (partial, axes);
    }
    let n_distributed = kinds.iter().filter(|kind| **kind > 0).count();
    let mut all: Vec<usize> = (0..grid.len()).collect();
    rng.shuffle(&mut all);
    let n_partial = rng.between(0, (grid.len() - n_distributed) as u64) as usize;
    let mut partial = all[..n_partial].to_vec();
    partial.sort_unstable();
    let mut free = (0..grid.len()).filter(|axis| !partial.contains(axis));
    for dim in (0..ndim).filter(|dim| kinds[*dim] > 0) {
        axes[dim] = free.next();
    }
    (partial, axes)
}

fn map(rng: &mut Rng, kind: u64, extent: u64, length: u64, labels: Option<&[i64]>) -> CaseMap {
    match kind {
        0 => CaseMap::Whole,
        1 | 2 => CaseMap::Cyclic(if rng.one_in(8) { u64::MAX } else { rng.between(1, 5) }),
        7 => {
            let plain: Vec<i64> = (0..extent as i64).collect();
            CaseMap::Lists(lists(rng, labels.unwrap_or(&plain), length))
        }
        _ => {
            let rule = match rng.between(0, 3) {
                0 => CaseRule::First,
                1 => CaseRule::Last,
                2 => CaseRule::Ceil,
                _ => CaseRule::Sizes(sizes(rng, extent, length)),
            };
            let (halos, periodic) = halos(rng, length);
            CaseMap::Block { rule, halos, periodic }
        }
    }
}

fn halos(rng: &mut Rng, length: u64) -> (Vec<(u64, u64)>, bool) {
    if rng.one_in(2) {
        return (vec![(0, 0); length as usize], rng.one_in(8));
    }
    let widest = if rng.one_in(4) { 15 } else { 2 };
    let same = (rng.between(0, widest), rng.between(0, widest));
    let each = rng.one_in(3);
    let halos = (0..length)
        .map(|_| if each { (rng.between(0, widest), rng.between(0, widest)) } else { same })
        .collect();
    (halos, rng.one_in(2))
}

fn sizes(rng: &mut Rng, extent: u64, length: u64) -> Vec<u64> {
    let mut cuts: Vec<u64> = (1..length).map(|_| rng.between(0, extent)).collect();
    cuts.extend([0, extent]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

fn lists(rng: &mut Rng, labels: &[i64], length: u64) -> Vec<Vec<i64>> {
    let mut labels = labels.to_vec();
    rng.shuffle(&mut labels);
    let mut lists = vec![Vec::new(); length as usize];
    let shares = rng.one_in(3);
    for label in labels {
        let owner = rng.between(0, length - 1);
        lists[owner as usize].push(label);
        let twin = rng.between(0, length - 1);
        if shares && twin != owner && rng.one_in(3) {
            lists[twin as usize].push(label);
        }
    }
    lists
}

/// A rectilinear tiling whose tiles have any owner, in any order.
fn tiles(rng: &mut Rng, shape: &[u64]) -> Vec<Vec<(Vec<u64>, Vec<u64>)>> {
    let mut boxes = vec![(vec![], vec![])];
    for &extent in shape {
        let n_cuts = rng.between(1, 3);
        let lengths = sizes(rng, extent, n_cuts);
        let mut next = Vec::new();
        for (start, lens) in &boxes {
            let mut at = 0;
            for &length in &lengths {
                let (mut s, mut l): (Vec<u64>, Vec<u64>) = (start.clone(), lens.clone());
                s.push(at);
                l.push(length);
                next.push((s, l));
                at += length;
            }
        }
        boxes = next;
    }
    rng.shuffle(&mut boxes);
    let mut pieces = vec![Vec::new(); rng.between(1, 5) as usize];
    for tile in boxes {
        let owner = rng.between(0, pieces.len() as u64 - 1) as usize;
        pieces[owner].push(tile);
    }
    pieces
}

/// A box per rank, anywhere: overlaps and gaps.
fn loose_boxes(rng: &mut Rng, shape: &[u64]) -> Vec<Vec<(Vec<u64>, Vec<u64>)>> {
    let n_ranks = rng.between(1, 5);
    (0..n_ranks)
        .map(|_| {
            let ends = shape.iter().map(|&n| {
                let (a, b) = (rng.between(0, n), rng.between(0, n));
                (a.min(b), a.max(b) - a.min(b))
            });
            vec![ends.unzip()]
        })
        .collect()
}

/// A pair of layouts over one shape, with the same names of indices.
#[must_use]
pub fn pair(seed: u64) -> (Case, Case) {
    let mut rng = Rng::new(seed);
    let shape = shape(&mut rng);
    let labels: Vec<Option<Vec<i64>>> =
        shape.iter().map(|&extent| rng.one_in(20).then(|| odd_labels(&mut rng, extent))).collect();
    let source = layout(&mut rng, &shape, &labels);
    let target = if rng.one_in(8) { source.clone() } else { layout(&mut rng, &shape, &labels) };
    (source, target)
}

/// Distinct integers, negative and far apart ones among them.
fn odd_labels(rng: &mut Rng, extent: u64) -> Vec<i64> {
    let step = if rng.one_in(3) { 1 << 40 } else { 7 };
    (0..extent as i64).map(|k| (k - extent as i64 / 2) * step + (k % 3)).collect()
}
