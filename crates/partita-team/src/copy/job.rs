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

/// A function that carries out a block of each lane of a bundle.
///
/// The blocks have the same kind, unit and counts.
pub(super) type Kernel = unsafe fn(&[Block<'_>]);

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
    /// `rows` is fastest in the source, `along` in the target.
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
    /// Whether both sides take the same steps.
    pub fn steps_alike(&self) -> bool {
        let is_alike = |offset: &Offset| offset.0 == offset.1;
        match &self.list {
            Some(list) => list.offsets.iter().all(is_alike),
            None => self.turns.count <= 1 || self.turns.source == self.turns.target,
        }
    }

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

impl Job {
    /// The turns of the innermost axis from `turn` on.
    pub fn from(&self, turn: usize) -> Self {
        let mut job = self.clone();
        if let Some(axis) = job.axes.last_mut() {
            job.start = sum(job.start, axis.at(turn));
            axis.turns.count -= turn;
            axis.block = axis.block.min(axis.turns.count);
        }
        job
    }

    /// Keeps the first turns of the innermost axis.
    pub fn cut(&mut self, count: usize) {
        if let Some(axis) = self.axes.last_mut() {
            axis.turns.count = count;
            axis.block = axis.block.min(count);
        }
    }
}

/// Bytes of a cache line.
pub(super) const LINE: usize = 64;
/// A unit from this size on is a row of its own.
const LONG_UNIT: usize = 2048;
/// Pieces further apart than this are rows, not parts of one.
const PAGE: usize = 4096;
/// A single long row is cut into rows of this size.
const ROW_BYTES: usize = 32 << 10;
/// What a block of a pattern with gaps spans in a source row: stays in the first-level cache.
const SPAN: usize = 4 << 10;
/// The same where target rows do not start at cache lines.
const BROKEN_SPAN: usize = 64 << 10;
/// The same for contiguous rows, which nobody reads again.
const BYTES_SPAN: usize = 32 << 10;
/// So much of short rows is one block.
const ROWS_SPAN: usize = 16 << 10;
/// Rows in flight at once: independent streams hide the latency of memory.
pub(super) const ROWS_IN_FLIGHT: usize = 4;
/// The extents of a transposed block, in the order of the target and of the source.
pub(super) const TILE_TARGET_BYTES: usize = 512;
pub(super) const TILE_SOURCE: usize = 64;

/// Cuts a nest into one job, or two where a long loop leaves a rest.
pub(super) fn jobs(nest: Nest, put: &mut impl FnMut(Job)) {
    let Nest { start, unit, loops, list } = nest;
    let mut axes: Vec<Axis> = loops.into_iter().map(|turns| Axis::new(turns, 1)).collect();
    if let Some(list) = list {
        let at = axes.partition_point(|axis| axis.source_step() > list.stride);
        axes.insert(at, Axis::listed(list, 1));
    }
    let is_listed = axes.last().is_some_and(|axis| axis.list.is_some());
    let is_row = |axis: &Axis| axis.list.is_none() && axis.source_step() >= PAGE;
    let is_one_row = axes.is_empty() || (axes.len() == 1 && unit >= LINE && is_row(&axes[0]));
    if is_one_row || unit >= LONG_UNIT {
        return put_rows(
            Inner { start, unit: 1, kind: Kind::Bytes, along: Loop::bytes(unit) },
            axes,
            put,
        );
    }
    if is_listed {
        return put(listed(start, unit, axes));
    }
    if unit < LINE
        && let Some(fastest) = transposed(unit, &axes)
    {
        return put(tile(start, unit, fastest, axes));
    }
    let along = take_along(unit, &mut axes);
    let kind = match unit {
        _ if unit >= LINE => Kind::Pieces,
        _ if along.target == unit as isize => Kind::Gather,
        _ => Kind::Elements,
    };
    put_rows(Inner { start, unit, kind, along }, axes, put);
}

/// What is left of a nest once its outer loops are taken away.
#[derive(Debug, Clone, Copy)]
struct Inner {
    start: Offset,
    unit: usize,
    kind: Kind,
    along: Loop,
}

/// Deals out rows; a single long row is cut into several so that they can be in flight at once.
fn put_rows(inner: Inner, mut axes: Vec<Axis>, put: &mut impl FnMut(Job)) {
    let Inner { start, unit, kind, along } = inner;
    let step = along.source.unsigned_abs().max(unit);
    let row = (ROW_BYTES / step).max(1).next_multiple_of(LINE);
    if axes.iter().all(|axis| axis.list.is_some()) && along.count >= 2 * ROWS_IN_FLIGHT * row {
        let (source, target) = along.at(row);
        let rows = Loop { count: along.count / row, source, target };
        let whole = Inner { along: Loop { count: row, ..along }, ..inner };
        let rest = Loop { count: along.count % row, ..along };
        if rest.count > 0 {
            let start = sum(start, rows.at(rows.count));
            put_rows(Inner { start, along: rest, ..inner }, axes.clone(), put);
        }
        axes.push(Axis::new(rows, 1));
        return put_rows(whole, axes, put);
    }
    let n_along = turns_at_once(&inner, &axes);
    let n_rows = if kind == Kind::Bytes || kind == Kind::Pieces { ROWS_IN_FLIGHT } else { 1 };
    let n_short = if n_along == along.count { ROWS_SPAN / (n_along * step) } else { 0 };
    let rows = axes.pop_if(|axis| axis.list.is_none()).map_or(Loop::ONCE, |axis| axis.turns);
    axes.extend([Axis::new(rows, n_rows.max(n_short)), Axis::new(along, n_along)]);
    put(Job { start, unit, kind, axes });
}

/// How much of a row belongs to a block: whole lines of the target, if they stay together.
fn turns_at_once(inner: &Inner, axes: &[Axis]) -> usize {
    let Inner { start, unit, kind, along } = *inner;
    let step = along.source.unsigned_abs().max(unit);
    let is_whole = |bytes: isize| bytes.unsigned_abs().is_multiple_of(LINE);
    let is_aligned = is_whole(start.1) && axes.iter().all(|axis| is_whole(axis.turns.target));
    let span = match kind {
        Kind::Bytes => BYTES_SPAN,
        _ if is_aligned => SPAN,
        // Each block ends in broken lines: better fewer of them.
        _ => BROKEN_SPAN,
    };
    let whole_lines = LINE >> unit.trailing_zeros().min(6);
    (span / step).max(1).next_multiple_of(whole_lines).min(along.count)
}

fn listed(start: Offset, unit: usize, mut axes: Vec<Axis>) -> Job {
    axes.last_mut().into_iter().for_each(|axis| axis.block = SPAN / LINE);
    let at = axes.len() - 1;
    axes.insert(at, Axis::new(Loop::ONCE, 1));
    Job { start, unit, kind: Kind::List, axes }
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

/// Rows follow the source and blocks the target, whose lines are then finished soonest.
fn tile(start: Offset, unit: usize, fastest: usize, mut axes: Vec<Axis>) -> Job {
    let along = axes.remove(fastest);
    if let Some(rows) = axes.last_mut() {
        rows.block = TILE_SOURCE.min(rows.turns.count);
    }
    axes.push(Axis::new(along.turns, TILE_TARGET_BYTES / unit));
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
