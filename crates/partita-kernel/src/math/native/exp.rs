//! Exponentials: x = n ln 2 + r, e^x = 2^n e^r.

use super::{Function32, SHIFTER, horner, poly, square};
use crate::math::coefficients::{EXP_F, EXP2_F, EXPM1_F, LN2_F, LOG2_E_F};
use crate::math::exp;
use crate::simd::{Ints32, Lanes32};

/// x near n ln 2: n, its low bits, and x - n ln 2 as a sum of two.
struct Reduced<V: Lanes32> {
    n: V,
    bits: V::Int,
    high: V,
    low: V,
}

#[inline(always)]
fn reduce<V: Lanes32>(x: V) -> Reduced<V> {
    let shifted = x.fma(V::splat(LOG2_E_F[0]), V::splat(SHIFTER));
    let n = shifted - V::splat(SHIFTER);
    let first = n.fnma(V::splat(LN2_F[0]), x);
    let high = n.fnma(V::splat(LN2_F[1]), first);
    let low = n.fnma(V::splat(LN2_F[1]), first - high);
    Reduced { n, bits: shifted.bits(), high, low }
}

impl Function32 for exp::Exp {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        let r = reduce(V::splat(89.0).min(V::splat(-105.0).max(x)));
        let tail = (r.high * r.high).fma(poly(&EXP_F, r.high), r.low);
        (V::splat(1.0) + (r.high + tail)).scale(r.n, r.bits)
    }
}

impl Function32 for exp::Exp2 {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        let x = V::splat(130.0).min(V::splat(-155.0).max(x));
        let shifted = x + V::splat(SHIFTER);
        let n = shifted - V::splat(SHIFTER);
        let r = x - n;
        r.fma(horner(&EXP2_F, r), V::splat(1.0)).scale(n, shifted.bits())
    }
}

impl Function32 for exp::Expm1 {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        let r = reduce(V::splat(89.0).min(V::splat(-20.0).max(x)));
        let (h2, h2_low) = square(r.high);
        let cubic = (h2 * r.high).fma(poly(&EXPM1_F, r.high), h2_low.fma(V::splat(0.5), r.low));
        let tail = h2.fma(V::splat(0.5), cubic);
        // Half of everything, so that the power is finite where the result is.
        let power = V::from_bits((r.bits + V::Int::splat(126)).shl::<23>());
        let less = power - V::splat(0.5);
        let lost = (power - less) - V::splat(0.5);
        let sum = power.fma(r.high, less);
        let rest = power.fma(r.high, less - sum) + lost;
        let half = sum + power.fma(tail, rest);
        // Zeros keep their sign, and subnormal numbers have no half.
        V::select(x.abs().le(V::splat(f32::EPSILON / 4.0)), x, half + half)
    }
}
