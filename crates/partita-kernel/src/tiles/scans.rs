//! Running sums and products: one element after another, so that the bits are those of a loop.

use super::functions::{self, Function};
use super::pack;
use super::runner::{Run, Runner};
use crate::math::Level;
use crate::program::{Action, Op, Program};
use crate::space::Position;
use crate::threads::divide;

/// One running output: which, how it is combined, and its element's size.
struct Scan {
    output: usize,
    combine: Function,
    size: usize,
}

fn scans(program: &Program, level: Level) -> Vec<Scan> {
    let scan = |(output, what): (usize, &crate::program::Output)| {
        let op = match what.action {
            Action::RunningSum => Op::Add,
            Action::RunningProduct => Op::Multiply,
            _ => return None,
        };
        let dtype = program.dtype(what.value);
        let combine = functions::find(op, dtype, dtype, level)?;
        Some(Scan { output, combine, size: dtype.size() })
    };
    program.outputs.iter().enumerate().filter_map(scan).collect()
}

/// A tile that a function may use, aligned for every type.
fn tile(n: usize, size: usize) -> Vec<u128> {
    vec![0; (n * size).div_ceil(16)]
}

/// Runs along the outer loop, for many points of the inner ones at once.
///
/// # Safety
/// The call's memory may be used.
pub unsafe fn columns(run: &Run<'_>, level: Level, n_threads: usize) {
    let (length, n_columns) = (run.space.n_outer_points(), run.space.n_inner_points());
    let scans = scans(run.program, level);
    let width = run.tile.min(n_columns);
    divide(n_threads, n_columns.div_ceil(width), &|piece| {
        let first = piece * width;
        let n = width.min(n_columns - first);
        let mut runner = Runner::new(run);
        let mut sums: Vec<_> = scans.iter().map(|s| (tile(n, s.size), tile(n, s.size))).collect();
        for row in 0..length {
            // SAFETY: the caller's; pieces have columns of their own.
            unsafe {
                let at = runner.compute(row * n_columns + first, n);
                runner.store(&at, n);
                for (scan, (sum, next)) in scans.iter().zip(&mut sums) {
                    advance(run, &runner, scan, sum, next, &at, (row, n));
                }
            }
        }
    });
}

/// Takes one row into the running results and writes them.
///
/// # Safety
/// As [`columns`].
unsafe fn advance(
    run: &Run<'_>,
    runner: &Runner<'_>,
    scan: &Scan,
    sum: &mut Vec<u128>,
    next: &mut Vec<u128>,
    at: &Position,
    (row, n): (usize, usize),
) {
    let items = runner.value(scan.output);
    let to = next.as_mut_ptr().cast::<u8>();
    // SAFETY: the tiles have room for n elements; the caller's.
    unsafe {
        if row == 0 {
            std::ptr::copy_nonoverlapping(items, to, n * scan.size);
        } else {
            scan.combine.call([sum.as_ptr().cast(), items, items], to, n);
        }
        pack::unpack(run.space, run.program.inputs.len() + scan.output, at, n, to);
    }
    std::mem::swap(sum, next);
}

/// Runs along the inner loop, for each point of the outer ones.
///
/// # Safety
/// The call's memory may be used.
pub unsafe fn rows(run: &Run<'_>, level: Level, n_threads: usize) {
    let (n_rows, length) = (run.space.n_outer_points(), run.space.n_inner_points());
    let scans = scans(run.program, level);
    let per_piece = (1_usize << 16).div_ceil(length.max(1));
    divide(n_threads, n_rows.div_ceil(per_piece), &|piece| {
        let first = piece * per_piece;
        let mut runner = Runner::new(run);
        let mut out: Vec<_> = scans.iter().map(|s| tile(run.tile + 1, s.size)).collect();
        let n_points = per_piece.min(n_rows - first) * length;
        for done in (0..n_points).step_by(run.tile) {
            let n = run.tile.min(n_points - done);
            let at = first * length + done;
            // SAFETY: the caller's; pieces have rows of their own.
            unsafe {
                let position = runner.compute(at, n);
                runner.store(&position, n);
                for (scan, out) in scans.iter().zip(&mut out) {
                    follow(&runner, scan, out, at % length, length, n);
                    let results = out.as_ptr().cast::<u8>().add(scan.size);
                    let output = run.program.inputs.len() + scan.output;
                    pack::unpack(run.space, output, &position, n, results);
                }
            }
        }
    });
}

/// Running results of a stretch that begins at `turn` of its row; the result before it lies first
/// in `out`, and the last one of the stretch is left there.
///
/// # Safety
/// The runner has computed `n` values, and `out` has room for one more.
unsafe fn follow(
    runner: &Runner<'_>,
    scan: &Scan,
    out: &mut [u128],
    mut turn: usize,
    length: usize,
    n: usize,
) {
    let items = runner.value(scan.output);
    let out = out.as_mut_ptr().cast::<u8>();
    let size = scan.size;
    // SAFETY: everything stays within n elements and the one before; a result is not where its
    // operands are.
    unsafe {
        for i in 0..n {
            let item = items.add(i * size);
            let before = out.add(i * size);
            if turn == 0 {
                std::ptr::copy_nonoverlapping(item, before.add(size), size);
            } else {
                scan.combine.call([before.cast_const(), item, item], before.add(size), 1);
            }
            turn = if turn + 1 == length { 0 } else { turn + 1 };
        }
        std::ptr::copy_nonoverlapping(out.add(n * size), out, size);
    }
}
