//! Variance: count, mean and sum of squared distances from it, in float64.
//!
//! Chunks of 512 elements are gone through twice; what is left of them is combined without
//! subtracting large numbers (Chan, Golub and LeVeque).

use super::{LANES, Reduce, fold, spread};
use crate::element::{Cast, Float};
use std::marker::PhantomData;

/// The reduction.
pub struct Variance<T>(PhantomData<T>);

/// What is known of some elements.
#[derive(Clone, Copy)]
pub struct Moments {
    count: f64,
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
        Moments { count: 0.0, mean: 0.0, squares: 0.0 }
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
        let apart = right.mean - left.mean;
        let share = right.count / count;
        let between = apart * apart * left.count * share;
        Moments {
            count,
            mean: left.mean + apart * share,
            squares: left.squares + right.squares + between,
        }
    }

    #[inline(always)]
    fn single(item: T, _: u64) -> Moments {
        Moments { count: 1.0, mean: item.cast(), squares: 0.0 }
    }

    #[inline(always)]
    fn finish(partial: Moments, _: u64, correction: f64) -> T {
        let divisor = partial.count - correction;
        let divisor = if divisor < 0.0 { 0.0 } else { divisor };
        (partial.squares / divisor).cast()
    }
}

#[inline(always)]
fn moments<T: Cast>(chunk: &[T]) -> Moments {
    let count = chunk.len() as f64;
    let mut sums = [0.0; LANES];
    spread(&mut sums, chunk, |sum: f64, item: T| sum + item.cast::<f64>());
    let mean = fold(&sums, |x, y| x + y) / count;
    let mut squares = [0.0; LANES];
    spread(&mut squares, chunk, |sum: f64, item: T| {
        let apart = item.cast::<f64>() - mean;
        sum + apart * apart
    });
    Moments { count, mean, squares: fold(&squares, |x, y| x + y) }
}
