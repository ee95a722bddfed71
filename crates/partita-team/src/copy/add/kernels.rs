//! The loops that add, for every type and kind of block.

use super::Dtype;
use super::number::{Bf16, Bool, F16, Number};
use crate::copy::Stores;
use crate::copy::job::{Block, Kernel, Kind};
use crate::copy::kernels::{Isa, Line, versions};
use crate::copy::nest::sum;

/// The kernel for one type: long rows are compiled for the processor's vectors.
macro_rules! of_kind {
    ($number:ty, $kind:expr) => {{
        let (isa, stores) = (Isa::detect(), Stores::Cached);
        match $kind {
            Kind::Bytes => versions!(add_rows, $number; isa, stores),
            Kind::Pieces => versions!(add_pieces, $number; isa, stores),
            Kind::Gather | Kind::Elements | Kind::Tile => add_elements::<$number>,
            Kind::List => add_listed::<$number>,
        }
    }};
}

pub(super) fn kernel(kind: Kind, dtype: Dtype) -> Kernel {
    match dtype {
        Dtype::Bool => of_kind!(Bool, kind),
        Dtype::I8 | Dtype::U8 => of_kind!(u8, kind),
        Dtype::I16 | Dtype::U16 => of_kind!(u16, kind),
        Dtype::I32 | Dtype::U32 => of_kind!(u32, kind),
        Dtype::I64 | Dtype::U64 => of_kind!(u64, kind),
        Dtype::F16 => of_kind!(F16, kind),
        Dtype::Bf16 => of_kind!(Bf16, kind),
        Dtype::F32 | Dtype::C64 => of_kind!(f32, kind),
        Dtype::F64 | Dtype::C128 => of_kind!(f64, kind),
    }
}

/// Adds neighbouring numbers; a complex number is two of them.
///
/// # Safety
/// `n_bytes` bytes, whole numbers, must be readable at `source` and writable at `target`.
#[inline(always)]
unsafe fn add_bytes<N: Number>(source: *const u8, target: *mut u8, n_bytes: usize) {
    let (source, target) = (source.cast::<N>(), target.cast::<N>());
    for at in 0..n_bytes / size_of::<N>() {
        // SAFETY: one of the numbers.
        unsafe {
            let total = target.add(at).read_unaligned().plus(source.add(at).read_unaligned());
            target.add(at).write_unaligned(total);
        }
    }
}

/// # Safety
/// The blocks must lie in the buffers and consist of whole numbers.
#[inline(always)]
unsafe fn add_rows<N: Number, L: Line>(blocks: &[Block<'_>]) {
    for block in blocks {
        for row in 0..block.rows.count {
            let (source, target) = block.rows.at(row);
            let source = block.source.wrapping_offset(source);
            // SAFETY: a row of the block.
            unsafe {
                add_bytes::<N>(source, block.target.wrapping_offset(target), block.along.count);
            }
        }
    }
}

/// # Safety
/// As [`add_rows`].
#[inline(always)]
unsafe fn add_pieces<N: Number, L: Line>(blocks: &[Block<'_>]) {
    // SAFETY: the caller's promise.
    unsafe { each_unit::<N>(blocks) }
}

/// # Safety
/// As [`add_rows`].
unsafe fn add_elements<N: Number>(blocks: &[Block<'_>]) {
    // SAFETY: the caller's promise.
    unsafe { each_unit::<N>(blocks) }
}

/// # Safety
/// As [`add_rows`].
#[inline(always)]
unsafe fn each_unit<N: Number>(blocks: &[Block<'_>]) {
    for block in blocks {
        for row in 0..block.rows.count {
            for turn in 0..block.along.count {
                let (source, target) = sum(block.rows.at(row), block.along.at(turn));
                let source = block.source.wrapping_offset(source);
                // SAFETY: a unit of the block.
                unsafe {
                    add_bytes::<N>(source, block.target.wrapping_offset(target), block.unit);
                }
            }
        }
    }
}

/// # Safety
/// As [`add_rows`].
unsafe fn add_listed<N: Number>(blocks: &[Block<'_>]) {
    for block in blocks {
        for &(source, target) in block.offsets {
            let source = block.source.wrapping_offset(source);
            // SAFETY: a unit of the block.
            unsafe { add_bytes::<N>(source, block.target.wrapping_offset(target), block.unit) };
        }
    }
}
