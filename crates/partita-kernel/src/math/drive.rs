//! Drivers: loops over tiles, compiled once per function and level.

use super::level::{Kind, Level};
use super::{BinaryTile, UnaryTile};
use crate::simd::Lanes;
#[cfg(target_arch = "aarch64")]
use crate::simd::Neon;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};

/// A loop over tiles of one input.
pub(super) trait UnaryLoop {
    /// # Safety
    /// As for [`UnaryTile`].
    unsafe fn run<V: Lanes>(input: *const u8, out: *mut u8, n: usize);
}

/// A loop over tiles of two inputs.
pub(super) trait BinaryLoop {
    /// # Safety
    /// As for [`BinaryTile`].
    unsafe fn run<V: Lanes>(left: *const u8, right: *const u8, out: *mut u8, n: usize);
}

/// Instantiates a loop at every level.
macro_rules! levels {
    ($unary:ident $binary:ident $lanes:ty, $($feature:literal)?) => {
        $(#[target_feature(enable = $feature)])?
        unsafe extern "C" fn $unary<L: UnaryLoop>(input: *const u8, out: *mut u8, n: usize) {
            // SAFETY: the caller's promise; the level exists, so the instructions do.
            unsafe { L::run::<$lanes>(input, out, n) }
        }
        $(#[target_feature(enable = $feature)])?
        unsafe extern "C" fn $binary<L: BinaryLoop>(
            left: *const u8,
            right: *const u8,
            out: *mut u8,
            n: usize,
        ) {
            // SAFETY: the caller's promise; the level exists, so the instructions do.
            unsafe { L::run::<$lanes>(left, right, out, n) }
        }
    };
}

levels!(portable_unary portable_binary f64,);
#[cfg(target_arch = "x86_64")]
levels!(avx2_unary avx2_binary Avx2, "avx2,fma");
#[cfg(target_arch = "x86_64")]
levels!(avx512_unary avx512_binary Avx512, "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma");
#[cfg(target_arch = "aarch64")]
levels!(neon_unary neon_binary Neon, "neon");

pub(super) fn unary<L: UnaryLoop>(level: Level) -> UnaryTile {
    match level.0 {
        Kind::Portable => portable_unary::<L>,
        #[cfg(target_arch = "aarch64")]
        Kind::Neon => neon_unary::<L>,
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2 => avx2_unary::<L>,
        #[cfg(target_arch = "x86_64")]
        Kind::Avx512 => avx512_unary::<L>,
    }
}

pub(super) fn binary<L: BinaryLoop>(level: Level) -> BinaryTile {
    match level.0 {
        Kind::Portable => portable_binary::<L>,
        #[cfg(target_arch = "aarch64")]
        Kind::Neon => neon_binary::<L>,
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2 => avx2_binary::<L>,
        #[cfg(target_arch = "x86_64")]
        Kind::Avx512 => avx512_binary::<L>,
    }
}
