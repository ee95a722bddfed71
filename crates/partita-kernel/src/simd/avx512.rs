//! Eight lanes of AVX-512 (F, DQ, VL, BW).

use super::{Ints, Lanes, MAX_LANES, Mask};
use std::arch::x86_64::*;

#[derive(Clone, Copy)]
pub(crate) struct Avx512(__m512d);
#[derive(Clone, Copy)]
pub(crate) struct Int(__m512i);
#[derive(Clone, Copy)]
pub(crate) struct Which(__mmask8);

super::operators! { Avx512:
    Add add _mm512_add_pd,
    Sub sub _mm512_sub_pd,
    Mul mul _mm512_mul_pd,
    Div div _mm512_div_pd,
}
super::operators! { Int:
    Add add _mm512_add_epi64,
    Sub sub _mm512_sub_epi64,
    BitAnd bitand _mm512_and_si512,
    BitOr bitor _mm512_or_si512,
    BitXor bitxor _mm512_xor_si512,
}
super::operators! { Which:
    BitAnd bitand std::ops::BitAnd::bitand,
    BitOr bitor std::ops::BitOr::bitor,
}

/// Runs instructions of this level.
macro_rules! on {
    ($($code:tt)*) => {
        // SAFETY: see the documentation of `simd`; pointers are as the caller promises.
        unsafe { $($code)* }
    };
}

impl std::ops::Not for Which {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Which(!self.0)
    }
}

impl Mask for Which {
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self.0)
    }
}

impl std::ops::Neg for Avx512 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        on!(Self(_mm512_xor_pd(self.0, _mm512_set1_pd(-0.0))))
    }
}

impl Ints<Which> for Int {
    #[inline(always)]
    fn splat(value: i64) -> Self {
        on!(Self(_mm512_set1_epi64(value)))
    }
    #[inline(always)]
    fn shl<const K: i32>(self) -> Self {
        on!(Self(_mm512_sll_epi64(self.0, _mm_cvtsi32_si128(K))))
    }
    #[inline(always)]
    fn shr<const K: i32>(self) -> Self {
        on!(Self(_mm512_srl_epi64(self.0, _mm_cvtsi32_si128(K))))
    }
    #[inline(always)]
    fn negative(self) -> Which {
        on!(Which(_mm512_movepi64_mask(self.0)))
    }
    #[inline(always)]
    fn to_array(self) -> [i64; MAX_LANES] {
        let mut all = [0; MAX_LANES];
        on!(_mm512_storeu_si512(all.as_mut_ptr().cast(), self.0));
        all
    }
}

impl Lanes for Avx512 {
    type Mask = Which;
    type Int = Int;
    type Single = super::single::Avx512;
    const N: usize = 8;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        on!(Self(_mm512_set1_pd(value)))
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        on!(Self(_mm512_loadu_pd(from)))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        on!(_mm512_storeu_pd(to, self.0));
    }
    #[inline(always)]
    unsafe fn load_first(from: *const f64, n: usize) -> Self {
        on!(Self(_mm512_mask_loadu_pd(_mm512_set1_pd(1.0), (1 << n) - 1, from)))
    }
    #[inline(always)]
    unsafe fn store_first(self, to: *mut f64, n: usize) {
        on!(_mm512_mask_storeu_pd(to, (1 << n) - 1, self.0));
    }
    #[inline(always)]
    unsafe fn load_f32(from: *const f32) -> Self {
        on!(Self(_mm512_cvtps_pd(_mm256_loadu_ps(from))))
    }
    #[inline(always)]
    unsafe fn store_f32(self, to: *mut f32) {
        on!(_mm256_storeu_ps(to, _mm512_cvtpd_ps(self.0)));
    }
    #[inline(always)]
    unsafe fn load_pairs(from: *const f64) -> (Self, Self) {
        on! {
            let (low, high) = (_mm512_loadu_pd(from), _mm512_loadu_pd(from.add(8)));
            let even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
            let odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
            let first = _mm512_permutex2var_pd(low, even, high);
            (Self(first), Self(_mm512_permutex2var_pd(low, odd, high)))
        }
    }
    #[inline(always)]
    unsafe fn store_pairs(first: Self, second: Self, to: *mut f64) {
        on! {
            let low = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
            let high = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
            _mm512_storeu_pd(to, _mm512_permutex2var_pd(first.0, low, second.0));
            _mm512_storeu_pd(to.add(8), _mm512_permutex2var_pd(first.0, high, second.0));
        }
    }

    #[inline(always)]
    fn fma(self, factor: Self, term: Self) -> Self {
        on!(Self(_mm512_fmadd_pd(self.0, factor.0, term.0)))
    }
    #[inline(always)]
    fn fnma(self, factor: Self, term: Self) -> Self {
        on!(Self(_mm512_fnmadd_pd(self.0, factor.0, term.0)))
    }
    #[inline(always)]
    fn fms(self, factor: Self, term: Self) -> Self {
        on!(Self(_mm512_fmsub_pd(self.0, factor.0, term.0)))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        on!(Self(_mm512_sqrt_pd(self.0)))
    }
    #[inline(always)]
    fn floor(self) -> Self {
        on!(Self(_mm512_roundscale_pd::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(self.0)))
    }
    #[inline(always)]
    fn ceil(self) -> Self {
        on!(Self(_mm512_roundscale_pd::<{ _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC }>(self.0)))
    }
    #[inline(always)]
    fn trunc(self) -> Self {
        on!(Self(_mm512_roundscale_pd::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(self.0)))
    }
    #[inline(always)]
    fn round_even(self) -> Self {
        on!(Self(_mm512_roundscale_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(self.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        on!(Self(_mm512_min_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        on!(Self(_mm512_max_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn scale(self, n: Self, _bits_of_n: Int) -> Self {
        on!(Self(_mm512_scalef_pd(self.0, n.0)))
    }

    #[inline(always)]
    fn lt(self, other: Self) -> Which {
        on!(Which(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.0, other.0)))
    }
    #[inline(always)]
    fn le(self, other: Self) -> Which {
        on!(Which(_mm512_cmp_pd_mask::<_CMP_LE_OQ>(self.0, other.0)))
    }
    #[inline(always)]
    fn eq(self, other: Self) -> Which {
        on!(Which(_mm512_cmp_pd_mask::<_CMP_EQ_OQ>(self.0, other.0)))
    }
    #[inline(always)]
    fn is_nan(self) -> Which {
        on!(Which(_mm512_cmp_pd_mask::<_CMP_UNORD_Q>(self.0, self.0)))
    }
    #[inline(always)]
    fn unordered(self, other: Self) -> Which {
        on!(Which(_mm512_cmp_pd_mask::<_CMP_UNORD_Q>(self.0, other.0)))
    }
    #[inline(always)]
    fn select(mask: Which, yes: Self, no: Self) -> Self {
        on!(Self(_mm512_mask_blend_pd(mask.0, no.0, yes.0)))
    }

    #[inline(always)]
    fn bits(self) -> Int {
        on!(Int(_mm512_castpd_si512(self.0)))
    }
    #[inline(always)]
    fn from_bits(bits: Int) -> Self {
        on!(Self(_mm512_castsi512_pd(bits.0)))
    }

    #[inline(always)]
    unsafe fn rows4(table: &[[f64; 4]], index: Int) -> [Self; 4] {
        let at = index.to_array();
        on! {
            let (a, b) = (two_rows(table, at[0], at[4]), two_rows(table, at[1], at[5]));
            let (c, d) = (two_rows(table, at[2], at[6]), two_rows(table, at[3], at[7]));
            let (ab0, ab1) = (_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
            let (cd0, cd1) = (_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d));
            // Columns 0 and 1 lie in the even quarters, 2 and 3 in the odd ones.
            let even = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
            let odd = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
            [
                Self(_mm512_permutex2var_pd(ab0, even, cd0)),
                Self(_mm512_permutex2var_pd(ab1, even, cd1)),
                Self(_mm512_permutex2var_pd(ab0, odd, cd0)),
                Self(_mm512_permutex2var_pd(ab1, odd, cd1)),
            ]
        }
    }
}

/// Two rows of a table side by side.
///
/// # Safety
/// Both indices are inside the table.
#[inline(always)]
unsafe fn two_rows(table: &[[f64; 4]], low: i64, high: i64) -> __m512d {
    on! {
        let first = table.as_ptr();
        let low = _mm512_castpd256_pd512(_mm256_loadu_pd(first.add(low as usize).cast()));
        _mm512_insertf64x4::<1>(low, _mm256_loadu_pd(first.add(high as usize).cast()))
    }
}
