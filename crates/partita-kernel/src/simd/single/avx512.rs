//! Sixteen float32 lanes of AVX-512.

use super::{Ints32, Lanes32};
use std::arch::x86_64::*;

#[derive(Clone, Copy)]
pub(crate) struct Float(__m512);
#[derive(Clone, Copy)]
pub(crate) struct Int(__m512i);
#[derive(Clone, Copy)]
pub(crate) struct Which(__mmask16);

crate::simd::operators! { Float:
    Add add _mm512_add_ps,
    Sub sub _mm512_sub_ps,
    Mul mul _mm512_mul_ps,
    Div div _mm512_div_ps,
}
crate::simd::operators! { Int:
    Add add _mm512_add_epi32,
    Sub sub _mm512_sub_epi32,
    BitAnd bitand _mm512_and_si512,
    BitOr bitor _mm512_or_si512,
    BitXor bitxor _mm512_xor_si512,
}
crate::simd::operators! { Which:
    BitAnd bitand std::ops::BitAnd::bitand,
    BitOr bitor std::ops::BitOr::bitor,
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
        on!(Which(!self.0))
    }
}

impl crate::simd::Mask for Which {
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self.0)
    }
}

impl Ints32<Which> for Int {
    #[inline(always)]
    fn splat(value: i32) -> Self {
        on!(Self(_mm512_set1_epi32(value)))
    }
    #[inline(always)]
    fn shl<const K: i32>(self) -> Self {
        on!(Self(_mm512_sll_epi32(self.0, _mm_cvtsi32_si128(K))))
    }
    #[inline(always)]
    fn shr<const K: i32>(self) -> Self {
        on!(Self(_mm512_sra_epi32(self.0, _mm_cvtsi32_si128(K))))
    }
    #[inline(always)]
    fn negative(self) -> Which {
        on!(Which(_mm512_movepi32_mask(self.0)))
    }
}

impl Lanes32 for Float {
    type Mask = Which;
    type Int = Int;
    const N: usize = 16;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        on!(Self(_mm512_set1_ps(value)))
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        on!(Self(_mm512_loadu_ps(from)))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        on!(_mm512_storeu_ps(to, self.0));
    }
    #[inline(always)]
    fn fma(self, factor: Self, term: Self) -> Self {
        on!(Self(_mm512_fmadd_ps(self.0, factor.0, term.0)))
    }
    #[inline(always)]
    fn fnma(self, factor: Self, term: Self) -> Self {
        on!(Self(_mm512_fnmadd_ps(self.0, factor.0, term.0)))
    }
    #[inline(always)]
    fn fms(self, factor: Self, term: Self) -> Self {
        on!(Self(_mm512_fmsub_ps(self.0, factor.0, term.0)))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        on!(Self(_mm512_sqrt_ps(self.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        on!(Self(_mm512_min_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        on!(Self(_mm512_max_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn scale(self, n: Self, _bits_of_n: Int) -> Self {
        on!(Self(_mm512_scalef_ps(self.0, n.0)))
    }
    #[inline(always)]
    fn from_int(value: Int) -> Self {
        on!(Self(_mm512_cvtepi32_ps(value.0)))
    }
    #[inline(always)]
    fn le(self, other: Self) -> Which {
        on!(Which(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0)))
    }
    #[inline(always)]
    fn unordered(self, other: Self) -> Which {
        on!(Which(_mm512_cmp_ps_mask::<_CMP_UNORD_Q>(self.0, other.0)))
    }
    #[inline(always)]
    fn select(mask: Which, yes: Self, no: Self) -> Self {
        on!(Self(_mm512_mask_blend_ps(mask.0, no.0, yes.0)))
    }
    #[inline(always)]
    fn bits(self) -> Int {
        on!(Int(_mm512_castps_si512(self.0)))
    }
    #[inline(always)]
    fn from_bits(bits: Int) -> Self {
        on!(Self(_mm512_castsi512_ps(bits.0)))
    }
}
