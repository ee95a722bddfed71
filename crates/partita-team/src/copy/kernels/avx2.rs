//! The shuffles of processors that have AVX2 and nothing wider: picking, interleaving, turning.
//!
//! Each gives what the element loops beside it give. Vectors have 32 bytes, half a line.

use std::arch::x86_64::{
    __m256i, _mm_castpd_si128, _mm_loadh_pd, _mm_loadl_pd, _mm_setzero_pd, _mm256_and_si256,
    _mm256_blend_epi32, _mm256_castpd_si256, _mm256_castps_si256, _mm256_castsi256_pd,
    _mm256_castsi256_ps, _mm256_loadu_si256, _mm256_packus_epi32, _mm256_permute2x128_si256,
    _mm256_permute4x64_epi64, _mm256_set_m128i, _mm256_set1_epi32, _mm256_shuffle_ps,
    _mm256_storeu_si256, _mm256_stream_si256, _mm256_unpackhi_epi64, _mm256_unpackhi_pd,
    _mm256_unpacklo_epi64, _mm256_unpacklo_pd,
};

/// The halves of two vectors in the order that shuffles within halves need.
const EVEN_QUARTERS: i32 = 0b11_01_10_00;

/// Every second element of two bytes; the number done.
///
/// # Safety
/// As `pick` for this size and step.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn every_second_of_two(source: *const u8, target: *mut u8, n: usize) -> usize {
    let low_halves = _mm256_set1_epi32(0xFFFF);
    // SAFETY: as in `every_second`.
    unsafe {
        every_second::<2>(source, target, n, |a, b| {
            let low = |items| _mm256_and_si256(items, low_halves);
            _mm256_permute4x64_epi64::<EVEN_QUARTERS>(_mm256_packus_epi32(low(a), low(b)))
        })
    }
}

/// Every second element of four bytes; the number done.
///
/// # Safety
/// As `pick` for this size and step.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn every_second_of_four(source: *const u8, target: *mut u8, n: usize) -> usize {
    // SAFETY: as in `every_second`.
    unsafe {
        every_second::<4>(source, target, n, |a, b| {
            let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
            let even = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b));
            _mm256_permute4x64_epi64::<EVEN_QUARTERS>(even)
        })
    }
}

/// Every second element of eight bytes; the number done.
///
/// # Safety
/// As `pick` for this size and step.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn every_second_of_eight(source: *const u8, target: *mut u8, n: usize) -> usize {
    // SAFETY: as in `every_second`.
    unsafe {
        every_second::<8>(source, target, n, |a, b| {
            _mm256_permute4x64_epi64::<EVEN_QUARTERS>(_mm256_unpacklo_epi64(a, b))
        })
    }
}

/// Vectors of every second element, put together from two vectors of all.
///
/// # Safety
/// As `pick` for elements of `SIZE` bytes, twice as far apart; the processor must have AVX2.
#[inline(always)]
unsafe fn every_second<const SIZE: usize>(
    source: *const u8,
    target: *mut u8,
    n: usize,
    join: impl Fn(__m256i, __m256i) -> __m256i,
) -> usize {
    let per_vector = 32 / SIZE;
    let mut at = 0;
    // The element behind the last one may be nobody's: the last vector is left to others.
    while at + per_vector < n {
        // SAFETY: two vectors before the last element; `n` elements have room in the target.
        unsafe {
            let from = source.add(2 * at * SIZE);
            let a = _mm256_loadu_si256(from.cast());
            let b = _mm256_loadu_si256(from.add(32).cast());
            _mm256_storeu_si256(target.add(at * SIZE).cast(), join(a, b));
        }
        at += per_vector;
    }
    at
}

/// Elements of eight bytes with any step; the number done.
///
/// # Safety
/// As `pick` for this size.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn far_eights(
    source: *const u8,
    step: isize,
    target: *mut u8,
    n: usize,
) -> usize {
    let mut at = 0;
    while at + 4 <= n {
        let item = |turn: usize| source.wrapping_offset(step * (at + turn) as isize).cast::<f64>();
        // SAFETY: four elements, and room for them.
        unsafe {
            let pair = |turn: usize| {
                let first = _mm_loadl_pd(_mm_setzero_pd(), item(turn));
                _mm_castpd_si128(_mm_loadh_pd(first, item(turn + 1)))
            };
            let four = _mm256_set_m128i(pair(2), pair(0));
            _mm256_storeu_si256(target.add(at * 8).cast(), four);
        }
        at += 4;
    }
    at
}

/// Interleaves two lanes of elements of eight bytes; the number done per lane.
///
/// # Safety
/// `n` elements of every lane must be readable, and all have room in `target`.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn interleave_two(sources: [*const u8; 2], target: *mut u8, n: usize) -> usize {
    // SAFETY: as in `interleave`.
    unsafe {
        interleave(sources, target, n, |[a, b]| {
            let (low, high) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
            [
                _mm256_permute2x128_si256::<0x20>(low, high),
                _mm256_permute2x128_si256::<0x31>(low, high),
            ]
        })
    }
}

/// Interleaves three lanes of elements of eight bytes; the number done per lane.
///
/// # Safety
/// `n` elements of every lane must be readable, and all have room in `target`.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn interleave_three(sources: [*const u8; 3], target: *mut u8, n: usize) -> usize {
    // SAFETY: as in `interleave`.
    unsafe {
        interleave(sources, target, n, |[a, b, c]| {
            // Elements 0 and 1, 1 and 2, 2 and 3 of each lane at the places that they get.
            let first = _mm256_blend_epi32::<0b0000_1100>(
                _mm256_permute4x64_epi64::<0b01_00_00_00>(a),
                _mm256_permute4x64_epi64::<0b00_00_00_00>(b),
            );
            let second = _mm256_blend_epi32::<0b0011_0000>(
                _mm256_permute4x64_epi64::<0b10_00_00_01>(b),
                _mm256_permute4x64_epi64::<0b00_10_00_00>(a),
            );
            let third = _mm256_blend_epi32::<0b0000_1100>(
                _mm256_permute4x64_epi64::<0b11_00_00_10>(c),
                _mm256_permute4x64_epi64::<0b00_00_11_00>(a),
            );
            [
                _mm256_blend_epi32::<0b0011_0000>(
                    first,
                    _mm256_permute4x64_epi64::<0b00_00_00_00>(c),
                ),
                _mm256_blend_epi32::<0b0000_1100>(
                    second,
                    _mm256_permute4x64_epi64::<0b00_00_01_00>(c),
                ),
                _mm256_blend_epi32::<0b0011_0000>(
                    third,
                    _mm256_permute4x64_epi64::<0b00_11_00_00>(b),
                ),
            ]
        })
    }
}

/// Interleaves four lanes of elements of eight bytes; the number done per lane.
///
/// # Safety
/// `n` elements of every lane must be readable, and all have room in `target`.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn interleave_four(sources: [*const u8; 4], target: *mut u8, n: usize) -> usize {
    // SAFETY: as in `interleave`.
    unsafe { interleave(sources, target, n, |lanes| turn_four(lanes)) }
}

/// # Safety
/// `n` elements of every lane must be readable, and all have room in `target`; the processor must
/// have AVX2.
#[inline(always)]
unsafe fn interleave<const LANES: usize>(
    sources: [*const u8; LANES],
    target: *mut u8,
    n: usize,
    mix: impl Fn([__m256i; LANES]) -> [__m256i; LANES],
) -> usize {
    let mut at = 0;
    while at + 4 <= n {
        // SAFETY: four more elements of every lane, and room for all of them.
        unsafe {
            let lanes = sources.map(|lane| _mm256_loadu_si256(lane.add(at * 8).cast()));
            for (part, mixed) in mix(lanes).into_iter().enumerate() {
                _mm256_storeu_si256(target.add((at * LANES + part * 4) * 8).cast(), mixed);
            }
        }
        at += 4;
    }
    at
}

/// Four rows of four elements of eight bytes, turned.
#[target_feature(enable = "avx2")]
fn turn_four(rows: [__m256i; 4]) -> [__m256i; 4] {
    let [a, b, c, d] = rows.map(|row| _mm256_castsi256_pd(row));
    let [p, q] =
        [_mm256_unpacklo_pd(a, b), _mm256_unpacklo_pd(c, d)].map(|v| _mm256_castpd_si256(v));
    let [r, s] =
        [_mm256_unpackhi_pd(a, b), _mm256_unpackhi_pd(c, d)].map(|v| _mm256_castpd_si256(v));
    [
        _mm256_permute2x128_si256::<0x20>(p, q),
        _mm256_permute2x128_si256::<0x20>(r, s),
        _mm256_permute2x128_si256::<0x31>(p, q),
        _mm256_permute2x128_si256::<0x31>(r, s),
    ]
}

/// Turns eight rows of eight neighbours of eight bytes.
///
/// # Safety
/// All rows must be readable and writable, `step` bytes apart; those of the target must be whole
/// cache lines if `STREAMS`.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn turn<const STREAMS: bool>(
    (source, source_step): (*const u8, isize),
    (target, target_step): (*mut u8, isize),
) {
    for half in [0_usize, 4] {
        let load = |row: usize| {
            let from = source.wrapping_offset(source_step * row as isize).wrapping_add(half * 8);
            // SAFETY: half a row of the source.
            unsafe { _mm256_loadu_si256(from.cast()) }
        };
        let left = turn_four([load(0), load(1), load(2), load(3)]);
        let right = turn_four([load(4), load(5), load(6), load(7)]);
        for (at, (left, right)) in left.into_iter().zip(right).enumerate() {
            let to = target.wrapping_offset(target_step * (half + at) as isize);
            // SAFETY: a row of the target; both halves of a line, one after the other.
            unsafe {
                if STREAMS {
                    _mm256_stream_si256(to.cast(), left);
                    _mm256_stream_si256(to.add(32).cast(), right);
                } else {
                    _mm256_storeu_si256(to.cast(), left);
                    _mm256_storeu_si256(to.add(32).cast(), right);
                }
            }
        }
    }
}
