//! Running bundles block after block.
//!
//! Bundles advance together, the one furthest behind first, so that lines several of them touch
//! come from memory once.

use super::bundle::{Bundle, Shared, Task};
use super::job::{Axis, Block};
use super::nest::{Loop, Offset, sum};

/// So many bundles at most advance together.
const SIDE_BY_SIDE: usize = 64;

struct Cursor<'a> {
    bundle: &'a Bundle,
    turns: Vec<usize>,
    blocks: Vec<Block<'a>>,
}

/// Runs all bundles to their end.
///
/// # Safety
/// Every kernel must be sound for every block of its jobs.
pub(super) unsafe fn run(bundles: &[Bundle], shared: Shared) {
    for bundles in bundles.chunks(SIDE_BY_SIDE) {
        let mut cursors: Vec<_> = bundles.iter().map(Cursor::new).collect();
        while let Some(at) = furthest_behind(&cursors, shared) {
            // SAFETY: as promised by the caller.
            let is_done = unsafe { cursors[at].step() };
            if is_done {
                cursors.remove(at);
            }
        }
    }
}

fn furthest_behind(cursors: &[Cursor<'_>], shared: Shared) -> Option<usize> {
    match cursors.len() {
        0 => None,
        1 => Some(0),
        n => (0..n).min_by_key(|&at| cursors[at].address(shared)),
    }
}

impl<'a> Cursor<'a> {
    fn new(bundle: &'a Bundle) -> Self {
        let n_axes = bundle.lanes.first().map_or(0, |lane| lane.job.axes.len());
        let mut cursor = Self { bundle, turns: vec![0; n_axes], blocks: Vec::new() };
        cursor.settle();
        cursor
    }

    fn address(&self, shared: Shared) -> usize {
        self.blocks.first().map_or(0, |block| match shared {
            Shared::Source => block.source.addr(),
            Shared::Target => block.target.addr(),
        })
    }

    /// Carries out a block of every lane; true if it was the last.
    ///
    /// # Safety
    /// As [`run`].
    unsafe fn step(&mut self) -> bool {
        // SAFETY: blocks of the jobs, as promised by the caller.
        unsafe { (self.bundle.kernel)(&self.blocks) };
        self.advance()
    }

    fn advance(&mut self) -> bool {
        let Some(first) = self.bundle.lanes.first() else { return true };
        for (turn, axis) in self.turns.iter_mut().zip(&first.job.axes).rev() {
            *turn += axis.block;
            if *turn < axis.turns.count {
                self.settle();
                return false;
            }
            *turn = 0;
        }
        true
    }

    fn settle(&mut self) {
        self.blocks.clear();
        self.blocks.extend(self.bundle.lanes.iter().map(|lane| block(lane, &self.turns)));
    }
}

/// The block of a lane at these turns of its axes.
fn block<'a>(lane: &'a Task, turns: &[usize]) -> Block<'a> {
    let job = &lane.job;
    let inner = job.axes.len() - 1;
    let (rows, along) = (&job.axes[inner - 1], &job.axes[inner]);
    let axes = job.axes.iter().zip(turns).enumerate();
    let at = axes.fold(job.start, |at, (depth, (axis, &turn))| {
        // A listed innermost axis is the kernel's to add.
        if depth == inner && axis.list.is_some() { at } else { sum(at, axis.at(turn)) }
    });
    Block {
        source: lane.source.wrapping_offset(at.0),
        target: lane.target.wrapping_offset(at.1),
        rows: part(rows, turns[inner - 1]),
        along: part(along, turns[inner]),
        unit: job.unit,
        offsets: listed(along, turns[inner]),
    }
}

fn part(axis: &Axis, turn: usize) -> Loop {
    Loop { count: axis.block.min(axis.turns.count - turn), ..axis.turns }
}

fn listed(axis: &Axis, turn: usize) -> &[Offset] {
    let Some(list) = &axis.list else { return &[] };
    let rest = &list.offsets[turn..];
    &rest[..axis.block.min(rest.len())]
}
