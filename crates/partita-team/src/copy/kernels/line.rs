//! Storing cache lines: through the cache or around it.
//!
//! A streaming store writes a whole line without reading it first, which saves a third of the
//! traffic of a copy. It wants full, aligned lines; the ends of a row go through the cache.

use std::mem::MaybeUninit;

use crate::copy::job::LINE;

/// How whole lines are stored.
pub(in crate::copy) trait Line {
    /// Whether stores go around the cache.
    const STREAMS: bool;

    /// Copies 64 bytes.
    ///
    /// # Safety
    /// 64 bytes must be readable at `source` and writable at `target`, which is a multiple of 64,
    /// and the processor must have the instructions.
    unsafe fn store(source: *const u8, target: *mut u8);
}

/// Ordinary stores.
#[derive(Debug)]
pub(in crate::copy) struct Cached;

impl Line for Cached {
    const STREAMS: bool = false;

    #[inline(always)]
    unsafe fn store(source: *const u8, target: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { target.copy_from_nonoverlapping(source, LINE) };
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m128i, __m256i, __m512i, _mm_loadu_si128, _mm_stream_si128, _mm256_loadu_si256,
        _mm256_stream_si256, _mm512_loadu_si512, _mm512_stream_si512,
    };

    use super::Line;

    macro_rules! streaming {
        ($(#[$doc:meta])* $name:ident, $vector:ty, $load:ident, $store:ident) => {
            $(#[$doc])*
            #[derive(Debug)]
            pub(in crate::copy) struct $name;

            impl Line for $name {
                const STREAMS: bool = true;

                #[inline(always)]
                unsafe fn store(source: *const u8, target: *mut u8) {
                    const WIDTH: usize = size_of::<$vector>();
                    for at in (0..super::LINE).step_by(WIDTH) {
                        // SAFETY: the caller's promise; parts of an aligned line are aligned.
                        unsafe {
                            let vector = $load(source.add(at).cast());
                            $store(target.add(at).cast(), vector);
                        }
                    }
                }
            }
        };
    }

    streaming!(
        /// Four stores of 16 bytes; every x86-64 has them.
        Sse2, __m128i, _mm_loadu_si128, _mm_stream_si128
    );
    streaming!(
        /// Two stores of 32 bytes.
        Avx2, __m256i, _mm256_loadu_si256, _mm256_stream_si256
    );
    streaming!(
        /// One store of a whole line.
        Avx512, __m512i, _mm512_loadu_si512, _mm512_stream_si512
    );
}
#[cfg(target_arch = "x86_64")]
pub(in crate::copy) use x86::{Avx2, Avx512, Sse2};

/// Two stores of 32 bytes, with a hint instead of a way around the cache.
#[cfg(target_arch = "aarch64")]
#[derive(Debug)]
pub(in crate::copy) struct Neon;

#[cfg(target_arch = "aarch64")]
impl Line for Neon {
    const STREAMS: bool = true;

    #[inline(always)]
    unsafe fn store(source: *const u8, target: *mut u8) {
        // SAFETY: the caller's promise; every 64-bit ARM has the instructions.
        unsafe {
            let part = |at: usize| std::arch::aarch64::vld1q_u64(source.add(at * 16).cast());
            super::neon::stream_line([part(0), part(1), part(2), part(3)], target);
        }
    }
}

/// Bytes up to the next line.
#[inline(always)]
pub(in crate::copy) fn lead(target: *const u8) -> usize {
    target.addr().wrapping_neg() % LINE
}

/// Copies `n` bytes: whole lines as `L` does, ends through the cache.
///
/// # Safety
/// As [`std::ptr::copy_nonoverlapping`], and as [`Line::store`] for the instructions.
#[inline(always)]
pub(in crate::copy) unsafe fn copy_bytes<L: Line>(source: *const u8, target: *mut u8, n: usize) {
    // SAFETY: every part lies in the `n` bytes; `body` starts at a line and is whole lines.
    unsafe {
        if !L::STREAMS {
            return target.copy_from_nonoverlapping(source, n);
        }
        let head = lead(target).min(n);
        if head > 0 {
            target.copy_from_nonoverlapping(source, head);
        }
        let end = head + (n - head) / LINE * LINE;
        let mut at = head;
        while at < end {
            L::store(source.add(at), target.add(at));
            at += LINE;
        }
        if end < n {
            target.add(end).copy_from_nonoverlapping(source.add(end), n - end);
        }
    }
}

/// Size of a [`RowBuffer`].
pub(in crate::copy) const ROW_BUFFER_BYTES: usize = 4096;

/// A place in the first-level cache where rows are put together before they are streamed out.
#[derive(Debug)]
#[repr(align(64))]
pub(in crate::copy) struct RowBuffer([MaybeUninit<u8>; ROW_BUFFER_BYTES]);

impl RowBuffer {
    #[inline(always)]
    pub fn new() -> Self {
        Self([MaybeUninit::uninit(); ROW_BUFFER_BYTES])
    }

    #[inline(always)]
    pub fn pointer(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// Copies a line around the cache, with what every processor of this kind has.
///
/// # Safety
/// 64 bytes must be readable at `source` and writable at `target`, which is a multiple of 64.
#[inline(always)]
pub(in crate::copy) unsafe fn stream_line(source: *const u8, target: *mut u8) {
    #[cfg(target_arch = "x86_64")]
    type Any = Sse2;
    #[cfg(target_arch = "aarch64")]
    type Any = Neon;
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    type Any = Cached;
    // SAFETY: the caller's promise.
    unsafe { Any::store(source, target) }
}

/// Asks for a line that will be written soon; any address will do.
#[inline(always)]
pub(in crate::copy) fn prefetch_to_write(target: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; it neither faults nor changes memory.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_ET0 }>(target.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a hint; it neither faults nor changes memory.
    unsafe {
        std::arch::asm!("prfm pstl1keep, [{}]", in(reg) target, options(nostack, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = target;
}

/// Makes streamed stores visible to whoever synchronises with this thread afterwards.
pub(in crate::copy) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: part of SSE, which every x86-64 has.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
    // Hinted stores of ARM are ordered by what orders all others.
    #[cfg(target_arch = "aarch64")]
    std::sync::atomic::fence(std::sync::atomic::Ordering::Release);
}
