//! Lanes: a few float64 numbers that one instruction computes at once.
//!
//! Every function of [`crate::math`] is written once, over [`Lanes`], and compiled for each level.
//! All operations are exact IEEE 754 operations, so all levels give the same bits (the bits of a
//! NaN excepted: processors choose them differently).
//!
//! # Safety
//! The methods are safe to call although they use instructions that the processor may lack:
//! a type of lanes is only named by the drivers in `math/drive.rs` and those of reductions in
//! `tiles/reduce/table.rs`, which are compiled for that level and are only reached through a
//! [`crate::math::Level`], which exists only where the processor has been asked.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
mod single;

#[cfg(target_arch = "aarch64")]
pub(crate) use neon::Neon;
#[cfg(target_arch = "x86_64")]
pub(crate) use {avx2::Avx2, avx512::Avx512};

pub(crate) use single::{Ints32, Lanes32, MAX_LANES32};
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// The most lanes of any level.
pub(crate) const MAX_LANES: usize = 8;

/// One truth value per lane.
pub(crate) trait Mask:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
    /// Bit i is lane i.
    fn bits(self) -> u32;

    #[inline(always)]
    fn any(self) -> bool {
        self.bits() != 0
    }
}

/// One 64-bit integer per lane; sums wrap.
pub(crate) trait Ints<M: Mask>:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
{
    fn splat(value: i64) -> Self;
    fn shl<const K: i32>(self) -> Self;
    /// Shifts zeros in from above.
    fn shr<const K: i32>(self) -> Self;
    /// The lanes below zero.
    fn negative(self) -> M;
    /// Writes all lanes.
    fn to_array(self) -> [i64; MAX_LANES];
}

/// One float64 per lane.
pub(crate) trait Lanes:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    type Mask: Mask;
    type Int: Ints<Self::Mask>;
    /// The float32 lanes of the same level.
    type Single: Lanes32;
    /// How many lanes.
    const N: usize;

    fn splat(value: f64) -> Self;

    /// # Safety
    /// `from` has N readable elements.
    unsafe fn load(from: *const f64) -> Self;
    /// # Safety
    /// `to` has N writable elements.
    unsafe fn store(self, to: *mut f64);
    /// Loads the first n < N elements, the others are 1.
    ///
    /// # Safety
    /// `from` has n readable elements.
    unsafe fn load_first(from: *const f64, n: usize) -> Self;
    /// Stores the first n < N elements.
    ///
    /// # Safety
    /// `to` has n writable elements.
    unsafe fn store_first(self, to: *mut f64, n: usize);
    /// Loads and widens.
    ///
    /// # Safety
    /// `from` has N readable elements.
    unsafe fn load_f32(from: *const f32) -> Self;
    /// Narrows and stores.
    ///
    /// # Safety
    /// `to` has N writable elements.
    unsafe fn store_f32(self, to: *mut f32);
    /// Loads N pairs, apart.
    ///
    /// # Safety
    /// `from` has 2 N readable elements.
    unsafe fn load_pairs(from: *const f64) -> (Self, Self);
    /// Stores N pairs.
    ///
    /// # Safety
    /// `to` has 2 N writable elements.
    unsafe fn store_pairs(first: Self, second: Self, to: *mut f64);

    /// self * factor + term, rounded once.
    fn fma(self, factor: Self, term: Self) -> Self;
    /// term - self * factor, rounded once.
    fn fnma(self, factor: Self, term: Self) -> Self;
    /// self * factor - term, rounded once.
    fn fms(self, factor: Self, term: Self) -> Self;
    fn sqrt(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn round_even(self) -> Self;
    /// self < other ? self : other; hence other where one is NaN or both are zero.
    fn min(self, other: Self) -> Self;
    /// self > other ? self : other; hence other where one is NaN or both are zero.
    fn max(self, other: Self) -> Self;
    /// self * 2^n, rounded once, for |n| <= 2000 that is integral; `bits_of_n` are n's low bits.
    fn scale(self, n: Self, bits_of_n: Self::Int) -> Self;
    /// The same of numbers from 1/2 to 2, whose exponents may simply be added most of the time.
    #[inline(always)]
    fn scale_near_one(self, n: Self, bits_of_n: Self::Int) -> Self {
        self.scale(n, bits_of_n)
    }

    fn lt(self, other: Self) -> Self::Mask;
    fn le(self, other: Self) -> Self::Mask;
    fn eq(self, other: Self) -> Self::Mask;
    fn is_nan(self) -> Self::Mask;
    /// Where either is NaN.
    #[inline(always)]
    fn unordered(self, other: Self) -> Self::Mask {
        self.is_nan() | other.is_nan()
    }
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    fn bits(self) -> Self::Int;
    fn from_bits(bits: Self::Int) -> Self;

    /// The rows of a table, as one value per column and lane.
    ///
    /// # Safety
    /// Every index is inside the table.
    unsafe fn rows4(table: &[[f64; 4]], index: Self::Int) -> [Self; 4];

    #[inline(always)]
    fn gt(self, other: Self) -> Self::Mask {
        other.lt(self)
    }
    #[inline(always)]
    fn ge(self, other: Self) -> Self::Mask {
        other.le(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self::from_bits(self.bits() & Self::Int::splat(i64::MAX))
    }
    /// Only the sign bit.
    #[inline(always)]
    fn sign(self) -> Self::Int {
        self.bits() & Self::Int::splat(i64::MIN)
    }
    /// Flips the sign where `sign` has its highest bit.
    #[inline(always)]
    fn xor_sign(self, sign: Self::Int) -> Self {
        Self::from_bits(self.bits() ^ sign)
    }
    /// Sets the sign where `sign` has its highest bit.
    #[inline(always)]
    fn or_sign(self, sign: Self::Int) -> Self {
        Self::from_bits(self.bits() | sign)
    }
    /// Zero where the mask does not hold.
    #[inline(always)]
    fn only(self, mask: Self::Mask) -> Self {
        Self::select(mask, self, Self::splat(0.0))
    }
    #[inline(always)]
    fn to_array(self) -> [f64; MAX_LANES] {
        let mut all = [0.0; MAX_LANES];
        // SAFETY: N is at most MAX_LANES.
        unsafe { self.store(all.as_mut_ptr()) };
        all
    }
    #[inline(always)]
    fn from_array(all: &[f64; MAX_LANES]) -> Self {
        // SAFETY: N is at most MAX_LANES.
        unsafe { Self::load(all.as_ptr()) }
    }
}

/// Implements the operators of a type of lanes by functions of one or two wrapped registers.
macro_rules! operators {
    ($type:ident: $($trait:ident $method:ident $function:path),* $(,)?) => {$(
        impl std::ops::$trait for $type {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: see the module's documentation.
                #[allow(unused_unsafe)]
                unsafe { Self($function(self.0, other.0)) }
            }
        }
    )*};
}
pub(crate) use operators;
