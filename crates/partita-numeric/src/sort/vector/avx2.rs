//! Four keys of 64 bits and eight of 32 bits in registers of AVX2.

use super::{ORDER4, ORDER8, Vector};
use std::arch::x86_64::*;

/// Runs instructions of this level.
macro_rules! on {
    ($($code:tt)*) => {
        // SAFETY: see the documentation of `vector`; pointers are as the caller promises.
        unsafe { $($code)* }
    };
}

/// A byte of `table` for each of eight lanes of 32 bits.
#[inline(always)]
unsafe fn lanes_of(order: &u64) -> __m256i {
    on!(_mm256_cvtepu8_epi32(_mm_loadl_epi64(std::ptr::from_ref(order).cast())))
}

macro_rules! vectors {
    ($name:ident $key:ty, $w:literal, $last:expr, $splat:expr, $min:expr, $max:expr, $below:expr,
     $xor:ident $by_bit:ident $zip:ident $divide:ident) => {
        #[derive(Clone, Copy)]
        pub(in crate::sort) struct $name(__m256i);

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
                on!(Self(_mm256_loadu_si256(from.cast())))
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $key) {
                on!(_mm256_storeu_si256(to.cast(), self.0));
            }
            #[inline(always)]
            unsafe fn load_first(from: *const $key, n: usize) -> Self {
                let last = Self::splat(Self::LAST);
                on! {
                    let mask = first_lanes(n * (8 / $w));
                    let keys = _mm256_maskload_epi32(from.cast(), mask);
                    Self(_mm256_blendv_epi8(last.0, keys, mask))
                }
            }
            #[inline(always)]
            unsafe fn store_first(self, to: *mut $key, n: usize) {
                on!(_mm256_maskstore_epi32(to.cast(), first_lanes(n * (8 / $w)), self.0));
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
                on!($below(self.0, other.0))
            }
            #[inline(always)]
            fn xor_lanes<const X: usize>(self) -> Self {
                on!(Self($xor::<X>(self.0)))
            }
            #[inline(always)]
            fn by_bit<const B: usize>(low: Self, high: Self) -> Self {
                on!(Self($by_bit::<B>(low.0, high.0)))
            }
            #[inline(always)]
            fn zip(self, other: Self) -> (Self, Self) {
                let (low, high) = on!($zip(self.0, other.0));
                (Self(low), Self(high))
            }
            #[inline(always)]
            fn divide(self, mask: u32) -> Self {
                on!(Self($divide(self.0, mask)))
            }
        }
    };
}

/// All bits in the first n lanes of 32 bits.
#[inline(always)]
unsafe fn first_lanes(n: usize) -> __m256i {
    on! {
        let iota = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        _mm256_cmpgt_epi32(_mm256_set1_epi32(n as i32), iota)
    }
}

#[inline(always)]
unsafe fn xor4<const X: usize>(v: __m256i) -> __m256i {
    on!(match X {
        1 => _mm256_permute4x64_epi64::<0xb1>(v),
        2 => _mm256_permute4x64_epi64::<0x4e>(v),
        _ => _mm256_permute4x64_epi64::<0x1b>(v),
    })
}

#[inline(always)]
unsafe fn xor8<const X: usize>(v: __m256i) -> __m256i {
    on! {
        let iota = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        _mm256_permutevar8x32_epi32(v, _mm256_xor_si256(iota, _mm256_set1_epi32(X as i32)))
    }
}

#[inline(always)]
unsafe fn by_bit4<const B: usize>(low: __m256i, high: __m256i) -> __m256i {
    on!(match B {
        1 => _mm256_blend_epi32::<0b1100_1100>(low, high),
        _ => _mm256_blend_epi32::<0b1111_0000>(low, high),
    })
}

#[inline(always)]
unsafe fn by_bit8<const B: usize>(low: __m256i, high: __m256i) -> __m256i {
    on!(match B {
        1 => _mm256_blend_epi32::<0b1010_1010>(low, high),
        2 => _mm256_blend_epi32::<0b1100_1100>(low, high),
        _ => _mm256_blend_epi32::<0b1111_0000>(low, high),
    })
}

#[inline(always)]
unsafe fn zip4(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    on! {
        let (low, high) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
        halves(low, high)
    }
}

#[inline(always)]
unsafe fn zip8(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    on! {
        let (low, high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
        halves(low, high)
    }
}

/// Instructions interleave each half of a register; this puts the halves in order.
#[inline(always)]
unsafe fn halves(low: __m256i, high: __m256i) -> (__m256i, __m256i) {
    on! {
        (
            _mm256_permute2x128_si256::<0x20>(low, high),
            _mm256_permute2x128_si256::<0x31>(low, high),
        )
    }
}

#[inline(always)]
unsafe fn divide4(v: __m256i, mask: u32) -> __m256i {
    on!(_mm256_permutevar8x32_epi32(v, lanes_of(ORDER4.get_unchecked((mask & 15) as usize))))
}

#[inline(always)]
unsafe fn divide8(v: __m256i, mask: u32) -> __m256i {
    on!(_mm256_permutevar8x32_epi32(v, lanes_of(ORDER8.get_unchecked((mask & 255) as usize))))
}

/// All bits where a > b, as signed numbers of 64 bits.
#[inline(always)]
unsafe fn above_i64(a: __m256i, b: __m256i) -> __m256i {
    on!(_mm256_cmpgt_epi64(a, b))
}

#[inline(always)]
unsafe fn above_u64(a: __m256i, b: __m256i) -> __m256i {
    on! {
        let top = _mm256_set1_epi64x(i64::MIN);
        _mm256_cmpgt_epi64(_mm256_xor_si256(a, top), _mm256_xor_si256(b, top))
    }
}

#[inline(always)]
unsafe fn bits4(mask: __m256i) -> u32 {
    on!(_mm256_movemask_pd(_mm256_castsi256_pd(mask)) as u32)
}

#[inline(always)]
unsafe fn bits8(mask: __m256i) -> u32 {
    on!(_mm256_movemask_ps(_mm256_castsi256_ps(mask)) as u32)
}

#[inline(always)]
unsafe fn double(f: impl Fn(__m256d, __m256d) -> __m256d, a: __m256i, b: __m256i) -> __m256i {
    on!(_mm256_castpd_si256(f(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b))))
}

#[inline(always)]
unsafe fn single(f: impl Fn(__m256, __m256) -> __m256, a: __m256i, b: __m256i) -> __m256i {
    on!(_mm256_castps_si256(f(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b))))
}

vectors!(F64 f64, 4, f64::INFINITY, |x| _mm256_castpd_si256(_mm256_set1_pd(x)),
    |a, b| double(|a, b| _mm256_min_pd(a, b), a, b),
    |a, b| double(|a, b| _mm256_max_pd(a, b), a, b),
    |a, b| bits4(double(|a, b| _mm256_cmp_pd::<_CMP_LT_OQ>(a, b), a, b)),
    xor4 by_bit4 zip4 divide4);
vectors!(I64 i64, 4, i64::MAX, _mm256_set1_epi64x,
    |a, b| _mm256_blendv_epi8(a, b, above_i64(a, b)),
    |a, b| _mm256_blendv_epi8(b, a, above_i64(a, b)),
    |a, b| bits4(above_i64(b, a)),
    xor4 by_bit4 zip4 divide4);
vectors!(U64 u64, 4, u64::MAX, |x: u64| _mm256_set1_epi64x(x as i64),
    |a, b| _mm256_blendv_epi8(a, b, above_u64(a, b)),
    |a, b| _mm256_blendv_epi8(b, a, above_u64(a, b)),
    |a, b| bits4(above_u64(b, a)),
    xor4 by_bit4 zip4 divide4);
vectors!(F32 f32, 8, f32::INFINITY, |x| _mm256_castps_si256(_mm256_set1_ps(x)),
    |a, b| single(|a, b| _mm256_min_ps(a, b), a, b),
    |a, b| single(|a, b| _mm256_max_ps(a, b), a, b),
    |a, b| bits8(single(|a, b| _mm256_cmp_ps::<_CMP_LT_OQ>(a, b), a, b)),
    xor8 by_bit8 zip8 divide8);
vectors!(I32 i32, 8, i32::MAX, _mm256_set1_epi32, _mm256_min_epi32, _mm256_max_epi32,
    |a, b| bits8(_mm256_cmpgt_epi32(b, a)), xor8 by_bit8 zip8 divide8);
vectors!(U32 u32, 8, u32::MAX, |x: u32| _mm256_set1_epi32(x as i32), _mm256_min_epu32,
    _mm256_max_epu32, |a, b| bits8(_mm256_cmpeq_epi32(_mm256_max_epu32(a, b), a)) ^ 255,
    xor8 by_bit8 zip8 divide8);
