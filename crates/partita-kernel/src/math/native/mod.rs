//! Functions in float32 arithmetic, where speed matters most.
//!
//! Polynomials have few coefficients, and what a rounding loses is added again where it would show:
//! squares, products and sums come with their errors.

mod atan;
mod erf;
mod exp;
mod hyperbolic;
mod log;
mod roots;
mod trig;

use super::drive::{BinaryLoop, UnaryLoop};
use crate::simd::{Lanes, Lanes32, MAX_LANES32, Mask};
use std::marker::PhantomData;

/// A function in float32 arithmetic.
pub(super) trait Function32 {
    fn eval<V: Lanes32>(x: V) -> V;
}

/// A function of two arguments in float32 arithmetic.
pub(super) trait Function32Of2 {
    fn eval<V: Lanes32>(x: V, y: V) -> V;
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
                let y = F::eval(load_first::<V::Single>(input.add(i), n - i));
                store_first(y, out.add(i), n - i);
            }
        }
    }
}

impl<F: Function32Of2> BinaryLoop for Native<F> {
    #[inline(always)]
    unsafe fn run<V: Lanes>(left: *const u8, right: *const u8, out: *mut u8, n: usize) {
        let (left, right, out) = (left.cast::<f32>(), right.cast::<f32>(), out.cast::<f32>());
        let width = V::Single::N;
        // SAFETY: every access is below n. All lanes are read before they are written.
        unsafe {
            let mut i = 0;
            while i + width <= n {
                let (x, y) = (V::Single::load(left.add(i)), V::Single::load(right.add(i)));
                F::eval(x, y).store(out.add(i));
                i += width;
            }
            if i < n {
                let x = load_first::<V::Single>(left.add(i), n - i);
                let y = load_first::<V::Single>(right.add(i), n - i);
                store_first(F::eval(x, y), out.add(i), n - i);
            }
        }
    }
}

/// The first n of at most MAX_LANES32 elements, the others are 1.
///
/// # Safety
/// `from` has n readable elements.
#[inline(always)]
unsafe fn load_first<V: Lanes32>(from: *const f32, n: usize) -> V {
    let mut all = [1.0; MAX_LANES32];
    // SAFETY: the caller's promise, and n is at most MAX_LANES32.
    unsafe { std::ptr::copy_nonoverlapping(from, all.as_mut_ptr(), n) };
    V::from_array(&all)
}

/// Stores the first n of at most MAX_LANES32 elements.
///
/// # Safety
/// `to` has n writable elements.
#[inline(always)]
unsafe fn store_first<V: Lanes32>(value: V, to: *mut f32, n: usize) {
    // SAFETY: the caller's promise, and n is at most MAX_LANES32.
    unsafe { std::ptr::copy_nonoverlapping(value.to_array().as_ptr(), to, n) };
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

/// x^2 as the rounded square and its error.
#[inline(always)]
fn square<V: Lanes32>(x: V) -> (V, V) {
    let rounded = x * x;
    (rounded, x.fms(x, rounded))
}
