//! Inverse trigonometric functions.

use super::{Function32, horner, square};
use crate::math::atan;
use crate::math::coefficients::{ASIN_F, ATAN_F, HALF_PI_ROUNDED_F};
use crate::simd::{Ints32, Lanes32};

/// `parts`, a constant in two parts, minus (x + tail), for x up to the constant.
#[inline(always)]
fn minus<V: Lanes32>(parts: [V; 2], x: V, tail: V) -> V {
    let difference = parts[0] - x;
    let error = (parts[0] - difference) - x;
    difference + ((error + parts[1]) - tail)
}

#[inline(always)]
fn half_pi<V: Lanes32>() -> [V; 2] {
    HALF_PI_ROUNDED_F.map(V::splat)
}

impl Function32 for atan::Atan {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        // Beyond 2^40 nothing changes.
        let size = V::splat(1.1e12).min(x.abs());
        // 1 is taken from above, which rounds pi/4 as it should.
        let is_near = size.le(V::splat(1.0 - f32::EPSILON / 2.0));
        let t = V::select(is_near, size, V::splat(1.0) / size);
        let lost = t * t.fnma(size, V::splat(1.0));
        let lost = V::select(is_near, V::splat(0.0), lost);
        let (z, z_low) = square(t);
        let p = horner(&ATAN_F, z);
        // The slope of the arc tangent is 1 / (1 + z), for which 1 - z / 2 will do.
        let lost = (lost * z).fma(V::splat(-0.5), lost);
        let tail = (z * t).fma(p, (z_low * t).fma(p, lost));
        let y = V::select(is_near, t + tail, minus(half_pi(), t, tail));
        V::from_bits(y.bits() | x.sign())
    }
}

/// The arc sine of s is s + tail: s is `size`, or beyond 1/2 the root of (1 - size) / 2, of which
/// the arc sine is half of what is missing to pi/2.
struct Folded<V: Lanes32> {
    is_near: V::Mask,
    s: V,
    tail: V,
}

#[inline(always)]
fn fold<V: Lanes32>(size: V) -> Folded<V> {
    let is_near = size.le(V::splat(0.5));
    let half = size.fnma(V::splat(0.5), V::splat(0.5));
    let root = half.sqrt();
    // At 1 the root is zero, and so is what it has lost.
    let lost = root.fnma(root, half) / (root + root).max(V::splat(f32::MIN_POSITIVE));
    let lost = V::select(is_near, V::splat(0.0), lost);
    let s = V::select(is_near, size, root);
    let z = V::select(is_near, size * size, half);
    Folded { is_near, s, tail: (z * s).fma(horner(&ASIN_F, z), lost) }
}

impl Function32 for atan::Asin {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        let Folded { is_near, s, tail } = fold(x.abs());
        let y = V::select(is_near, s + tail, minus(half_pi(), s + s, tail + tail));
        V::from_bits(y.bits() | x.sign())
    }
}

impl Function32 for atan::Acos {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        let Folded { is_near, s, tail } = fold(x.abs());
        // Near zero it is pi/2 - asin(x), otherwise pi - 2 asin(s) or, for positive x, 2 asin(s).
        let is_negative = x.bits().negative();
        let from = |half: V| {
            let whole = V::select(is_negative, half + half, V::splat(0.0));
            V::select(is_near, half, whole)
        };
        let turned = V::select(is_negative, V::splat(0.0), V::splat(-0.0));
        let sign = V::select(is_near, x, turned).sign();
        let signed = |part: V| {
            let part = V::select(is_near, part, part + part);
            V::from_bits(part.bits() ^ sign)
        };
        let [half, half_low] = half_pi();
        minus([from(half), from(half_low)], signed(s), signed(tail))
    }
}
