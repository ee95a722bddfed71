//! Elements apart in the source that become neighbours in the target: rows of a cyclic map.
//!
//! A row is put together in the first-level cache and streamed out from there.

use super::line::{Line, ROW_BUFFER_BYTES, RowBuffer, copy_bytes, lead};
use super::pick::pick;
use super::{Isa, versions};
use crate::copy::Stores;
use crate::copy::job::{Block, Kernel, LINE};

pub(super) fn kernel(unit: usize, isa: Isa, stores: Stores) -> Kernel {
    match unit {
        1 => versions!(gather, u8; isa, stores),
        2 => versions!(gather, u16; isa, stores),
        4 => versions!(gather, u32; isa, stores),
        8 => versions!(gather, u64; isa, stores),
        16 => versions!(gather, u128; isa, stores),
        12 => versions!(gather, [u32; 3]; isa, stores),
        24 => versions!(gather, [u64; 3]; isa, stores),
        32 => versions!(gather, [u64; 4]; isa, stores),
        40 => versions!(gather, [u64; 5]; isa, stores),
        48 => versions!(gather, [u64; 6]; isa, stores),
        56 => versions!(gather, [u64; 7]; isa, stores),
        _ => versions!(gather_units; isa, stores),
    }
}

/// # Safety
/// The blocks must lie in the buffers, their unit be the size of `T`, their targets dense.
#[inline(always)]
unsafe fn gather<T: Copy, L: Line>(blocks: &[Block<'_>]) {
    // SAFETY: the caller's promise.
    unsafe {
        each_row::<L>(blocks, |block, source, target, n| {
            pick::<T>(source, block.along.source, target, n);
        });
    }
}

/// Units of any size below that of a stage.
///
/// # Safety
/// The blocks must lie in the buffers, their targets be dense.
#[inline(always)]
pub(super) unsafe fn gather_units<L: Line>(blocks: &[Block<'_>]) {
    // SAFETY: the caller's promise.
    unsafe {
        each_row::<L>(blocks, |block, source, target, n| {
            for turn in 0..n {
                let from = source.wrapping_offset(block.along.at(turn).0);
                let to = target.add(turn * block.unit);
                to.copy_from_nonoverlapping(from, block.unit);
            }
        });
    }
}

/// Hands each row to `pick`, lane by lane: straight to the target, or by way of a stage.
///
/// # Safety
/// The blocks must lie in the buffers; `pick(block, source, target, n)` must write `n` units.
#[inline(always)]
unsafe fn each_row<L: Line>(
    blocks: &[Block<'_>],
    pick: impl Fn(&Block<'_>, *const u8, *mut u8, usize),
) {
    let n_rows = blocks.first().map_or(0, |block| block.rows.count);
    for row in 0..n_rows {
        for block in blocks {
            let (source, target) = block.rows.at(row);
            let source = block.source.wrapping_offset(source);
            let target = block.target.wrapping_offset(target);
            if L::STREAMS {
                // SAFETY: a row of the block.
                unsafe { staged::<L>(block, (source, target), |s, t, n| pick(block, s, t, n)) };
            } else {
                pick(block, source, target, block.along.count);
            }
        }
    }
}

/// # Safety
/// As [`each_row`].
#[inline(always)]
unsafe fn staged<L: Line>(
    block: &Block<'_>,
    (source, target): (*const u8, *mut u8),
    pick: impl Fn(*const u8, *mut u8, usize),
) {
    let mut stage = RowBuffer::new();
    let stage = stage.pointer();
    // The first part ends where a line does, so that all others are whole lines.
    let lead = lead(target) / block.unit;
    let mut n_most = lead + (ROW_BUFFER_BYTES - LINE) / block.unit;
    if lead == 0 {
        n_most = ROW_BUFFER_BYTES / block.unit;
    }
    let mut at = 0;
    while at < block.along.count {
        let n = n_most.min(block.along.count - at);
        let from = source.wrapping_offset(block.along.at(at).0);
        pick(from, stage, n);
        // SAFETY: `n` units fit the stage, and lie in the row from `at` on.
        unsafe { copy_bytes::<L>(stage, target.add(at * block.unit), n * block.unit) };
        at += n;
        n_most = ROW_BUFFER_BYTES / block.unit;
    }
}
