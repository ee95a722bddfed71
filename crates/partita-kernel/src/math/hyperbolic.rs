//! Hyperbolic functions and their inverses.

use super::coefficients::{LN2, SINH};
use super::exp::reduce;
use super::log::log1p_sum;
use super::loops::Unary64;
use super::poly::{fast_two_sum, poly, two_product, two_sum, two_to};
use super::rare::patch;
use super::trig::quotient;
use crate::simd::{Ints, Lanes};

/// e^x / 2 as a sum of two.
#[inline(always)]
fn half_exp<V: Lanes>(x: V) -> (V, V) {
    let r = reduce(V::splat(712.0).min(x));
    let (p, p_low) = r.mantissa();
    let (n, bits) = (r.n - V::splat(1.0), r.bits - V::Int::splat(1));
    (p.scale(n, bits), p_low.scale(n, bits))
}

pub(super) struct Sinh;
pub(super) struct Cosh;
pub(super) struct Tanh;

impl Unary64 for Sinh {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        let size = x.abs();
        let z = size * size;
        let near = (z * size).fma(poly(&SINH, z), size);
        let (e, e_low) = half_exp(size);
        let far = e + (e_low - V::splat(0.25) / e);
        V::select(size.lt(V::splat(1.0)), near, far).or_sign(x.sign())
    }
}

impl Unary64 for Cosh {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        let (e, e_low) = half_exp(x.abs());
        e + (e_low + V::splat(0.25) / e)
    }
}

/// Both at once, from one exponential.
#[inline(always)]
pub(super) fn sinh_cosh<V: Lanes>(x: V) -> (V, V) {
    (Sinh::eval(x), Cosh::eval(x))
}

impl Unary64 for Tanh {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        // tanh(x) = m / (m + 2) for m = e^(2 x) - 1; 1 beyond 22.
        let size = V::splat(22.0).min(x.abs());
        let (m, m_low) = reduce(size + size).minus_one();
        let (bottom, error) = two_sum(V::splat(2.0), m);
        quotient(m, m_low, bottom, error + m_low).or_sign(x.sign())
    }
}

/// Beyond it, asinh(x) and acosh(x) are log(2 x).
const LARGE: f64 = two_to(500);

/// sqrt(square + square_low) as a sum of two.
#[inline(always)]
fn sqrt_sum<V: Lanes>(square: V, square_low: V) -> (V, V) {
    let root = square.sqrt();
    let rest = root.fnma(root, square) + square_low;
    (root, V::select(root.gt(V::splat(0.0)), rest / (root + root), V::splat(0.0)))
}

/// log(2 x) for large x, without doubling it.
fn log_doubled(x: f64) -> f64 {
    let (high, low) = log1p_sum(x * 0.5, 0.0);
    let (high, error) = fast_two_sum(high, 2.0 * LN2[0]);
    high + (low + error)
}

pub(super) struct Asinh;
pub(super) struct Acosh;
pub(super) struct Atanh;

impl Unary64 for Asinh {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        // log1p(v) for v = x + x^2 / (1 + sqrt(1 + x^2)).
        let size = x.abs();
        let (square, square_low) = two_product(size, size);
        let (sum, error) = two_sum(V::splat(1.0), square);
        let (root, root_low) = sqrt_sum(sum, error + square_low);
        let (bottom, error) = fast_two_sum(root, V::splat(1.0));
        let inverse = V::splat(1.0) / bottom;
        let q = square * inverse;
        let rest = q.fnma(error + root_low, q.fnma(bottom, square) + square_low);
        let (v, error) = two_sum(size, q);
        let (v, v_low) = fast_two_sum(v, rest.fma(inverse, error));
        let (high, low) = log1p_sum(v, v_low);
        let y = (high + low).or_sign(x.sign());
        patch(y, x, !size.le(V::splat(LARGE)), asinh_rare)
    }
}

fn asinh_rare(x: f64) -> f64 {
    if x.is_finite() { log_doubled(x.abs()).copysign(x) } else { x }
}

impl Unary64 for Acosh {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        // log1p(v) for v = t + sqrt(2 t + t^2), t = x - 1.
        let (t, t_low) = two_sum(x, V::splat(-1.0));
        let (square, square_low) = two_product(t, t);
        let square_low = (t + t).fma(t_low, square_low);
        let (sum, error) = two_sum(t + t, square);
        let (root, root_low) = sqrt_sum(sum, error + ((t_low + t_low) + square_low));
        let (v, error) = two_sum(t, root);
        let (v, v_low) = fast_two_sum(v, error + (t_low + root_low));
        let (high, low) = log1p_sum(v, v_low);
        let usual = x.ge(V::splat(1.0)) & x.le(V::splat(LARGE));
        patch(high + low, x, !usual, acosh_rare)
    }
}

fn acosh_rare(x: f64) -> f64 {
    match x {
        f64::INFINITY => x,
        _ if x > 1.0 => log_doubled(x),
        _ => f64::NAN,
    }
}

impl Unary64 for Atanh {
    #[inline(always)]
    fn eval<V: Lanes>(x: V) -> V {
        // log1p(2 x / (1 - x)) / 2.
        let size = x.abs();
        let (bottom, bottom_low) = fast_two_sum(V::splat(1.0), -size);
        let top = size + size;
        let inverse = V::splat(1.0) / bottom;
        let q = top * inverse;
        let rest = q.fnma(bottom_low, q.fnma(bottom, top)) * inverse;
        let (high, low) = log1p_sum(q, rest);
        let y = ((high + low) * V::splat(0.5)).or_sign(x.sign());
        patch(y, x, !size.lt(V::splat(1.0)), atanh_rare)
    }
}

fn atanh_rare(x: f64) -> f64 {
    if x.abs() == 1.0 { f64::INFINITY.copysign(x) } else { f64::NAN }
}
