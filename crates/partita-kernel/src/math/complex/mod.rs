//! Functions of complex numbers, made of those of real ones.
//!
//! Usual numbers are computed in lanes; infinities, NaN and sizes whose squares overflow go one by
//! one, by the tables of C99 Annex G. Errors are a few ulp of the value's size, see
//! `docs/benchmarks-kernels.md`.

mod exp;
mod inverse;
mod log;
mod loops;
mod power;
mod simple;

pub(super) use exp::{Cos, Cosh, Exp, Expm1, Sin, Sinh, Tan, Tanh};
pub(super) use inverse::{Acos, Acosh, Asin, Asinh, Atan, Atanh};
pub(super) use log::{Log, Log1p, Log2, Log10, Pow, Sqrt};
pub(super) use loops::{Complex, Length, Parts, Wide};
pub(super) use simple::{Reciprocal, Sign, Square};

use super::loops::{Binary64, Unary64};
use super::poly::two_to;
use crate::simd::{Lanes, MAX_LANES, Mask};

/// Real and imaginary parts.
#[derive(Clone, Copy)]
pub(super) struct Z<V>(V, V);

/// Sizes whose squares neither overflow nor underflow.
const SMALL: f64 = two_to(-400);
const LARGE: f64 = two_to(400);

/// A function of one real number.
#[inline(always)]
fn real<F: Unary64, V: Lanes>(x: V) -> V {
    F::eval(x)
}

/// A function of two real numbers.
#[inline(always)]
fn real2<F: Binary64, V: Lanes>(x: V, y: V) -> V {
    F::eval(x, y)
}

impl<V: Lanes> Z<V> {
    /// i z
    #[inline(always)]
    fn times_i(self) -> Self {
        Z(-self.1, self.0)
    }
    /// -i z
    #[inline(always)]
    fn over_i(self) -> Self {
        Z(self.1, -self.0)
    }
    /// Both parts at most this large, and no NaN.
    #[inline(always)]
    fn within(self, size: f64) -> V::Mask {
        self.0.abs().le(V::splat(size)) & self.1.abs().le(V::splat(size))
    }
    /// Some part at least this large.
    #[inline(always)]
    fn reaches(self, size: f64) -> V::Mask {
        self.0.abs().ge(V::splat(size)) | self.1.abs().ge(V::splat(size))
    }
}

/// Sizes whose squares neither overflow nor underflow, and no NaN.
#[inline(always)]
fn is_usual<V: Lanes>(z: Z<V>) -> V::Mask {
    z.within(LARGE) & z.reaches(SMALL)
}

/// Both parts of one or of the other.
#[inline(always)]
fn select<V: Lanes>(mask: V::Mask, yes: Z<V>, no: Z<V>) -> Z<V> {
    Z(V::select(mask, yes.0, no.0), V::select(mask, yes.1, no.1))
}

/// Replaces the rare lanes of a value by f of those of z.
#[inline(always)]
fn patch<V: Lanes>(value: Z<V>, z: Z<V>, rare: V::Mask, f: fn(Z<f64>) -> Z<f64>) -> Z<V> {
    if !rare.any() {
        return value;
    }
    let (mut re, mut im) = (value.0.to_array(), value.1.to_array());
    each(&z.0.to_array(), &z.1.to_array(), &mut re, &mut im, rare.bits(), f);
    Z(V::from_array(&re), V::from_array(&im))
}

type All = [f64; MAX_LANES];

#[cold]
#[inline(never)]
fn each(x: &All, y: &All, re: &mut All, im: &mut All, lanes: u32, f: fn(Z<f64>) -> Z<f64>) {
    for i in (0..MAX_LANES).filter(|i| lanes >> i & 1 == 1) {
        Z(re[i], im[i]) = f(Z(x[i], y[i]));
    }
}
