//! Scattering by positions, which may repeat.
//!
//! Every thread reads all positions and writes to its own stretch of the target. So no two threads
//! meet, and results are those of one thread, bit for bit; more than eight threads would mostly
//! read.

use super::gather::{BLOCK, indices, refuse};
use crate::Cores;
use crate::cores::{Shared, stretch};
use crate::error::{NumericError, Result};
use partita_kernel::room::vec_of;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

const MOST_THREADS: usize = 8;
/// Fewer positions are not worth a second thread.
const SHARE: usize = 1 << 14;

/// A number that can be summed; sums of integers wrap, of truth values are "or".
pub trait Summable: Copy + Send + Sync {
    /// The sum.
    #[must_use]
    fn plus(self, other: Self) -> Self;
}

macro_rules! summable {
    ($($type:ty: $a:ident $b:ident $sum:expr;)*) => {$(
        impl Summable for $type {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $sum
            }
        }
    )*};
}
summable! {
    bool: a b a | b;
    i8: a b a.wrapping_add(b);
    i16: a b a.wrapping_add(b);
    i32: a b a.wrapping_add(b);
    i64: a b a.wrapping_add(b);
    u8: a b a.wrapping_add(b);
    u16: a b a.wrapping_add(b);
    u32: a b a.wrapping_add(b);
    u64: a b a.wrapping_add(b);
    f32: a b a + b;
    f64: a b a + b;
    [f32; 2]: a b [a[0] + b[0], a[1] + b[1]];
    [f64; 2]: a b [a[0] + b[0], a[1] + b[1]];
}

/// Writes values to positions; negative ones count from the end, and the last of equal ones wins.
///
/// ```
/// use partita_numeric::{Cores, choose};
/// let mut target = [0; 3];
/// choose::scatter(&mut target, &[0, -1, 0], &[7, 8, 9], Cores::best())?;
/// assert_eq!(target, [9, 0, 8]);
/// # Ok::<(), partita_numeric::NumericError>(())
/// ```
///
/// # Errors
/// `index-out-of-range`, for the first such position; what was written then is not defined.
///
/// # Panics
/// If there is not one value per position.
pub fn scatter<T: Copy + Send + Sync>(
    target: &mut [T],
    positions: &[i64],
    values: &[T],
    cores: Cores,
) -> Result<()> {
    each(target, positions, values, cores, |target, value| *target = value)
}

/// Adds values to what is at the positions, in their order; positions may repeat.
///
/// # Errors
/// As [`scatter`].
///
/// # Panics
/// If there is not one value per position.
pub fn scatter_add<T: Summable>(
    target: &mut [T],
    positions: &[i64],
    values: &[T],
    cores: Cores,
) -> Result<()> {
    each(target, positions, values, cores, |target, value| *target = target.plus(value))
}

fn each<T: Copy + Send + Sync>(
    target: &mut [T],
    positions: &[i64],
    values: &[T],
    cores: Cores,
    change: impl Fn(&mut T, T) + Sync + Copy,
) -> Result<()> {
    assert_eq!(positions.len(), values.len(), "one value per position");
    let length = target.len();
    let worth = positions.len() >= SHARE;
    let n_pieces = if worth { cores.n_threads.clamp(1, MOST_THREADS) } else { 1 };
    let wrong = AtomicUsize::new(positions.len());
    let all = Shared::new(target);
    cores.each(n_pieces, |piece| {
        let own = stretch(length, n_pieces, piece);
        let write = |index: usize, value: T| {
            // SAFETY: the index was checked, and the stretch belongs to this piece.
            change(unsafe { &mut *all.at(index) }, value);
        };
        if let Err(at) = each_own(positions, values, length, own, write) {
            wrong.fetch_min(at, Ordering::Relaxed);
        }
    });
    refuse(positions, wrong.into_inner(), length)
}

fn each_own<T: Copy>(
    positions: &[i64],
    values: &[T],
    length: usize,
    own: Range<usize>,
    write: impl Fn(usize, T),
) -> std::result::Result<(), usize> {
    let mut block = [0; BLOCK];
    let owns_all = own.len() == length;
    for (number, (positions, values)) in
        positions.chunks(BLOCK).zip(values.chunks(BLOCK)).enumerate()
    {
        indices(positions, length, &mut block).map_err(|at| number * BLOCK + at)?;
        for (index, value) in block.iter().zip(values) {
            if owns_all || own.contains(index) {
                write(*index, *value);
            }
        }
    }
    Ok(())
}

/// How often each value below `counts.len()` occurs.
///
/// ```
/// use partita_numeric::{Cores, choose};
/// let mut counts = [0; 3];
/// choose::bincount(&[2, 0, 2], &mut counts, Cores::best())?;
/// assert_eq!(counts, [1, 0, 2]);
/// # Ok::<(), partita_numeric::NumericError>(())
/// ```
/// Weights are summed by [`scatter_add`] into zeros.
///
/// # Errors
/// `bin-negative` and `bin-too-large`, for the first such value.
pub fn bincount(values: &[i64], counts: &mut [i64], cores: Cores) -> Result<()> {
    let (n, n_bins) = (values.len(), counts.len());
    counts.fill(0);
    // Every thread counts for itself, unless the counts are more than the values.
    let n_pieces =
        if n_bins < n / 4 { cores.n_pieces(n, SHARE).min(cores.n_threads.max(1)) } else { 1 };
    let mut apart = vec_of(0_i64, n_bins * (n_pieces - 1));
    let (own, others) = (Shared::new(counts), Shared::new(&mut apart));
    let wrong = AtomicUsize::new(n);
    cores.each(n_pieces, |piece| {
        let range = stretch(n, n_pieces, piece);
        // SAFETY: every piece has counts of its own.
        let counts = unsafe {
            match piece {
                0 => own.slice(0..n_bins),
                _ => others.slice((piece - 1) * n_bins..piece * n_bins),
            }
        };
        for (at, value) in range.clone().zip(&values[range]) {
            match usize::try_from(*value).ok().and_then(|bin| counts.get_mut(bin)) {
                Some(count) => *count += 1,
                None => {
                    wrong.fetch_min(at, Ordering::Relaxed);
                    return;
                }
            }
        }
    });
    for counts_apart in apart.chunks(n_bins.max(1)) {
        counts.iter_mut().zip(counts_apart).for_each(|(count, more)| *count += more);
    }
    let at = wrong.into_inner();
    match values.get(at) {
        None => Ok(()),
        Some(value) if *value < 0 => Err(NumericError::BinNegative { at, value: *value }),
        Some(value) => Err(NumericError::BinTooLarge { at, value: *value, n_bins }),
    }
}
