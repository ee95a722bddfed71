//! Logarithms, square roots and powers.

use super::super::atan::Atan2;
use super::super::coefficients::{LOG2_E, LOG10_E};
use super::super::log::{Log as RealLog, log_of_sum};
use super::super::poly::{fast_two_sum, two_product, two_sum, two_to};
use super::super::roots::Hypot;
use super::exp::Exp;
use super::loops::{Function, Function2};
use super::power::integer_power;
use super::{LARGE, Z, is_usual, patch, real, real2};
use crate::simd::Lanes;

pub(in super::super) struct Log;
pub(in super::super) struct Log2;
pub(in super::super) struct Log10;
pub(in super::super) struct Log1p;
pub(in super::super) struct Sqrt;
pub(in super::super) struct Pow;

/// x^2 + y^2 as a sum of two.
#[inline(always)]
fn square_sum<V: Lanes>(z: Z<V>) -> (V, V) {
    let ((x2, x2_low), (y2, y2_low)) = (two_product(z.0, z.0), two_product(z.1, z.1));
    let (sum, error) = two_sum(x2, y2);
    fast_two_sum(sum, error + (x2_low + y2_low))
}

impl Function for Log {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        let (square, low) = square_sum(z);
        let value = Z(log_of_sum(square, low) * V::splat(0.5), real2::<Atan2, V>(z.1, z.0));
        patch(value, z, !is_usual(z), log_rare)
    }
}

fn log_rare(z: Z<f64>) -> Z<f64> {
    let angle = real2::<Atan2, f64>(z.1, z.0);
    let large = z.0.abs().max(z.1.abs());
    if large == 0.0 || !large.is_finite() || z.0.is_nan() || z.1.is_nan() {
        return Z(real::<RealLog, f64>(real2::<Hypot, f64>(z.0, z.1)), angle);
    }
    // Brought to a usual size by a power of two.
    let (factor, more) = if large > 1.0 { (two_to(-600), 600.0) } else { (two_to(700), -700.0) };
    let (square, low) = square_sum(Z(z.0 * factor, z.1 * factor));
    Z(log_of_sum(square, low) * 0.5 + more * super::super::coefficients::LN2[0], angle)
}

/// A logarithm to another base.
macro_rules! to_base {
    ($($name:ident $factor:ident;)*) => {$(
        impl Function for $name {
            #[inline(always)]
            fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
                let Z(re, im) = Log::eval(z);
                Z(re * V::splat($factor[0]), im * V::splat($factor[0]))
            }
        }
    )*};
}

to_base! {
    Log2 LOG2_E;
    Log10 LOG10_E;
}

impl Function for Log1p {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        // |1 + z|^2 = 1 + (x (2 + x) + y^2), near 1 without losing bits.
        let Z(x, y) = z;
        let ((x2, x2_low), (y2, y2_low)) = (two_product(x, x), two_product(y, y));
        let (sum, error) = two_sum(x + x, x2);
        let (sum, error2) = two_sum(sum, y2);
        let (more, low) = fast_two_sum(sum, (error + error2) + (x2_low + y2_low));
        let (high, low) = super::super::log::log1p_sum(more, low);
        let one = x + V::splat(1.0);
        let value = Z((high + low) * V::splat(0.5), real2::<Atan2, V>(y, one));
        let usual = z.within(LARGE) & more.gt(V::splat(-0.999));
        patch(value, z, !usual, |z| Log::eval(Z(z.0 + 1.0, z.1)))
    }
}

impl Function for Sqrt {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        patch(sqrt_usual(z), z, !is_usual(z), sqrt_rare)
    }
}

#[inline(always)]
fn sqrt_usual<V: Lanes>(z: Z<V>) -> Z<V> {
    let Z(x, y) = z;
    let half = V::splat(0.5);
    let t = ((x.abs() + real2::<Hypot, V>(x, y)) * half).sqrt();
    let other = y.abs() / (t + t);
    let left = x.lt(V::splat(0.0));
    Z(V::select(left, other, t), V::select(left, t, other).or_sign(y.sign()))
}

fn sqrt_rare(z: Z<f64>) -> Z<f64> {
    let Z(x, y) = z;
    if x == 0.0 && y == 0.0 {
        return Z(0.0, y);
    }
    if y.is_infinite() {
        return Z(f64::INFINITY, y);
    }
    if x.is_infinite() {
        let rest = if y.is_nan() { y } else { 0.0 };
        let flat = if x > 0.0 { Z(x, rest) } else { Z(rest, f64::INFINITY) };
        return Z(flat.0, flat.1.copysign(y));
    }
    if x.is_nan() || y.is_nan() {
        return Z(f64::NAN, f64::NAN);
    }
    let (factor, back) = if x.abs().max(y.abs()) > 1.0 { (-600, 300) } else { (600, -300) };
    let Z(re, im) = sqrt_usual(Z(x * two_to(factor), y * two_to(factor)));
    Z(re * two_to(back), im * two_to(back))
}

impl Function2 for Pow {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>, w: Z<V>) -> Z<V> {
        let zero = V::splat(0.0);
        let Z(log, angle) = Log::eval(z);
        let re = w.0.fma(log, -(w.1 * angle));
        let power = Exp::eval(Z(re, w.0.fma(angle, w.1 * log)));
        // 0^w is 0 where w has a positive real part, as in NumPy.
        let base_zero = z.0.eq(zero) & z.1.eq(zero);
        let of_zero = V::select(w.0.gt(zero), zero, V::splat(f64::NAN));
        let re = V::select(base_zero, of_zero, power.0);
        let im = V::select(base_zero, of_zero, power.1);
        let exponent_zero = w.0.eq(zero) & w.1.eq(zero);
        let one = V::splat(1.0);
        let power = Z(V::select(exponent_zero, one, re), V::select(exponent_zero, zero, im));
        integer_power(power, z, w)
    }
}
