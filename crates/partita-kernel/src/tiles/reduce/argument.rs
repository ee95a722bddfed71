//! The index of the smallest or largest element: the first one, and the first NaN before all.

use super::extreme::{Bounded, End, fill};
use super::leaves::in_turns;
use super::{LANES, LEAF, Reduce, STREAMS, fold, spread};
use crate::simd::Lanes;
use std::marker::PhantomData;

/// An element and where it was; nowhere before the first.
#[derive(Clone, Copy)]
pub struct Found<T> {
    value: T,
    at: u64,
}

impl<T: Copy> Found<T> {
    /// The element.
    #[inline(always)]
    pub fn value(&self) -> T {
        self.value
    }
}

const NOWHERE: u64 = u64::MAX;

/// Where a value is first, NaN among equals: rows of lanes are looked at without branches.
#[inline(always)]
fn find<T: Bounded>(items: &[T], wanted: T) -> Option<usize> {
    let same = |x: &T| x.equal(wanted) | (x.is_nan() & wanted.is_nan());
    let has = |row: &[T]| row.iter().fold(false, |any, x| any | same(x));
    let rest = items.len() / LANES;
    let first = items.chunks_exact(LANES).position(has).unwrap_or(rest) * LANES;
    items[first..].iter().position(same).map(|place| first + place)
}

/// The same in a leaf whose lanes are known: mostly one of them has the value, and only its
/// elements are looked at.
#[inline(always)]
fn find_in_leaf<T: Bounded>(items: &[T], lanes: &[T; LANES], wanted: T) -> Option<usize> {
    let mut having = (0..LANES).filter(|lane| lanes[*lane].equal(wanted));
    match (having.next(), having.next()) {
        (Some(lane), None) => {
            let row = items.iter().skip(lane).step_by(LANES).position(|x| x.equal(wanted));
            row.map(|row| row * LANES + lane)
        }
        _ => find(items, wanted),
    }
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

    /// Only the best of all leaves is looked for, and only if it beats what came before: what
    /// loses anyway is left out, which no later comparison can tell.
    #[inline(always)]
    fn leaves<V: Lanes>(items: &[T], at: u64, before: Found<T>) -> [Found<T>; STREAMS] {
        let Some(lanes) = fill::<T, E, V>(items) else { return in_turns::<Self>(items, at) };
        let (mut best, mut winner) = (before, None);
        for (leaf, lanes) in lanes.iter().enumerate() {
            let found = Found { value: fold(lanes, |x, y| E::better(x, y)), at: NOWHERE };
            if winner.is_none() && before.at == NOWHERE || E::beats(found.value, best.value) {
                (best, winner) = (found, Some(leaf));
            }
        }
        if let Some(leaf) = winner {
            let first = leaf * LEAF;
            let place = find_in_leaf(&items[first..first + LEAF], &lanes[leaf], best.value);
            best.at = place.map_or(NOWHERE, |place| at + (first + place) as u64);
        }
        [best; STREAMS]
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
