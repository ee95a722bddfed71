//! Four float32 lanes of NEON.

use super::{Ints32, Lanes32};
use std::arch::aarch64::*;

#[derive(Clone, Copy)]
pub(crate) struct Float(float32x4_t);
#[derive(Clone, Copy)]
pub(crate) struct Int(int32x4_t);
#[derive(Clone, Copy)]
pub(crate) struct Which(uint32x4_t);

crate::simd::operators! { Float:
    Add add vaddq_f32,
    Sub sub vsubq_f32,
    Mul mul vmulq_f32,
    Div div vdivq_f32,
}
crate::simd::operators! { Int:
    Add add vaddq_s32,
    Sub sub vsubq_s32,
    BitAnd bitand vandq_s32,
    BitOr bitor vorrq_s32,
    BitXor bitxor veorq_s32,
}
crate::simd::operators! { Which:
    BitAnd bitand vandq_u32,
    BitOr bitor vorrq_u32,
}

/// Runs instructions of this level.
macro_rules! on {
    ($($code:tt)*) => {
        // SAFETY: see the documentation of `simd`; pointers are as the caller promises.
        #[allow(unused_unsafe)]
        unsafe { $($code)* }
    };
}

impl std::ops::Not for Which {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        on!(Which(vmvnq_u32(self.0)))
    }
}

impl crate::simd::Mask for Which {
    #[inline(always)]
    fn bits(self) -> u32 {
        on!(vaddvq_u32(vandq_u32(self.0, vld1q_u32([1, 2, 4, 8].as_ptr()))))
    }
}

impl Ints32<Which> for Int {
    #[inline(always)]
    fn splat(value: i32) -> Self {
        on!(Self(vdupq_n_s32(value)))
    }
    #[inline(always)]
    fn shl<const K: i32>(self) -> Self {
        on!(Self(vshlq_n_s32::<K>(self.0)))
    }
    #[inline(always)]
    fn shr<const K: i32>(self) -> Self {
        on!(Self(vshrq_n_s32::<K>(self.0)))
    }
    #[inline(always)]
    fn negative(self) -> Which {
        on!(Which(vcltzq_s32(self.0)))
    }
}

impl Lanes32 for Float {
    type Mask = Which;
    type Int = Int;
    const N: usize = 4;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        on!(Self(vdupq_n_f32(value)))
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        on!(Self(vld1q_f32(from)))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        on!(vst1q_f32(to, self.0));
    }
    #[inline(always)]
    fn fma(self, factor: Self, term: Self) -> Self {
        on!(Self(vfmaq_f32(term.0, self.0, factor.0)))
    }
    #[inline(always)]
    fn fnma(self, factor: Self, term: Self) -> Self {
        on!(Self(vfmsq_f32(term.0, self.0, factor.0)))
    }
    #[inline(always)]
    fn fms(self, factor: Self, term: Self) -> Self {
        on!(Self(vfmaq_f32(vnegq_f32(term.0), self.0, factor.0)))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        on!(Self(vsqrtq_f32(self.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        on!(Self(vbslq_f32(vcltq_f32(self.0, other.0), self.0, other.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        on!(Self(vbslq_f32(vcgtq_f32(self.0, other.0), self.0, other.0)))
    }
    #[inline(always)]
    fn scale(self, _n: Self, bits_of_n: Int) -> Self {
        on! {
        // Two factors, for one may be no float32.
        let n = vshrq_n_s32::<16>(vshlq_n_s32::<16>(bits_of_n.0)); let half = vshrq_n_s32::<1>(n); let scaled = vmulq_f32(self.0, power_of_two(half)); Self(vmulq_f32(scaled, power_of_two(vsubq_s32(n, half)))) }
    }
    #[inline(always)]
    fn from_int(value: Int) -> Self {
        on!(Self(vcvtq_f32_s32(value.0)))
    }
    #[inline(always)]
    fn le(self, other: Self) -> Which {
        on!(Which(vcleq_f32(self.0, other.0)))
    }
    #[inline(always)]
    fn select(mask: Which, yes: Self, no: Self) -> Self {
        on!(Self(vbslq_f32(mask.0, yes.0, no.0)))
    }
    #[inline(always)]
    fn bits(self) -> Int {
        on!(Int(vreinterpretq_s32_f32(self.0)))
    }
    #[inline(always)]
    fn from_bits(bits: Int) -> Self {
        on!(Self(vreinterpretq_f32_s32(bits.0)))
    }
}

#[inline(always)]
fn power_of_two(n: int32x4_t) -> float32x4_t {
    on!(vreinterpretq_f32_s32(vshlq_n_s32::<23>(vaddq_s32(n, vdupq_n_s32(127)))))
}
