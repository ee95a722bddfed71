//! Sine, cosine and tangent: x = n pi/2 + r, polynomials on r, chosen by n.

use super::{Function32, SHIFTER, fast_two_sum, horner, patch, poly, square};
use crate::math::coefficients::{COS_F, HALF_PI_F, SIN_F, TAN_F, TWO_OVER_PI_F};
use crate::math::loops::Unary64;
use crate::math::trig;
use crate::simd::{Ints32, Lanes32};

/// x near n pi/2: the low bits of n, and x - n pi/2 = r - less.
struct Reduced<V: Lanes32> {
    n: V::Int,
    r: V,
    less: V,
}

#[inline(always)]
fn reduce<V: Lanes32>(x: V) -> Reduced<V> {
    let shifted = x.fma(V::splat(TWO_OVER_PI_F[0]), V::splat(SHIFTER));
    let n = shifted - V::splat(SHIFTER);
    let first = n.fnma(V::splat(HALF_PI_F[0]), x);
    let product = n * V::splat(HALF_PI_F[1]);
    let error = n.fms(V::splat(HALF_PI_F[1]), product);
    let r = first - product;
    let less = n.fma(V::splat(HALF_PI_F[2]), ((r - first) + product) + error);
    Reduced { n: shifted.bits(), r, less }
}

/// The sine of x, turned by quarters of a circle, for |x| below `LARGE`.
#[inline(always)]
fn sine<V: Lanes32>(x: V, quarters: i32) -> V {
    let Reduced { n, r, less } = reduce(x);
    let z = r * r;
    // Written as a difference so that the sine of -0 is -0.
    let sin = r - (z * r).fnma(poly(&SIN_F, z), less);
    let (w, lost) = fast_two_sum(V::splat(1.0), z * V::splat(-0.5));
    let cos = w + (z * z).fma(poly(&COS_F, z), r.fma(less, lost));
    let n = n + V::Int::splat(quarters);
    let value = V::select(n.shl::<31>().negative(), cos, sin);
    V::from_bits(value.bits() ^ (n.shl::<30>() & V::Int::splat(i32::MIN)))
}

/// The tangent of x, for |x| below `LARGE`.
#[inline(always)]
fn tangent<V: Lanes32>(x: V) -> V {
    let Reduced { n, r, less } = reduce(x);
    let (z, z_low) = square(r);
    let p = horner(&TAN_F, z);
    let cube = z * r;
    // The slope of the tangent is 1 + tan^2, for which a rounded tangent will do.
    let near = cube.fma(p, r);
    let less = (less * near).fma(near, less);
    let tail = cube.fma(p, (z_low * r).fms(p, less));
    let (tan, low) = fast_two_sum(r, tail);
    let inverse = V::splat(1.0) / tan;
    let error = inverse.fnma(low, inverse.fnma(tan, V::splat(1.0)));
    let turned = inverse.fma(error, inverse);
    let turned = V::from_bits(turned.bits() ^ V::Int::splat(i32::MIN));
    V::select(n.shl::<31>().negative(), turned, tan)
}

/// The three parts of pi/2 are exact enough below.
const LARGE: f32 = 8192.0;

impl Function32 for trig::Sin {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        let large = !x.abs().le(V::splat(LARGE));
        patch(sine(x, 0), x, large, <trig::Sin as Unary64>::eval::<f64>)
    }
}

impl Function32 for trig::Cos {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        let large = !x.abs().le(V::splat(LARGE));
        patch(sine(x, 1), x, large, <trig::Cos as Unary64>::eval::<f64>)
    }
}

impl Function32 for trig::Tan {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        let large = !x.abs().le(V::splat(LARGE));
        patch(tangent(x), x, large, <trig::Tan as Unary64>::eval::<f64>)
    }
}
