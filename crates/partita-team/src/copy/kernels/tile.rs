//! Transposed inner order: tiles that fit the first-level cache.
//!
//! Neighbours in the source lie along one loop (`rows` of the block), neighbours in the target
//! along the other (`along`). A tile is read in parts of lines, turned, and written in whole lines
//! where the target allows.

use std::mem::MaybeUninit;

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::line::{Cached, Line, copy_bytes, lead};
#[cfg(target_arch = "aarch64")]
use super::neon;
use super::{Isa, versions};
use crate::copy::Stores;
use crate::copy::job::{Block, Kernel, LINE, TILE_SOURCE, TILE_TARGET_BYTES};
use crate::copy::nest::{Loop, sum};

pub(super) fn kernel(unit: usize, isa: Isa, stores: Stores) -> Kernel {
    match unit {
        1 => versions!(turn, u8; isa, stores),
        2 => versions!(turn, u16; isa, stores),
        4 => versions!(turn, u32; isa, stores),
        8 => versions!(turn, u64; isa, stores),
        16 => versions!(turn, u128; isa, stores),
        _ => turn_units,
    }
}

/// A turned tile: rows of the target.
#[repr(align(64))]
struct Turned([MaybeUninit<u8>; TILE_SOURCE * TILE_TARGET_BYTES]);

/// # Safety
/// The blocks must lie in the buffers, be no larger than a tile, and their unit the size of `T`.
#[inline(always)]
unsafe fn turn<T: Copy, L: Line>(blocks: &[Block<'_>]) {
    for block in blocks {
        let is_dense = block.along.target == size_of::<T>() as isize;
        // SAFETY: the caller's promise.
        unsafe {
            if L::STREAMS && is_dense && !has_squares::<T>(block) {
                turn_staged::<T, L>(block);
            } else {
                turn_into::<T, L>(block);
            }
        }
    }
}

/// Whether squares can be turned in registers, and their rows are whole lines of the target.
#[inline(always)]
fn has_squares<T>(block: &Block<'_>) -> bool {
    (size_of::<T>(), block.rows.source, block.along.target) == (8, 8, 8)
        && lead(block.target) == 0
        && block.rows.target.unsigned_abs().is_multiple_of(LINE)
        && turns_squares(Isa::detect())
}

/// Whether there is a way to turn squares in registers.
#[inline(always)]
fn turns_squares(isa: Isa) -> bool {
    isa >= Isa::Avx2 || isa == Isa::Neon
}

/// Turns a tile in the cache and streams its rows out.
///
/// # Safety
/// As [`turn`], and the target must be dense along `along`.
#[inline(always)]
unsafe fn turn_staged<T: Copy, L: Line>(block: &Block<'_>) {
    let mut turned = Turned([MaybeUninit::uninit(); TILE_SOURCE * TILE_TARGET_BYTES]);
    let stage: *mut u8 = turned.0.as_mut_ptr().cast();
    let rows = Loop { target: TILE_TARGET_BYTES as isize, ..block.rows };
    // SAFETY: a tile has at most `TILE_SOURCE` rows of `TILE_TARGET_BYTES` in the target.
    unsafe {
        turn_into::<T, Cached>(&Block { target: stage, rows, ..*block });
        for row in 0..block.rows.count {
            let target = block.target.wrapping_offset(block.rows.at(row).1);
            let n_bytes = block.along.count * size_of::<T>();
            copy_bytes::<L>(stage.add(row * TILE_TARGET_BYTES), target, n_bytes);
        }
    }
}

/// Turns squares as wide as a line where it can, and the rest element by element.
///
/// # Safety
/// As [`turn`].
#[inline(always)]
unsafe fn turn_into<T: Copy, L: Line>(block: &Block<'_>) {
    const SIDE: usize = 8;
    for row in (0..block.rows.count).step_by(SIDE) {
        for column in (0..block.along.count).step_by(SIDE) {
            let (source, target) = sum(block.rows.at(row), block.along.at(column));
            let square = Block {
                source: block.source.wrapping_offset(source),
                target: block.target.wrapping_offset(target),
                rows: Loop { count: SIDE.min(block.rows.count - row), ..block.rows },
                along: Loop { count: SIDE.min(block.along.count - column), ..block.along },
                ..*block
            };
            // SAFETY: a part of the tile.
            unsafe { turn_square::<T, L>(&square) };
        }
    }
}

/// # Safety
/// As [`turn`].
#[inline(always)]
unsafe fn turn_square<T: Copy, L: Line>(square: &Block<'_>) {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if (size_of::<T>(), square.rows.source, square.along.target) == (8, 8, 8)
        && (square.rows.count, square.along.count) == (8, 8)
        && turns_squares(Isa::detect())
    {
        let (source, target) =
            ((square.source, square.along.source), (square.target, square.rows.target));
        // SAFETY: eight rows of eight neighbours on both sides; the processor can do it. When
        // streaming, the target was found to have whole lines.
        return unsafe {
            #[cfg(target_arch = "aarch64")]
            match L::STREAMS && has_squares::<T>(square) {
                true => neon::turn::<true>(source, target),
                false => neon::turn::<false>(source, target),
            }
            #[cfg(target_arch = "x86_64")]
            match (Isa::detect(), L::STREAMS && has_squares::<T>(square)) {
                (Isa::Avx512, true) => avx512::turn::<true>(source, target),
                (Isa::Avx512, false) => avx512::turn::<false>(source, target),
                (_, true) => avx2::turn::<true>(source, target),
                (_, false) => avx2::turn::<false>(source, target),
            }
        };
    }
    for row in 0..square.rows.count {
        for column in 0..square.along.count {
            let (source, target) = sum(square.rows.at(row), square.along.at(column));
            let source = square.source.wrapping_offset(source).cast::<T>();
            let target = square.target.wrapping_offset(target).cast::<T>();
            // SAFETY: an element of the square.
            unsafe { target.write_unaligned(source.read_unaligned()) };
        }
    }
}

/// Elements of odd sizes.
///
/// # Safety
/// The blocks must lie in the buffers.
unsafe fn turn_units(blocks: &[Block<'_>]) {
    for block in blocks {
        for row in 0..block.rows.count {
            for column in 0..block.along.count {
                let (source, target) = sum(block.rows.at(row), block.along.at(column));
                let source = block.source.wrapping_offset(source);
                let target = block.target.wrapping_offset(target);
                // SAFETY: an element of the block.
                unsafe { target.copy_from_nonoverlapping(source, block.unit) };
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{
        _mm512_loadu_si512, _mm512_shuffle_i64x2, _mm512_storeu_si512, _mm512_stream_si512,
        _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
    };

    /// Turns eight rows of eight neighbours of eight bytes.
    ///
    /// # Safety
    /// All rows must be readable and writable, `step` bytes apart; those of the target must be
    /// whole cache lines if `STREAMS`.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn turn<const STREAMS: bool>(
        (source, source_step): (*const u8, isize),
        (target, target_step): (*mut u8, isize),
    ) {
        let row: [_; 8] = std::array::from_fn(|at| {
            // SAFETY: a row of the source.
            unsafe { _mm512_loadu_si512(source.wrapping_offset(source_step * at as isize).cast()) }
        });
        // Pairs of neighbours, then pairs of pairs, then halves.
        let pair = |a: usize| {
            (_mm512_unpacklo_epi64(row[a], row[a + 1]), _mm512_unpackhi_epi64(row[a], row[a + 1]))
        };
        let [(a0, a1), (b0, b1), (c0, c1), (d0, d1)] = [pair(0), pair(2), pair(4), pair(6)];
        let even = |a, b| _mm512_shuffle_i64x2::<0x88>(a, b);
        let odd = |a, b| _mm512_shuffle_i64x2::<0xdd>(a, b);
        let (low, high) = ([even(a0, b0), even(a1, b1)], [even(c0, d0), even(c1, d1)]);
        let (low_odd, high_odd) = ([odd(a0, b0), odd(a1, b1)], [odd(c0, d0), odd(c1, d1)]);
        let turned = [
            even(low[0], high[0]),
            even(low[1], high[1]),
            even(low_odd[0], high_odd[0]),
            even(low_odd[1], high_odd[1]),
            odd(low[0], high[0]),
            odd(low[1], high[1]),
            odd(low_odd[0], high_odd[0]),
            odd(low_odd[1], high_odd[1]),
        ];
        for (at, row) in turned.into_iter().enumerate() {
            // SAFETY: a row of the target.
            unsafe {
                let target = target.wrapping_offset(target_step * at as isize);
                if STREAMS {
                    _mm512_stream_si512(target.cast(), row);
                } else {
                    _mm512_storeu_si512(target.cast(), row);
                }
            }
        }
    }
}
