//! Loops over tiles of complex numbers.

use super::super::drive::{BinaryLoop, UnaryLoop};
use super::super::roots::Hypot;
use super::{Z, real2};
use crate::simd::{Lanes, MAX_LANES};
use std::marker::PhantomData;

/// A function of one complex number.
pub(in super::super) trait Function {
    fn eval<V: Lanes>(z: Z<V>) -> Z<V>;
}

/// A function of two complex numbers.
pub(in super::super) trait Function2 {
    fn eval<V: Lanes>(z: Z<V>, w: Z<V>) -> Z<V>;
}

/// A float that complex numbers are made of.
pub(in super::super) trait Wide: Copy {
    fn wide(self) -> f64;
    fn narrow(value: f64) -> Self;
}

impl Wide for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn narrow(value: f64) -> Self {
        value as f32
    }
}

impl Wide for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn narrow(value: f64) -> Self {
        value
    }
}

/// Loads n <= N pairs; the others are 1 + i.
///
/// # Safety
/// `from` has n readable pairs.
#[inline(always)]
unsafe fn load<V: Lanes, T: Wide>(from: *const T, n: usize) -> Z<V> {
    let mut all = [1.0; 2 * MAX_LANES];
    // SAFETY: the caller's promise; there is room for N pairs.
    unsafe {
        for (i, value) in all.iter_mut().enumerate().take(2 * n) {
            *value = (*from.add(i)).wide();
        }
        let (re, im) = V::load_pairs(all.as_ptr());
        Z(re, im)
    }
}

/// Stores n <= N pairs.
///
/// # Safety
/// `to` has n writable pairs.
#[inline(always)]
unsafe fn store<V: Lanes, T: Wide>(z: Z<V>, to: *mut T, n: usize) {
    let mut all = [0.0; 2 * MAX_LANES];
    // SAFETY: the caller's promise; there is room for N pairs.
    unsafe {
        V::store_pairs(z.0, z.1, all.as_mut_ptr());
        for (i, value) in all.iter().enumerate().take(2 * n) {
            *to.add(i) = T::narrow(*value);
        }
    }
}

/// Complex tiles of a function.
pub(in super::super) struct Complex<F, T>(PhantomData<(F, T)>);

impl<F: Function, T: Wide> UnaryLoop for Complex<F, T> {
    #[inline(always)]
    unsafe fn run<V: Lanes>(input: *const u8, out: *mut u8, n: usize) {
        let (input, out) = (input.cast::<T>(), out.cast::<T>());
        for i in (0..n).step_by(V::N) {
            let count = V::N.min(n - i);
            // SAFETY: every access is below n. All lanes are read before they are written.
            unsafe { store(F::eval(load::<V, T>(input.add(2 * i), count)), out.add(2 * i), count) };
        }
    }
}

impl<F: Function2, T: Wide> BinaryLoop for Complex<F, T> {
    #[inline(always)]
    unsafe fn run<V: Lanes>(left: *const u8, right: *const u8, out: *mut u8, n: usize) {
        let (left, right, out) = (left.cast::<T>(), right.cast::<T>(), out.cast::<T>());
        for i in (0..n).step_by(V::N) {
            let count = V::N.min(n - i);
            // SAFETY: every access is below n. All lanes are read before they are written.
            unsafe {
                let z = load::<V, T>(left.add(2 * i), count);
                let w = load::<V, T>(right.add(2 * i), count);
                store(F::eval(z, w), out.add(2 * i), count);
            }
        }
    }
}

/// The sizes of complex numbers, which are real.
pub(in super::super) struct Length<T>(PhantomData<T>);

impl<T: Wide> UnaryLoop for Length<T> {
    #[inline(always)]
    unsafe fn run<V: Lanes>(input: *const u8, out: *mut u8, n: usize) {
        let (input, out) = (input.cast::<T>(), out.cast::<T>());
        for i in (0..n).step_by(V::N) {
            let count = V::N.min(n - i);
            // SAFETY: every access is below n. Results end before the next arguments begin.
            unsafe {
                let z = load::<V, T>(input.add(2 * i), count);
                let lengths = real2::<Hypot, V>(z.0, z.1).to_array();
                for (j, length) in lengths.iter().enumerate().take(count) {
                    *out.add(i + j) = T::narrow(*length);
                }
            }
        }
    }
}

/// A function of real numbers, of both parts.
pub(in super::super) struct Parts<L>(PhantomData<L>);

impl<L: UnaryLoop> UnaryLoop for Parts<L> {
    #[inline(always)]
    unsafe fn run<V: Lanes>(input: *const u8, out: *mut u8, n: usize) {
        // SAFETY: n complex numbers are 2 n real ones.
        unsafe { L::run::<V>(input, out, 2 * n) }
    }
}
