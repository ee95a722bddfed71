//! Elements apart in the target: nothing to put together, one store each.

use crate::copy::job::{Block, Kernel};

pub(super) fn kernel(unit: usize) -> Kernel {
    match unit {
        1 => copy_items::<u8>,
        2 => copy_items::<u16>,
        4 => copy_items::<u32>,
        8 => copy_items::<u64>,
        16 => copy_items::<u128>,
        _ => copy_units,
    }
}

/// # Safety
/// The block must lie in the buffers and its unit be the size of `T`.
pub(super) unsafe fn copy_items<T: Copy>(blocks: &[Block<'_>]) {
    // SAFETY: the caller's promise.
    unsafe {
        each(blocks, |source, target, _| {
            target.cast::<T>().write_unaligned(source.cast::<T>().read_unaligned());
        });
    }
}

/// # Safety
/// The block must lie in the buffers.
unsafe fn copy_units(blocks: &[Block<'_>]) {
    // SAFETY: the caller's promise.
    unsafe { each(blocks, |source, target, unit| target.copy_from_nonoverlapping(source, unit)) }
}

/// # Safety
/// `put` must be sound for every pair of the block.
#[inline(always)]
unsafe fn each(blocks: &[Block<'_>], put: impl Fn(*const u8, *mut u8, usize)) {
    for block in blocks {
        for row in 0..block.rows.count {
            let (source, target) = block.rows.at(row);
            let mut source = block.source.wrapping_offset(source);
            let mut target = block.target.wrapping_offset(target);
            for _ in 0..block.along.count {
                put(source, target, block.unit);
                source = source.wrapping_offset(block.along.source);
                target = target.wrapping_offset(block.along.target);
            }
        }
    }
}
