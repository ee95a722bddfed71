//! Sums, products, truth and counts.
//!
//! What is rounded is combined in blocks: in a whole leaf an element takes part in 32 combinations
//! of its block, 16 of blocks and 5 of lanes, where lanes alone would have 512.

use super::{LANES, Reduce, fold, spread};
use crate::element::{Bits, Bool, Complex, Element, Float, Number};
use std::marker::PhantomData;

/// Lanes of the current block and of all before it.
#[derive(Clone, Copy)]
pub struct Blocks<W> {
    block: [W; LANES],
    before: [W; LANES],
    /// Whether there is any before.
    is_long: bool,
}

/// Elements of a block.
const BLOCK: usize = 1024;

/// Reductions that spread over lanes: one expression each.
macro_rules! lanes {
    (in blocks $name:ident<$t:ident: $bound:path> $wide:ty => $out:ty; start $start:expr; $($rest:tt)*) => {
        lanes!($name<$t: $bound> $wide => $out; $($rest)*;
            type State = Blocks<$wide>;
            const BLOCK: usize = BLOCK;
            #[inline(always)]
            fn start() -> Self::State {
                let lanes = [$start; LANES];
                Blocks { block: lanes, before: lanes, is_long: false }
            }
            #[inline(always)]
            fn add(state: &mut Self::State, items: &[$t], _: u64) {
                let take = |lane, item| Self::merge(lane, Self::single(item, 0));
                spread(&mut state.block, items, take);
            }
            #[inline(always)]
            fn end_block(state: &mut Self::State) {
                for i in 0..LANES {
                    state.before[i] = Self::merge(state.before[i], state.block[i]);
                }
                state.block = [$start; LANES];
                state.is_long = true;
            }
            #[inline(always)]
            fn leaf(state: &Self::State) -> Self::Partial {
                let mut lanes = state.block;
                if state.is_long {
                    for i in 0..LANES {
                        lanes[i] = Self::merge(state.before[i], lanes[i]);
                    }
                }
                fold(&lanes, Self::merge)
            }
        );
    };
    (in lanes $name:ident<$t:ident: $bound:path> $wide:ty => $out:ty; start $start:expr; $($rest:tt)*) => {
        lanes!($name<$t: $bound> $wide => $out; $($rest)*;
            type State = [$wide; LANES];
            #[inline(always)]
            fn start() -> Self::State {
                [$start; LANES]
            }
            #[inline(always)]
            fn add(state: &mut Self::State, items: &[$t], _: u64) {
                spread(state, items, |lane, item| Self::merge(lane, Self::single(item, 0)));
            }
            #[inline(always)]
            fn leaf(state: &Self::State) -> Self::Partial {
                fold(state, Self::merge)
            }
        );
    };
    ($name:ident<$t:ident: $bound:path> $wide:ty => $out:ty;
     take |$x:ident| $take:expr; merge |$a:ident, $b:ident| $merge:expr;
     finish |$p:ident, $n:ident| $finish:expr; $($kept:item)*) => {
        #[doc = concat!("The reduction `", stringify!($name), "`.")]
        pub struct $name<T>(PhantomData<T>);

        impl<$t: $bound> Reduce for $name<$t> {
            type Item = $t;
            type Partial = $wide;
            type Out = $out;
            $($kept)*
            #[inline(always)]
            fn merge($a: $wide, $b: $wide) -> $wide {
                $merge
            }
            #[inline(always)]
            fn single($x: $t, _: u64) -> $wide {
                $take
            }
            #[inline(always)]
            fn finish($p: $wide, $n: u64, _: f64) -> $out {
                $finish
            }
        }
    };
}

lanes!(in blocks Sum<T: Number> T::Wide => T; start T::Wide::default(); take |x| x.widen();
    merge |a, b| a.add(b); finish |p, _n| T::narrow(p));
lanes!(in blocks Product<T: Number> T::Wide => T; start T::Wide::ONE; take |x| x.widen();
    merge |a, b| a.multiply(b); finish |p, _n| T::narrow(p));
lanes!(in blocks Mean<T: Averaged> T::Wide => T; start T::Wide::default(); take |x| x.widen();
    merge |a, b| a.add(b); finish |p, n| T::mean(p, n));
lanes!(in lanes Any<T: Element> Bool => Bool; start Bool(0); take |x| Bool::new(x.truth());
    merge |a, b| a.or(b); finish |p, _n| p);
lanes!(in lanes All<T: Element> Bool => Bool; start Bool(1); take |x| Bool::new(x.truth());
    merge |a, b| a.and(b); finish |p, _n| p);
lanes!(in lanes Count<T: Element> i64 => i64; start 0; take |x| i64::from(x.truth());
    merge |a, b| a + b; finish |p, _n| p);

/// What has a mean.
pub trait Averaged: Number {
    /// The sum divided by the count, rounded to the type.
    fn mean(sum: Self::Wide, count: u64) -> Self;
}

macro_rules! averaged {
    ($($real:ty),*; $($part:ty),*) => {
        $(impl Averaged for $real {
            fn mean(sum: Self::Wide, count: u64) -> Self {
                Self::narrow(Float::divide(sum, Self::Wide::from_count(count)))
            }
        })*
        $(impl Averaged for Complex<$part> {
            fn mean(sum: Self, count: u64) -> Self {
                Complex { re: sum.re / count as $part, im: sum.im / count as $part }
            }
        })*
    };
}

averaged!(crate::element::Float16, crate::element::BFloat16, f32, f64; f32, f64);
