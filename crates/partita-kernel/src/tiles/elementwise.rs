//! Programs that only store: stretches of the space, one tile after another.

use super::runner::{Run, Runner};
use crate::emit::fence;
use crate::threads::divide;

/// Points below which one thread does everything.
const PER_PIECE: usize = 1 << 16;

/// Computes and stores all points.
///
/// # Safety
/// The call's memory may be used.
pub unsafe fn run(run: &Run<'_>, n_points: usize, n_threads: usize) {
    let n_pieces = n_points.div_ceil(PER_PIECE);
    divide(n_threads, n_pieces, &|piece| {
        let first = piece * PER_PIECE;
        // SAFETY: the caller's; pieces are apart.
        unsafe { stretch(run, first, PER_PIECE.min(n_points - first)) };
    });
}

/// # Safety
/// As [`run`].
unsafe fn stretch(run: &Run<'_>, first: usize, n: usize) {
    let mut runner = Runner::new(run);
    let row = run.space.row();
    let mut at = first;
    while at < first + n {
        // Long rows are not crossed: within one, memory is read and written where it is.
        let rest = if row >= 64 { row - at % row } else { usize::MAX };
        let length = run.tile.min(first + n - at).min(rest);
        // SAFETY: the caller's.
        unsafe {
            let position = runner.compute(at, length);
            runner.store(&position, length);
        }
        at += length;
    }
    if run.streams {
        fence();
    }
}
