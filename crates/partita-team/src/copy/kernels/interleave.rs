//! Several sources dealt out in turn into one target: what a gather does, backwards.
//!
//! Each lane alone leaves gaps in every line of the target. All lanes together fill it: a stretch
//! of the row is put together in the first-level cache and streamed out.

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::line::{Line, ROW_BUFFER_BYTES, RowBuffer, copy_bytes};
#[cfg(target_arch = "aarch64")]
use super::neon;
use super::{Isa, elements, versions};
use crate::copy::Stores;
use crate::copy::job::{Block, Kernel};
use crate::copy::nest::sum;

pub(super) fn kernel(unit: usize, isa: Isa, stores: Stores) -> Kernel {
    match (unit, stores) {
        (1, Stores::Streaming) => versions!(interleave, u8; isa, stores),
        (2, Stores::Streaming) => versions!(interleave, u16; isa, stores),
        (4, Stores::Streaming) => versions!(interleave, u32; isa, stores),
        (8, Stores::Streaming) => versions!(interleave, u64; isa, stores),
        (16, Stores::Streaming) => versions!(interleave, u128; isa, stores),
        _ => elements::kernel(unit),
    }
}

/// # Safety
/// The blocks must lie in the buffers and their unit be the size of `T`.
#[inline(always)]
unsafe fn interleave<T: Copy, L: Line>(blocks: &[Block<'_>]) {
    // SAFETY: the caller's promise.
    unsafe {
        if !L::STREAMS || !fills_lines(blocks) {
            return elements::copy_items::<T>(blocks);
        }
        let n_rows = blocks.first().map_or(0, |block| block.rows.count);
        for row in 0..n_rows {
            interleave_row::<T, L>(blocks, row);
        }
    }
}

/// Whether the lanes are neighbours in the target and leave no gap.
fn fills_lines(blocks: &[Block<'_>]) -> bool {
    let Some(first) = blocks.first() else { return false };
    let width = first.unit * blocks.len();
    let is_lane = |(lane, block): (usize, &Block<'_>)| {
        block.target == first.target.wrapping_add(lane * first.unit)
            && block.along.target == width as isize
            && block.rows.target == first.rows.target
    };
    width <= ROW_BUFFER_BYTES / 2 && blocks.iter().enumerate().all(is_lane)
}

/// # Safety
/// As [`interleave`], and the lanes must fill the lines of the target.
#[inline(always)]
unsafe fn interleave_row<T: Copy, L: Line>(blocks: &[Block<'_>], row: usize) {
    let Some(first) = blocks.first() else { return };
    let mut stage = RowBuffer::new();
    let (stage, width) = (stage.pointer(), first.unit * blocks.len());
    let target = first.target.wrapping_offset(first.rows.at(row).1);
    let mut turn = 0;
    while turn < first.along.count {
        let n = (ROW_BUFFER_BYTES / width).min(first.along.count - turn);
        let sources = |block: &Block<'_>| {
            block.source.wrapping_offset(sum(block.rows.at(row), block.along.at(turn)).0)
        };
        // SAFETY: `n` turns of every lane, as many places in the stage, and neighbours in the
        // target.
        unsafe {
            let done = interleave_lines::<T>(blocks, sources, stage, n);
            for (lane, block) in blocks.iter().enumerate() {
                let source = sources(block).wrapping_offset(block.along.at(done).0);
                let place = stage.add(done * width + lane * first.unit);
                spread::<T>((source, block.along.source), (place, width), n - done);
            }
            copy_bytes::<L>(stage, target.add(turn * width), n * width);
        }
        turn += n;
    }
}

/// As many turns as this processor has a fast way for; their number.
///
/// # Safety
/// `n` items of every lane must be readable from `source(lane)` on, and have room in `target`.
#[inline(always)]
unsafe fn interleave_lines<T: Copy>(
    blocks: &[Block<'_>],
    source: impl Fn(&Block<'_>) -> *const u8,
    target: *mut u8,
    n: usize,
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if size_of::<T>() == 8 && blocks.iter().all(|block| block.along.source == 8) {
        // SAFETY: the lanes are dense; the processor has the instructions.
        unsafe {
            match (Isa::detect(), blocks) {
                (Isa::Avx512, [a, b]) => return avx512::eights([a, b].map(source), target, n),
                (Isa::Avx512, [a, b, c]) => {
                    return avx512::eights([a, b, c].map(source), target, n);
                }
                (Isa::Avx512, [a, b, c, d]) => {
                    return avx512::eights([a, b, c, d].map(source), target, n);
                }
                (Isa::Avx2, [a, b]) => {
                    return avx2::interleave_two([a, b].map(source), target, n);
                }
                (Isa::Avx2, [a, b, c]) => {
                    return avx2::interleave_three([a, b, c].map(source), target, n);
                }
                (Isa::Avx2, [a, b, c, d]) => {
                    return avx2::interleave_four([a, b, c, d].map(source), target, n);
                }
                _ => {}
            }
        }
    }
    #[cfg(target_arch = "aarch64")]
    if Isa::detect() == Isa::Neon
        && blocks.iter().all(|block| block.along.source == size_of::<T>() as isize)
    {
        // SAFETY: the lanes are dense.
        unsafe {
            match (size_of::<T>(), blocks) {
                (4, [a, b]) => return neon::two_of_four([a, b].map(source), target, n),
                (4, [a, b, c]) => return neon::three_of_four([a, b, c].map(source), target, n),
                (4, [a, b, c, d]) => {
                    return neon::four_of_four([a, b, c, d].map(source), target, n);
                }
                (8, [a, b]) => return neon::two_of_eight([a, b].map(source), target, n),
                (8, [a, b, c]) => return neon::three_of_eight([a, b, c].map(source), target, n),
                (8, [a, b, c, d]) => {
                    return neon::four_of_eight([a, b, c, d].map(source), target, n);
                }
                _ => {}
            }
        }
    }
    let _ = (blocks, source, target, n);
    0
}

/// Compiled without wide vectors: the compiler would use scatter instructions, which are slower.
///
/// # Safety
/// `n` items must be readable and writable with these steps.
#[inline(never)]
unsafe fn spread<T: Copy>(
    (source, step): (*const u8, isize),
    (target, width): (*mut u8, usize),
    n: usize,
) {
    for turn in 0..n {
        let source = source.wrapping_offset(step * turn as isize).cast::<T>();
        // SAFETY: the caller's promise.
        unsafe { target.add(turn * width).cast::<T>().write_unaligned(source.read_unaligned()) };
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{
        __mmask8, _mm512_loadu_si512, _mm512_mask_permutexvar_epi64, _mm512_setzero_si512,
        _mm512_storeu_si512,
    };

    /// Item `k` of a group of lines is item `k / LANES` of lane `k % LANES`.
    struct Places<const LANES: usize>;

    impl<const LANES: usize> Places<LANES> {
        const ITEM: [[u64; 8]; LANES] = {
            let mut item = [[0; 8]; LANES];
            let mut k = 0;
            while k < 8 * LANES {
                item[k / 8][k % 8] = (k / LANES) as u64;
                k += 1;
            }
            item
        };
        const FROM: [[__mmask8; LANES]; LANES] = {
            let mut from = [[0; LANES]; LANES];
            let mut k = 0;
            while k < 8 * LANES {
                from[k / 8][k % LANES] |= 1 << (k % 8);
                k += 1;
            }
            from
        };
    }

    /// Interleaves groups of eight items of eight bytes per lane; the number of items done per lane.
    ///
    /// # Safety
    /// `n` items of every lane must be readable, and all have room in `target`.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn eights<const LANES: usize>(
        sources: [*const u8; LANES],
        target: *mut u8,
        n: usize,
    ) -> usize {
        let mut at = 0;
        while at + 8 <= n {
            // SAFETY: eight more items of every lane, and as many lines of the target.
            unsafe {
                let lanes = sources.map(|lane| _mm512_loadu_si512(lane.add(at * 8).cast()));
                for line in 0..LANES {
                    let places = _mm512_loadu_si512(Places::<LANES>::ITEM[line].as_ptr().cast());
                    let mut mixed = _mm512_setzero_si512();
                    for (lane, items) in lanes.into_iter().enumerate() {
                        let wanted = Places::<LANES>::FROM[line][lane];
                        mixed = _mm512_mask_permutexvar_epi64(mixed, wanted, places, items);
                    }
                    _mm512_storeu_si512(target.add((at * LANES + line * 8) * 8).cast(), mixed);
                }
            }
            at += 8;
        }
        at
    }
}
