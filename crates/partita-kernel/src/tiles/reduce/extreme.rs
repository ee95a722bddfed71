//! The smallest or largest element; NaN if there is any.

use super::leaves::{in_pairs, in_turns};
use super::nearest::{take_double, take_lines, take_plain, take_single};
use super::{LANES, LEAF, Reduce, STREAMS, fold, spread};
use crate::element::{Bool, Ordered};
use crate::simd::{Lanes, Lanes32};
use std::marker::PhantomData;

/// Which end of the order is looked for.
pub trait End: 'static {
    /// Whether `x` is strictly nearer to the end than `y`.
    fn beats<T: Bounded>(x: T, y: T) -> bool;
    /// The nearer one of two that are not NaN.
    fn nearer<T: Bounded>(x: T, y: T) -> T;
    /// The same of vectors.
    fn nearer_double<V: Lanes>(x: V, y: V) -> V;
    /// The same of vectors.
    fn nearer_single<V: Lanes32>(x: V, y: V) -> V;
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
    fn nearer<T: Bounded>(x: T, y: T) -> T {
        x.smaller(y)
    }
    #[inline(always)]
    fn nearer_double<V: Lanes>(x: V, y: V) -> V {
        x.min(y)
    }
    #[inline(always)]
    fn nearer_single<V: Lanes32>(x: V, y: V) -> V {
        x.min(y)
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
    fn nearer<T: Bounded>(x: T, y: T) -> T {
        x.larger(y)
    }
    #[inline(always)]
    fn nearer_double<V: Lanes>(x: V, y: V) -> V {
        x.max(y)
    }
    #[inline(always)]
    fn nearer_single<V: Lanes32>(x: V, y: V) -> V {
        x.max(y)
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

/// The reduction towards one end.
pub struct Extreme<T, E>(PhantomData<(T, E)>);

impl<T: Bounded, E: End> Reduce for Extreme<T, E> {
    type Item = T;
    type State = [T; LANES];
    type Partial = T;
    type Out = T;

    #[inline(always)]
    fn start() -> [T; LANES] {
        [E::worst(); LANES]
    }

    #[inline(always)]
    fn add(state: &mut [T; LANES], items: &[T], _: u64) {
        spread(state, items, |lane, item| E::better(lane, item));
    }

    #[inline(always)]
    fn leaves<V: Lanes>(items: &[T], at: u64, _: T) -> [T; STREAMS] {
        match fill::<T, E, V>(items) {
            Some(lanes) => lanes.map(|lanes| Self::leaf(&lanes)),
            None => in_turns::<Self>(items, at),
        }
    }

    #[inline(always)]
    fn leaf(state: &[T; LANES]) -> T {
        fold(state, |x, y| E::better(x, y))
    }

    #[inline(always)]
    fn merge(left: T, right: T) -> T {
        E::better(left, right)
    }

    #[inline(always)]
    fn single(item: T, _: u64) -> T {
        item
    }

    #[inline(always)]
    fn finish(partial: T, _: u64, _: f64) -> T {
        partial
    }
}

/// Bytes that are taken from one leaf before the next has its turn.
const TURN: usize = 1024;

/// The lanes of several leaves, filled in turns; nothing if there is a NaN.
#[inline(always)]
pub fn fill<T: Bounded, E: End, V: Lanes>(items: &[T]) -> Option<[[T; LANES]; STREAMS]> {
    if !in_pairs() {
        return filled::<T, E, V, STREAMS>(items);
    }
    let (one, two) = items.split_at(STREAMS / 2 * LEAF);
    let [a, b] = filled::<T, E, V, 2>(one)?;
    let [c, d] = filled::<T, E, V, 2>(two)?;
    Some([a, b, c, d])
}

#[inline(always)]
fn filled<T: Bounded, E: End, V: Lanes, const N: usize>(items: &[T]) -> Option<[[T; LANES]; N]> {
    let turn = TURN / size_of::<T>();
    let mut lanes = [[E::worst::<T>(); LANES]; N];
    let mut nan = false;
    for first in (0..LEAF).step_by(turn) {
        for (leaf, lanes) in lanes.iter_mut().enumerate() {
            let items = &items[leaf * LEAF + first..][..turn];
            nan |= T::take::<E, V>(lanes, items);
        }
    }
    (!nan).then_some(lanes)
}

/// What has a lowest and a highest value.
pub trait Bounded: Ordered {
    /// Not above any value.
    const LOWEST: Self;
    /// Not below any value.
    const HIGHEST: Self;

    /// Takes whole pairs of rows into lanes; says whether there was a NaN, which then may be lost.
    #[inline(always)]
    fn take<E: End, V: Lanes>(lanes: &mut [Self; LANES], items: &[Self]) -> bool {
        take_plain::<Self, E>(lanes, items)
    }
}

macro_rules! bounded {
    ($($type:ty: $low:expr, $high:expr $(, $take:path)?);* $(;)?) => {
        $(impl Bounded for $type {
            const LOWEST: Self = $low;
            const HIGHEST: Self = $high;
            $(#[inline(always)]
            fn take<E: End, V: Lanes>(lanes: &mut [Self; LANES], items: &[Self]) -> bool {
                $take(lanes, items)
            })?
        })*
    };
}

bounded! {
    Bool: Bool(0), Bool(1);
    i8: i8::MIN, i8::MAX; i16: i16::MIN, i16::MAX; i32: i32::MIN, i32::MAX;
    u8: 0, u8::MAX; u16: 0, u16::MAX; u32: 0, u32::MAX;
    i64: i64::MIN, i64::MAX, take_lines::<Self, E, 8>; u64: 0, u64::MAX, take_lines::<Self, E, 8>;
    crate::element::Float16: crate::element::Float16(0xfc00), crate::element::Float16(0x7c00);
    crate::element::BFloat16: crate::element::BFloat16(0xff80), crate::element::BFloat16(0x7f80);
    f32: f32::NEG_INFINITY, f32::INFINITY, take_single::<E, V::Single>;
    f64: f64::NEG_INFINITY, f64::INFINITY, take_double::<E, V>;
}
