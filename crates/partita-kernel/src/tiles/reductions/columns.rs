//! Reductions of the outer loops: neighbours in memory belong to different results.

use super::{Reductions, Shared, combine};
use crate::space::Position;
use crate::threads::divide;
use crate::tiles::reduce::{COLUMN_LEAF, GROUP, Tree};
use crate::tiles::runner::{Run, Runner};

/// Results whose partial ones stay in the first cache.
const WIDE: usize = 2048;

/// With so many tiles for each thread, every tile is one thread's: nothing is kept between.
const TILES_PER_THREAD: usize = 4;

/// Reduces the outer loops; every point of the inner ones has a result.
///
/// # Safety
/// The call's memory may be used.
pub unsafe fn columns(run: &Run<'_>, reductions: &Reductions, n_threads: usize) {
    let (length, n_results) = (run.space.n_outer_points(), run.space.n_inner_points());
    let width = width(run, n_results, length, n_threads);
    let n_tiles = n_results.div_ceil(width);
    let n_groups = n_groups(length);
    let columns = Columns { run, reductions, length, n_results, width };
    if !shares(n_tiles, n_groups, n_threads) {
        return divide(n_threads, n_tiles, &|tile| {
            // SAFETY: the caller's; tiles have results of their own.
            unsafe { columns.results(tile) };
        });
    }
    let row_width = reductions.row(width).width();
    let shared = Shared::new(n_tiles * n_groups, row_width);
    divide(n_threads, n_tiles * n_groups, &|unit| {
        let (first, n) = columns.part(unit / n_groups);
        let mut tree = Tree::new(reductions.row(n).width());
        // SAFETY: the caller's; every unit is computed once.
        unsafe {
            let partials = columns.group(&mut tree, first, n, unit % n_groups);
            let mut padded = partials.to_vec();
            padded.resize(row_width, 0);
            shared.put(unit, &padded);
        }
    });
    for tile in 0..n_tiles {
        let row = reductions.row(columns.part(tile).1);
        let mut tree = Tree::new(row.width());
        let groups = (0..n_groups).map(|g| &shared.get(tile * n_groups + g)[..row.width()]);
        let partials = combine(&mut tree, &row, groups);
        // SAFETY: the caller's.
        unsafe { columns.finish(tile, partials) };
    }
}

/// Bytes at most that are kept until all groups are computed.
pub fn scratch_bytes(
    partial_bytes: usize,
    (n_results, length): (usize, usize),
    tile: usize,
    n_threads: usize,
) -> usize {
    let of_width = |width: usize| {
        let (n_tiles, n_groups) = (n_results.div_ceil(width), n_groups(length));
        let is_shared = shares(n_tiles, n_groups, n_threads);
        let n_units = if is_shared { n_tiles * n_groups } else { 0 };
        n_units.saturating_mul(width * partial_bytes)
    };
    let narrow = of_width(tile.min(n_results).max(1));
    if n_results < WIDE { narrow } else { narrow.max(of_width(WIDE)) }
}

fn n_groups(length: usize) -> usize {
    length.div_ceil(COLUMN_LEAF * GROUP)
}

/// Whether the groups of a tile go to several threads.
fn shares(n_tiles: usize, n_groups: usize, n_threads: usize) -> bool {
    n_groups > 1 && n_tiles < TILES_PER_THREAD * n_threads
}

/// Results that are computed at once: a tile, or more where memory is read in place, so that it is
/// read in longer stretches. Every result has its own order, which this does not change.
fn width(run: &Run<'_>, n_results: usize, length: usize, n_threads: usize) -> usize {
    let n_units = n_results / WIDE * n_groups(length);
    let one_row = run.space.row() == n_results;
    let wide = one_row && n_units >= 2 * n_threads && Runner::new(run).reads_in_place(0, WIDE);
    if wide { WIDE } else { run.tile.min(n_results) }
}

struct Columns<'a> {
    run: &'a Run<'a>,
    reductions: &'a Reductions,
    length: usize,
    n_results: usize,
    /// Results of a tile.
    width: usize,
}

impl Columns<'_> {
    /// The first result of a tile, and how many it has.
    fn part(&self, tile: usize) -> (usize, usize) {
        let first = tile * self.width;
        (first, self.width.min(self.n_results - first))
    }

    /// All results of a tile.
    ///
    /// # Safety
    /// The call's memory may be used.
    unsafe fn results(&self, tile: usize) {
        let (first, n) = self.part(tile);
        let row = self.reductions.row(n);
        let (mut tree, mut all) = (Tree::new(row.width()), Tree::new(row.width()));
        let mut merge = |left: &mut [u8], right: &[u8]| row.merge(left, right);
        for group in 0..n_groups(self.length) {
            tree.clear();
            // SAFETY: the caller's.
            let partials = unsafe { self.group(&mut tree, first, n, group) };
            all.push(partials, 0, &mut merge);
        }
        // SAFETY: the caller's.
        unsafe { self.finish(tile, all.finish(&mut merge).unwrap_or(&[])) };
    }

    /// Writes the results of a tile.
    ///
    /// # Safety
    /// The outputs may be written.
    unsafe fn finish(&self, tile: usize, partials: &[u8]) {
        let (first, n) = self.part(tile);
        let (space, n_inputs) = (self.run.space, self.run.program.inputs.len());
        for column in 0..n {
            let at = Position::new(space, first + column);
            // SAFETY: the caller's.
            unsafe {
                self.reductions.finish(&at, space, n_inputs, partials, (n, column), self.length);
            }
        }
    }

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
