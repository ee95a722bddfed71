//! Powers: x^y = e^(y log x), with the logarithm to about 68 bits.

use super::coefficients::{EXP32, LN2, LN2_CUT, LOG2_E, POW, POW_LOG};
use super::exp::{SHIFTER, clamp, reduce};
use super::log::{natural, split};
use super::loops::{Binary32, Binary64};
use super::poly::{fast_two_sum, poly, two_product, two_to};
use super::rare::patch2;
use crate::simd::{Ints, Lanes, Mask};

/// log(2^k_more x) of a positive normal number, as a sum of two.
#[inline(always)]
fn log_sum<V: Lanes>(x: V, k_more: V) -> (V, V) {
    // x = 2^k z; the leading bits of z find c near 1/z, log(z) = -log(c) + log(1 + r), r = z c - 1.
    let above = x.bits() - V::Int::splat(0x3fe6_9555_0000_0000);
    let index = above.shr::<45>() & V::Int::splat(127);
    let biased = (above + V::Int::splat(1023 << 52)).shr::<52>();
    let near = V::from_bits(biased | V::Int::splat(0x4330_0000_0000_0000));
    let k = near - V::splat(4503599627370496.0 + 1023.0) + k_more;
    let exponent = above & V::Int::splat(0xfff0_0000_0000_0000_u64 as i64);
    let z = V::from_bits(x.bits() - exponent);
    // SAFETY: the index is at most 127, the last of the table.
    let [c, _, log_c, log_c_low] = unsafe { V::rows4(&POW, index) };
    let r = z.fms(c, V::splat(1.0));
    let (t, t_low) = fast_two_sum(k.fma(V::splat(LN2_CUT[0]), log_c), r);
    let low = k.fma(V::splat(LN2_CUT[1]), log_c_low) + t_low;
    let half = r * V::splat(-0.5);
    let (square, square_low) = two_product(half, r);
    let (high, error) = fast_two_sum(t, square);
    let cubic = (r * (r * r)) * poly(&POW_LOG, r);
    fast_two_sum(high, (low + (square_low + error)) + cubic)
}

/// x^y of a positive normal x, where y is not huge.
#[inline(always)]
fn pow_usual<V: Lanes>(x: V, y: V, k_more: V) -> V {
    let (log, log_low) = log_sum(x, k_more);
    let product = y * log;
    let error = y.fma(log_low, y.fms(log, product));
    // Where the power is infinite or zero the error may be anything.
    let error = error.only(product.abs().lt(V::splat(1000.0)));
    let mut r = reduce(clamp(product, -746.0, 710.0));
    let (high, low) = fast_two_sum(r.high, r.low + error);
    (r.high, r.low) = (high, low);
    r.exp()
}

pub(super) struct Pow;

impl Binary64 for Pow {
    #[inline(always)]
    fn eval<V: Lanes>(x: V, y: V) -> V {
        pow_of(pow_usual(x.abs(), y, V::splat(0.0)), x, y)
    }
}

/// x^y from |x|^y, which is right where |x| is normal and y not huge.
#[inline(always)]
fn pow_of<V: Lanes>(mut power: V, x: V, y: V) -> V {
    let size = x.abs();
    let negative = x.lt(V::splat(0.0));
    if negative.any() {
        power = V::select(negative, with_sign(power, y), power);
    }
    let usual = size.ge(V::splat(f64::MIN_POSITIVE))
        & size.le(V::splat(f64::MAX))
        & y.abs().le(V::splat(two_to(200)));
    patch2(power, x, y, !usual, pow_rare)
}

/// The power of a negative number, from that of its size.
#[inline(always)]
fn with_sign<V: Lanes>(power: V, y: V) -> V {
    let half = y * V::splat(0.5);
    let odd = !half.trunc().eq(half);
    let signed = V::select(odd, -power, power);
    V::select(y.trunc().eq(y), signed, V::splat(f64::NAN))
}

fn is_odd(y: f64) -> bool {
    y.trunc() == y && (y * 0.5).trunc() != y * 0.5
}

fn pow_rare(x: f64, y: f64) -> f64 {
    if y == 0.0 || x == 1.0 {
        return 1.0;
    }
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if x < 0.0 && x != f64::NEG_INFINITY && y.is_finite() && y.trunc() != y {
        return f64::NAN;
    }
    let size = pow_of_size(x.abs(), y);
    if x.is_sign_negative() && is_odd(y) { -size } else { size }
}

/// x >= 0 and y not zero, neither NaN.
fn pow_of_size(x: f64, y: f64) -> f64 {
    if x == 1.0 {
        return 1.0;
    }
    if x == 0.0 || x == f64::INFINITY || y.abs() > two_to(200) {
        return if (x < 1.0) == (y < 0.0) { f64::INFINITY } else { 0.0 };
    }
    if x < f64::MIN_POSITIVE {
        return pow_usual(x * two_to(54), y, -54.0);
    }
    pow_usual(x, y, 0.0)
}

/// e^x to about 26 bits, where it is normal in float64.
#[inline(always)]
fn exp_short<V: Lanes>(x: V) -> V {
    let shifted = x.fma(V::splat(LOG2_E[0]), V::splat(SHIFTER));
    let r = (shifted - V::splat(SHIFTER)).fnma(V::splat(LN2[0]), x);
    let p = (r * r).fma(poly(&EXP32, r), r + V::splat(1.0));
    V::from_bits(p.bits() + shifted.bits().shl::<52>())
}

impl Binary32 for Pow {
    #[inline(always)]
    fn eval<V: Lanes>(x: V, y: V) -> V {
        let parts = split(x.abs());
        let power = exp_short(clamp(y * natural(parts.k, parts.f), -105.0, 89.0));
        pow_of(power, x, y)
    }
}
