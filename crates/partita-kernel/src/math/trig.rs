//! Sine, cosine and tangent: x = n pi/2 + r, both polynomials on r, chosen by n.

use super::coefficients::{COS, HALF_PI, SIN, TWO_OVER_PI};
use super::exp::SHIFTER;
use super::huge::reduce_huge;
use super::loops::Unary64;
use super::poly::{fast_two_sum, poly};
use super::rare::patch;
use crate::simd::{Ints, Lanes};

/// The sum of three parts of pi/2 is exact enough below.
const LARGE: f64 = 1073741824.0;

/// x near n pi/2: the low bits of n, and x - n pi/2 = high - less.
pub(super) struct Reduced<V: Lanes> {
    pub(super) n: V::Int,
    pub(super) high: V,
    pub(super) less: V,
}

/// Reduces |x| below `LARGE`.
#[inline(always)]
pub(super) fn reduce<V: Lanes>(x: V) -> Reduced<V> {
    let shifted = x.fma(V::splat(TWO_OVER_PI[0]), V::splat(SHIFTER));
    let n = shifted - V::splat(SHIFTER);
    // Exact, and so is the product of n and the second part as a sum of two.
    let first = n.fnma(V::splat(HALF_PI[0]), x);
    let product = n * V::splat(HALF_PI[1]);
    let error = n.fms(V::splat(HALF_PI[1]), product);
    let high = first - product;
    let less = n.fma(V::splat(HALF_PI[2]), ((high - first) + product) + error);
    Reduced { n: shifted.bits(), high, less }
}

impl<V: Lanes> Reduced<V> {
    /// The sine of r as a sum of two.
    #[inline(always)]
    fn sine(&self, z: V) -> (V, V) {
        // Written as a difference so that the sine of -0 is -0.
        let less = (z * V::splat(0.5)).fnma(self.less, self.less);
        let tail = (z * self.high).fnma(poly(&SIN, z), less);
        (self.high, -tail)
    }

    /// The cosine of r as a sum of two.
    #[inline(always)]
    fn cosine(&self, z: V) -> (V, V) {
        let half = z * V::splat(0.5);
        let (w, error) = fast_two_sum(V::splat(1.0), -half);
        (w, (z * z).fma(poly(&COS, z), self.high.fma(self.less, error)))
    }

    /// The sine of the angle, turned by `quarters`.
    #[inline(always)]
    fn sine_of_angle(&self, quarters: i64) -> V {
        let n = self.n + V::Int::splat(quarters);
        let z = self.high * self.high;
        let ((s, s_low), (c, c_low)) = (self.sine(z), self.cosine(z));
        let odd = n.shl::<63>().negative();
        let value = V::select(odd, c + c_low, s + s_low);
        value.xor_sign(n.shl::<62>() & V::Int::splat(i64::MIN))
    }

    #[inline(always)]
    fn tangent(&self) -> V {
        let z = self.high * self.high;
        let (s, s_low) = self.sine(z);
        let (s, s_low) = fast_two_sum(s, s_low);
        let (c, c_low) = self.cosine(z);
        let (c, c_low) = fast_two_sum(c, c_low);
        let odd = self.n.shl::<63>().negative();
        let (top, top_low) = (V::select(odd, -c, s), V::select(odd, -c_low, s_low));
        let (bottom, bottom_low) = (V::select(odd, s, c), V::select(odd, s_low, c_low));
        quotient(top, top_low, bottom, bottom_low)
    }
}

/// The quotient of two sums of two; a zero keeps its sign.
#[inline(always)]
pub(super) fn quotient<V: Lanes>(top: V, top_low: V, bottom: V, bottom_low: V) -> V {
    let inverse = V::splat(1.0) / bottom;
    let q = top * inverse;
    let over = q.fma(bottom_low, q.fms(bottom, top) - top_low);
    q - over * inverse
}

#[inline(always)]
fn is_large<V: Lanes>(x: V) -> V::Mask {
    !x.abs().le(V::splat(LARGE))
}

/// Sine and cosine.
#[inline(always)]
pub(super) fn sin_cos<V: Lanes>(x: V) -> (V, V) {
    let r = reduce(x);
    let large = is_large(x);
    let sine = patch(r.sine_of_angle(0), x, large, sin_huge);
    (sine, patch(r.sine_of_angle(1), x, large, cos_huge))
}

fn sin_huge(x: f64) -> f64 {
    reduce_huge(x).sine_of_angle(0)
}

fn cos_huge(x: f64) -> f64 {
    reduce_huge(x).sine_of_angle(1)
}

pub(super) struct Sin;
pub(super) struct Cos;
pub(super) struct Tan;

impl Unary64 for Sin {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        patch(reduce(x).sine_of_angle(0), x, is_large(x), sin_huge)
    }
}

impl Unary64 for Cos {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        patch(reduce(x).sine_of_angle(1), x, is_large(x), cos_huge)
    }
}

impl Unary64 for Tan {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        patch(reduce(x).tangent(), x, is_large(x), |x| reduce_huge(x).tangent())
    }
}
