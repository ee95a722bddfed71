//! Elements apart in the source that become neighbours in the target: rows of a cyclic map.
//!
//! A row is put together in the first-level cache and streamed out from there. Common steps are
//! constants to the compiler, which turns them into shuffles.

use super::line::{Line, STAGE_BYTES, Stage, copy_bytes, lead};
use super::{Isa, versions};
use crate::copy::Stores;
use crate::copy::job::{Block, Kernel, LINE};
use crate::copy::nest::Loop;

pub(super) fn kernel(unit: usize, isa: Isa, stores: Stores) -> Kernel {
    match unit {
        1 => versions!(gather, u8; isa, stores),
        2 => versions!(gather, u16; isa, stores),
        4 => versions!(gather, u32; isa, stores),
        8 => versions!(gather, u64; isa, stores),
        16 => versions!(gather, u128; isa, stores),
        _ => versions!(gather_units; isa, stores),
    }
}

/// # Safety
/// The block must lie in the buffers, its unit be the size of `T`, its target dense.
#[inline(always)]
unsafe fn gather<T: Copy, L: Line>(block: &Block<'_>) {
    // SAFETY: the caller's promise.
    unsafe { each_row::<L>(block, |source, target, n| pick::<T>(source, block.along, target, n)) }
}

/// Units of any size below that of a stage.
///
/// # Safety
/// The block must lie in the buffers, its target be dense.
#[inline(always)]
pub(super) unsafe fn gather_units<L: Line>(block: &Block<'_>) {
    let unit = block.unit;
    // SAFETY: the caller's promise.
    unsafe {
        each_row::<L>(block, |source, target, n| {
            for turn in 0..n {
                let from = source.wrapping_offset(block.along.at(turn).0);
                target.add(turn * unit).copy_from_nonoverlapping(from, unit);
            }
        });
    }
}

/// Hands each row to `pick`: straight to the target, or by way of a stage.
///
/// # Safety
/// The block must lie in the buffers; `pick(source, target, n)` must write `n` units.
#[inline(always)]
unsafe fn each_row<L: Line>(block: &Block<'_>, pick: impl Fn(*const u8, *mut u8, usize)) {
    for row in 0..block.rows.count {
        let (source, target) = block.rows.at(row);
        let source = block.source.wrapping_offset(source);
        let target = block.target.wrapping_offset(target);
        if L::STREAMS {
            // SAFETY: a row of the block.
            unsafe { staged::<L>(block, (source, target), &pick) };
        } else {
            pick(source, target, block.along.count);
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
    let mut stage = Stage::new();
    let stage = stage.pointer();
    // The first part ends where a line does, so that all others are whole lines.
    let lead = lead(target) / block.unit;
    let mut n_most = lead + (STAGE_BYTES - LINE) / block.unit;
    if lead == 0 {
        n_most = STAGE_BYTES / block.unit;
    }
    let mut at = 0;
    while at < block.along.count {
        let n = n_most.min(block.along.count - at);
        let from = source.wrapping_offset(block.along.at(at).0);
        pick(from, stage, n);
        // SAFETY: `n` units fit the stage, and lie in the row from `at` on.
        unsafe { copy_bytes::<L>(stage, target.add(at * block.unit), n * block.unit) };
        at += n;
        n_most = STAGE_BYTES / block.unit;
    }
}

/// Writes `n` elements side by side.
///
/// # Safety
/// `along` must reach `n` elements from `source` on, and `target` have room for them.
#[inline(always)]
unsafe fn pick<T: Copy>(source: *const u8, along: Loop, target: *mut u8, n: usize) {
    let size = size_of::<T>() as isize;
    // SAFETY: the caller's promise; each arm passes the step itself.
    unsafe {
        match along.source {
            step if step == 2 * size => pick_by::<T>(source, 2 * size, target, n),
            step if step == 3 * size => pick_by::<T>(source, 3 * size, target, n),
            step if step == 4 * size => pick_by::<T>(source, 4 * size, target, n),
            step if step == 8 * size => pick_by::<T>(source, 8 * size, target, n),
            step => pick_by::<T>(source, step, target, n),
        }
    }
}

/// # Safety
/// As [`pick`].
#[inline(always)]
unsafe fn pick_by<T: Copy>(source: *const u8, step: isize, target: *mut u8, n: usize) {
    let target: *mut T = target.cast();
    for turn in 0..n {
        // SAFETY: the caller's promise.
        unsafe {
            let item: T = source.wrapping_offset(step * turn as isize).cast::<T>().read_unaligned();
            target.add(turn).write_unaligned(item);
        }
    }
}
