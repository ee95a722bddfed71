//! Functions of real numbers.

use super::Pair;
use super::constants::{HALF_PI, LN_2, LN_10, PI, TWO_OVER_ROOT_PI};

fn one() -> Pair {
    Pair::ONE
}

/// Adds terms until they no longer count.
fn sum(first: Pair, mut next: impl FnMut(Pair, f64) -> Pair) -> Pair {
    let (mut total, mut term, mut k) = (first, first, 1.0);
    while term.0.abs() > total.0.abs() * 1e-34 {
        term = next(term, k);
        total = total + term;
        k += 1.0;
    }
    total
}

/// e^r - 1 for |r| < 1: a series for r / 64, then doubled six times.
fn expm1_near(r: Pair) -> Pair {
    if r.0 == 0.0 {
        return r;
    }
    let r = r.scaled(1.0 / 64.0);
    let mut e = sum(r, |term, k| term * r / Pair::from(k + 1.0));
    for _ in 0..6 {
        e = e.scaled(2.0) + e * e;
    }
    e
}

/// n and e^x / 2^n - 1.
fn exp_parts(x: Pair) -> (i32, Pair) {
    let n = (x.0 / LN_2.0).round();
    (n as i32, expm1_near(x - LN_2 * Pair::from(n)))
}

/// A product with 2^n in steps, for powers that are no float64.
fn times_power(x: Pair, n: i32) -> Pair {
    let half = n / 2;
    x.scaled(2f64.powi(half)).scaled(2f64.powi(n - half))
}

pub fn exp(x: Pair) -> Pair {
    let (n, e) = exp_parts(x);
    times_power(one() + e, n)
}

pub fn exp2(x: Pair) -> Pair {
    let n = x.0.round();
    times_power(one() + expm1_near((x - Pair::from(n)) * LN_2), n as i32)
}

pub fn expm1(x: Pair) -> Pair {
    let (n, e) = exp_parts(x);
    if n == 0 { e } else { times_power(one() + e, n) - one() }
}

/// log(1 + d) for 1 + d between 1/2 and 2: what is missing from a float64 guess is tiny.
fn log1p_near(d: Pair) -> Pair {
    let guess = Pair::from(d.0.ln_1p());
    let s = expm1_near(-guess);
    let missing = d + s + d * s;
    guess + missing - (missing * missing).scaled(0.5)
}

pub fn log(x: Pair) -> Pair {
    let n = x.0.log2().round() as i32;
    let mantissa = times_power(x, -n);
    Pair::from(f64::from(n)) * LN_2 + log1p_near(mantissa - one())
}

pub fn log2(x: Pair) -> Pair {
    log(x) / LN_2
}

pub fn log10(x: Pair) -> Pair {
    log(x) / LN_10
}

pub fn log1p(x: Pair) -> Pair {
    if (-0.4..0.9).contains(&x.0) { log1p_near(x) } else { log(one() + x) }
}

/// The quadrant of an angle below 2^50, and what is left of it.
fn turn(x: Pair) -> (i64, Pair) {
    let n = (x.0 / HALF_PI[0]).round();
    let rest = HALF_PI.iter().fold(x, |rest, part| rest - Pair::from(n) * Pair::from(*part));
    (n as i64, rest)
}

pub fn sin_cos(x: Pair) -> (Pair, Pair) {
    let (quadrant, r) = turn(x);
    let square = -(r * r);
    let over = |k: f64| Pair::from(k * (k + 1.0));
    let sin = sum(r, |term, k| term * square / over(2.0 * k));
    let cos = sum(one(), |term, k| term * square / over(2.0 * k - 1.0));
    match quadrant.rem_euclid(4) {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

pub fn sin(x: Pair) -> Pair {
    sin_cos(x).0
}

pub fn cos(x: Pair) -> Pair {
    sin_cos(x).1
}

pub fn tan(x: Pair) -> Pair {
    let (sin, cos) = sin_cos(x);
    sin / cos
}

pub fn atan(x: Pair) -> Pair {
    if x.0.abs() > 1.0 {
        let quarter = PI.scaled(0.5f64.copysign(x.0));
        return quarter - atan(one() / x);
    }
    let guess = Pair::from(x.0.atan());
    let t = tan(guess);
    let missing = (x - t) / (one() + x * t);
    guess + missing
}

pub fn atan2(y: Pair, x: Pair) -> Pair {
    if x.0.abs() < y.0.abs() {
        let quarter = PI.scaled(0.5f64.copysign(y.0));
        return quarter - atan(x / y);
    }
    let angle = atan(y / x);
    if x.0 > 0.0 { angle } else { angle + PI.scaled(1f64.copysign(y.0)) }
}

pub fn asin(x: Pair) -> Pair {
    atan2(x, ((one() - x) * (one() + x)).sqrt())
}

pub fn acos(x: Pair) -> Pair {
    atan2((one() - x).sqrt(), (one() + x).sqrt()).scaled(2.0)
}

pub fn sinh(x: Pair) -> Pair {
    // Half the argument of the exponential, so that it does not overflow before the value does.
    if x.0.abs() > 40.0 {
        let half = exp(x.abs().scaled(0.5));
        return (half.scaled(0.5f64.copysign(x.0))) * half;
    }
    let e = expm1(x);
    (e + e / (one() + e)).scaled(0.5)
}

pub fn cosh(x: Pair) -> Pair {
    if x.0.abs() > 40.0 {
        return sinh(x.abs());
    }
    let e = exp(x.abs());
    (e + one() / e).scaled(0.5)
}

pub fn tanh(x: Pair) -> Pair {
    if x.0.abs() > 40.0 {
        return Pair::from(1f64.copysign(x.0));
    }
    let e = expm1(x.scaled(2.0));
    e / (e + Pair::from(2.0))
}

pub fn asinh(x: Pair) -> Pair {
    let (size, square) = (x.abs(), x * x);
    let y = log1p(size + square / (one() + (one() + square).sqrt()));
    if x.0 < 0.0 { -y } else { y }
}

pub fn acosh(x: Pair) -> Pair {
    let t = x - one();
    log1p(t + (t.scaled(2.0) + t * t).sqrt())
}

pub fn atanh(x: Pair) -> Pair {
    let size = x.abs();
    log1p(size.scaled(2.0) / (one() - size)).scaled(0.5f64.copysign(x.0))
}

/// All terms of this series have the same sign.
pub fn erf(x: Pair) -> Pair {
    if x.0.abs() > 12.0 {
        return Pair::from(1f64.copysign(x.0));
    }
    if x.0 == 0.0 {
        return x;
    }
    let square = x * x;
    let series = sum(x, |term, k| (term * square).scaled(2.0) / Pair::from(2.0 * k + 1.0));
    TWO_OVER_ROOT_PI * exp(-square) * series
}

/// A continued fraction where 1 - erf(x) would cancel.
pub fn erfc(x: Pair) -> Pair {
    if x.0 < 2.5 {
        return one() - erf(x);
    }
    let fraction = (1..200).rev().fold(x, |rest, k| x + Pair::from(f64::from(k) * 0.5) / rest);
    TWO_OVER_ROOT_PI.scaled(0.5) * exp(-(x * x)) / fraction
}

pub fn sqrt(x: Pair) -> Pair {
    x.sqrt()
}

pub fn cbrt(x: Pair) -> Pair {
    let guess = Pair::from(x.0.cbrt());
    let square = guess * guess;
    guess + (x - square * guess) / (square * Pair::from(3.0))
}

pub fn pow(x: Pair, y: Pair) -> Pair {
    exp(y * log(x))
}

pub fn hypot(x: Pair, y: Pair) -> Pair {
    (x * x + y * y).sqrt()
}

pub fn logaddexp(x: Pair, y: Pair) -> Pair {
    let (large, small) = if x.0 > y.0 { (x, y) } else { (y, x) };
    large + log1p(exp(small - large))
}
