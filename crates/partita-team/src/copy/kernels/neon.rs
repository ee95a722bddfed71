//! The shuffles of 64-bit ARM: picking, interleaving, turning.
//!
//! Each gives what the element loops beside it give. Loads and stores of this processor deal out
//! two, three or four streams by themselves; vectors have 16 bytes, a quarter of a line.

use std::arch::aarch64::{
    uint32x4x2_t, uint32x4x3_t, uint32x4x4_t, uint64x2x2_t, uint64x2x3_t, uint64x2x4_t,
};
use std::arch::aarch64::{
    uint64x2_t, vld1q_u32, vld1q_u64, vld2q_u16, vld2q_u32, vld2q_u64, vld3q_u16, vld3q_u32,
    vld3q_u64, vld4q_u16, vld4q_u32, vld4q_u64, vst1q_u16, vst1q_u32, vst1q_u64, vst2q_u32,
    vst2q_u64, vst3q_u32, vst3q_u64, vst4q_u32, vst4q_u64, vzip1q_u64, vzip2q_u64,
};

/// Every `$apart`-th element, put together by a load that takes streams apart.
macro_rules! every {
    ($name:ident, $item:ty, $apart:literal, $load:ident, $store:ident) => {
        /// The first of every few elements; the number done.
        ///
        /// # Safety
        /// As `pick` for this size and step.
        pub(super) unsafe fn $name(source: *const u8, target: *mut u8, n: usize) -> usize {
            const PER_VECTOR: usize = 16 / size_of::<$item>();
            let mut at = 0;
            // Elements behind the last one may be nobody's: the last vector is left to others.
            while at + PER_VECTOR < n {
                // SAFETY: all that is read lies before the last element; there is room for `n`.
                unsafe {
                    let all = $load(source.add(at * $apart * size_of::<$item>()).cast());
                    $store(target.add(at * size_of::<$item>()).cast(), all.0);
                }
                at += PER_VECTOR;
            }
            at
        }
    };
}

every!(every_second_of_two, u16, 2, vld2q_u16, vst1q_u16);
every!(every_third_of_two, u16, 3, vld3q_u16, vst1q_u16);
every!(every_fourth_of_two, u16, 4, vld4q_u16, vst1q_u16);
every!(every_second_of_four, u32, 2, vld2q_u32, vst1q_u32);
every!(every_third_of_four, u32, 3, vld3q_u32, vst1q_u32);
every!(every_fourth_of_four, u32, 4, vld4q_u32, vst1q_u32);
every!(every_second_of_eight, u64, 2, vld2q_u64, vst1q_u64);
every!(every_third_of_eight, u64, 3, vld3q_u64, vst1q_u64);
every!(every_fourth_of_eight, u64, 4, vld4q_u64, vst1q_u64);

/// Lanes dealt out in turn, by a store that puts streams together.
macro_rules! interleave {
    ($name:ident, $item:ty, $n_lanes:literal: [$($lane:ident),+], $streams:ident, $load:ident, $store:ident) => {
        /// Interleaves dense lanes; the number done per lane.
        ///
        /// # Safety
        /// `n` elements of every lane must be readable, and all have room in `target`.
        pub(super) unsafe fn $name(
            [$($lane),+]: [*const u8; $n_lanes],
            target: *mut u8,
            n: usize,
        ) -> usize {
            const PER_VECTOR: usize = 16 / size_of::<$item>();
            let mut at = 0;
            while at + PER_VECTOR <= n {
                let place = at * size_of::<$item>();
                // SAFETY: a vector more of every lane, and room for all of them.
                unsafe {
                    let lanes = $streams($($load($lane.add(place).cast())),+);
                    $store(target.add(place * $n_lanes).cast(), lanes);
                }
                at += PER_VECTOR;
            }
            at
        }
    };
}

interleave!(two_of_four, u32, 2: [a, b], uint32x4x2_t, vld1q_u32, vst2q_u32);
interleave!(three_of_four, u32, 3: [a, b, c], uint32x4x3_t, vld1q_u32, vst3q_u32);
interleave!(four_of_four, u32, 4: [a, b, c, d], uint32x4x4_t, vld1q_u32, vst4q_u32);
interleave!(two_of_eight, u64, 2: [a, b], uint64x2x2_t, vld1q_u64, vst2q_u64);
interleave!(three_of_eight, u64, 3: [a, b, c], uint64x2x3_t, vld1q_u64, vst3q_u64);
interleave!(four_of_eight, u64, 4: [a, b, c, d], uint64x2x4_t, vld1q_u64, vst4q_u64);

/// Turns eight rows of eight neighbours of eight bytes, two columns at a time.
///
/// # Safety
/// All rows must be readable and writable, `step` bytes apart.
pub(super) unsafe fn turn<const STREAMS: bool>(
    (source, source_step): (*const u8, isize),
    (target, target_step): (*mut u8, isize),
) {
    for column in (0..8).step_by(2) {
        let load = |row: usize| {
            let from = source.wrapping_offset(source_step * row as isize).wrapping_add(column * 8);
            // SAFETY: two neighbours of a row of the source.
            unsafe { vld1q_u64(from.cast()) }
        };
        let rows: [uint64x2_t; 8] = std::array::from_fn(load);
        // SAFETY: part of what every 64-bit ARM has.
        let (first, second): ([_; 4], [_; 4]) = unsafe {
            let pair = |at: usize| (rows[2 * at], rows[2 * at + 1]);
            (
                std::array::from_fn(|at| vzip1q_u64(pair(at).0, pair(at).1)),
                std::array::from_fn(|at| vzip2q_u64(pair(at).0, pair(at).1)),
            )
        };
        for (turned, row) in [(first, column), (second, column + 1)] {
            let to = target.wrapping_offset(target_step * row as isize);
            // SAFETY: a row of the target.
            unsafe { store_line::<STREAMS>(turned, to) };
        }
    }
}

/// # Safety
/// 64 bytes must be writable.
#[inline(always)]
unsafe fn store_line<const STREAMS: bool>(parts: [uint64x2_t; 4], target: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe {
        if STREAMS {
            stream_line(parts, target);
        } else {
            for (at, part) in parts.into_iter().enumerate() {
                vst1q_u64(target.add(at * 16).cast(), part);
            }
        }
    }
}

/// Stores a line with the hint that it is not needed soon.
///
/// # Safety
/// 64 bytes must be writable.
#[inline(always)]
pub(super) unsafe fn stream_line([a, b, c, d]: [uint64x2_t; 4], target: *mut u8) {
    // SAFETY: the caller's promise; the instructions write these bytes and nothing else.
    unsafe {
        std::arch::asm!(
            "stnp {a:q}, {b:q}, [{target}]",
            "stnp {c:q}, {d:q}, [{target}, #32]",
            a = in(vreg) a,
            b = in(vreg) b,
            c = in(vreg) c,
            d = in(vreg) d,
            target = in(reg) target,
            options(nostack, preserves_flags),
        );
    }
}
