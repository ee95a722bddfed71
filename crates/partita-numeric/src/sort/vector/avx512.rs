//! Eight keys of 64 bits and sixteen of 32 bits in registers of AVX-512.

use super::{ORDER8, Vector};
use std::arch::x86_64::*;

/// Runs instructions of this level.
macro_rules! on {
    ($($code:tt)*) => {
        // SAFETY: see the documentation of `vector`; pointers are as the caller promises.
        unsafe { $($code)* }
    };
}

/// Indices of `zip`: lanes from `first` on, of both in turns; the other's are from W on.
const fn turns<const W: usize>(first: usize) -> [usize; W] {
    let (mut lanes, mut i) = ([0; W], 0);
    while i < W {
        lanes[i] = first + i / 2 + W * (i % 2);
        i += 1;
    }
    lanes
}

const fn to_32(lanes: [usize; 16]) -> [i32; 16] {
    let (mut all, mut i) = ([0; 16], 0);
    while i < 16 {
        all[i] = lanes[i] as i32;
        i += 1;
    }
    all
}

const IOTA8: [i64; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
const LOW8: [usize; 8] = turns(0);
const HIGH8: [usize; 8] = turns(4);
const IOTA16: [i32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
const LOW16: [i32; 16] = to_32(turns(0));
const HIGH16: [i32; 16] = to_32(turns(8));

/// Bit i is set where i has the bit B.
const fn lanes_with(bit: usize) -> u16 {
    let (mut mask, mut i) = (0, 0);
    while i < 16 {
        if i & bit != 0 {
            mask |= 1 << i;
        }
        i += 1;
    }
    mask
}

/// Lanes of a mask first, then the others: by a table of all masks.
#[inline(always)]
unsafe fn divide_8(keys: __m512i, mask: u32) -> __m512i {
    on! {
        let order = ORDER8.get_unchecked((mask & 0xff) as usize);
        let lanes = _mm512_cvtepu8_epi64(_mm_loadl_epi64(std::ptr::from_ref(order).cast()));
        _mm512_permutexvar_epi64(lanes, keys)
    }
}

/// The same; a table of all masks would not fit the cache.
#[inline(always)]
unsafe fn divide_16(keys: __m512i, mask: u32) -> __m512i {
    let yes = mask as __mmask16;
    on! {
        let first = _mm512_maskz_compress_epi32(yes, keys);
        let rest = _mm512_maskz_compress_epi32(!yes, keys);
        let n_first = (mask & 0xffff).count_ones();
        let others = ((0xffff_u32 << n_first) & 0xffff) as __mmask16;
        _mm512_mask_expand_epi32(first, others, rest)
    }
}

/// Operations on lanes of one width.
macro_rules! vectors {
    ($name:ident $key:ty, $w:literal, $last:expr, $splat:expr, $min:expr, $max:expr, $below:expr,
     $load:ident $store:ident $permute:ident $permute_two:ident $choose:ident $repeat:ident,
     $iota:ident $low:ident $high:ident, $divide:ident) => {
        #[derive(Clone, Copy)]
        pub(in crate::sort) struct $name(__m512i);

        impl Vector for $name {
            type Key = $key;
            const W: usize = $w;
            const LAST: $key = $last;

            #[inline(always)]
            fn splat(key: $key) -> Self {
                on!(Self($splat(key)))
            }
            #[inline(always)]
            unsafe fn load(from: *const $key) -> Self {
                on!(Self(_mm512_loadu_si512(from.cast())))
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $key) {
                on!(_mm512_storeu_si512(to.cast(), self.0));
            }
            #[inline(always)]
            unsafe fn load_first(from: *const $key, n: usize) -> Self {
                let last = Self::splat(Self::LAST);
                on!(Self($load(last.0, (1 << n) - 1, from.cast())))
            }
            #[inline(always)]
            unsafe fn store_first(self, to: *mut $key, n: usize) {
                on!($store(to.cast(), (1 << n) - 1, self.0));
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                on!(Self($min(self.0, other.0)))
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                on!(Self($max(self.0, other.0)))
            }
            #[inline(always)]
            fn below(self, other: Self) -> u32 {
                on!(u32::from($below(self.0, other.0)))
            }
            #[inline(always)]
            fn xor_lanes<const X: usize>(self) -> Self {
                on! {
                    let iota = _mm512_loadu_si512($iota.as_ptr().cast());
                    let lanes = _mm512_xor_si512(iota, $repeat(X as _));
                    Self($permute(lanes, self.0))
                }
            }
            #[inline(always)]
            fn by_bit<const B: usize>(low: Self, high: Self) -> Self {
                on!(Self($choose(low.0, const { lanes_with(B) as _ }, high.0)))
            }
            #[inline(always)]
            fn zip(self, other: Self) -> (Self, Self) {
                on! {
                    let low = _mm512_loadu_si512($low.as_ptr().cast());
                    let high = _mm512_loadu_si512($high.as_ptr().cast());
                    (
                        Self($permute_two(self.0, low, other.0)),
                        Self($permute_two(self.0, high, other.0)),
                    )
                }
            }
            #[inline(always)]
            fn divide(self, mask: u32) -> Self {
                on!(Self($divide(self.0, mask)))
            }
        }
    };
}

/// Eight lanes of 64 bits.
macro_rules! wide {
    ($name:ident $key:ty, $($rules:tt)*) => {
        vectors!($name $key, 8, $($rules)*,
            _mm512_mask_loadu_epi64 _mm512_mask_storeu_epi64 _mm512_permutexvar_epi64
            _mm512_permutex2var_epi64 _mm512_mask_mov_epi64 _mm512_set1_epi64,
            IOTA8 LOW8 HIGH8, divide_8);
    };
}

/// Sixteen of 32 bits.
macro_rules! narrow {
    ($name:ident $key:ty, $($rules:tt)*) => {
        vectors!($name $key, 16, $($rules)*,
            _mm512_mask_loadu_epi32 _mm512_mask_storeu_epi32 _mm512_permutexvar_epi32
            _mm512_permutex2var_epi32 _mm512_mask_mov_epi32 _mm512_set1_epi32,
            IOTA16 LOW16 HIGH16, divide_16);
    };
}

wide!(F64 f64, f64::INFINITY, |x| _mm512_castpd_si512(_mm512_set1_pd(x)),
    |a, b| _mm512_castpd_si512(_mm512_min_pd(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b))),
    |a, b| _mm512_castpd_si512(_mm512_max_pd(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b))),
    |a, b| _mm512_cmp_pd_mask::<_CMP_LT_OQ>(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b)));
wide!(I64 i64, i64::MAX, _mm512_set1_epi64,
    _mm512_min_epi64, _mm512_max_epi64, |a, b| _mm512_cmplt_epi64_mask(a, b));
wide!(U64 u64, u64::MAX, |x: u64| _mm512_set1_epi64(x as i64),
    _mm512_min_epu64, _mm512_max_epu64, |a, b| _mm512_cmplt_epu64_mask(a, b));
narrow!(F32 f32, f32::INFINITY, |x| _mm512_castps_si512(_mm512_set1_ps(x)),
    |a, b| _mm512_castps_si512(_mm512_min_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b))),
    |a, b| _mm512_castps_si512(_mm512_max_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b))),
    |a, b| _mm512_cmp_ps_mask::<_CMP_LT_OQ>(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)));
narrow!(I32 i32, i32::MAX, _mm512_set1_epi32,
    _mm512_min_epi32, _mm512_max_epi32, |a, b| _mm512_cmplt_epi32_mask(a, b));
narrow!(U32 u32, u32::MAX, |x: u32| _mm512_set1_epi32(x as i32),
    _mm512_min_epu32, _mm512_max_epu32, |a, b| _mm512_cmplt_epu32_mask(a, b));
