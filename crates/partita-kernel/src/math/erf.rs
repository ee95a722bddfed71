//! The error function and its complement.

use super::coefficients::{ERF, ERFC, ERFC_SLOPE};
use super::exp::{SHIFTER, reduce};
use super::loops::Unary64;
use super::poly::{fast_two_sum, poly, two_product, two_sum};
use crate::simd::{Ints, Lanes};

pub(super) struct Erf;
pub(super) struct Erfc;

/// The terms of the series of erf around r after the first two, divided by the derivative there.
#[inline(always)]
fn series<V: Lanes>(r: V, d: V) -> V {
    let (r2, d2) = (r * r, d * d);
    let of = |c: f64| V::splat(c);
    let third = r2.fma(of(2.0 / 3.0), of(-1.0 / 3.0));
    let fifth = r2.fma(r2.fma(of(2.0 / 15.0), of(-0.4)), of(0.1));
    // The others are multiples of r.
    let fourth = r2.fma(of(-1.0 / 3.0), of(0.5));
    let sixth = r2.fma(r2.fma(of(-2.0 / 45.0), of(2.0 / 9.0)), of(-1.0 / 6.0));
    let even = d2.fma(d2.fma(sixth, fourth), of(-1.0));
    d2 * d.fma(d2.fma(fifth, third), r * even)
}

impl Unary64 for Erf {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        // erf(r + d) around the nearest multiple r of 1/128; 1 beyond 6.
        let size = V::splat(6.0).min(x.abs());
        let shifted = size + V::splat(SHIFTER / 128.0);
        let r = shifted - V::splat(SHIFTER / 128.0);
        let d = size - r;
        // SAFETY: the table has 1024 rows.
        let [value, slope, value_low, slope_low] =
            unsafe { V::rows4(&ERF, shifted.bits() & V::Int::splat(1023)) };
        // value + slope d and its error: |slope d| is at most half of the value, or the value is 0.
        let high = slope.fma(d, value);
        let error = slope.fma(d, value - high);
        let low = value_low + slope_low.fma(d, error);
        (high + slope.fma(series(r, d), low)).or_sign(x.sign())
    }
}

/// p(t), where t is a sum of two.
#[inline(always)]
fn erfc_poly<V: Lanes>(x: V) -> V {
    let (below, below_low) = two_sum(x, V::splat(-4.0));
    let (above, above_low) = two_sum(x, V::splat(4.0));
    let inverse = V::splat(1.0) / above;
    let t = below * inverse;
    let t_low = (t.fnma(above, below) + t.fnma(above_low, below_low)) * inverse;
    t_low.fma(poly(&ERFC_SLOPE, t), poly(&ERFC, t))
}

impl Unary64 for Erfc {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        // erfc(x) = e^(-x^2) (1 + p(t)) / (1 + 2 x), t = (x - 4) / (x + 4); 0 beyond 28.
        let size = V::splat(28.0).min(x.abs());
        let one = V::splat(1.0);
        let p = erfc_poly(size);
        let (top, top_low) = fast_two_sum(one, p);
        let (bottom, bottom_low) = two_sum(one, size + size);
        let inverse = one / bottom;
        let q = top * inverse;
        let q_low = (q.fnma(bottom, top) + q.fnma(bottom_low, top_low)) * inverse;
        let (square, square_low) = two_product(size, size);
        let mut r = reduce(-square);
        (r.high, r.low) = fast_two_sum(r.high, r.low - square_low);
        let (e, e_low) = r.mantissa();
        let (product, error) = two_product(e, q);
        let low = e.fma(q_low, e_low.fma(q, error));
        let (high, low) = fast_two_sum(product, low);
        // Negative x: 2 - erfc(-x).
        let (turned, error) = fast_two_sum(V::splat(2.0), -high.scale(r.n, r.bits));
        let turned = turned + (error - low.scale(r.n, r.bits));
        V::select(x.lt(V::splat(0.0)), turned, high.scale(r.n, r.bits))
    }
}
