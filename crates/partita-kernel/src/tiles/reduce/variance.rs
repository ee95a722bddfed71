//! Variance: count, mean and sum of squared distances from it, in float64.
//!
//! The mean of a leaf's first 128 elements is its shift: of all elements of the leaf, the distances
//! from it and their squares are summed, in one pass over memory. The shift is the mean of at least
//! a 128th of the leaf, so that the squares are at most 129 times what is left of them when the
//! mean's share is taken away: seven bits are lost at worst, and none where elements lie around one
//! mean. Leaves are combined without subtracting large numbers (Chan, Golub and LeVeque). Means
//! stay a shift and the rest: where the mean is large beside the spread, distances from the shift
//! are exact, and the rest has all its digits.
//!
//! An infinite element has no distance from anything: the variance is NaN. It is infinite where
//! elements are finite and their distances too large.

use super::leaves::ask_ahead;
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

impl Moments {
    /// The mean, where the squares are finite.
    pub fn mean(&self) -> f64 {
        self.shift + self.mean
    }
}

/// What is known of a leaf while it is filled.
#[derive(Clone, Copy)]
pub struct Filling {
    count: f64,
    shift: f64,
    /// Distances from the shift, and their squares, of the current block and of all before it.
    block: Distances,
    before: Distances,
    /// Nothing, or what the squares of chunks are that have no finite ones.
    beyond: f64,
}

/// Distances from a shift and their squares, summed lane by lane.
#[derive(Clone, Copy)]
struct Distances {
    sums: [f64; LANES],
    squares: [f64; LANES],
}

/// Elements that are looked at for a shift.
const SHIFT_OF: usize = 128;

/// Elements whose squares are asked together whether they are finite.
const CHUNK: usize = 512;

impl Distances {
    const NONE: Distances = Distances { sums: [0.0; LANES], squares: [0.0; LANES] };

    #[inline(always)]
    fn add<T: Cast>(&self, items: &[T], shift: f64) -> Self {
        // Lanes of their own stay in registers.
        let (mut sums, mut squares) = (self.sums, self.squares);
        let mut rows = items.chunks_exact(LANES);
        for row in &mut rows {
            ask_ahead(row.as_ptr(), LANES);
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
        Distances { sums, squares }
    }

    #[inline(always)]
    fn and(mut self, other: &Distances) -> Self {
        for i in 0..LANES {
            self.sums[i] += other.sums[i];
            self.squares[i] += other.squares[i];
        }
        self
    }

    /// Whether all sums are finite: squares are where distances are.
    #[inline(always)]
    fn is_finite(&self) -> bool {
        // Without a branch per lane.
        self.squares.iter().fold(true, |all, square| all & (*square < f64::INFINITY))
    }
}

impl<T: Float + Cast + crate::element::Target> Reduce for Variance<T> {
    type Item = T;
    type State = Filling;
    type Partial = Moments;
    type Out = T;
    const CHUNK: usize = CHUNK;
    const BLOCK: usize = 4 * CHUNK;
    const ASKS: bool = true;

    #[inline(always)]
    fn start() -> Filling {
        let (block, before) = (Distances::NONE, Distances::NONE);
        Filling { count: 0.0, shift: 0.0, block, before, beyond: 0.0 }
    }

    #[inline(always)]
    fn add(state: &mut Filling, items: &[T], _: u64) {
        for chunk in items.chunks(CHUNK) {
            if state.count == 0.0 {
                state.shift = shift_of(&chunk[..chunk.len().min(SHIFT_OF)]);
            }
            state.count += chunk.len() as f64;
            let block = state.block.add(chunk, state.shift);
            if block.is_finite() {
                state.block = block;
            } else {
                state.beyond += beyond(chunk);
            }
        }
    }

    #[inline(always)]
    fn end_block(state: &mut Filling) {
        state.before = state.before.and(&state.block);
        state.block = Distances::NONE;
    }

    #[inline(always)]
    fn leaf(state: &Filling) -> Moments {
        let all = state.before.and(&state.block);
        let (sum, squares) = (fold(&all.sums, |x, y| x + y), fold(&all.squares, |x, y| x + y));
        let count = state.count;
        if count == 0.0 {
            return Moments { count, shift: 0.0, mean: 0.0, squares: 0.0 };
        }
        if state.beyond != 0.0 {
            return Moments { count, shift: 0.0, mean: 0.0, squares: state.beyond };
        }
        let mean = sum / count;
        // What the shift is off by; not at all where the squares are infinite together.
        let less = if squares < f64::INFINITY { sum * mean } else { 0.0 };
        let squares = if squares < less { 0.0 } else { squares - less };
        Moments { count, shift: state.shift, mean, squares }
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

/// A finite number near the elements of a chunk: their mean, or one of them.
#[inline(always)]
fn shift_of<T: Cast>(chunk: &[T]) -> f64 {
    let mut sums = [0.0; LANES];
    spread(&mut sums, chunk, |sum: f64, item: T| sum + item.cast::<f64>());
    let mean = fold(&sums, |x, y| x + y) / chunk.len() as f64;
    if mean.is_finite() { mean } else { any_finite(chunk) }
}

#[cold]
fn any_finite<T: Cast>(chunk: &[T]) -> f64 {
    let mut all = chunk.iter().map(|item| item.cast::<f64>());
    all.find(|item| item.is_finite()).unwrap_or(0.0)
}

/// The squares of a chunk that has no finite ones.
#[cold]
fn beyond<T: Cast>(chunk: &[T]) -> f64 {
    let is_finite = chunk.iter().all(|item| item.cast::<f64>().is_finite());
    if is_finite { f64::INFINITY } else { f64::NAN }
}
