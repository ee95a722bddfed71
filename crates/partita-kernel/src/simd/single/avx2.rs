//! Eight float32 lanes of AVX2 with FMA.

use super::{Ints32, Lanes32};
use std::arch::x86_64::*;

#[derive(Clone, Copy)]
pub(crate) struct Float(__m256);
#[derive(Clone, Copy)]
pub(crate) struct Int(__m256i);
#[derive(Clone, Copy)]
pub(crate) struct Which(__m256);

crate::simd::operators! { Float:
    Add add _mm256_add_ps,
    Sub sub _mm256_sub_ps,
    Mul mul _mm256_mul_ps,
    Div div _mm256_div_ps,
}
crate::simd::operators! { Int:
    Add add _mm256_add_epi32,
    Sub sub _mm256_sub_epi32,
    BitAnd bitand _mm256_and_si256,
    BitOr bitor _mm256_or_si256,
    BitXor bitxor _mm256_xor_si256,
}
crate::simd::operators! { Which:
    BitAnd bitand _mm256_and_ps,
    BitOr bitor _mm256_or_ps,
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
        on!(Which(_mm256_xor_ps(self.0, _mm256_castsi256_ps(_mm256_set1_epi32(-1)))))
    }
}

impl crate::simd::Mask for Which {
    #[inline(always)]
    fn bits(self) -> u32 {
        on!(_mm256_movemask_ps(self.0) as u32)
    }
}

impl Ints32<Which> for Int {
    #[inline(always)]
    fn splat(value: i32) -> Self {
        on!(Self(_mm256_set1_epi32(value)))
    }
    #[inline(always)]
    fn shl<const K: i32>(self) -> Self {
        on!(Self(_mm256_slli_epi32::<K>(self.0)))
    }
    #[inline(always)]
    fn shr<const K: i32>(self) -> Self {
        on!(Self(_mm256_srai_epi32::<K>(self.0)))
    }
    #[inline(always)]
    fn negative(self) -> Which {
        on!(Which(_mm256_castsi256_ps(self.0)))
    }
}

impl Lanes32 for Float {
    type Mask = Which;
    type Int = Int;
    const N: usize = 8;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        on!(Self(_mm256_set1_ps(value)))
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        on!(Self(_mm256_loadu_ps(from)))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        on!(_mm256_storeu_ps(to, self.0));
    }
    #[inline(always)]
    fn fma(self, factor: Self, term: Self) -> Self {
        on!(Self(_mm256_fmadd_ps(self.0, factor.0, term.0)))
    }
    #[inline(always)]
    fn fnma(self, factor: Self, term: Self) -> Self {
        on!(Self(_mm256_fnmadd_ps(self.0, factor.0, term.0)))
    }
    #[inline(always)]
    fn fms(self, factor: Self, term: Self) -> Self {
        on!(Self(_mm256_fmsub_ps(self.0, factor.0, term.0)))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        on!(Self(_mm256_sqrt_ps(self.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        on!(Self(_mm256_min_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        on!(Self(_mm256_max_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn scale(self, _n: Self, bits_of_n: Int) -> Self {
        on! {
        // Two factors, for one may be no float32.
        let n = _mm256_srai_epi32::<16>(_mm256_slli_epi32::<16>(bits_of_n.0)); let half = _mm256_srai_epi32::<1>(n); let rest = _mm256_sub_epi32(n, half); Self(_mm256_mul_ps(_mm256_mul_ps(self.0, power_of_two(half)), power_of_two(rest))) }
    }
    #[inline(always)]
    fn from_int(value: Int) -> Self {
        on!(Self(_mm256_cvtepi32_ps(value.0)))
    }
    #[inline(always)]
    fn le(self, other: Self) -> Which {
        on!(Which(_mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0)))
    }
    #[inline(always)]
    fn unordered(self, other: Self) -> Which {
        on!(Which(_mm256_cmp_ps::<_CMP_UNORD_Q>(self.0, other.0)))
    }
    #[inline(always)]
    fn select(mask: Which, yes: Self, no: Self) -> Self {
        on!(Self(_mm256_blendv_ps(no.0, yes.0, mask.0)))
    }
    #[inline(always)]
    fn bits(self) -> Int {
        on!(Int(_mm256_castps_si256(self.0)))
    }
    #[inline(always)]
    fn from_bits(bits: Int) -> Self {
        on!(Self(_mm256_castsi256_ps(bits.0)))
    }
}

#[inline(always)]
fn power_of_two(n: __m256i) -> __m256 {
    on!(_mm256_castsi256_ps(_mm256_slli_epi32::<23>(_mm256_add_epi32(n, _mm256_set1_epi32(127)))))
}
