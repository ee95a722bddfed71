//! Reductions: how elements are combined, and in which order.
//!
//! The order is fixed, so that every number of threads and every size of tiles gives the same
//! bits. Along rows, a *leaf* of [`LEAF`] elements is spread over [`LANES`] lanes, block by block
//! for what is rounded, whose results are folded in halves; leaves are combined by a binary tree in the order of their numbers.
//! Along columns, [`COLUMN_LEAF`] elements are combined one after another.

mod argument;
mod extreme;
mod kinds;
mod leaves;
mod nearest;
mod table;
mod tree;
mod variance;

pub use table::{Reducer, find};
pub use tree::{GROUP, Row, Tree};

use crate::element::Element;
use crate::simd::Lanes;

/// Lanes of a leaf; tiles are multiples of it.
pub const LANES: usize = 32;
/// Elements of a leaf along rows.
pub const LEAF: usize = 16384;
/// Leaves that are filled in turns.
pub const STREAMS: usize = 4;
/// Elements of a leaf along columns.
pub const COLUMN_LEAF: usize = 128;

/// A way of combining elements.
///
/// `at` is an element's number among those that are combined into one result.
pub trait Reduce: Sized + 'static {
    /// What is combined.
    type Item: Element;
    /// What a leaf keeps while it is filled.
    type State: Copy;
    /// What is left of a leaf.
    type Partial: Copy;
    /// The result.
    type Out: Element;

    /// Elements that are taken at once where several leaves are filled in turns.
    const CHUNK: usize = 128;
    /// Whether [`Reduce::add`] asks memory for what comes later by itself.
    const ASKS: bool = false;
    /// Elements after which [`Reduce::end_block`] is called: a multiple of [`Reduce::CHUNK`].
    const BLOCK: usize = LEAF;

    /// A leaf without elements.
    fn start() -> Self::State;
    /// Takes elements of one block into a leaf; as many as are a multiple of [`Reduce::CHUNK`], or
    /// the last ones.
    fn add(state: &mut Self::State, items: &[Self::Item], at: u64);
    /// A block is full.
    #[inline(always)]
    fn end_block(state: &mut Self::State) {
        let _ = state;
    }
    /// The results of [`STREAMS`] leaves that are filled in turns. Whoever looks for one element
    /// may give `before`, the result of an earlier leaf or of an empty one, for a leaf that has
    /// nothing better. `V` are the vectors of the level it is compiled for.
    #[inline(always)]
    fn leaves<V: Lanes>(
        items: &[Self::Item],
        at: u64,
        before: Self::Partial,
    ) -> [Self::Partial; STREAMS] {
        let _ = before;
        leaves::in_turns::<Self>(items, at)
    }
    /// The result of a leaf.
    fn leaf(state: &Self::State) -> Self::Partial;
    /// Combines neighbours.
    fn merge(left: Self::Partial, right: Self::Partial) -> Self::Partial;
    /// The result of one element.
    fn single(item: Self::Item, at: u64) -> Self::Partial;
    /// The result of one element more, the `count`-th after the first of its leaf.
    fn push(partial: Self::Partial, item: Self::Item, at: u64, count: u64) -> Self::Partial {
        let _ = count;
        Self::merge(partial, Self::single(item, at))
    }
    /// The result of everything.
    fn finish(partial: Self::Partial, count: u64, correction: f64) -> Self::Out;
}

/// Combines lanes in halves.
#[inline(always)]
pub fn fold<T: Copy>(lanes: &[T; LANES], merge: impl Fn(T, T) -> T) -> T {
    let mut lanes = *lanes;
    let mut n = LANES / 2;
    while n > 0 {
        for i in 0..n {
            lanes[i] = merge(lanes[i], lanes[i + n]);
        }
        n /= 2;
    }
    lanes[0]
}

/// Spreads items over lanes.
#[inline(always)]
pub fn spread<T: Copy, S: Copy>(lanes: &mut [S; LANES], items: &[T], take: impl Fn(S, T) -> S) {
    let mut kept = *lanes;
    let mut rows = items.chunks_exact(LANES);
    for row in &mut rows {
        for i in 0..LANES {
            kept[i] = take(kept[i], row[i]);
        }
    }
    for (lane, &item) in kept.iter_mut().zip(rows.remainder()) {
        *lane = take(*lane, item);
    }
    *lanes = kept;
}
