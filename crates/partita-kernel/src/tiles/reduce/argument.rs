//! The index of the smallest or largest element: the first one, and the first NaN before all.

use super::kinds::Bounded;
use super::{LANES, Reduce, fold, spread};
use std::marker::PhantomData;

/// Which end of the order is looked for.
pub trait End: 'static {
    /// Whether `x` is strictly nearer to the end than `y`.
    fn beats<T: Bounded>(x: T, y: T) -> bool;
    /// The nearer one; NaN if either is.
    fn better<T: Bounded>(x: T, y: T) -> T;
    /// Not nearer than any value.
    fn worst<T: Bounded>() -> T;
}

/// The smallest.
pub struct First;
/// The largest.
pub struct Last;

impl End for First {
    #[inline(always)]
    fn beats<T: Bounded>(x: T, y: T) -> bool {
        x.less(y) || x.is_nan() && !y.is_nan()
    }
    #[inline(always)]
    fn better<T: Bounded>(x: T, y: T) -> T {
        x.minimum(y)
    }
    #[inline(always)]
    fn worst<T: Bounded>() -> T {
        T::HIGHEST
    }
}

impl End for Last {
    #[inline(always)]
    fn beats<T: Bounded>(x: T, y: T) -> bool {
        y.less(x) || x.is_nan() && !y.is_nan()
    }
    #[inline(always)]
    fn better<T: Bounded>(x: T, y: T) -> T {
        x.maximum(y)
    }
    #[inline(always)]
    fn worst<T: Bounded>() -> T {
        T::LOWEST
    }
}

/// An element and where it was; nowhere before the first.
#[derive(Clone, Copy)]
pub struct Found<T> {
    value: T,
    at: u64,
}

const NOWHERE: u64 = u64::MAX;

/// Where a value is first, NaN among equals: rows of lanes are looked at without branches.
#[inline(always)]
fn find<T: Bounded>(items: &[T], wanted: T) -> Option<usize> {
    let same = |x: &T| x.equal(wanted) | (x.is_nan() & wanted.is_nan());
    let has = |row: &[T]| row.iter().fold(false, |any, x| any | same(x));
    let first = items.chunks(LANES).position(has)? * LANES;
    items[first..].iter().position(same).map(|place| first + place)
}

/// The reduction towards one end.
pub struct Arg<T, E>(PhantomData<(T, E)>);

impl<T: Bounded, E: End> Reduce for Arg<T, E> {
    type Item = T;
    type State = Found<T>;
    type Partial = Found<T>;
    type Out = i64;
    const CHUNK: usize = 128;

    #[inline(always)]
    fn start() -> Found<T> {
        Found { value: E::worst(), at: NOWHERE }
    }

    /// The best of all by lanes; only where it beats what was found is it looked for.
    #[inline(always)]
    fn add(state: &mut Found<T>, items: &[T], at: u64) {
        let mut lanes = [E::worst::<T>(); LANES];
        spread(&mut lanes, items, |lane, item| E::better(lane, item));
        let best = fold(&lanes, |x, y| E::better(x, y));
        if state.at != NOWHERE && !E::beats(best, state.value) {
            return;
        }
        if let Some(place) = find(items, best) {
            *state = Found { value: best, at: at + place as u64 };
        }
    }

    #[inline(always)]
    fn leaf(state: &Found<T>) -> Found<T> {
        *state
    }

    #[inline(always)]
    fn merge(left: Found<T>, right: Found<T>) -> Found<T> {
        let takes = left.at == NOWHERE || right.at != NOWHERE && E::beats(right.value, left.value);
        if takes { right } else { left }
    }

    #[inline(always)]
    fn single(value: T, at: u64) -> Found<T> {
        Found { value, at }
    }

    #[inline(always)]
    fn finish(partial: Found<T>, _: u64, _: f64) -> i64 {
        partial.at as i64
    }
}
