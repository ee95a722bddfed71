//! Inverse functions, by Kahan's formulas.

use super::super::atan::Atan2;
use super::super::coefficients::{HALF_PI, LN2};
use super::super::hyperbolic::Asinh as RealAsinh;
use super::super::log::{Log as RealLog, Log1p as RealLog1p};
use super::super::poly::two_to;
use super::super::roots::Hypot;
use super::log::Sqrt;
use super::loops::Function;
use super::{LARGE, Z, patch, real, real2};
use crate::simd::Lanes;

pub(in super::super) struct Asin;
pub(in super::super) struct Acos;
pub(in super::super) struct Atan;
pub(in super::super) struct Asinh;
pub(in super::super) struct Acosh;
pub(in super::super) struct Atanh;

/// The square roots of 1 + z and 1 - z.
#[inline(always)]
fn roots<V: Lanes>(z: Z<V>) -> (Z<V>, Z<V>) {
    let one = V::splat(1.0);
    (Sqrt::eval(Z(one + z.0, z.1)), Sqrt::eval(Z(one - z.0, -z.1)))
}

impl Function for Asin {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        let (plus, minus) = roots(z);
        let re = real2::<Atan2, V>(z.0, plus.0.fma(minus.0, -(plus.1 * minus.1)));
        let im = real::<RealAsinh, V>(minus.0.fma(plus.1, -(minus.1 * plus.0)));
        patch(Z(re, im.abs().or_sign(z.1.sign())), z, !z.within(LARGE), asin_rare)
    }
}

fn asin_rare(z: Z<f64>) -> Z<f64> {
    asinh_rare(z.times_i()).over_i()
}

impl Function for Asinh {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        // -i asin(i z)
        Asin::eval(z.times_i()).over_i()
    }
}

/// log(2 |z|) for large numbers.
fn log_twice_size(z: Z<f64>) -> f64 {
    real::<RealLog, f64>(real2::<Hypot, f64>(z.0 * two_to(-4), z.1 * two_to(-4))) + 5.0 * LN2[0]
}

fn asinh_rare(z: Z<f64>) -> Z<f64> {
    let Z(x, y) = z;
    if x.is_infinite() || y.is_infinite() {
        let angle = real2::<Atan2, f64>(y.abs(), x.abs());
        return Z(f64::INFINITY.copysign(x), angle.copysign(y));
    }
    if x.is_nan() || y.is_nan() {
        return Z(f64::NAN, if y == 0.0 { y } else { f64::NAN });
    }
    let angle = real2::<Atan2, f64>(y.abs(), x.abs());
    Z(log_twice_size(z).copysign(x), angle.copysign(y))
}

impl Function for Acos {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        let (plus, minus) = roots(z);
        let half = real2::<Atan2, V>(minus.0, plus.0);
        let im = real::<RealAsinh, V>(plus.0.fma(minus.1, -(plus.1 * minus.0)));
        // The imaginary parts of acos(z) and z have opposite signs.
        let value = Z(half + half, (-im.abs()).xor_sign(z.1.sign()));
        patch(value, z, !z.within(LARGE), acos_rare)
    }
}

fn acos_rare(z: Z<f64>) -> Z<f64> {
    let Z(x, y) = z;
    let angle = real2::<Atan2, f64>(y.abs(), x);
    if x.is_infinite() || y.is_infinite() {
        return Z(angle, -f64::INFINITY.copysign(y));
    }
    if x.is_nan() || y.is_nan() {
        return Z(if x == 0.0 { HALF_PI[0] } else { f64::NAN }, f64::NAN);
    }
    Z(angle, -log_twice_size(z).copysign(y))
}

impl Function for Acosh {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        // i acos(z) or -i acos(z), whichever has a positive real part.
        let Z(re, im) = Acos::eval(z);
        Z(im.abs(), re.or_sign(z.1.sign()))
    }
}

impl Function for Atanh {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        // log1p(4 x / ((1 - x)^2 + y^2)) / 4 and atan2(2 y, (1 - x) (1 + x) - y^2) / 2, for x >= 0.
        let (x, y) = (z.0.abs(), z.1);
        let one = V::splat(1.0);
        let less = one - x;
        let bottom = less.fma(less, y * y);
        let re = real::<RealLog1p, V>(x * V::splat(4.0) / bottom) * V::splat(0.25);
        let im = real2::<Atan2, V>(y + y, less.fma(one + x, -(y * y))) * V::splat(0.5);
        let value = Z(re.or_sign(z.0.sign()), im);
        let tiny = x.eq(one) & y.abs().lt(V::splat(two_to(-500)));
        patch(value, z, !z.within(LARGE) | tiny, atanh_rare)
    }
}

fn atanh_rare(z: Z<f64>) -> Z<f64> {
    let Z(x, y) = z;
    if x.abs() == 1.0 && y.abs() < 1.0 {
        let re =
            if y == 0.0 { f64::INFINITY } else { (LN2[0] - real::<RealLog, f64>(y.abs())) * 0.5 };
        let im = if y == 0.0 { 0.0 } else { HALF_PI[0] * 0.5 };
        return Z(re.copysign(x), im.copysign(y));
    }
    if x.is_infinite() || y.is_infinite() {
        let im = if y.is_nan() { y } else { HALF_PI[0].copysign(y) };
        return Z(0f64.copysign(x), im);
    }
    if x.is_nan() || y.is_nan() {
        return Z(if x == 0.0 { x } else { f64::NAN }, f64::NAN);
    }
    // So large that atanh(z) is 1/z and a quarter turn.
    let (x_less, y_less) = (x * two_to(-4), y * two_to(-4));
    let size = real2::<Hypot, f64>(x_less, y_less);
    Z((x_less / size) / size * two_to(-4), HALF_PI[0].copysign(y))
}

impl Function for Atan {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        // -i atanh(i z)
        Atanh::eval(z.times_i()).over_i()
    }
}
