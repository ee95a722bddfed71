//! Running jobs: block after block, several jobs side by side.
//!
//! The jobs of one sender read the same source lines: to deal out columns in turn, each target
//! takes every other element. So jobs advance together, the one furthest behind first, and each
//! line comes from memory once.

use super::job::{Axis, Block, Job, Kernel};
use super::nest::{Loop, Offset, sum};

/// So many jobs at most advance together.
const SIDE_BY_SIDE: usize = 64;

/// A job with its buffers and its kernel.
#[derive(Debug)]
pub(super) struct Task<'a> {
    pub job: &'a Job,
    pub source: *const u8,
    pub target: *mut u8,
    pub kernel: Kernel,
}

/// Which buffer the tasks have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shared {
    Source,
    Target,
}

struct Cursor<'a> {
    task: &'a Task<'a>,
    turns: Vec<usize>,
    at: Offset,
}

/// Runs all tasks to their end.
///
/// # Safety
/// Every kernel must be sound for every block of its job.
pub(super) unsafe fn run(tasks: &[Task<'_>]) {
    for tasks in tasks.chunks(SIDE_BY_SIDE) {
        let shared = shared(tasks);
        let mut cursors: Vec<_> = tasks.iter().map(Cursor::new).collect();
        while let Some(at) = furthest_behind(&cursors, shared) {
            // SAFETY: as promised by the caller.
            let is_done = unsafe { cursors[at].step() };
            if is_done {
                cursors.remove(at);
            }
        }
    }
}

fn shared(tasks: &[Task<'_>]) -> Shared {
    let is_source = tasks.windows(2).all(|pair| pair[0].source == pair[1].source);
    let is_target = tasks.windows(2).all(|pair| pair[0].target == pair[1].target);
    if is_target && !is_source { Shared::Target } else { Shared::Source }
}

fn furthest_behind(cursors: &[Cursor<'_>], shared: Shared) -> Option<usize> {
    match cursors.len() {
        0 => None,
        1 => Some(0),
        n => (0..n).min_by_key(|&at| cursors[at].address(shared)),
    }
}

impl<'a> Cursor<'a> {
    fn new(task: &'a Task<'a>) -> Self {
        let mut cursor = Self { task, turns: vec![0; task.job.axes.len()], at: (0, 0) };
        cursor.settle();
        cursor
    }

    fn address(&self, shared: Shared) -> usize {
        match shared {
            Shared::Source => self.task.source.addr().wrapping_add_signed(self.at.0),
            Shared::Target => self.task.target.addr().wrapping_add_signed(self.at.1),
        }
    }

    /// Carries out a block; true if it was the last.
    ///
    /// # Safety
    /// As [`run`].
    unsafe fn step(&mut self) -> bool {
        let Task { job, source, target, kernel } = *self.task;
        let [.., rows, along] = job.axes.as_slice() else { return true };
        let [.., row, column] = self.turns.as_slice() else { return true };
        let listed = along.list.as_ref().map(|list| &list.offsets[*column..]);
        let offsets = listed.map_or(&[][..], |rest| &rest[..along.block.min(rest.len())]);
        let block = Block {
            source: source.wrapping_offset(self.at.0),
            target: target.wrapping_offset(self.at.1),
            rows: part(rows, *row),
            along: part(along, *column),
            unit: job.unit,
            offsets,
        };
        // SAFETY: a block of the job, as promised by the caller.
        unsafe { kernel(&block) };
        self.advance()
    }

    fn advance(&mut self) -> bool {
        for (turn, axis) in self.turns.iter_mut().zip(&self.task.job.axes).rev() {
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
        let axes = &self.task.job.axes;
        let inner = axes.len() - 1;
        let offsets = self.turns.iter().zip(axes).enumerate();
        self.at = offsets.fold(self.task.job.start, |at, (depth, (&turn, axis))| {
            // A listed innermost axis is the kernel's to add.
            if depth == inner && axis.list.is_some() { at } else { sum(at, axis.at(turn)) }
        });
    }
}

fn part(axis: &Axis, turn: usize) -> Loop {
    Loop { count: axis.block.min(axis.turns.count - turn), ..axis.turns }
}
