//! Reductions of the inner loops: neighbours in memory belong to one result.

use super::leaf::Leaf;
use super::{Reductions, Shared, combine};
use crate::space::Position;
use crate::threads::divide;
use crate::tiles::reduce::{GROUP, LEAF, STREAMS, Tree};
use crate::tiles::runner::{Run, Runner};

/// Reduces the inner loops; every point of the outer ones has a result.
///
/// # Safety
/// The call's memory may be used.
pub unsafe fn rows(run: &Run<'_>, reductions: &Reductions, n_threads: usize) {
    let (n_results, length) = (run.space.n_outer_points(), run.space.n_inner_points());
    let rows = Rows { run, reductions, length, shared: Shared::new(0, 0) };
    let n_groups = length.div_ceil(LEAF * GROUP);
    if n_groups <= 1 {
        // Enough results per piece that a piece is worth a thread.
        let per_piece = (1_usize << 16).div_ceil(length.max(1));
        let n_pieces = n_results.div_ceil(per_piece);
        return divide(n_threads, n_pieces, &|piece| {
            let first = piece * per_piece;
            // SAFETY: the caller's; pieces have results of their own.
            unsafe { rows.results(first, per_piece.min(n_results - first)) };
        });
    }
    let shared = Shared::new(n_results * n_groups, reductions.row(1).width());
    let rows = Rows { shared, ..rows };
    divide(n_threads, n_results * n_groups, &|unit| {
        let (result, group) = (unit / n_groups, unit % n_groups);
        let (mut runner, mut leaf) = (Runner::new(run), Leaf::new(reductions));
        let mut tree = Tree::new(reductions.row(1).width());
        // SAFETY: the caller's; every unit is computed once.
        unsafe {
            let partials = rows.group(&mut runner, &mut leaf, &mut tree, result, group);
            rows.shared.put(unit, partials);
        }
    });
    let mut tree = Tree::new(reductions.row(1).width());
    for result in 0..n_results {
        let groups = (0..n_groups).map(|g| rows.shared.get(result * n_groups + g));
        let partials = combine(&mut tree, &reductions.row(1), groups);
        let at = Position::new(run.space, result * length);
        let n_inputs = run.program.inputs.len();
        // SAFETY: the caller's.
        unsafe { reductions.finish(&at, run.space, n_inputs, partials, (1, 0), length) };
    }
}

/// Bytes at most that are kept until all groups are computed.
pub fn scratch_bytes(partial_bytes: usize, (n_results, length): (usize, usize)) -> usize {
    let n_groups = length.div_ceil(LEAF * GROUP);
    let n_units = if n_groups > 1 { n_results.saturating_mul(n_groups) } else { 0 };
    n_units.saturating_mul(partial_bytes)
}

struct Rows<'a> {
    run: &'a Run<'a>,
    reductions: &'a Reductions,
    length: usize,
    shared: Shared,
}

impl Rows<'_> {
    /// Whole results, none longer than a group.
    ///
    /// # Safety
    /// The call's memory may be used.
    unsafe fn results(&self, first: usize, n: usize) {
        let (run, length) = (self.run, self.length);
        let n_inputs = run.program.inputs.len();
        let (mut runner, mut leaf) = (Runner::new(run), Leaf::new(self.reductions));
        let mut tree = Tree::new(self.reductions.row(1).width());
        // Longer rows have several leaves, whatever the tile.
        let at_once = if length > LEAF { 1 } else { run.tile / length.max(1) };
        let mut result = first;
        while result < first + n {
            // SAFETY: the caller's.
            unsafe {
                if at_once > 1 {
                    let n_short = at_once.min(first + n - result);
                    self.short(&mut runner, &mut leaf, result, n_short);
                    result += n_short;
                    continue;
                }
                let partials = self.group(&mut runner, &mut leaf, &mut tree, result, 0);
                let at = Position::new(run.space, result * length);
                self.reductions.finish(&at, run.space, n_inputs, partials, (1, 0), length);
            }
            result += 1;
        }
    }

    /// Several results from one tile.
    ///
    /// # Safety
    /// The call's memory may be used.
    unsafe fn short(&self, runner: &mut Runner<'_>, leaf: &mut Leaf<'_>, first: usize, n: usize) {
        let (run, length) = (self.run, self.length);
        // SAFETY: the caller's.
        unsafe {
            let at = runner.compute(first * length, n * length);
            runner.store(&at, n * length);
            for i in 0..n {
                leaf.start();
                leaf.add(runner, i * length, length, 0);
                let at = Position::new(run.space, (first + i) * length);
                let n_inputs = run.program.inputs.len();
                self.reductions.finish(&at, run.space, n_inputs, leaf.end(), (1, 0), length);
            }
        }
    }

    /// Whole leaves of the current stretch, several at once: memory gives more when several places
    /// are read in turns. Says how many values were taken.
    ///
    /// # Safety
    /// The runner has computed `n` values, the first of number `at`.
    unsafe fn streams(&self, runner: &Runner<'_>, tree: &mut Tree, at: usize, n: usize) -> usize {
        let row = self.reductions.row(1);
        let mut merge = |left: &mut [u8], right: &[u8]| row.merge(left, right);
        let width = row.width();
        let mut empty = Leaf::new(self.reductions);
        empty.start();
        let mut partials = empty.end().repeat(STREAMS);
        let taken = n / (LEAF * STREAMS) * LEAF * STREAMS;
        for first in (0..taken).step_by(LEAF * STREAMS) {
            let mut beside = 0;
            for (reducer, &output) in self.reductions.reducers.iter().zip(&self.reductions.outputs)
            {
                // SAFETY: the partial results of the leaves lie a width apart; the caller's.
                unsafe {
                    let items = runner.value(output).add(first * reducer.item);
                    let partial = partials.as_mut_ptr().add(beside);
                    (reducer.leaves)(items, (at + first) as u64, partial, width);
                }
                beside += reducer.partial;
            }
            partials.chunks_exact(width).for_each(|partial| tree.push(partial, 0, &mut merge));
        }
        taken
    }

    /// What is left of one group of leaves of one result.
    ///
    /// # Safety
    /// The call's memory may be used.
    unsafe fn group<'t>(
        &self,
        runner: &mut Runner<'_>,
        leaf: &mut Leaf<'_>,
        tree: &'t mut Tree,
        result: usize,
        group: usize,
    ) -> &'t [u8] {
        let row = self.reductions.row(1);
        let mut merge = |left: &mut [u8], right: &[u8]| row.merge(left, right);
        let first = group * LEAF * GROUP;
        let end = self.length.min(first + LEAF * GROUP);
        tree.clear();
        let mut from = first;
        if runner.reads_in_place(result * self.length + first, end - first) {
            // SAFETY: the caller's; the runner says that all values lie in one row.
            unsafe {
                runner.compute(result * self.length + first, end - first);
                from += self.streams(runner, tree, first, end - first);
            }
        }
        for start in (from..end).step_by(LEAF) {
            let stop = end.min(start + LEAF);
            leaf.start();
            for at in (start..stop).step_by(self.run.tile) {
                let n = self.run.tile.min(stop - at);
                // SAFETY: the caller's.
                unsafe {
                    let position = runner.compute(result * self.length + at, n);
                    runner.store(&position, n);
                    leaf.add(runner, 0, n, at);
                }
            }
            tree.push(leaf.end(), 0, &mut merge);
        }
        tree.finish(&mut merge).unwrap_or(&[])
    }
}
