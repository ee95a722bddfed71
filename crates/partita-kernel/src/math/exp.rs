//! Exponentials: x = n ln 2 + r, e^x = 2^n e^r.

use super::coefficients::{EXP, EXPM1, LN2, LOG2_E};
use super::loops::Unary64;
use super::poly::{fast_two_sum, poly, two_product};
use crate::simd::{Ints, Lanes};

/// Adding it rounds to an integer whose low bits are those of the sum.
pub(super) const SHIFTER: f64 = 6755399441055744.0;

/// x near n ln 2: n, its low bits, and x - n ln 2 as a sum of two.
pub(super) struct Reduced<V: Lanes> {
    pub(super) n: V,
    pub(super) bits: V::Int,
    pub(super) high: V,
    pub(super) low: V,
}

/// Reduces |x| < 2^20.
#[inline(always)]
pub(super) fn reduce<V: Lanes>(x: V) -> Reduced<V> {
    let shifted = x.fma(V::splat(LOG2_E[0]), V::splat(SHIFTER));
    let n = shifted - V::splat(SHIFTER);
    let first = n.fnma(V::splat(LN2[0]), x);
    let high = n.fnma(V::splat(LN2[1]), first);
    let low = n.fnma(V::splat(LN2[1]), first - high);
    Reduced { n, bits: shifted.bits(), high, low }
}

impl<V: Lanes> Reduced<V> {
    /// e^x.
    #[inline(always)]
    pub(super) fn exp(&self) -> V {
        let tail = (self.high * self.high).fma(poly(&EXP, self.high), self.low);
        (V::splat(1.0) + (self.high + tail)).scale_near_one(self.n, self.bits)
    }

    /// e^x / 2^n as a sum of two.
    #[inline(always)]
    pub(super) fn mantissa(&self) -> (V, V) {
        let tail = (self.high * self.high).fma(poly(&EXP, self.high), self.low);
        let (r, r_low) = fast_two_sum(self.high, tail);
        let (p, p_low) = fast_two_sum(V::splat(1.0), r);
        (p, p_low + r_low)
    }

    /// e^x - 1 as a sum of two, for n from -1022 to 1023.
    #[inline(always)]
    pub(super) fn minus_one(&self) -> (V, V) {
        let power = power_of_two::<V>(self.bits);
        let half = self.high * V::splat(0.5);
        let (square, square_low) = two_product(half, self.high);
        let cubic = (square * self.high).fma(poly(&EXPM1, self.high), self.low);
        let (r, r_low) = fast_two_sum(self.high, square);
        let less = power - V::splat(1.0);
        // From 2^54 on the difference is rounded.
        let lost = (power - less) - V::splat(1.0);
        let sum = power.fma(r, less);
        let rest = power.fma(r, less - sum) + lost;
        fast_two_sum(sum, power.fma(cubic + (square_low + r_low), rest))
    }
}

/// 2^n for n in the low bits, from -1022 to 1023.
#[inline(always)]
pub(super) fn power_of_two<V: Lanes>(bits_of_n: V::Int) -> V {
    V::from_bits((bits_of_n + V::Int::splat(1023)).shl::<52>())
}

/// Keeps x where results are neither infinite nor zero, or just beyond; NaN stays.
#[inline(always)]
pub(super) fn clamp<V: Lanes>(x: V, low: f64, high: f64) -> V {
    V::splat(high).min(V::splat(low).max(x))
}

pub(super) struct Exp;

impl Unary64 for Exp {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        reduce(clamp(x, -746.0, 710.0)).exp()
    }
}

pub(super) struct Exp2;

impl Unary64 for Exp2 {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        let x = clamp(x, -1076.0, 1025.0);
        let shifted = x + V::splat(SHIFTER);
        let n = shifted - V::splat(SHIFTER);
        let (high, error) = two_product(x - n, V::splat(LN2[0]));
        let low = (x - n).fma(V::splat(LN2[1]), error);
        Reduced { n, bits: shifted.bits(), high, low }.exp()
    }
}

pub(super) struct Expm1;

impl Unary64 for Expm1 {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        let r = reduce(clamp(x, -40.0, 710.0));
        // 2^n is infinite for n = 1024, but 1 is nothing then.
        let (high, low) = r.minus_one();
        let small = high + low;
        let y = V::select(x.lt(V::splat(60.0)), small, r.exp());
        V::select(x.eq(V::splat(0.0)), x, y)
    }
}
