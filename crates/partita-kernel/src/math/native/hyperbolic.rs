//! The hyperbolic tangent.

use super::{Function32, SHIFTER, horner, poly};
use crate::math::coefficients::{HALF_LN2_F, TANH_EXP_F, TANH_F, TANH_SCALE_F, TANH_SUM_F};
use crate::math::hyperbolic;
use crate::simd::{Ints32, Lanes32};

/// Up to here it is a polynomial.
const NEAR: f32 = 0.875;

/// tanh(x) for x from `NEAR` to 10: 1 - w + w^2 / (2 + w) for w = 2 e^(-2 x).
#[inline(always)]
fn tanh_far<V: Lanes32>(x: V) -> V {
    // -2 x = n ln 2 - 2 h, e^(-2 h) = 1 + m, w = power (1 + m).
    let shifted = x.fma(V::splat(TANH_SCALE_F[0]), V::splat(SHIFTER));
    let n = shifted - V::splat(SHIFTER);
    let h = n.fma(V::splat(HALF_LN2_F[0]), x);
    let m = (h * h).fma(poly(&TANH_EXP_F, h), h * V::splat(-2.0));
    let power = V::from_bits((shifted.bits() + V::Int::splat(128)).shl::<23>());
    let (w, more) = (power.fma(m, power), power * m);
    // Products with the power, and 1 - power where it counts, are exact: w itself is not needed so.
    (V::splat(1.0) - power) - (w * w).fnma(tanh_sum(w), more)
}

/// 1 / (2 + w), with few steps after one another.
#[inline(always)]
fn tanh_sum<V: Lanes32>(w: V) -> V {
    let c = TANH_SUM_F.map(V::splat);
    let w2 = w * w;
    w2.fma(w2.fma(c[4], w.fma(c[3], c[2])), w.fma(c[1], c[0]))
}

impl Function32 for hyperbolic::Tanh {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        let size = V::splat(10.0).min(x.abs());
        let z = size * size;
        let near = (z * size).fma(horner(&TANH_F, z), size);
        let y = V::select(size.le(V::splat(NEAR)), near, tanh_far(size));
        V::from_bits(y.bits() | x.sign())
    }
}
