//! Loops over tiles, compiled for every level.
//!
//! A function of elements is given as a closure without captures; its type alone makes the loop.

use crate::math::level::Kind;
use crate::math::{BinaryTile, Level, UnaryTile};
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// Computes n elements from three tiles: `(first, second, third, out, n)`.
pub type TernaryTile =
    unsafe extern "C" fn(*const u8, *const u8, *const u8, out: *mut u8, n: usize);

/// A value of a type that has only one.
///
/// # Safety
/// `F` is a closure without captures that exists.
#[inline(always)]
unsafe fn the_only<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "the closure captures nothing") };
    // SAFETY: a type of size zero is read from nowhere; the caller has a value of it.
    unsafe { std::ptr::NonNull::<F>::dangling().as_ptr().read() }
}

/// # Safety
/// As [`UnaryTile`], and `out` does not overlap `x`.
#[inline(always)]
unsafe fn one<A: Copy, R, F: Fn(A) -> R + Copy>(x: *const u8, out: *mut u8, n: usize) {
    // SAFETY: the caller gives n elements each.
    let (f, x, out) = unsafe {
        (the_only::<F>(), from_raw_parts(x.cast::<A>(), n), from_raw_parts_mut(out.cast::<R>(), n))
    };
    for (out, &x) in out.iter_mut().zip(x) {
        *out = f(x);
    }
}

/// # Safety
/// As [`BinaryTile`], and `out` does not overlap the inputs.
#[inline(always)]
unsafe fn two<A: Copy, R, F: Fn(A, A) -> R + Copy>(
    x: *const u8,
    y: *const u8,
    out: *mut u8,
    n: usize,
) {
    // SAFETY: the caller gives n elements each.
    unsafe {
        let f = the_only::<F>();
        let (x, y) = (from_raw_parts(x.cast::<A>(), n), from_raw_parts(y.cast::<A>(), n));
        let out = from_raw_parts_mut(out.cast::<R>(), n);
        for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
            *out = f(x, y);
        }
    }
}

/// # Safety
/// As [`BinaryTile`] with one input more, and `out` does not overlap the inputs.
#[inline(always)]
unsafe fn three<A: Copy, B: Copy, R, F: Fn(A, B, B) -> R + Copy>(
    x: *const u8,
    y: *const u8,
    z: *const u8,
    out: *mut u8,
    n: usize,
) {
    // SAFETY: the caller gives n elements each.
    unsafe {
        let f = the_only::<F>();
        let x = from_raw_parts(x.cast::<A>(), n);
        let (y, z) = (from_raw_parts(y.cast::<B>(), n), from_raw_parts(z.cast::<B>(), n));
        let out = from_raw_parts_mut(out.cast::<R>(), n);
        for (((out, &x), &y), &z) in out.iter_mut().zip(x).zip(y).zip(z) {
            *out = f(x, y, z);
        }
    }
}

/// One function of a level that runs a loop.
macro_rules! at_level {
    ($(#[$feature:meta])? $level:ident $loop:ident <$($g:ident),*> ($($arg:ident),*) $($bound:tt)*) => {
        $(#[$feature])?
        pub unsafe extern "C" fn $level<$($g: Copy,)* R, F: $($bound)* + Copy>(
            $($arg: *const u8,)*
            out: *mut u8,
            n: usize,
        ) {
            // SAFETY: the caller promises what the loop asks for.
            unsafe { super::$loop::<$($g,)* R, F>($($arg,)* out, n) }
        }
    };
}

macro_rules! levels {
    ($name:ident $loop:ident $tile:ident <$($g:ident),*> $args:tt $($bound:tt)*) => {
        mod $name {
            at_level!(portable $loop <$($g),*> $args $($bound)*);
            #[cfg(target_arch = "x86_64")]
            at_level!(
                #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
                avx2 $loop <$($g),*> $args $($bound)*
            );
            #[cfg(target_arch = "x86_64")]
            at_level!(
                #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
                avx512 $loop <$($g),*> $args $($bound)*
            );
        }

        /// The loop of a closure, for a level.
        pub fn $name<$($g: Copy,)* R, F: $($bound)* + Copy>(level: Level, _: F) -> $tile {
            match level.0 {
                #[cfg(target_arch = "x86_64")]
                Kind::Avx2 => $name::avx2::<$($g,)* R, F>,
                #[cfg(target_arch = "x86_64")]
                Kind::Avx512 => $name::avx512::<$($g,)* R, F>,
                _ => $name::portable::<$($g,)* R, F>,
            }
        }
    };
}

levels!(unary one UnaryTile <A> (x) Fn(A) -> R);
levels!(binary two BinaryTile <A> (x, y) Fn(A, A) -> R);
levels!(ternary three TernaryTile <A, B> (x, y, z) Fn(A, B, B) -> R);
