//! Powers with small whole exponents, by repeated multiplication.
//!
//! They are exact where the products are, as in NumPy: (2 + 0i)^3 is 8, i^2 is -1.

use super::loops::Function;
use super::simple::Reciprocal;
use super::{Z, select};
use crate::simd::{Lanes, Mask};

/// The largest exponent that is multiplied out; every one has at most so many bits.
const MOST: f64 = 100.0;
const BITS: usize = 7;

/// The power z^w where w is a small whole number and the products are finite, else `power`.
#[inline(always)]
pub(super) fn integer_power<V: Lanes>(power: Z<V>, z: Z<V>, w: Z<V>) -> Z<V> {
    let zero = V::splat(0.0);
    let whole = w.1.eq(zero) & w.0.trunc().eq(w.0) & w.0.abs().le(V::splat(MOST));
    let whole = whole & !w.0.eq(zero) & !(z.0.eq(zero) & z.1.eq(zero));
    if !whole.any() {
        return power;
    }
    let product = multiplied(z, V::select(whole, w.0.abs(), V::splat(1.0)));
    let product = select(w.0.lt(zero), Reciprocal::eval(product), product);
    // Infinities and overflow are a matter of the logarithm.
    select(whole & product.within(f64::MAX), product, power)
}

/// z^n for whole n from 1 to [`MOST`].
#[inline(always)]
fn multiplied<V: Lanes>(z: Z<V>, n: V) -> Z<V> {
    let (zero, half) = (V::splat(0.0), V::splat(0.5));
    let (mut square, mut rest) = (z, n);
    let mut product = z;
    let mut empty = !n.lt(zero);
    for _ in 0..BITS {
        let less = (rest * half).floor();
        let odd = !(less + less).eq(rest);
        let next = select(empty, square, times(product, square));
        product = select(odd, next, product);
        empty = empty & !odd;
        rest = less;
        if !rest.gt(zero).any() {
            break;
        }
        square = times(square, square);
    }
    product
}

#[inline(always)]
fn times<V: Lanes>(a: Z<V>, b: Z<V>) -> Z<V> {
    Z(a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}
