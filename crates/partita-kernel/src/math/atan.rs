//! Arc functions.

use super::coefficients::{ASIN, ATAN, ATAN_HALF, HALF_PI, PI, QUARTER_PI};
use super::loops::{Binary64, Unary64};
use super::poly::{fast_two_sum, poly, two_sum, two_to};
use super::rare::patch2;
use crate::simd::Lanes;

/// atan(y / x) for y, x >= 0, not both zero, that are neither huge nor tiny, as a sum of two.
#[inline(always)]
fn angle<V: Lanes>(y: V, x: V) -> (V, V) {
    let steep = y.gt(x);
    let (small, large) = (V::select(steep, x, y), V::select(steep, y, x));
    // atan(q) = atan(c) + atan((q - c) / (1 + q c)) for c = 0, 1/2 or 1, whichever is near.
    let middle = small.gt(large * V::splat(7.0 / 16.0));
    let upper = small.gt(large * V::splat(11.0 / 16.0));
    let zero = V::splat(0.0);
    let c = V::select(upper, V::splat(1.0), V::splat(0.5)).only(middle);
    let top = c.fnma(large, small);
    let (bottom, bottom_low) = fast_two_sum(large, c * small);
    let inverse = V::splat(1.0) / bottom;
    let t = top * inverse;
    let t_low = t.fnma(bottom_low, t.fnma(bottom, top)) * inverse;
    let z = t * t;
    let tail = (z * t).fma(poly(&ATAN, z), t_low);
    let base = V::select(upper, V::splat(QUARTER_PI[0]), V::splat(ATAN_HALF[0]));
    let base_low = V::select(upper, V::splat(QUARTER_PI[1]), V::splat(ATAN_HALF[1]));
    let (base, base_low) = (V::select(middle, base, zero), V::select(middle, base_low, zero));
    let (high, error) = fast_two_sum(base, t);
    let (high, low) = fast_two_sum(high, tail + (error + base_low));
    // atan(1 / q) = pi/2 - atan(q).
    let (turned, turned_error) = fast_two_sum(V::splat(HALF_PI[0]), -high);
    let turned_low = turned_error + (V::splat(HALF_PI[1]) - low);
    (V::select(steep, turned, high), V::select(steep, turned_low, low))
}

pub(super) struct Atan;

impl Unary64 for Atan {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        // Beyond 2^60 the angle is pi/2.
        let size = V::splat(1152921504606846976.0).min(x.abs());
        let (high, low) = angle(size, V::splat(1.0));
        (high + low).or_sign(x.sign())
    }
}

pub(super) struct Atan2;

impl Binary64 for Atan2 {
    #[inline(always)]
    fn eval<V: Lanes>(y: V, x: V) -> V {
        let (large, small) = (y.abs().max(x.abs()), x.abs().min(y.abs()));
        let (least, most) = (V::splat(two_to(-450)), V::splat(two_to(450)));
        let fits = small.ge(least) | small.eq(V::splat(0.0));
        let usual = large.ge(least) & large.le(most) & fits;
        patch2(atan2_usual(y, x), y, x, !usual, atan2_rare)
    }
}

/// For numbers whose quotient neither overflows nor underflows.
#[inline(always)]
fn atan2_usual<V: Lanes>(y: V, x: V) -> V {
    let (high, low) = angle(y.abs(), x.abs());
    let (turned, error) = fast_two_sum(V::splat(PI[0]), -high);
    let turned_low = error + (V::splat(PI[1]) - low);
    let left = x.lt(V::splat(0.0));
    let sum = V::select(left, turned, high) + V::select(left, turned_low, low);
    sum.or_sign(y.sign())
}

fn atan2_rare(y: f64, x: f64) -> f64 {
    if y.is_nan() || x.is_nan() {
        return f64::NAN;
    }
    let size = match (y.abs(), x.abs()) {
        (f64::INFINITY, f64::INFINITY) => return diagonal(x).copysign(y),
        (f64::INFINITY, _) => return HALF_PI[0].copysign(y),
        (y_size, x_size) if y_size == 0.0 || x_size == f64::INFINITY => 0.0,
        (y_size, x_size) => return apart(y_size, x_size, x).copysign(y),
    };
    let angle = if x.is_sign_negative() { PI[0] } else { size };
    angle.copysign(y)
}

fn diagonal(x: f64) -> f64 {
    if x < 0.0 { 3.0 * QUARTER_PI[0] } else { QUARTER_PI[0] }
}

/// The angle of y and |x|, finite and y not zero, for the sign of `x`.
fn apart(y: f64, x_size: f64, x: f64) -> f64 {
    let bring = two_to(-exponent(x_size.max(y)).clamp(-1000, 1000));
    let (y_near, x_near) = (y * bring, x_size * bring);
    // So far apart that the angle is the quotient, or a multiple of pi/2 to full precision.
    if y_near < x_near * two_to(-60) {
        return if x < 0.0 { PI[0] } else { y / x_size };
    }
    if x_near < y_near * two_to(-60) {
        return HALF_PI[0];
    }
    atan2_usual(y_near, x_near.copysign(x))
}

fn exponent(x: f64) -> i32 {
    (x.to_bits() >> 52) as i32 - 1023
}

/// asin(s) - s for |s| <= 1/2, of s as a sum of two, plus its second part.
#[inline(always)]
fn asin_tail<V: Lanes>(s: V, s_low: V, z: V) -> V {
    (s * z).fma(poly(&ASIN, z), s_low)
}

/// Where |x| > 1/2: s = sqrt((1 - |x|) / 2), else x, each as a sum of two, and the square.
#[inline(always)]
fn halve<V: Lanes>(x: V) -> (V::Mask, V, V, V) {
    let size = x.abs();
    let far = size.gt(V::splat(0.5));
    let square = (V::splat(1.0) - size) * V::splat(0.5);
    let root = square.sqrt();
    let rest = root.fnma(root, square) / (root + root);
    let rest = V::select(square.gt(V::splat(0.0)), rest, V::splat(0.0));
    let z = V::select(far, square, x * x);
    (far, V::select(far, root, size), rest.only(far), z)
}

pub(super) struct Asin;

impl Unary64 for Asin {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        let (far, s, s_low, z) = halve(x);
        let tail = asin_tail(s, s_low, z);
        // asin(x) = pi/2 - 2 asin(s).
        let (high, error) = fast_two_sum(V::splat(HALF_PI[0]), -(s + s));
        let low = (tail + tail) - V::splat(HALF_PI[1]) - error;
        let y = V::select(far, high - low, s + tail);
        outside_is_nan(y.or_sign(x.sign()), x)
    }
}

pub(super) struct Acos;

impl Unary64 for Acos {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        let (far, s, s_low, z) = halve(x);
        let tail = asin_tail(s, s_low, z);
        let negative = x.lt(V::splat(0.0));
        // acos(x) = 2 asin(s), or pi - 2 asin(s) for negative x.
        let (turned, error) = fast_two_sum(V::splat(PI[0]), -(s + s));
        let turned = turned - ((tail + tail) - V::splat(PI[1]) - error);
        let outer = V::select(negative, turned, (s + s) + (tail + tail));
        // acos(x) = pi/2 - asin(x).
        let sign = x.sign();
        let (high, error) = two_sum(V::splat(HALF_PI[0]), -s.xor_sign(sign));
        let inner = high - (tail.xor_sign(sign) - V::splat(HALF_PI[1]) - error);
        outside_is_nan(V::select(far, outer, inner), x)
    }
}

#[inline(always)]
fn outside_is_nan<V: Lanes>(y: V, x: V) -> V {
    V::select(x.abs().le(V::splat(1.0)), y, V::splat(f64::NAN))
}
