//! Transposed inner order: tiles that fit the first-level cache.
//!
//! Neighbours in the source lie along one loop, neighbours in the target along another. A tile is
//! read line by line, turned in the cache, and written line by line.

use super::line::{Line, copy_bytes};
use super::{Isa, versions};
use crate::copy::Stores;
use crate::copy::job::{Block, Kernel, TILE_SOURCE, TILE_TARGET_BYTES};
use crate::copy::nest::sum;

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
struct Turned([std::mem::MaybeUninit<u8>; TILE_SOURCE * TILE_TARGET_BYTES]);

/// # Safety
/// The block must lie in the buffers, be no larger than a tile, and its unit the size of `T`.
#[inline(always)]
unsafe fn turn<T: Copy, L: Line>(blocks: &[Block<'_>]) {
    for block in blocks {
        let is_dense = block.rows.target == size_of::<T>() as isize;
        // SAFETY: the caller's promise.
        unsafe {
            if L::STREAMS && is_dense {
                turn_staged::<T, L>(block);
            } else {
                turn_into::<T>(block, block.target, (block.rows.target, block.along.target));
            }
        }
    }
}

/// # Safety
/// As [`turn`], and the target must be dense along `rows`.
#[inline(always)]
unsafe fn turn_staged<T: Copy, L: Line>(block: &Block<'_>) {
    let mut turned = Turned([std::mem::MaybeUninit::uninit(); TILE_SOURCE * TILE_TARGET_BYTES]);
    let stage: *mut u8 = turned.0.as_mut_ptr().cast();
    // SAFETY: a tile has at most `TILE_SOURCE` rows of `TILE_TARGET_BYTES` in the target.
    unsafe {
        turn_into::<T>(block, stage, (size_of::<T>() as isize, TILE_TARGET_BYTES as isize));
        for row in 0..block.along.count {
            let target = block.target.wrapping_offset(block.along.at(row).1);
            let n_bytes = block.rows.count * size_of::<T>();
            copy_bytes::<L>(stage.add(row * TILE_TARGET_BYTES), target, n_bytes);
        }
    }
}

/// Elements of the tile with given steps in the target, a line's worth of rows at a time.
///
/// # Safety
/// As [`turn`], for `target` and the steps.
#[inline(always)]
unsafe fn turn_into<T: Copy>(block: &Block<'_>, target: *mut u8, steps: (isize, isize)) {
    const ROWS: usize = 8;
    let mut row = 0;
    while row < block.rows.count {
        let n_rows = ROWS.min(block.rows.count - row);
        for column in 0..block.along.count {
            for row in row..row + n_rows {
                let from = block.rows.at(row).0 + block.along.at(column).0;
                let to = steps.0 * row as isize + steps.1 * column as isize;
                let source = block.source.wrapping_offset(from).cast::<T>();
                // SAFETY: an element of the tile.
                unsafe {
                    target.wrapping_offset(to).cast::<T>().write_unaligned(source.read_unaligned());
                }
            }
        }
        row += n_rows;
    }
}

/// Elements of odd sizes.
///
/// # Safety
/// The block must lie in the buffers.
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
