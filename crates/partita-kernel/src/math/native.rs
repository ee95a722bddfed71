//! Functions in float32 arithmetic, where speed matters most.

use super::coefficients::{COS_F, HALF_PI_F, SIN_F, TWO_OVER_PI_F};
use super::coefficients::{ERF_F, ERFC_ROOT_F, EXP_F, LN2_F, LOG_F, LOG2_E_F};
use super::coefficients::{HALF_LN2_F, TANH_EXP_F, TANH_F, TANH_SCALE_F, TANH_SUM_F};
use super::drive::UnaryLoop;
use super::loops::Unary64;
use super::{erf, exp, hyperbolic, log, trig};
use crate::simd::{Ints32, Lanes, Lanes32, MAX_LANES32, Mask};
use std::marker::PhantomData;

/// A function in float32 arithmetic.
pub(super) trait Function32 {
    fn eval<V: Lanes32>(x: V) -> V;
}

/// Tiles of such a function.
pub(super) struct Native<F>(PhantomData<F>);

impl<F: Function32> UnaryLoop for Native<F> {
    #[inline(always)]
    unsafe fn run<V: Lanes>(input: *const u8, out: *mut u8, n: usize) {
        let (input, out) = (input.cast::<f32>(), out.cast::<f32>());
        let width = V::Single::N;
        // SAFETY: every access is below n. All lanes are read before they are written.
        unsafe {
            let mut i = 0;
            while i + width <= n {
                F::eval(V::Single::load(input.add(i))).store(out.add(i));
                i += width;
            }
            if i < n {
                let mut all = [1.0; MAX_LANES32];
                std::ptr::copy_nonoverlapping(input.add(i), all.as_mut_ptr(), n - i);
                let y = F::eval(V::Single::load(all.as_ptr())).to_array();
                std::ptr::copy_nonoverlapping(y.as_ptr(), out.add(i), n - i);
            }
        }
    }
}

/// Replaces the rare lanes of y by f of those of x.
#[inline(always)]
fn patch<V: Lanes32>(y: V, x: V, rare: V::Mask, f: fn(f64) -> f64) -> V {
    if !rare.any() {
        return y;
    }
    let mut all = y.to_array();
    each(&x.to_array(), &mut all, rare.bits(), f);
    V::from_array(&all)
}

type All = [f32; MAX_LANES32];

#[cold]
#[inline(never)]
fn each(x: &All, y: &mut All, lanes: u32, f: fn(f64) -> f64) {
    for i in (0..MAX_LANES32).filter(|i| lanes >> i & 1 == 1) {
        y[i] = f(f64::from(x[i])) as f32;
    }
}

/// c[0] + c[1] x + ..., as two interleaved Horner chains.
#[inline(always)]
fn poly<V: Lanes32, const K: usize>(c: &[f32; K], x: V) -> V {
    let x2 = x * x;
    chain(c, x2, 1).fma(x, chain(c, x2, 0))
}

/// The same as one chain: less error where terms cancel.
#[inline(always)]
fn horner<V: Lanes32, const K: usize>(c: &[f32; K], x: V) -> V {
    let mut sum = V::splat(c[K - 1]);
    for k in (0..K - 1).rev() {
        sum = sum.fma(x, V::splat(c[k]));
    }
    sum
}

/// Horner's scheme over every other coefficient.
#[inline(always)]
fn chain<V: Lanes32, const K: usize>(c: &[f32; K], x2: V, first: usize) -> V {
    let mut k = first + (K - 1 - first) / 2 * 2;
    let mut sum = V::splat(c[k]);
    while k > first {
        k -= 2;
        sum = sum.fma(x2, V::splat(c[k]));
    }
    sum
}

/// a + b as the rounded sum and its error, for |a| >= |b| or a = 0.
#[inline(always)]
fn fast_two_sum<V: Lanes32>(a: V, b: V) -> (V, V) {
    let sum = a + b;
    (sum, (a - sum) + b)
}

/// Adding it rounds to an integer whose low bits are those of the sum.
const SHIFTER: f32 = 12582912.0;

/// x near n ln 2: n, its low bits, and x - n ln 2 as a sum of two.
struct Reduced<V: Lanes32> {
    n: V,
    bits: V::Int,
    high: V,
    low: V,
}

#[inline(always)]
fn reduce<V: Lanes32>(x: V) -> Reduced<V> {
    let shifted = x.fma(V::splat(LOG2_E_F[0]), V::splat(SHIFTER));
    let n = shifted - V::splat(SHIFTER);
    let first = n.fnma(V::splat(LN2_F[0]), x);
    let high = n.fnma(V::splat(LN2_F[1]), first);
    let low = n.fnma(V::splat(LN2_F[1]), first - high);
    Reduced { n, bits: shifted.bits(), high, low }
}

impl Function32 for exp::Exp {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        let r = reduce(V::splat(89.0).min(V::splat(-105.0).max(x)));
        let tail = (r.high * r.high).fma(poly(&EXP_F, r.high), r.low);
        (V::splat(1.0) + (r.high + tail)).scale(r.n, r.bits)
    }
}

impl Function32 for log::Log {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        // x = 2^k (1 + f), 1 + f from 2/3 to 4/3.
        let above = x.bits() - V::Int::splat(0x3f2a_aaab);
        let k = V::from_int(above.shr::<23>());
        let exponent = above & V::Int::splat(0xff80_0000_u32 as i32);
        let f = V::from_bits(x.bits() - exponent) - V::splat(1.0);
        // k ln 2 + f with what the sum loses.
        let (sum, error) = fast_two_sum(k * V::splat(LN2_F[0]), f);
        let rest = (f * f).fma(poly(&LOG_F, f), k * V::splat(LN2_F[1]));
        let y = sum + (error + rest);
        let usual = V::splat(f32::MIN_POSITIVE).le(x) & x.le(V::splat(f32::MAX));
        patch(y, x, !usual, <log::Log as Unary64>::eval::<f64>)
    }
}

/// The sine of x, turned by quarters of a circle, for |x| below `LARGE`.
#[inline(always)]
fn sine<V: Lanes32>(x: V, quarters: i32) -> V {
    let shifted = x.fma(V::splat(TWO_OVER_PI_F[0]), V::splat(SHIFTER));
    let n = shifted - V::splat(SHIFTER);
    let first = n.fnma(V::splat(HALF_PI_F[0]), x);
    let product = n * V::splat(HALF_PI_F[1]);
    let error = n.fms(V::splat(HALF_PI_F[1]), product);
    let r = first - product;
    // x - n pi/2 = r - less.
    let less = n.fma(V::splat(HALF_PI_F[2]), ((r - first) + product) + error);
    let z = r * r;
    // Written as a difference so that the sine of -0 is -0.
    let sin = r - (z * r).fnma(poly(&SIN_F, z), less);
    let (w, lost) = fast_two_sum(V::splat(1.0), z * V::splat(-0.5));
    let cos = w + (z * z).fma(poly(&COS_F, z), r.fma(less, lost));
    let n = shifted.bits() + V::Int::splat(quarters);
    let value = V::select(n.shl::<31>().negative(), cos, sin);
    V::from_bits(value.bits() ^ (n.shl::<30>() & V::Int::splat(i32::MIN)))
}

/// The three parts of pi/2 are exact enough below.
const LARGE: f32 = 8192.0;

impl Function32 for trig::Sin {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        let large = !x.abs().le(V::splat(LARGE));
        patch(sine(x, 0), x, large, <trig::Sin as Unary64>::eval::<f64>)
    }
}

impl Function32 for trig::Cos {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        let large = !x.abs().le(V::splat(LARGE));
        patch(sine(x, 1), x, large, <trig::Cos as Unary64>::eval::<f64>)
    }
}

/// Up to here the tangent and the error function are polynomials.
const NEAR: f32 = 0.875;

/// tanh(x) for x from `NEAR` to 10: 1 - w + w^2 / (2 + w) for w = 2 e^(-2 x).
#[inline(always)]
fn tanh_far<V: Lanes32>(x: V) -> V {
    // -2 x = n ln 2 - 2 h, e^(-2 h) = 1 + m, w = power (1 + m).
    let shifted = x.fma(V::splat(TANH_SCALE_F[0]), V::splat(SHIFTER));
    let n = shifted - V::splat(SHIFTER);
    let h = n.fma(V::splat(HALF_LN2_F[0]), x);
    let m = (h * h).fma(poly(&TANH_EXP_F, h), h * V::splat(-2.0));
    let power = V::from_bits((shifted.bits() + V::Int::splat(128)).shl::<23>());
    let (w, more) = (power.fma(m, power), power * m);
    // Products with the power, and 1 - power where it counts, are exact: w itself is not needed so.
    (V::splat(1.0) - power) - (w * w).fnma(tanh_sum(w), more)
}

/// 1 / (2 + w), with few steps after one another.
#[inline(always)]
fn tanh_sum<V: Lanes32>(w: V) -> V {
    let c = TANH_SUM_F.map(V::splat);
    let w2 = w * w;
    w2.fma(w2.fma(c[4], w.fma(c[3], c[2])), w.fma(c[1], c[0]))
}

impl Function32 for hyperbolic::Tanh {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        let size = V::splat(10.0).min(x.abs());
        let z = size * size;
        let near = (z * size).fma(horner(&TANH_F, z), size);
        let y = V::select(size.le(V::splat(NEAR)), near, tanh_far(size));
        V::from_bits(y.bits() | x.sign())
    }
}

impl Function32 for erf::Erf {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        // From 3.92 on it is 1.
        let size = V::splat(3.94).min(x.abs());
        let near = size.fma(horner(&ERF_F, size * size), size);
        // The square root of the complement is all that the difference from 1 needs.
        let root = horner(&ERFC_ROOT_F, size - V::splat(1.0));
        let far = root.fnma(root, V::splat(1.0));
        let y = V::select(size.le(V::splat(NEAR)), near, far);
        V::from_bits(y.bits() | x.sign())
    }
}
