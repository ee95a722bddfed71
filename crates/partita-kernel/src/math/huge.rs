//! Reduction of huge angles: x times 2/pi modulo 4, in integers, with all the bits it takes.

use super::coefficients::{HALF_PI, TWO_OVER_PI_BITS};
use super::poly::{fast_two_sum, two_product, two_to};
use super::trig::Reduced;
use crate::simd::Ints;

/// Reduces |x| of at least 2^20; NaN where x is infinite or NaN.
pub(super) fn reduce_huge(x: f64) -> Reduced<f64> {
    if !x.is_finite() {
        return Reduced { n: Ints::splat(0), high: f64::NAN, less: 0.0 };
    }
    let (n, fraction, fraction_low) = quarter_turns(x.abs());
    let (product, error) = two_product(fraction, HALF_PI[0]);
    let low = fraction_low.mul_add(HALF_PI[0], fraction.mul_add(HALF_PI[1], error));
    let (high, low) = fast_two_sum(product, low);
    let sign = if x < 0.0 { -1.0 } else { 1.0 };
    let n = if x < 0.0 { -n } else { n };
    Reduced { n: Ints::splat(n), high: sign * high, less: -sign * low }
}

/// x in quarter turns: the nearest integer modulo 4, and what is left, as a sum of two.
fn quarter_turns(x: f64) -> (i64, f64, f64) {
    let bits = x.to_bits();
    let mantissa = (bits & ((1 << 52) - 1)) | 1 << 52;
    let exponent = (bits >> 52) as i64 - 1075;
    // Bits of 2/pi above this one give multiples of 4.
    let product = times_window(mantissa, (exponent - 2 + 64) as usize);
    let n = (product[0] >> 62) as i64;
    let fraction = [product[0] << 2 | product[1] >> 62, product[1] << 2 | product[2] >> 62];
    let fraction = (fraction[0] as u128) << 64 | fraction[1] as u128;
    if fraction >> 127 == 1 {
        let (high, low) = to_floats(fraction.wrapping_neg());
        return (n + 1, -high, -low);
    }
    let (high, low) = to_floats(fraction);
    (n, high, low)
}

/// The mantissa times 192 bits of the table from `first` on, without what overflows.
fn times_window(mantissa: u64, first: usize) -> [u64; 3] {
    let word = |i: usize| {
        let (at, shift) = (first / 64 + i, first % 64);
        let next = TWO_OVER_PI_BITS.get(at + 1).copied().unwrap_or(0);
        let low = if shift == 0 { 0 } else { next >> (64 - shift) };
        TWO_OVER_PI_BITS[at] << shift | low
    };
    let m = u128::from(mantissa);
    let low = m * u128::from(word(2));
    let middle = m * u128::from(word(1)) + (low >> 64);
    let high = m * u128::from(word(0)) + (middle >> 64);
    [high as u64, middle as u64, low as u64]
}

/// A binary fraction of 128 bits as a sum of two.
fn to_floats(fraction: u128) -> (f64, f64) {
    if fraction == 0 {
        return (0.0, 0.0);
    }
    let zeros = fraction.leading_zeros();
    let normal = fraction << zeros;
    let unit = two_to(-(zeros as i32));
    let high = (normal >> 75) as f64;
    let low = ((normal >> 22) as u64 & ((1 << 53) - 1)) as f64;
    (high * two_to(-53) * unit, low * two_to(-106) * unit)
}
