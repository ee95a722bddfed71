//! Cube roots and lengths of vectors.

use super::coefficients::{CBRT, CBRT_STEP};
use super::exp::SHIFTER;
use super::loops::{Binary64, Unary64};
use super::poly::{fast_two_sum, poly, two_product, two_sum, two_to};
use super::rare::patch;
use crate::simd::{Ints, Lanes};

pub(super) struct Cbrt;

impl Unary64 for Cbrt {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        let size = x.abs();
        let y = cbrt_usual(size).or_sign(x.sign());
        let usual = size.ge(V::splat(f64::MIN_POSITIVE)) & size.le(V::splat(f64::MAX));
        patch(y, x, !usual, cbrt_rare)
    }
}

/// The cube root of a positive normal number.
#[inline(always)]
fn cbrt_usual<V: Lanes>(x: V) -> V {
    // x = m 2^(3 q + j), 1 <= m < 2, j = 0, 1 or 2.
    let exponent = x.bits().shr::<52>();
    let near = V::from_bits(exponent | V::Int::splat(0x4330_0000_0000_0000));
    let k = near - V::splat(4503599627370496.0 + 1023.0);
    // The nearest integer to (k - 1) / 3 is the floor of k / 3.
    let shifted = (k - V::splat(1.0)).fma(V::splat(1.0 / 3.0), V::splat(SHIFTER));
    let q = shifted - V::splat(SHIFTER);
    let j = q.fnma(V::splat(3.0), k);
    let mantissa = x.bits() & V::Int::splat((1 << 52) - 1);
    let m = V::from_bits(mantissa | V::Int::splat(1023 << 52));
    let (one, two) = (j.eq(V::splat(1.0)), j.eq(V::splat(2.0)));
    let step = V::select(one, V::splat(CBRT_STEP[1]), V::splat(CBRT_STEP[0]));
    let step = V::select(two, V::splat(CBRT_STEP[2]), step);
    let grown = V::select(one, m + m, m);
    let z = V::select(two, m * V::splat(4.0), grown);
    // y = z^(-1/3), then the root z y^2, each made exact by Newton's step.
    let y = poly(&CBRT, m) * step;
    let third = V::splat(1.0 / 3.0);
    let y = (y * third).fma((y * y * y).fnma(z, V::splat(1.0)), y);
    let y = (y * third).fma((y * y * y).fnma(z, V::splat(1.0)), y);
    let y2 = y * y;
    let root = z * y2;
    let (square, square_low) = two_product(root, root);
    let rest = square.fnma(root, z) - square_low * root;
    let root = (y2 * third).fma(rest, root);
    V::from_bits(root.bits() + shifted.bits().shl::<52>())
}

fn cbrt_rare(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    (cbrt_usual(x.abs() * two_to(54)) * two_to(-18)).copysign(x)
}

pub(super) struct Hypot;

impl Binary64 for Hypot {
    #[inline(always)]
    fn eval<V: Lanes>(x: V, y: V) -> V {
        let (x, y) = (x.abs(), y.abs());
        let large = x.max(y);
        let root = length(x, y, large);
        // An infinite side makes the length infinite, whatever the other is.
        let infinite = V::splat(f64::INFINITY);
        let is_infinite = x.eq(infinite) | y.eq(infinite);
        let invalid = x.is_nan() | y.is_nan();
        let root = V::select(invalid, x + y, root);
        V::select(is_infinite, infinite, root)
    }
}

/// The length, computed where squares neither overflow nor underflow.
#[inline(always)]
fn length<V: Lanes>(x: V, y: V, large: V) -> V {
    let down = large.gt(V::splat(two_to(500)));
    let up = large.lt(V::splat(two_to(-400)));
    let factor = V::select(up, V::splat(two_to(600)), V::splat(1.0));
    let factor = V::select(down, V::splat(two_to(-600)), factor);
    let back = V::select(up, V::splat(two_to(-600)), V::splat(1.0));
    let back = V::select(down, V::splat(two_to(600)), back);
    let (x, y) = (x * factor, y * factor);
    let ((x2, x2_low), (y2, y2_low)) = (two_product(x, x), two_product(y, y));
    let (sum, error) = two_sum(x2, y2);
    let (sum, low) = fast_two_sum(sum, error + (x2_low + y2_low));
    let root = sum.sqrt();
    let rest = (root.fnma(root, sum) + low) / (root + root);
    V::select(root.gt(V::splat(0.0)), root + rest, root) * back
}
