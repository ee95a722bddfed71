//! Programs with reductions: along rows or along columns.

use super::reduce::{COLUMN_LEAF, GROUP, LEAF, Reducer, Row, Tree, find};
use super::runner::{Run, Runner};
use crate::math::Level;
use crate::program::{Action, Program, Scalar};
use crate::space::{Position, Space};
use crate::threads::divide;

/// Leaves that are read in turns.
const STREAMS: usize = 4;

/// The reductions of a program: which outputs, how, and the variances' corrections.
pub struct Reductions {
    reducers: Vec<Reducer>,
    outputs: Vec<usize>,
    corrections: Vec<f64>,
}

impl Reductions {
    /// Those of a call.
    pub fn new(program: &Program, scalars: &[Scalar], level: Level) -> Reductions {
        let mut all =
            Reductions { reducers: Vec::new(), outputs: Vec::new(), corrections: Vec::new() };
        for (output, what) in program.outputs.iter().enumerate() {
            if let Action::Reduce(reduction) = what.action {
                all.reducers.push(find(reduction, program.dtype(what.value), level));
                all.outputs.push(output);
                let bytes = scalars.get(what.correction as usize).map_or([0; 16], |s| s.bytes);
                all.corrections.push(f64::from_bits(u128::from_le_bytes(bytes) as u64));
            }
        }
        all
    }

    fn row(&self, n: usize) -> Row<'_> {
        Row { reducers: &self.reducers, n }
    }

    /// Writes the results of one output point from partial results that lie `n` to a reduction,
    /// of which the `column`-th is taken.
    ///
    /// # Safety
    /// The outputs may be written.
    unsafe fn finish(
        &self,
        at: &Position,
        space: &Space,
        n_inputs: usize,
        partials: &[u8],
        place: (usize, usize),
        count: usize,
    ) {
        let (n, column) = place;
        let mut from = partials.as_ptr();
        for (i, reducer) in self.reducers.iter().enumerate() {
            let out = at.address(space, n_inputs + self.outputs[i]);
            // SAFETY: the partial results are those of this reduction; the caller's.
            unsafe {
                let partial = from.add(column * reducer.partial);
                (reducer.finish)(partial, count as u64, self.corrections[i], out);
                from = from.add(n * reducer.partial);
            }
        }
    }

    /// Writes the results of combining nothing.
    ///
    /// # Safety
    /// The outputs may be written; the space has only axes that are kept.
    pub unsafe fn nothing(&self, space: &Space, n_inputs: usize) {
        let mut leaf = Leaf::new(self);
        leaf.start();
        let partials = leaf.end().to_vec();
        for point in 0..space.n_outer_points() {
            let at = Position::new(space, point);
            // SAFETY: the caller's.
            unsafe { self.finish(&at, space, n_inputs, &partials, (1, 0), 0) };
        }
    }
}

/// The states of a leaf of all reductions.
struct Leaf<'a> {
    reductions: &'a Reductions,
    states: Vec<u8>,
    partials: Vec<u8>,
}

impl<'a> Leaf<'a> {
    fn new(reductions: &'a Reductions) -> Leaf<'a> {
        let states = reductions.reducers.iter().map(|r| r.state).sum();
        let partials = vec![0; reductions.row(1).width()];
        Leaf { reductions, states: vec![0; states], partials }
    }

    fn start(&mut self) {
        let mut state = self.states.as_mut_ptr();
        for reducer in &self.reductions.reducers {
            // SAFETY: the states lie beside each other.
            unsafe {
                (reducer.start)(state);
                state = state.add(reducer.state);
            }
        }
    }

    /// Takes `n` values from the `skip`-th of the current stretch on, the first of number `at`.
    ///
    /// # Safety
    /// The runner has computed them.
    unsafe fn add(&mut self, runner: &Runner<'_>, skip: usize, n: usize, at: usize) {
        let mut state = self.states.as_mut_ptr();
        for (reducer, &output) in self.reductions.reducers.iter().zip(&self.reductions.outputs) {
            // SAFETY: the states lie beside each other; the caller's.
            unsafe {
                let items = runner.value(output).add(skip * reducer.item);
                (reducer.add)(state, items, n, at as u64);
                state = state.add(reducer.state);
            }
        }
    }

    fn end(&mut self) -> &[u8] {
        let (mut state, mut partial) = (self.states.as_ptr(), self.partials.as_mut_ptr());
        for reducer in &self.reductions.reducers {
            // SAFETY: states and partial results lie beside each other.
            unsafe {
                (reducer.leaf)(state, partial);
                state = state.add(reducer.state);
                partial = partial.add(reducer.partial);
            }
        }
        &self.partials
    }
}

/// Partial results that several threads write, each its own.
struct Shared {
    bytes: Vec<u8>,
    width: usize,
}

impl Shared {
    fn new(n: usize, width: usize) -> Shared {
        Shared { bytes: vec![0; n * width], width }
    }

    /// # Safety
    /// Nobody else uses the `i`-th.
    unsafe fn put(&self, i: usize, partials: &[u8]) {
        let to = self.bytes.as_ptr().cast_mut().wrapping_add(i * self.width);
        // SAFETY: the i-th has as many bytes and is this caller's.
        unsafe { std::ptr::copy_nonoverlapping(partials.as_ptr(), to, self.width) };
    }

    fn get(&self, i: usize) -> &[u8] {
        &self.bytes[i * self.width..(i + 1) * self.width]
    }
}

/// Combines the groups of one result.
fn combine<'a>(
    tree: &'a mut Tree,
    row: &Row<'_>,
    groups: impl Iterator<Item = &'a [u8]>,
) -> &'a [u8] {
    tree.clear();
    let mut merge = |left: &mut [u8], right: &[u8]| row.merge(left, right);
    for group in groups {
        tree.push(group, 0, &mut merge);
    }
    tree.finish(&mut merge).unwrap_or(&[])
}

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
        let at_once = run.tile / length.max(1);
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

    /// Whole leaves of the current stretch, four at once: memory gives more when several places
    /// are read in turns. Says how many values were taken.
    ///
    /// # Safety
    /// The runner has computed `n` values, the first of number `at`.
    unsafe fn streams(&self, runner: &Runner<'_>, tree: &mut Tree, at: usize, n: usize) -> usize {
        let row = self.reductions.row(1);
        let mut merge = |left: &mut [u8], right: &[u8]| row.merge(left, right);
        let mut leaves = [0; STREAMS].map(|_| Leaf::new(self.reductions));
        let chunk = self.reductions.reducers.iter().map(|r| r.chunk).max().unwrap_or(LEAF);
        let taken = n / (LEAF * STREAMS) * LEAF * STREAMS;
        for first in (0..taken).step_by(LEAF * STREAMS) {
            leaves.iter_mut().for_each(Leaf::start);
            for turn in (0..LEAF).step_by(chunk) {
                for (i, leaf) in leaves.iter_mut().enumerate() {
                    let skip = first + i * LEAF + turn;
                    // SAFETY: the caller's.
                    unsafe { leaf.add(runner, skip, chunk, at + skip) };
                }
            }
            for leaf in &mut leaves {
                tree.push(leaf.end(), 0, &mut merge);
            }
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

/// Reduces the outer loops; every point of the inner ones has a result.
///
/// # Safety
/// The call's memory may be used.
pub unsafe fn columns(run: &Run<'_>, reductions: &Reductions, n_threads: usize) {
    let (length, n_results) = (run.space.n_outer_points(), run.space.n_inner_points());
    let width = run.tile.min(n_results);
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
