//! Functions of a single instruction or little more.

use super::loops::{Unary32, Unary64};
use crate::simd::Lanes;

/// A function that is the same expression in both types.
macro_rules! plain {
    ($($name:ident $x:ident => $value:expr;)*) => {$(
        pub(super) struct $name;
        impl Unary64 for $name {
            #[inline(always)]
            fn eval<V: Lanes>($x: V) -> V {
                $value
            }
        }
        impl Unary32 for $name {
            #[inline(always)]
            fn eval<V: Lanes>($x: V) -> V {
                $value
            }
        }
    )*};
}

// A float32 square or quotient rounds to float64 first; 53 >= 2 * 24 + 2 bits make the second
// rounding harmless, and the same holds for square roots.
plain! {
    Sqrt x => x.sqrt();
    Abs x => x.abs();
    Square x => x * x;
    Reciprocal x => V::splat(1.0) / x;
    Floor x => x.floor();
    Ceil x => x.ceil();
    Trunc x => x.trunc();
    Round x => x.round_even();
    Sign x => sign(x);
}

#[inline(always)]
fn sign<V: Lanes>(x: V) -> V {
    let one = V::splat(1.0).or_sign(x.sign());
    V::select(x.abs().gt(V::splat(0.0)), one, x)
}
