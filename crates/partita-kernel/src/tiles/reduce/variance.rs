//! Variance: count, mean and sum of squared distances from it, in float64.
//!
//! Chunks of 512 elements are gone through twice; what is left of them is combined without
//! subtracting large numbers (Chan, Golub and LeVeque). Means are kept as a shift, which is a number
//! among the elements, and the rest: where the mean is large beside the spread, differences from
//! the shift are exact, and the rest has all its digits.
//!
//! An infinite element has no distance from anything: the variance is NaN. It is infinite where
//! elements are finite and their distances too large.

use super::{LANES, Reduce, fold, spread};
use crate::element::{Cast, Float};
use std::marker::PhantomData;

/// The reduction.
pub struct Variance<T>(PhantomData<T>);

/// What is known of some elements.
#[derive(Clone, Copy)]
pub struct Moments {
    count: f64,
    /// A number near the mean, or one of the elements.
    shift: f64,
    /// The mean less the shift.
    mean: f64,
    squares: f64,
}

const CHUNK: usize = 512;

impl<T: Float + Cast + crate::element::Target> Reduce for Variance<T> {
    type Item = T;
    type State = Moments;
    type Partial = Moments;
    type Out = T;
    const CHUNK: usize = CHUNK;

    #[inline(always)]
    fn start() -> Moments {
        Moments { count: 0.0, shift: 0.0, mean: 0.0, squares: 0.0 }
    }

    #[inline(always)]
    fn add(state: &mut Moments, items: &[T], _: u64) {
        for chunk in items.chunks(CHUNK) {
            *state = Self::merge(*state, moments(chunk));
        }
    }

    #[inline(always)]
    fn leaf(state: &Moments) -> Moments {
        *state
    }

    #[inline(always)]
    fn merge(left: Moments, right: Moments) -> Moments {
        if left.count == 0.0 {
            return right;
        }
        if right.count == 0.0 {
            return left;
        }
        let count = left.count + right.count;
        let apart = (right.shift - left.shift) + (right.mean - left.mean);
        let share = right.count / count;
        let between = apart * apart * left.count * share;
        // Beyond the largest number only the squares say that the variance is infinite.
        let further = if apart.abs() < f64::INFINITY { apart * share } else { 0.0 };
        Moments {
            count,
            shift: left.shift,
            mean: left.mean + further,
            squares: left.squares + right.squares + between,
        }
    }

    #[inline(always)]
    fn single(item: T, _: u64) -> Moments {
        let item: f64 = item.cast();
        Moments { count: 1.0, shift: item, mean: 0.0, squares: none_of(item) }
    }

    /// The same as combining with a single one, but the quotient is that of all columns.
    #[inline(always)]
    fn push(partial: Moments, item: T, _: u64, count: u64) -> Moments {
        let share = 1.0 / (count + 1) as f64;
        let weight = count as f64 * share;
        let item: f64 = item.cast();
        let apart = (item - partial.shift) - partial.mean;
        let further = if apart.abs() < f64::INFINITY { apart * share } else { 0.0 };
        Moments {
            count: (count + 1) as f64,
            shift: partial.shift,
            mean: partial.mean + further,
            squares: partial.squares + apart * apart * weight + none_of(item),
        }
    }

    #[inline(always)]
    fn finish(partial: Moments, _: u64, correction: f64) -> T {
        let divisor = partial.count - correction;
        let divisor = if divisor < 0.0 { 0.0 } else { divisor };
        (partial.squares / divisor).cast()
    }
}

/// Zero, but NaN of an infinity.
#[inline(always)]
#[allow(clippy::eq_op, reason = "an infinity less itself is NaN")]
fn none_of(item: f64) -> f64 {
    item - item
}

#[inline(always)]
fn moments<T: Cast>(chunk: &[T]) -> Moments {
    let count = chunk.len() as f64;
    let mut sums = [0.0; LANES];
    spread(&mut sums, chunk, |sum: f64, item: T| sum + item.cast::<f64>());
    let shift = fold(&sums, |x, y| x + y) / count;
    if shift.is_finite() { around(chunk, shift) } else { far(chunk) }
}

/// The moments by way of distances from a shift.
#[inline(always)]
fn around<T: Cast>(chunk: &[T], shift: f64) -> Moments {
    let count = chunk.len() as f64;
    let (mut sums, mut squares) = ([0.0; LANES], [0.0; LANES]);
    let mut rows = chunk.chunks_exact(LANES);
    for row in &mut rows {
        for i in 0..LANES {
            let apart = row[i].cast::<f64>() - shift;
            sums[i] += apart;
            squares[i] += apart * apart;
        }
    }
    for (i, item) in rows.remainder().iter().enumerate() {
        let apart = item.cast::<f64>() - shift;
        sums[i] += apart;
        squares[i] += apart * apart;
    }
    let (sum, squares) = (fold(&sums, |x, y| x + y), fold(&squares, |x, y| x + y));
    let mean = sum / count;
    // The shift is the mean but for rounding: what it is off by counts for little, and not at all
    // where the squares are infinite.
    let less = if squares < f64::INFINITY { sum * mean } else { 0.0 };
    let squares = if squares < less { 0.0 } else { squares - less };
    Moments { count, shift, mean, squares }
}

/// Of a chunk whose sum is beyond the largest number, or with an infinity or NaN.
#[cold]
fn far<T: Cast>(chunk: &[T]) -> Moments {
    let all = || chunk.iter().map(|item| item.cast::<f64>());
    let moments = around(chunk, all().next().unwrap_or(0.0));
    if moments.mean.is_finite() && moments.squares.is_finite() {
        return moments;
    }
    let squares = if all().all(f64::is_finite) { f64::INFINITY } else { f64::NAN };
    Moments { count: moments.count, shift: 0.0, mean: 0.0, squares }
}
