//! Gathering by positions.

use crate::Cores;
use crate::cores::{Shared, stretch};
use crate::error::{NumericError, Result};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fewer positions are not worth a second thread.
const SHARE: usize = 1 << 13;
/// Positions checked before their elements are read.
pub(super) const BLOCK: usize = 512;

/// Writes the elements at the positions; negative ones count from the end.
///
/// # Errors
/// `index-out-of-range`, for the first such position; what was written then is not defined.
///
/// # Panics
/// If there is not one result per position.
pub fn gather<T: Copy + Send + Sync>(
    source: &[T],
    positions: &[i64],
    out: &mut [MaybeUninit<T>],
    cores: Cores,
) -> Result<()> {
    let n = positions.len();
    assert_eq!(out.len(), n, "one result per position");
    let n_pieces = cores.n_pieces(n, SHARE);
    let wrong = AtomicUsize::new(n);
    let all = Shared::new(out);
    cores.each(n_pieces, |piece| {
        let range = stretch(n, n_pieces, piece);
        // SAFETY: the stretches do not overlap.
        let out = unsafe { all.slice(range.clone()) };
        if let Err(at) = gather_alone(source, &positions[range.clone()], out) {
            wrong.fetch_min(range.start + at, Ordering::Relaxed);
        }
    });
    refuse(positions, wrong.into_inner(), source.len())
}

/// The error of the first wrong position, if there is one.
pub(super) fn refuse(positions: &[i64], wrong: usize, length: usize) -> Result<()> {
    match positions.get(wrong) {
        None => Ok(()),
        Some(index) => Err(NumericError::IndexOutOfRange { at: wrong, index: *index, length }),
    }
}

/// Positions as indices; all of them are below the length, or the first that is not is returned.
#[inline(always)]
pub(super) fn indices(
    positions: &[i64],
    length: usize,
    to: &mut [usize; BLOCK],
) -> std::result::Result<(), usize> {
    let mut all_inside = true;
    for (to, position) in to.iter_mut().zip(positions) {
        let from_end = if *position < 0 { length as i64 } else { 0 };
        *to = position.wrapping_add(from_end) as usize;
        all_inside &= *to < length;
    }
    if all_inside {
        return Ok(());
    }
    let first = to.iter().take(positions.len()).position(|index| *index >= length);
    Err(first.unwrap_or(0))
}

fn gather_alone<T: Copy>(
    source: &[T],
    positions: &[i64],
    out: &mut [MaybeUninit<T>],
) -> std::result::Result<(), usize> {
    let mut block = [0; BLOCK];
    for (number, (positions, out)) in positions.chunks(BLOCK).zip(out.chunks_mut(BLOCK)).enumerate()
    {
        indices(positions, source.len(), &mut block).map_err(|at| number * BLOCK + at)?;
        for (to, index) in out.iter_mut().zip(&block) {
            // SAFETY: the index was checked.
            to.write(unsafe { *source.get_unchecked(*index) });
        }
    }
    Ok(())
}
