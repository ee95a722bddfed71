//! Four lanes of AVX2 with FMA.

use super::{Ints, Lanes, MAX_LANES, Mask};
use std::arch::x86_64::*;

#[derive(Clone, Copy)]
pub(crate) struct Avx2(__m256d);
#[derive(Clone, Copy)]
pub(crate) struct Int(__m256i);
/// All bits of a lane, or none; only the highest is looked at.
#[derive(Clone, Copy)]
pub(crate) struct Which(__m256d);

super::operators! { Avx2:
    Add add _mm256_add_pd,
    Sub sub _mm256_sub_pd,
    Mul mul _mm256_mul_pd,
    Div div _mm256_div_pd,
}
super::operators! { Int:
    Add add _mm256_add_epi64,
    Sub sub _mm256_sub_epi64,
    BitAnd bitand _mm256_and_si256,
    BitOr bitor _mm256_or_si256,
    BitXor bitxor _mm256_xor_si256,
}
super::operators! { Which:
    BitAnd bitand _mm256_and_pd,
    BitOr bitor _mm256_or_pd,
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
        on!(Which(_mm256_xor_pd(self.0, _mm256_castsi256_pd(_mm256_set1_epi64x(-1)))))
    }
}

impl Mask for Which {
    #[inline(always)]
    fn bits(self) -> u32 {
        on!(_mm256_movemask_pd(self.0) as u32)
    }
}

impl std::ops::Neg for Avx2 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        on!(Self(_mm256_xor_pd(self.0, _mm256_set1_pd(-0.0))))
    }
}

impl Ints<Which> for Int {
    #[inline(always)]
    fn splat(value: i64) -> Self {
        on!(Self(_mm256_set1_epi64x(value)))
    }
    #[inline(always)]
    fn shl<const K: i32>(self) -> Self {
        on!(Self(_mm256_slli_epi64::<K>(self.0)))
    }
    #[inline(always)]
    fn shr<const K: i32>(self) -> Self {
        on!(Self(_mm256_srli_epi64::<K>(self.0)))
    }
    #[inline(always)]
    fn negative(self) -> Which {
        // A blend looks at the highest bit alone, but `!` and `&` of masks keep it right too.
        on!(Which(_mm256_castsi256_pd(self.0)))
    }
    #[inline(always)]
    fn to_array(self) -> [i64; MAX_LANES] {
        let mut all = [0; MAX_LANES];
        on!(_mm256_storeu_si256(all.as_mut_ptr().cast(), self.0));
        all
    }
}

/// A mask of the first n lanes.
#[inline(always)]
fn first_lanes(n: usize) -> __m256i {
    on!(_mm256_cmpgt_epi64(_mm256_set1_epi64x(n as i64), _mm256_set_epi64x(3, 2, 1, 0)))
}

impl Lanes for Avx2 {
    type Mask = Which;
    type Int = Int;
    type Single = super::single::Avx2;
    const N: usize = 4;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        on!(Self(_mm256_set1_pd(value)))
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        on!(Self(_mm256_loadu_pd(from)))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        on!(_mm256_storeu_pd(to, self.0));
    }
    #[inline(always)]
    unsafe fn load_first(from: *const f64, n: usize) -> Self {
        let lanes = first_lanes(n);
        on! {
            let some = _mm256_maskload_pd(from, lanes);
            Self(_mm256_blendv_pd(_mm256_set1_pd(1.0), some, _mm256_castsi256_pd(lanes)))
        }
    }
    #[inline(always)]
    unsafe fn store_first(self, to: *mut f64, n: usize) {
        on!(_mm256_maskstore_pd(to, first_lanes(n), self.0));
    }
    #[inline(always)]
    unsafe fn load_f32(from: *const f32) -> Self {
        on!(Self(_mm256_cvtps_pd(_mm_loadu_ps(from))))
    }
    #[inline(always)]
    unsafe fn store_f32(self, to: *mut f32) {
        on!(_mm_storeu_ps(to, _mm256_cvtpd_ps(self.0)));
    }
    #[inline(always)]
    unsafe fn load_pairs(from: *const f64) -> (Self, Self) {
        on! {
            let (low, high) = (_mm256_loadu_pd(from), _mm256_loadu_pd(from.add(4)));
            let outer = _mm256_permute2f128_pd::<0x20>(low, high);
            let inner = _mm256_permute2f128_pd::<0x31>(low, high);
            (Self(_mm256_unpacklo_pd(outer, inner)), Self(_mm256_unpackhi_pd(outer, inner)))
        }
    }
    #[inline(always)]
    unsafe fn store_pairs(first: Self, second: Self, to: *mut f64) {
        on! {
            let low = _mm256_unpacklo_pd(first.0, second.0);
            let high = _mm256_unpackhi_pd(first.0, second.0);
            _mm256_storeu_pd(to, _mm256_permute2f128_pd::<0x20>(low, high));
            _mm256_storeu_pd(to.add(4), _mm256_permute2f128_pd::<0x31>(low, high));
        }
    }

    #[inline(always)]
    fn fma(self, factor: Self, term: Self) -> Self {
        on!(Self(_mm256_fmadd_pd(self.0, factor.0, term.0)))
    }
    #[inline(always)]
    fn fnma(self, factor: Self, term: Self) -> Self {
        on!(Self(_mm256_fnmadd_pd(self.0, factor.0, term.0)))
    }
    #[inline(always)]
    fn fms(self, factor: Self, term: Self) -> Self {
        on!(Self(_mm256_fmsub_pd(self.0, factor.0, term.0)))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        on!(Self(_mm256_sqrt_pd(self.0)))
    }
    #[inline(always)]
    fn floor(self) -> Self {
        on!(Self(_mm256_floor_pd(self.0)))
    }
    #[inline(always)]
    fn ceil(self) -> Self {
        on!(Self(_mm256_ceil_pd(self.0)))
    }
    #[inline(always)]
    fn trunc(self) -> Self {
        on!(Self(_mm256_round_pd::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(self.0)))
    }
    #[inline(always)]
    fn round_even(self) -> Self {
        on!(Self(_mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(self.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        on!(Self(_mm256_min_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        on!(Self(_mm256_max_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn scale(self, _n: Self, bits_of_n: Int) -> Self {
        on! {
            // The low halves hold n; two factors, for one may be no float64.
            let half = _mm256_srai_epi32::<1>(bits_of_n.0);
            let rest = _mm256_sub_epi64(bits_of_n.0, half);
            Self(_mm256_mul_pd(_mm256_mul_pd(self.0, power_of_two(half)), power_of_two(rest)))
        }
    }

    #[inline(always)]
    fn scale_near_one(self, n: Self, bits_of_n: Int) -> Self {
        // NaN is not within, either.
        let is_normal = n.abs().le(Self::splat(1021.0));
        if (!is_normal).any() {
            return self.scale(n, bits_of_n);
        }
        Self::from_bits(self.bits() + bits_of_n.shl::<52>())
    }

    #[inline(always)]
    fn lt(self, other: Self) -> Which {
        on!(Which(_mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0)))
    }
    #[inline(always)]
    fn le(self, other: Self) -> Which {
        on!(Which(_mm256_cmp_pd::<_CMP_LE_OQ>(self.0, other.0)))
    }
    #[inline(always)]
    fn eq(self, other: Self) -> Which {
        on!(Which(_mm256_cmp_pd::<_CMP_EQ_OQ>(self.0, other.0)))
    }
    #[inline(always)]
    fn is_nan(self) -> Which {
        on!(Which(_mm256_cmp_pd::<_CMP_UNORD_Q>(self.0, self.0)))
    }
    #[inline(always)]
    fn unordered(self, other: Self) -> Which {
        on!(Which(_mm256_cmp_pd::<_CMP_UNORD_Q>(self.0, other.0)))
    }
    #[inline(always)]
    fn select(mask: Which, yes: Self, no: Self) -> Self {
        on!(Self(_mm256_blendv_pd(no.0, yes.0, mask.0)))
    }

    #[inline(always)]
    fn bits(self) -> Int {
        on!(Int(_mm256_castpd_si256(self.0)))
    }
    #[inline(always)]
    fn from_bits(bits: Int) -> Self {
        on!(Self(_mm256_castsi256_pd(bits.0)))
    }

    #[inline(always)]
    unsafe fn rows4(table: &[[f64; 4]], index: Int) -> [Self; 4] {
        let at = index.to_array();
        on! {
            let (a, b) = (row(table, at[0]), row(table, at[1]));
            let (c, d) = (row(table, at[2]), row(table, at[3]));
            let (ab0, ab1) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
            let (cd0, cd1) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
            [
                Self(_mm256_permute2f128_pd::<0x20>(ab0, cd0)),
                Self(_mm256_permute2f128_pd::<0x20>(ab1, cd1)),
                Self(_mm256_permute2f128_pd::<0x31>(ab0, cd0)),
                Self(_mm256_permute2f128_pd::<0x31>(ab1, cd1)),
            ]
        }
    }
}

/// 2^n for n in the low halves of the lanes.
#[inline(always)]
fn power_of_two(n: __m256i) -> __m256d {
    on! {
        let biased = _mm256_add_epi64(n, _mm256_set1_epi64x(1023));
        _mm256_castsi256_pd(_mm256_slli_epi64::<52>(biased))
    }
}

/// # Safety
/// The index is inside the table.
#[inline(always)]
unsafe fn row(table: &[[f64; 4]], at: i64) -> __m256d {
    on!(_mm256_loadu_pd(table.as_ptr().add(at as usize).cast()))
}
