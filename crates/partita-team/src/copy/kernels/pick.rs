//! Putting elements with a fixed step side by side.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::Isa;
#[cfg(target_arch = "x86_64")]
use super::avx2;
#[cfg(target_arch = "aarch64")]
use super::neon;

/// Writes `n` elements that lie `step` bytes apart next to each other.
///
/// # Safety
/// The elements must be readable, and everything between the first and the last; `target` must
/// have room for them.
#[inline(always)]
pub(super) unsafe fn pick<T: Copy>(source: *const u8, step: isize, target: *mut u8, n: usize) {
    // SAFETY: the caller's promise; what is left after whole lines are the last elements.
    unsafe {
        let done = pick_lines::<T>(source, step, target, n);
        let source = source.wrapping_offset(step * done as isize);
        one_by_one::<T>(source, step, target.add(done * size_of::<T>()), n - done);
    }
}

/// As many whole lines as this processor has a fast way for; the number of elements done.
///
/// # Safety
/// As [`pick`].
#[inline(always)]
unsafe fn pick_lines<T: Copy>(source: *const u8, step: isize, target: *mut u8, n: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if Isa::detect() == Isa::Avx512 {
        // SAFETY: the caller's promise; the processor has the instructions.
        unsafe {
            match (size_of::<T>(), step) {
                (2, 4) => return avx512::twos::<2>(source, target, n),
                (2, 8) => return avx512::twos::<4>(source, target, n),
                (4, 8) => return avx512::fours::<2>(source, target, n),
                (4, 12) => return avx512::fours::<3>(source, target, n),
                (4, 16) => return avx512::fours::<4>(source, target, n),
                (4, 32) => return avx512::fours::<8>(source, target, n),
                (8, 16) => return avx512::eights::<2>(source, target, n),
                (8, 24) => return avx512::eights::<3>(source, target, n),
                (8, 32) => return avx512::eights::<4>(source, target, n),
                (8, 40) => return avx512::eights::<5>(source, target, n),
                (8, 48) => return avx512::eights::<6>(source, target, n),
                (8, 56) => return avx512::eights::<7>(source, target, n),
                (8, 64) => return avx512::eights::<8>(source, target, n),
                (8, _) => return avx512::far_eights(source, step, target, n),
                _ => {}
            }
        }
    } else if Isa::detect() == Isa::Avx2 {
        // SAFETY: the caller's promise; the processor has the instructions.
        unsafe {
            match (size_of::<T>(), step) {
                (2, 4) => return avx2::every_second_of_two(source, target, n),
                (4, 8) => return avx2::every_second_of_four(source, target, n),
                (8, 16) => return avx2::every_second_of_eight(source, target, n),
                (8, _) => return avx2::far_eights(source, step, target, n),
                _ => {}
            }
        }
    }
    #[cfg(target_arch = "aarch64")]
    if Isa::detect() == Isa::Neon {
        // SAFETY: the caller's promise.
        unsafe {
            match (size_of::<T>(), step) {
                (2, 4) => return neon::every_second_of_two(source, target, n),
                (2, 6) => return neon::every_third_of_two(source, target, n),
                (2, 8) => return neon::every_fourth_of_two(source, target, n),
                (4, 8) => return neon::every_second_of_four(source, target, n),
                (4, 12) => return neon::every_third_of_four(source, target, n),
                (4, 16) => return neon::every_fourth_of_four(source, target, n),
                (8, 16) => return neon::every_second_of_eight(source, target, n),
                (8, 24) => return neon::every_third_of_eight(source, target, n),
                (8, 32) => return neon::every_fourth_of_eight(source, target, n),
                _ => {}
            }
        }
    }
    let _ = (source, step, target, n);
    0
}

/// Compiled without wide vectors: the compiler would use gather instructions, which are slower.
///
/// # Safety
/// As [`pick`].
#[inline(never)]
unsafe fn one_by_one<T: Copy>(source: *const u8, step: isize, target: *mut u8, n: usize) {
    let (mut source, target) = (source, target.cast::<T>());
    for turn in 0..n {
        // SAFETY: the caller's promise.
        unsafe { target.add(turn).write_unaligned(source.cast::<T>().read_unaligned()) };
        source = source.wrapping_offset(step);
    }
}

/// Lines put together by shuffles, from whole vectors with their gaps.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{
        __m512i, __mmask8, __mmask16, __mmask32, _mm512_loadu_si512, _mm512_mask_permutexvar_epi16,
        _mm512_mask_permutexvar_epi32, _mm512_mask_permutexvar_epi64, _mm512_maskz_loadu_epi16,
        _mm512_maskz_loadu_epi32, _mm512_maskz_loadu_epi64, _mm512_set_epi64, _mm512_setzero_si512,
        _mm512_storeu_si512,
    };

    /// One size of elements: `$n` of them in a vector.
    macro_rules! size {
        ($name:ident, $item:ty, $n:literal, $mask:ty, $load:ident, $permute:ident) => {
            /// # Safety
            /// As [`super::pick`] for elements of this size, `APART` of them from one to the next.
            #[target_feature(enable = "avx512f,avx512bw")]
            pub(super) unsafe fn $name<const APART: usize>(
                source: *const u8,
                target: *mut u8,
                n: usize,
            ) -> usize {
                const SIZE: usize = size_of::<$item>();
                // Element `k` of a line is number `k * APART`: at which place of which vector?
                let places: [$item; $n] = std::array::from_fn(|k| (k * APART % $n) as $item);
                let wanted = const {
                    let mut wanted: [$mask; APART] = [0; APART];
                    let mut k = 0;
                    while k < $n {
                        wanted[k * APART / $n] |= 1 << k;
                        k += 1;
                    }
                    wanted
                };
                // Nothing is read past the last element, which is in the last vector.
                let until_last = <$mask>::MAX >> (APART - 1);
                // SAFETY: 64 bytes on both sides.
                let places: __m512i = unsafe { _mm512_loadu_si512(places.as_ptr().cast()) };
                let mut at = 0;
                while at + $n <= n {
                    // SAFETY: whole vectors before the last element, and a part of the last.
                    unsafe {
                        let from = source.add(at * APART * SIZE);
                        let last = $load(until_last, from.add((APART - 1) * 64).cast());
                        let mut line = _mm512_setzero_si512();
                        for vector in 0..APART - 1 {
                            let items = _mm512_loadu_si512(from.add(vector * 64).cast());
                            line = $permute(line, wanted[vector], places, items);
                        }
                        line = $permute(line, wanted[APART - 1], places, last);
                        _mm512_storeu_si512(target.add(at * SIZE).cast(), line);
                    }
                    at += $n;
                }
                at
            }
        };
    }

    size!(twos, u16, 32, __mmask32, _mm512_maskz_loadu_epi16, _mm512_mask_permutexvar_epi16);
    size!(fours, u32, 16, __mmask16, _mm512_maskz_loadu_epi32, _mm512_mask_permutexvar_epi32);
    size!(eights, u64, 8, __mmask8, _mm512_maskz_loadu_epi64, _mm512_mask_permutexvar_epi64);

    /// Elements of eight bytes that share no vectors.
    ///
    /// # Safety
    /// As [`super::pick`].
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn far_eights(
        source: *const u8,
        step: isize,
        target: *mut u8,
        n: usize,
    ) -> usize {
        let mut at = 0;
        while at + 8 <= n {
            let [a, b, c, d, e, f, g, h] = std::array::from_fn(|turn| {
                let from = source.wrapping_offset(step * (at + turn) as isize);
                // SAFETY: an element.
                unsafe { from.cast::<i64>().read_unaligned() }
            });
            let line = _mm512_set_epi64(h, g, f, e, d, c, b, a);
            // SAFETY: there is room for `n` elements.
            unsafe { _mm512_storeu_si512(target.add(at * 8).cast(), line) };
            at += 8;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Picks `n` elements as this processor does, and one by one; nothing else may be written.
    fn check<T: Copy>(step: usize, n: usize) {
        let size = size_of::<T>();
        let source: Vec<u8> = (0..n * step + 1).map(|at| (at * 37 + at / 251) as u8).collect();
        let (mut fast, mut slow) = (vec![9; n * size + 64], vec![9; n * size + 64]);
        // SAFETY: the source has `n` elements `step` bytes apart, both targets have room for them.
        unsafe {
            pick::<T>(source.as_ptr(), step as isize, fast.as_mut_ptr(), n);
            one_by_one::<T>(source.as_ptr(), step as isize, slow.as_mut_ptr(), n);
        }
        assert_eq!(fast, slow, "{n} elements of {size} bytes, {step} apart");
    }

    #[test]
    fn every_step_and_length_gives_the_same_elements() {
        for n in (0..70).chain([127, 128, 129]) {
            for apart in 1..10 {
                check::<u8>(apart, n);
                check::<u16>(2 * apart, n);
                check::<u32>(4 * apart, n);
                check::<u64>(8 * apart, n);
                check::<u128>(16 * apart, n);
            }
        }
    }
}
