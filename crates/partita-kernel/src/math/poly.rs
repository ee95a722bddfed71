//! Polynomials and sums with remainder.

use crate::simd::Lanes;

/// c[0] + c[1] x + ..., as two interleaved Horner chains.
#[inline(always)]
pub(super) fn poly<V: Lanes, const K: usize>(c: &[f64; K], x: V) -> V {
    if K < 4 {
        return chain(c, x, 0, 1);
    }
    let x2 = x * x;
    chain(c, x2, 1, 2).fma(x, chain(c, x2, 0, 2))
}

/// Horner's scheme over c[first], c[first + step], ...
#[inline(always)]
fn chain<V: Lanes, const K: usize>(c: &[f64; K], x: V, first: usize, step: usize) -> V {
    let mut k = first + (K - 1 - first) / step * step;
    let mut sum = V::splat(c[k]);
    while k > first {
        k -= step;
        sum = sum.fma(x, V::splat(c[k]));
    }
    sum
}

/// a + b as the rounded sum and its error, for |a| >= |b| or a = 0.
#[inline(always)]
pub(super) fn fast_two_sum<V: Lanes>(a: V, b: V) -> (V, V) {
    let sum = a + b;
    (sum, (a - sum) + b)
}

/// a + b as the rounded sum and its error.
#[inline(always)]
pub(super) fn two_sum<V: Lanes>(a: V, b: V) -> (V, V) {
    let sum = a + b;
    let b_used = sum - a;
    (sum, (a - (sum - b_used)) + (b - b_used))
}

/// a * b as the rounded product and its error.
#[inline(always)]
pub(super) fn two_product<V: Lanes>(a: V, b: V) -> (V, V) {
    let product = a * b;
    (product, a.fms(b, product))
}

/// 2^n, for powers that are normal.
pub(super) const fn two_to(n: i32) -> f64 {
    f64::from_bits(((1023 + n) as u64) << 52)
}
