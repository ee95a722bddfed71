//! Logarithms: x = 2^k (1 + f), 1 + f from 2/3 to 4/3.

use super::{Function32, fast_two_sum, patch, poly, square};
use crate::math::coefficients::{LN2_F, LOG_CUBIC_F, LOG_F, LOG2_E_F, LOG10_2_F, LOG10_E_F};
use crate::math::log;
use crate::math::loops::Unary64;
use crate::simd::{Ints32, Lanes32};

struct Parts<V: Lanes32> {
    k: V,
    f: V,
    /// k, shifted to where exponents are.
    exponent: V::Int,
}

/// Splits a positive normal number.
#[inline(always)]
fn split<V: Lanes32>(x: V) -> Parts<V> {
    let above = x.bits() - V::Int::splat(0x3f2a_aaab);
    let exponent = above & V::Int::splat(0xff80_0000_u32 as i32);
    let f = V::from_bits(x.bits() - exponent) - V::splat(1.0);
    Parts { k: V::from_int(above.shr::<23>()), f, exponent }
}

#[inline(always)]
fn is_usual<V: Lanes32>(x: V) -> V::Mask {
    V::splat(f32::MIN_POSITIVE).le(x) & x.le(V::splat(f32::MAX))
}

impl Function32 for log::Log {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        let Parts { k, f, .. } = split(x);
        // k ln 2 + f with what the sum loses.
        let (sum, error) = fast_two_sum(k * V::splat(LN2_F[0]), f);
        let rest = (f * f).fma(poly(&LOG_F, f), k * V::splat(LN2_F[1]));
        let y = sum + (error + rest);
        patch(y, x, !is_usual(x), <log::Log as Unary64>::eval::<f64>)
    }
}

/// The logarithm of a positive normal number to a base b: `scale` is 1 / ln b in parts, `unit` the
/// logarithm of 2, its first part cut so that products with exponents are exact.
#[inline(always)]
fn to_base<V: Lanes32>(x: V, scale: &[f32; 2], unit: [f32; 2]) -> V {
    let Parts { k, f, .. } = split(x);
    let (f2, f2_low) = square(f);
    let tail = (f2 * f).fma(poly(&LOG_CUBIC_F, f), f2 * V::splat(-0.5));
    let first = f * V::splat(scale[0]);
    let first_low = f.fma(V::splat(scale[1]), f.fms(V::splat(scale[0]), first));
    let (sum, error) = fast_two_sum(k * V::splat(unit[0]), first);
    let small = f2_low.fma(V::splat(-0.5 * scale[0]), first_low);
    let small = error + k.fma(V::splat(unit[1]), small);
    sum + tail.fma(V::splat(scale[0]), small)
}

impl Function32 for log::Log2 {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        let y = to_base(x, &LOG2_E_F, [1.0, 0.0]);
        patch(y, x, !is_usual(x), <log::Log2 as Unary64>::eval::<f64>)
    }
}

impl Function32 for log::Log10 {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        let y = to_base(x, &LOG10_E_F, LOG10_2_F);
        patch(y, x, !is_usual(x), <log::Log10 as Unary64>::eval::<f64>)
    }
}

/// 1 + x = 2^k (1 + f + f_low).
#[inline(always)]
fn split_1_plus<V: Lanes32>(x: V) -> (V, V, V) {
    let one = V::splat(1.0);
    let sum = one + x;
    let part = sum - one;
    let error = (one - (sum - part)) + (x - part);
    let parts = split(sum);
    let unit = V::from_bits(V::Int::splat(0x3f80_0000) - parts.exponent);
    // Near 1 the sum would lose bits of x, but x is f itself.
    let near = x.abs().le(V::splat(1.0 / 3.0));
    let k = V::select(near, V::splat(0.0), parts.k);
    let f = V::select(near, x, parts.f);
    // The largest numbers have no such unit, and no error that counts.
    let counts = !near & x.le(V::splat(1e9));
    (k, f, V::select(counts, error * unit, V::splat(0.0)))
}

impl Function32 for log::Log1p {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        let (k, f, f_low) = split_1_plus(x);
        let (f2, f2_low) = square(f);
        // log(1 + f + d) is log(1 + f) + d / (1 + f), where 1 - f + f^2 will do for the quotient.
        let slope = f.fma(f - V::splat(1.0), V::splat(1.0));
        let small = f_low.fma(slope, k * V::splat(LN2_F[1]));
        let small = f2_low.fma(V::splat(-0.5), small);
        let cubic = (f2 * f).fma(poly(&LOG_CUBIC_F, f), small);
        let rest = f2.fma(V::splat(-0.5), cubic);
        let (sum, error) = fast_two_sum(k * V::splat(LN2_F[0]), f);
        let y = V::from_bits((sum + (error + rest)).bits() | x.sign());
        let usual = !x.le(V::splat(-1.0)) & x.le(V::splat(f32::MAX));
        patch(y, x, !usual, <log::Log1p as Unary64>::eval::<f64>)
    }
}
