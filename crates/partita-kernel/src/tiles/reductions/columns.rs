//! Reductions of the outer loops: neighbours in memory belong to different results.

use super::{Reductions, Shared, combine};
use crate::space::Position;
use crate::threads::divide;
use crate::tiles::reduce::{COLUMN_LEAF, GROUP, Tree};
use crate::tiles::runner::{Run, Runner};

/// Results whose partial ones stay in the first cache.
const WIDE: usize = 2048;

/// Reduces the outer loops; every point of the inner ones has a result.
///
/// # Safety
/// The call's memory may be used.
pub unsafe fn columns(run: &Run<'_>, reductions: &Reductions, n_threads: usize) {
    let (length, n_results) = (run.space.n_outer_points(), run.space.n_inner_points());
    let width = width(run, n_results, length, n_threads);
    let n_tiles = n_results.div_ceil(width);
    let n_groups = length.div_ceil(COLUMN_LEAF * GROUP);
    let row_width = reductions.row(width).width();
    let shared = Shared::new(n_tiles * n_groups, row_width);
    let columns = Columns { run, reductions, length, n_results };
    divide(n_threads, n_tiles * n_groups, &|unit| {
        let (tile, group) = (unit / n_groups, unit % n_groups);
        let first = tile * width;
        let n = width.min(n_results - first);
        let mut tree = Tree::new(reductions.row(n).width());
        // SAFETY: the caller's; every unit is computed once.
        unsafe {
            let partials = columns.group(&mut tree, first, n, group);
            let mut padded = partials.to_vec();
            padded.resize(row_width, 0);
            shared.put(unit, &padded);
        }
    });
    for tile in 0..n_tiles {
        let first = tile * width;
        let n = width.min(n_results - first);
        let row = reductions.row(n);
        let mut tree = Tree::new(row.width());
        let groups = (0..n_groups).map(|g| &shared.get(tile * n_groups + g)[..row.width()]);
        let partials = combine(&mut tree, &row, groups);
        for column in 0..n {
            let at = Position::new(run.space, first + column);
            let n_inputs = run.program.inputs.len();
            // SAFETY: the caller's.
            unsafe {
                reductions.finish(&at, run.space, n_inputs, partials, (n, column), length);
            }
        }
    }
}

/// Results that are computed at once: a tile, or more where memory is read in place, so that it is
/// read in longer stretches. Every result has its own order, which this does not change.
fn width(run: &Run<'_>, n_results: usize, length: usize, n_threads: usize) -> usize {
    let n_units = n_results / WIDE * length.div_ceil(COLUMN_LEAF * GROUP);
    let one_row = run.space.row() == n_results;
    let wide = one_row && n_units >= 2 * n_threads && Runner::new(run).reads_in_place(0, WIDE);
    if wide { WIDE } else { run.tile.min(n_results) }
}

struct Columns<'a> {
    run: &'a Run<'a>,
    reductions: &'a Reductions,
    length: usize,
    n_results: usize,
}

impl Columns<'_> {
    /// What is left of one group of leaves of `n` neighbouring results.
    ///
    /// # Safety
    /// The call's memory may be used.
    unsafe fn group<'t>(
        &self,
        tree: &'t mut Tree,
        first: usize,
        n: usize,
        group: usize,
    ) -> &'t [u8] {
        let mut runner = Runner::new(self.run);
        let row = self.reductions.row(n);
        let mut merge = |left: &mut [u8], right: &[u8]| row.merge(left, right);
        let mut partials = vec![0; row.width()];
        let start = group * COLUMN_LEAF * GROUP;
        let end = self.length.min(start + COLUMN_LEAF * GROUP);
        // Narrow tables: several rows make one tile.
        let at_once = if n == self.n_results { (self.run.tile / n).max(1) } else { 1 };
        for leaf in (start..end).step_by(COLUMN_LEAF) {
            let stop = end.min(leaf + COLUMN_LEAF);
            for at in (leaf..stop).step_by(at_once) {
                let n_rows = at_once.min(stop - at);
                // SAFETY: the caller's.
                unsafe {
                    let position = runner.compute(at * self.n_results + first, n_rows * n);
                    runner.store(&position, n_rows * n);
                    for i in 0..n_rows {
                        self.take(&runner, &mut partials, n, i, at + i, (at + i - leaf) as u64);
                    }
                }
            }
            tree.push(&partials, 0, &mut merge);
        }
        tree.finish(&mut merge).unwrap_or(&[])
    }

    /// Takes one row of the current stretch.
    ///
    /// # Safety
    /// The runner has computed it.
    unsafe fn take(
        &self,
        runner: &Runner<'_>,
        partials: &mut [u8],
        n: usize,
        skip: usize,
        at: usize,
        count: u64,
    ) {
        let mut partial = partials.as_mut_ptr();
        for (reducer, &output) in self.reductions.reducers.iter().zip(&self.reductions.outputs) {
            // SAFETY: the partial results lie beside each other; the caller's.
            unsafe {
                let items = runner.value(output).add(skip * n * reducer.item);
                (reducer.columns)(partial, items, n, at as u64, count);
                partial = partial.add(n * reducer.partial);
            }
        }
    }
}
