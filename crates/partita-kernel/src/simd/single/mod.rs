//! Float32 lanes: twice as many, for the functions where speed matters most.
//!
//! Everything said of float64 lanes holds here too.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;

#[cfg(target_arch = "aarch64")]
pub(crate) use neon::Float as Neon;
pub(crate) use scalar::Float as Portable;
#[cfg(target_arch = "x86_64")]
pub(crate) use {avx2::Float as Avx2, avx512::Float as Avx512};

use super::Mask;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Sub};

/// The most float32 lanes of any level.
pub(crate) const MAX_LANES32: usize = 16;

/// One 32-bit integer per lane; sums wrap.
pub(crate) trait Ints32<M>:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
{
    fn splat(value: i32) -> Self;
    fn shl<const K: i32>(self) -> Self;
    /// Copies of the sign come in from above.
    fn shr<const K: i32>(self) -> Self;
    /// The lanes below zero.
    fn negative(self) -> M;
}

/// One float32 per lane.
pub(crate) trait Lanes32:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    type Mask: Mask;
    type Int: Ints32<Self::Mask>;
    /// How many lanes.
    const N: usize;

    fn splat(value: f32) -> Self;
    /// # Safety
    /// `from` has N readable elements.
    unsafe fn load(from: *const f32) -> Self;
    /// # Safety
    /// `to` has N writable elements.
    unsafe fn store(self, to: *mut f32);
    /// self * factor + term, rounded once.
    fn fma(self, factor: Self, term: Self) -> Self;
    /// term - self * factor, rounded once.
    fn fnma(self, factor: Self, term: Self) -> Self;
    /// self * factor - term, rounded once.
    fn fms(self, factor: Self, term: Self) -> Self;
    fn sqrt(self) -> Self;
    /// self < other ? self : other.
    fn min(self, other: Self) -> Self;
    /// self > other ? self : other.
    fn max(self, other: Self) -> Self;
    /// self * 2^n, rounded once, for |n| <= 250 that is integral; `bits_of_n` are n's low 16 bits.
    fn scale(self, n: Self, bits_of_n: Self::Int) -> Self;
    /// Integers as floats.
    fn from_int(value: Self::Int) -> Self;

    fn le(self, other: Self) -> Self::Mask;
    /// Where either is NaN.
    #[inline(always)]
    fn unordered(self, other: Self) -> Self::Mask {
        !(self.le(self) & other.le(other))
    }
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    fn bits(self) -> Self::Int;
    fn from_bits(bits: Self::Int) -> Self;

    #[inline(always)]
    fn abs(self) -> Self {
        Self::from_bits(self.bits() & Self::Int::splat(i32::MAX))
    }
    /// Only the sign bit.
    #[inline(always)]
    fn sign(self) -> Self::Int {
        self.bits() & Self::Int::splat(i32::MIN)
    }
    #[inline(always)]
    fn to_array(self) -> [f32; MAX_LANES32] {
        let mut all = [0.0; MAX_LANES32];
        // SAFETY: N is at most MAX_LANES32.
        unsafe { self.store(all.as_mut_ptr()) };
        all
    }
    #[inline(always)]
    fn from_array(all: &[f32; MAX_LANES32]) -> Self {
        // SAFETY: N is at most MAX_LANES32.
        unsafe { Self::load(all.as_ptr()) }
    }
}
