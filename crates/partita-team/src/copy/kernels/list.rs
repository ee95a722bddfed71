//! Elements or pieces at listed offsets.

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
/// The blocks must lie in the buffers and their unit be the size of `T`.
unsafe fn copy_items<T: Copy>(blocks: &[Block<'_>]) {
    for block in blocks {
        for &(source, target) in block.offsets {
            let source = block.source.wrapping_offset(source).cast::<T>();
            let target = block.target.wrapping_offset(target).cast::<T>();
            // SAFETY: an element of the block.
            unsafe { target.write_unaligned(source.read_unaligned()) };
        }
    }
}

/// # Safety
/// The blocks must lie in the buffers.
unsafe fn copy_units(blocks: &[Block<'_>]) {
    for block in blocks {
        for &(source, target) in block.offsets {
            let source = block.source.wrapping_offset(source);
            let target = block.target.wrapping_offset(target);
            // SAFETY: a piece of the block.
            unsafe { target.copy_from_nonoverlapping(source, block.unit) };
        }
    }
}
