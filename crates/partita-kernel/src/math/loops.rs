//! Loops over tiles of float64 and float32.

use super::drive::{BinaryLoop, UnaryLoop};
use crate::simd::{Lanes, MAX_LANES};
use std::marker::PhantomData;

/// A function of one float64.
pub(super) trait Unary64 {
    fn eval<V: Lanes>(x: V) -> V;
}

/// A function of two float64.
pub(super) trait Binary64 {
    fn eval<V: Lanes>(x: V, y: V) -> V;
}

/// A function of one float32, computed in float64; the result is rounded once more.
pub(super) trait Unary32 {
    fn eval<V: Lanes>(x: V) -> V;
}

/// A function of two float32, computed in float64; the result is rounded once more.
pub(super) trait Binary32 {
    fn eval<V: Lanes>(x: V, y: V) -> V;
}

/// Float64 tiles of a function.
pub(super) struct Double<F>(PhantomData<F>);
/// Float32 tiles of a function.
pub(super) struct Single<F>(PhantomData<F>);

impl<F: Unary64> UnaryLoop for Double<F> {
    #[inline(always)]
    unsafe fn run<V: Lanes>(input: *const u8, out: *mut u8, n: usize) {
        let (input, out) = (input.cast::<f64>(), out.cast::<f64>());
        // SAFETY: every access is below n. All lanes are read before they are written.
        unsafe {
            let mut i = 0;
            while i + V::N <= n {
                F::eval(V::load(input.add(i))).store(out.add(i));
                i += V::N;
            }
            if i < n {
                F::eval(V::load_first(input.add(i), n - i)).store_first(out.add(i), n - i);
            }
        }
    }
}

impl<F: Binary64> BinaryLoop for Double<F> {
    #[inline(always)]
    unsafe fn run<V: Lanes>(left: *const u8, right: *const u8, out: *mut u8, n: usize) {
        let (left, right, out) = (left.cast::<f64>(), right.cast::<f64>(), out.cast::<f64>());
        // SAFETY: every access is below n. All lanes are read before they are written.
        unsafe {
            let mut i = 0;
            while i + V::N <= n {
                F::eval(V::load(left.add(i)), V::load(right.add(i))).store(out.add(i));
                i += V::N;
            }
            if i < n {
                let rest = n - i;
                let (x, y) = (V::load_first(left.add(i), rest), V::load_first(right.add(i), rest));
                F::eval(x, y).store_first(out.add(i), rest);
            }
        }
    }
}

/// The first n of at most MAX_LANES float32, the others are 1.
///
/// # Safety
/// `from` has n readable elements.
#[inline(always)]
unsafe fn load_first_f32<V: Lanes>(from: *const f32, n: usize) -> V {
    let mut all = [1.0; MAX_LANES];
    // SAFETY: the caller's promise, and n is at most MAX_LANES.
    unsafe {
        std::ptr::copy_nonoverlapping(from, all.as_mut_ptr(), n);
        V::load_f32(all.as_ptr())
    }
}

/// Stores the first n of at most MAX_LANES float32.
///
/// # Safety
/// `to` has n writable elements.
#[inline(always)]
unsafe fn store_first_f32<V: Lanes>(value: V, to: *mut f32, n: usize) {
    let mut all = [0.0; MAX_LANES];
    // SAFETY: the caller's promise, and n is at most MAX_LANES.
    unsafe {
        value.store_f32(all.as_mut_ptr());
        std::ptr::copy_nonoverlapping(all.as_ptr(), to, n);
    }
}

impl<F: Unary32> UnaryLoop for Single<F> {
    #[inline(always)]
    unsafe fn run<V: Lanes>(input: *const u8, out: *mut u8, n: usize) {
        let (input, out) = (input.cast::<f32>(), out.cast::<f32>());
        // SAFETY: every access is below n. All lanes are read before they are written.
        unsafe {
            let mut i = 0;
            while i + V::N <= n {
                F::eval(V::load_f32(input.add(i))).store_f32(out.add(i));
                i += V::N;
            }
            if i < n {
                let x = load_first_f32::<V>(input.add(i), n - i);
                store_first_f32(F::eval(x), out.add(i), n - i);
            }
        }
    }
}

impl<F: Binary32> BinaryLoop for Single<F> {
    #[inline(always)]
    unsafe fn run<V: Lanes>(left: *const u8, right: *const u8, out: *mut u8, n: usize) {
        let (left, right, out) = (left.cast::<f32>(), right.cast::<f32>(), out.cast::<f32>());
        // SAFETY: every access is below n. All lanes are read before they are written.
        unsafe {
            let mut i = 0;
            while i + V::N <= n {
                F::eval(V::load_f32(left.add(i)), V::load_f32(right.add(i))).store_f32(out.add(i));
                i += V::N;
            }
            if i < n {
                let x = load_first_f32::<V>(left.add(i), n - i);
                let y = load_first_f32::<V>(right.add(i), n - i);
                store_first_f32(F::eval(x, y), out.add(i), n - i);
            }
        }
    }
}
