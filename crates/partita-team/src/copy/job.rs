//! A nest cut into blocks, and the kind of kernel that suits them.
//!
//! A kernel copies a small block: `rows` times `along` times a unit. All other loops, and the
//! steps from block to block, belong to the cursor. Blocks are small enough that what they read
//! is still in the cache when the next move wants the other elements of the same lines.

use super::nest::{List, Loop, Nest, Offset, sum};

/// What a kernel works on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'a> {
    pub source: *const u8,
    pub target: *mut u8,
    pub rows: Loop,
    pub along: Loop,
    pub unit: usize,
    /// Replaces `along` in the kind [`Kind::List`].
    pub offsets: &'a [Offset],
}

/// A function that carries out one block.
pub(super) type Kernel = unsafe fn(&Block<'_>);

/// The kind of inner loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Rows of neighbouring bytes; `along` counts bytes.
    Bytes,
    /// Rows of pieces of at least a cache line.
    Pieces,
    /// Rows of elements that are neighbours in the target.
    Gather,
    /// Rows of elements apart in the target.
    Elements,
    /// `along` is fastest in the source, `rows` in the target.
    Tile,
    /// Elements or pieces at listed offsets.
    List,
}

/// A loop of a cursor, taken `block` turns at a time.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    pub turns: Loop,
    pub block: usize,
    /// Offsets of the turns where they follow no rule.
    pub list: Option<List>,
}

impl Axis {
    fn new(turns: Loop, block: usize) -> Self {
        Self { turns, block: block.clamp(1, turns.count), list: None }
    }

    fn listed(list: List, block: usize) -> Self {
        let turns = Loop { count: list.offsets.len(), ..Loop::ONCE };
        Self { list: Some(list), ..Self::new(turns, block) }
    }

    /// Offset of a turn.
    pub fn at(&self, turn: usize) -> Offset {
        self.list.as_ref().map_or_else(|| self.turns.at(turn), |list| list.offsets[turn])
    }

    fn source_step(&self) -> usize {
        self.list.as_ref().map_or(self.turns.source.unsigned_abs(), |list| list.stride)
    }
}

/// A nest with its loops dealt out; the last two axes are the kernel's rows and along.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub start: Offset,
    pub unit: usize,
    pub kind: Kind,
    pub axes: Vec<Axis>,
}

/// Bytes of a cache line.
pub(super) const LINE: usize = 64;
/// A unit from this size on is a row of its own.
const LONG_UNIT: usize = 2048;
/// What a block of a strided pattern spans in the source: stays in the first-level cache.
const SPAN: usize = 16 << 10;
/// What a block of contiguous rows has per row, and a page to cut long units by.
const ROW_BLOCK: usize = 32 << 10;
const PAGE: usize = 4096;
/// Rows in flight at once: independent streams hide the latency of memory.
pub(super) const ROWS_IN_FLIGHT: usize = 4;
/// A block of a transposition has one of these extents in the target and source direction.
pub(super) const TILE_TARGET_BYTES: usize = 512;
pub(super) const TILE_SOURCE: usize = 32;

/// Cuts a nest into one job, or two where a long unit leaves a rest.
pub(super) fn jobs(nest: Nest, put: &mut impl FnMut(Job)) {
    let Nest { start, unit, loops, list } = nest;
    if loops.is_empty() && list.is_none() && unit >= 4 * ROW_BLOCK {
        let pages = unit / PAGE;
        let rows = Loop { count: pages, source: PAGE as isize, target: PAGE as isize };
        let axes = vec![Axis::new(rows, 4 * ROWS_IN_FLIGHT), Axis::new(Loop::bytes(PAGE), PAGE)];
        put(Job { start, unit: 1, kind: Kind::Bytes, axes });
        if unit % PAGE > 0 {
            put(bytes(sum(start, rows.at(pages)), unit % PAGE, Vec::new()));
        }
        return;
    }
    let mut axes: Vec<Axis> = loops.into_iter().map(|turns| Axis::new(turns, 1)).collect();
    if let Some(list) = list {
        let at = axes.partition_point(|axis| axis.source_step() > list.stride);
        axes.insert(at, Axis::listed(list, 1));
    }
    put(deal(start, unit, axes));
}

fn deal(start: Offset, unit: usize, mut axes: Vec<Axis>) -> Job {
    let is_listed = axes.last().is_some_and(|axis| axis.list.is_some());
    if axes.is_empty() || unit >= LONG_UNIT || (unit >= LINE && axes.len() == 1 && !is_listed) {
        return bytes(start, unit, axes);
    }
    if is_listed {
        axes.last_mut().into_iter().for_each(|axis| axis.block = SPAN / LINE);
        let at = axes.len() - 1;
        axes.insert(at, Axis::new(Loop::ONCE, 1));
        return Job { start, unit, kind: Kind::List, axes };
    }
    if unit < LINE
        && let Some(fastest) = transposed(unit, &axes)
    {
        return tile(start, unit, fastest, axes);
    }
    let along = take_along(unit, &mut axes);
    let kind = match unit {
        _ if unit >= LINE => Kind::Pieces,
        _ if along.target == unit as isize => Kind::Gather,
        _ => Kind::Elements,
    };
    let step = along.source.unsigned_abs().max(unit);
    let n_along = (SPAN / step).max(LINE).min(along.count);
    let rows = take_rows(&mut axes, n_along * unit, n_along == along.count);
    axes.extend([rows, Axis::new(along, n_along)]);
    Job { start, unit, kind, axes }
}

fn bytes(start: Offset, unit: usize, mut axes: Vec<Axis>) -> Job {
    let row_bytes = unit.min(ROW_BLOCK);
    let rows = take_rows(&mut axes, row_bytes, unit == row_bytes);
    axes.extend([rows, Axis::new(Loop::bytes(unit), row_bytes)]);
    Job { start, unit: 1, kind: Kind::Bytes, axes }
}

/// The innermost loop as rows, many at a time if they are short and whole.
fn take_rows(axes: &mut Vec<Axis>, row_bytes: usize, is_whole: bool) -> Axis {
    let Some(axis) = axes.pop_if(|axis| axis.list.is_none()) else {
        return Axis::new(Loop::ONCE, 1);
    };
    let n_rows = if is_whole { SPAN / row_bytes.max(1) } else { 0 };
    Axis::new(axis.turns, n_rows.max(ROWS_IN_FLIGHT))
}

/// Where source lines are shared along one loop and target lines along another, the latter.
fn transposed(unit: usize, axes: &[Axis]) -> Option<usize> {
    let (in_source, outer) = axes.split_last()?;
    let step = |axis: &Axis| axis.turns.target;
    let shares = |step: usize| step > 0 && step < LINE;
    if !shares(in_source.source_step()) || step(in_source) < LINE as isize {
        return None;
    }
    let at = (0..outer.len()).filter(|&at| outer[at].list.is_none()).min_by_key(|&at| {
        let step = step(&outer[at]);
        if step == 0 { isize::MAX } else { step }
    })?;
    (shares(step(&outer[at]).unsigned_abs()) && step(&outer[at]) >= unit as isize).then_some(at)
}

fn tile(start: Offset, unit: usize, fastest: usize, mut axes: Vec<Axis>) -> Job {
    let rows = axes.remove(fastest);
    if let Some(along) = axes.last_mut() {
        along.block = TILE_SOURCE.min(along.turns.count);
    }
    let at = axes.len() - 1;
    axes.insert(at, Axis::new(rows.turns, TILE_TARGET_BYTES / unit));
    Job { start, unit, kind: Kind::Tile, axes }
}

/// The loop that is fastest in the source, or else one without gaps in the target.
fn take_along(unit: usize, axes: &mut Vec<Axis>) -> Loop {
    let innermost = axes.len() - 1;
    let dense = axes.iter().position(|axis| axis.turns.target == unit as isize);
    let at = match dense {
        Some(at) if axes[innermost].source_step() >= LINE => at,
        _ => innermost,
    };
    axes.remove(at).turns
}
