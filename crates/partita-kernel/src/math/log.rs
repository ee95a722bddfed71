//! Logarithms: x = 2^k (1 + f), log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)), s = f / (2 + f).

use super::coefficients::{LN2_CUT, LOG, LOG2_E, LOG10_2_CUT, LOG10_E};
use super::loops::Unary64;
use super::poly::{fast_two_sum, poly, two_product, two_sum, two_to};
use super::rare::patch;
use crate::simd::{Ints, Lanes};

/// x = 2^k (1 + f) with 1 + f from sqrt(1/2) to sqrt(2).
pub(super) struct Parts<V: Lanes> {
    pub(super) k: V,
    pub(super) f: V,
    /// k, shifted to where exponents are.
    exponent: V::Int,
}

/// Splits a positive normal number.
#[inline(always)]
pub(super) fn split<V: Lanes>(x: V) -> Parts<V> {
    // The bits of sqrt(1/2): mantissas from there up have the exponent 0.
    let above = x.bits() - V::Int::splat(0x3fe6_a09e_667f_3bcd);
    let exponent = above & V::Int::splat(0xfff0_0000_0000_0000_u64 as i64);
    let f = V::from_bits(x.bits() - exponent) - V::splat(1.0);
    // The exponent, biased to be positive, as the low bits of a number near 2^52.
    let biased = (above + V::Int::splat(1023 << 52)).shr::<52>();
    let near = V::from_bits(biased | V::Int::splat(0x4330_0000_0000_0000));
    Parts { k: near - V::splat(4503599627370496.0 + 1023.0), f, exponent }
}

/// log(1 + f) as a sum of two.
#[inline(always)]
pub(super) fn log_1_plus<V: Lanes>(f: V) -> (V, V) {
    let s = f / (V::splat(2.0) + f);
    let z = s * s;
    let half = f * V::splat(0.5);
    let (square, square_low) = two_product(half, f);
    let series = s * z.fma(poly(&LOG, z), square);
    let (high, low) = fast_two_sum(f, -square);
    (high, series + (low - square_low))
}

/// k ln 2 + a sum of two, as a sum of two.
#[inline(always)]
fn plus_k<V: Lanes>(k: V, (high, low): (V, V), unit: &[f64; 2]) -> (V, V) {
    let (sum, error) = fast_two_sum(k * V::splat(unit[0]), high);
    (sum, k.fma(V::splat(unit[1]), low) + error)
}

/// A sum of two times a constant in two parts.
#[inline(always)]
fn times<V: Lanes>((high, low): (V, V), factor: &[f64; 2]) -> (V, V) {
    let (product, error) = two_product(high, V::splat(factor[0]));
    (product, low.fma(V::splat(factor[0]), high.fma(V::splat(factor[1]), error)))
}

/// A logarithm to some base.
trait Base {
    /// The logarithm of 2^k (1 + f).
    fn of<V: Lanes>(k: V, f: V) -> V;
}

struct Natural;
struct Two;
struct Ten;

impl Base for Natural {
    #[inline(always)]
    fn of<V: Lanes>(k: V, f: V) -> V {
        let (high, low) = plus_k(k, log_1_plus(f), &LN2_CUT);
        high + low
    }
}

impl Base for Two {
    #[inline(always)]
    fn of<V: Lanes>(k: V, f: V) -> V {
        let (high, low) = plus_k(k, times(log_1_plus(f), &LOG2_E), &[1.0, 0.0]);
        high + low
    }
}

impl Base for Ten {
    #[inline(always)]
    fn of<V: Lanes>(k: V, f: V) -> V {
        let (high, low) = plus_k(k, times(log_1_plus(f), &LOG10_E), &LOG10_2_CUT);
        high + low
    }
}

#[inline(always)]
fn log<B: Base, V: Lanes>(x: V) -> V {
    let parts = split(x);
    let y = B::of(parts.k, parts.f);
    let usual = x.ge(V::splat(f64::MIN_POSITIVE)) & x.le(V::splat(f64::MAX));
    patch(y, x, !usual, rare::<B>)
}

fn rare<B: Base>(x: f64) -> f64 {
    match x {
        0.0 => f64::NEG_INFINITY,
        f64::INFINITY => x,
        _ if x > 0.0 => {
            let parts = split(x * 18014398509481984.0);
            B::of(parts.k - 54.0, parts.f)
        }
        _ => f64::NAN,
    }
}

/// The natural logarithm of 2^k (1 + f).
#[inline(always)]
pub(super) fn natural<V: Lanes>(k: V, f: V) -> V {
    Natural::of(k, f)
}

pub(super) struct Log;
pub(super) struct Log2;
pub(super) struct Log10;
pub(super) struct Log1p;

impl Unary64 for Log {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        log::<Natural, V>(x)
    }
}
impl Unary64 for Log2 {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        log::<Two, V>(x)
    }
}
impl Unary64 for Log10 {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        log::<Ten, V>(x)
    }
}

/// log(1 + x + x_low), for 1 + x that is positive, normal and finite, as a sum of two.
#[inline(always)]
pub(super) fn log1p_sum<V: Lanes>(x: V, x_low: V) -> (V, V) {
    let (sum, error) = two_sum(V::splat(1.0), x);
    let parts = split(sum);
    // 2^-k
    let unit = V::from_bits(V::Int::splat(1023 << 52) - parts.exponent);
    // Near 1 the sum would lose bits of x, but x is f itself.
    let near = x.gt(V::splat(-0.29)) & x.lt(V::splat(0.41));
    let f = V::select(near, x, parts.f);
    // The largest numbers have no such unit, and no error that counts.
    let far_low = ((error + x_low) * unit).only(x.lt(V::splat(two_to(200))));
    let f_low = V::select(near, x_low, far_low);
    let k = V::select(near, V::splat(0.0), parts.k);
    let (high, low) = log_1_plus(f);
    // log(1 + f + d) is log(1 + f) + d / (1 + f), where 1 - f + f^2 will do for the quotient.
    let slope = f.fma(f - V::splat(1.0), V::splat(1.0));
    plus_k(k, (high, f_low.fma(slope, low)), &LN2_CUT)
}

/// log(x + x_low) of a positive normal sum.
#[inline(always)]
pub(super) fn log_of_sum<V: Lanes>(x: V, x_low: V) -> V {
    let parts = split(x);
    let unit = V::from_bits(V::Int::splat(1023 << 52) - parts.exponent);
    let (f, f_low) = two_sum(parts.f, x_low * unit);
    let (high, low) = log_1_plus(f);
    let slope = f.fma(f - V::splat(1.0), V::splat(1.0));
    let (high, low) = plus_k(parts.k, (high, f_low.fma(slope, low)), &LN2_CUT);
    high + low
}

impl Unary64 for Log1p {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        let (high, low) = log1p_sum(x, V::splat(0.0));
        let y = (high + low).or_sign(x.sign());
        let usual = x.gt(V::splat(-1.0)) & x.le(V::splat(f64::MAX));
        patch(y, x, !usual, log1p_rare)
    }
}

fn log1p_rare(x: f64) -> f64 {
    match x {
        -1.0 => f64::NEG_INFINITY,
        f64::INFINITY => x,
        _ => f64::NAN,
    }
}
