//! Square roots and lengths of vectors.

use super::{Function32, Function32Of2, fast_two_sum, square};
use crate::math::{roots, round};
use crate::simd::Lanes32;

impl Function32 for round::Sqrt {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        x.sqrt()
    }
}

impl Function32Of2 for roots::Hypot {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V, y: V) -> V {
        let (x, y) = (x.abs(), y.abs());
        let large = x.max(y);
        // The other one, also where one is NaN.
        let small = V::from_bits(x.bits() ^ y.bits() ^ large.bits());
        // An infinite side makes the length infinite, whatever the other is.
        let infinite = V::splat(f32::INFINITY);
        V::select(infinite.le(x) | infinite.le(y), infinite, length(large, small))
    }
}

/// 2^100
const FAR: f32 = f32::from_bits((127 + 100) << 23);
/// 2^40
const UNIT: f32 = f32::from_bits((127 + 40) << 23);

/// The length, computed where squares neither overflow nor underflow.
#[inline(always)]
fn length<V: Lanes32>(large: V, small: V) -> V {
    let (down, up) = (V::splat(UNIT).le(large), large.le(V::splat(1.0 / UNIT)));
    let choose = |when_down: f32, when_up: f32| {
        let otherwise = V::select(up, V::splat(when_up), V::splat(1.0));
        V::select(down, V::splat(when_down), otherwise)
    };
    let (factor, back) = (choose(1.0 / FAR, FAR), choose(FAR, 1.0 / FAR));
    let ((x2, x2_low), (y2, y2_low)) = (square(large * factor), square(small * factor));
    let (sum, error) = fast_two_sum(x2, y2);
    (sum + (error + (x2_low + y2_low))).sqrt() * back
}
