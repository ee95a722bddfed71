//! Exponentials, hyperbolic functions, and trigonometric ones as those of i z.

use super::super::exp::{Exp as RealExp, Expm1 as RealExpm1};
use super::super::hyperbolic::{Cosh as RealCosh, Sinh as RealSinh, sinh_cosh};
use super::super::trig::{Sin as RealSin, sin_cos};
use super::loops::Function;
use super::{Z, patch, real};
use crate::simd::Lanes;

/// Exponentials of larger numbers may be infinite where their products are not.
const MOST: f64 = 700.0;

pub(in super::super) struct Exp;
pub(in super::super) struct Expm1;
pub(in super::super) struct Sinh;
pub(in super::super) struct Cosh;
pub(in super::super) struct Tanh;
pub(in super::super) struct Sin;
pub(in super::super) struct Cos;
pub(in super::super) struct Tan;

/// Neither part NaN, the imaginary one finite, the real one not large.
#[inline(always)]
fn usual<V: Lanes>(z: Z<V>, most: f64) -> V::Mask {
    z.0.abs().le(V::splat(most)) & z.1.abs().le(V::splat(f64::MAX))
}

/// e^x (c, s), where e^x alone may overflow.
fn grow(x: f64, c: f64, s: f64) -> Z<f64> {
    let part = real::<RealExp, f64>(MOST);
    let mut rest = x.min(2.1 * MOST);
    let mut value = Z(c, s);
    while rest > MOST {
        value = Z(value.0 * part, value.1 * part);
        rest -= MOST;
    }
    let last = real::<RealExp, f64>(rest);
    Z(value.0 * last, value.1 * last)
}

impl Function for Exp {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        let (s, c) = sin_cos(z.1);
        let e = real::<RealExp, V>(z.0);
        patch(Z(e * c, e * s), z, !usual(z, MOST), exp_rare)
    }
}

fn exp_rare(z: Z<f64>) -> Z<f64> {
    let Z(x, y) = z;
    if y == 0.0 {
        return Z(real::<RealExp, f64>(x), y);
    }
    if x == f64::NEG_INFINITY && !y.is_finite() {
        return Z(0.0, 0.0);
    }
    if x == f64::INFINITY && !y.is_finite() {
        return Z(x, f64::NAN);
    }
    let (s, c) = sin_cos(y);
    if x > MOST && x.is_finite() {
        return grow(x, c, s);
    }
    let e = real::<RealExp, f64>(x);
    Z(e * c, e * s)
}

impl Function for Expm1 {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        // (e^x - 1) cos y - 2 sin(y/2)^2 + i e^x sin y.
        let (s, c) = sin_cos(z.1);
        let half = real::<RealSin, V>(z.1 * V::splat(0.5));
        let less = half * half * V::splat(2.0);
        // Taken from zero, so that a zero result is never negative.
        let re = real::<RealExpm1, V>(z.0).fma(c, V::splat(0.0) - less);
        patch(Z(re, real::<RealExp, V>(z.0) * s), z, !usual(z, MOST), expm1_rare)
    }
}

fn expm1_rare(z: Z<f64>) -> Z<f64> {
    if z.1 == 0.0 {
        return Z(real::<RealExpm1, f64>(z.0), z.1);
    }
    let Z(re, im) = exp_rare(z);
    Z(re - 1.0, im)
}

impl Function for Sinh {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        let (s, c) = sin_cos(z.1);
        let (sinh, cosh) = sinh_cosh(z.0);
        patch(Z(sinh * c, cosh * s), z, !usual(z, MOST), sinh_rare)
    }
}

fn sinh_rare(z: Z<f64>) -> Z<f64> {
    let Z(x, y) = z;
    if y == 0.0 {
        return Z(real::<RealSinh, f64>(x), y);
    }
    if !y.is_finite() {
        return Z(if x.is_finite() && x != 0.0 { f64::NAN } else { x }, f64::NAN);
    }
    let (s, c) = sin_cos(y);
    if x.is_finite() {
        let Z(re, im) = grow(x.abs(), 0.5 * c, 0.5 * s);
        return Z(if x < 0.0 { -re } else { re }, im);
    }
    Z(x * c, x.abs() * s)
}

impl Function for Cosh {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        let (s, c) = sin_cos(z.1);
        let (sinh, cosh) = sinh_cosh(z.0);
        patch(Z(cosh * c, sinh * s), z, !usual(z, MOST), cosh_rare)
    }
}

fn cosh_rare(z: Z<f64>) -> Z<f64> {
    let Z(x, y) = z;
    let signed_zero = 0f64.copysign(x) * 1f64.copysign(y);
    if y == 0.0 {
        return Z(real::<RealCosh, f64>(x), signed_zero);
    }
    if !y.is_finite() {
        let re = if x.is_infinite() { x.abs() } else { f64::NAN };
        return Z(re, if x == 0.0 { signed_zero } else { f64::NAN });
    }
    let (s, c) = sin_cos(y);
    if x.is_finite() {
        let Z(re, im) = grow(x.abs(), 0.5 * c, 0.5 * s);
        return Z(re, if x < 0.0 { -im } else { im });
    }
    Z(x.abs() * c, x * s)
}

impl Function for Tanh {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        // (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y).
        let (s, c) = sin_cos(z.1);
        let (sinh, cosh) = sinh_cosh(z.0);
        let bottom = sinh.fma(sinh, c * c);
        let value = Z(sinh * cosh / bottom, s * c / bottom);
        patch(value, z, !usual(z, 20.0), tanh_rare)
    }
}

fn tanh_rare(z: Z<f64>) -> Z<f64> {
    let Z(x, y) = z;
    if y == 0.0 {
        return Z(real::<super::super::hyperbolic::Tanh, f64>(x), y);
    }
    if x.is_infinite() {
        // As the Array API: C has the sign of sin 2y here.
        return Z(1f64.copysign(x), 0f64.copysign(y));
    }
    if !y.is_finite() {
        return Z(if x == 0.0 { x } else { f64::NAN }, f64::NAN);
    }
    if x.is_nan() {
        return Z(x, x);
    }
    let (s, c) = sin_cos(y);
    let tiny = real::<RealExp, f64>(-x.abs());
    Z(1f64.copysign(x), (4.0 * s * c) * tiny * tiny)
}

/// f(z) = -i g(i z).
macro_rules! turned {
    ($($name:ident from $other:ident;)*) => {$(
        impl Function for $name {
            #[inline(always)]
            fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
                $other::eval(z.times_i()).over_i()
            }
        }
    )*};
}

turned! {
    Sin from Sinh;
    Tan from Tanh;
}

impl Function for Cos {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        Cosh::eval(z.times_i())
    }
}
