//! The sum of two rows in one pass.
//!
//! Copying one summand and adding the other reads and writes the target once more than needed.

use super::Dtype;
use super::number::{Bf16, Bool, F16, Number};
use crate::copy::Stores;
use crate::copy::job::{Block, Kernel, LINE};
use crate::copy::kernels::{Isa, Line, ROW_BUFFER_BYTES, RowBuffer, copy_bytes, fence, versions};
use crate::copy::nest::Loop;

/// Two rows of summands and the row of their sums.
#[derive(Debug, Clone, Copy)]
pub struct Sum {
    /// Neighbouring elements.
    pub first: *const u8,
    /// Neighbouring elements.
    pub second: *const u8,
    /// Where the sums go; may be the very row of one of the summands.
    pub target: *mut u8,
    /// Number of elements of each row.
    pub n_items: usize,
}

/// Writes the sums of two rows.
///
/// ```
/// use partita_team::copy::{Dtype, Stores, Sum, sum_two};
/// let (a, b, mut c) = ([1i16, 2, i16::MAX], [10i16, 20, 1], [0i16; 3]);
/// let rows = Sum {
///     first: a.as_ptr().cast(),
///     second: b.as_ptr().cast(),
///     target: c.as_mut_ptr().cast(),
///     n_items: 3,
/// };
/// // SAFETY: three elements in each.
/// unsafe { sum_two(rows, Dtype::I16, Stores::Cached) };
/// assert_eq!(c, [11, 22, i16::MIN]);
/// ```
///
/// # Safety
/// The rows must be readable and the target writable, for `n_items` of this type. The target may
/// be one of the summands but not overlap it otherwise.
pub unsafe fn sum_two(rows: Sum, dtype: Dtype, stores: Stores) {
    let n_bytes = rows.n_items * dtype.n_bytes() as usize;
    let row = |source| Block {
        source,
        target: rows.target,
        rows: Loop::ONCE,
        along: Loop::bytes(n_bytes),
        unit: 1,
        offsets: &[],
    };
    // SAFETY: the caller's promise; the kernel takes the summands as two blocks.
    unsafe { kernel(dtype, stores)(&[row(rows.first), row(rows.second)]) };
    if stores == Stores::Streaming {
        fence();
    }
}

fn kernel(dtype: Dtype, stores: Stores) -> Kernel {
    let isa = Isa::detect();
    match dtype {
        Dtype::Bool => versions!(sum_rows, Bool; isa, stores),
        Dtype::I8 | Dtype::U8 => versions!(sum_rows, u8; isa, stores),
        Dtype::I16 | Dtype::U16 => versions!(sum_rows, u16; isa, stores),
        Dtype::I32 | Dtype::U32 => versions!(sum_rows, u32; isa, stores),
        Dtype::I64 | Dtype::U64 => versions!(sum_rows, u64; isa, stores),
        Dtype::F16 => versions!(sum_rows, F16; isa, stores),
        Dtype::Bf16 => versions!(sum_rows, Bf16; isa, stores),
        Dtype::F32 | Dtype::C64 => versions!(sum_rows, f32; isa, stores),
        Dtype::F64 | Dtype::C128 => versions!(sum_rows, f64; isa, stores),
    }
}

/// Size of the largest number; parts are multiples of it.
const LARGEST: usize = 16;

/// Sums of two blocks with the same target, put together in a stage.
///
/// # Safety
/// There must be two blocks of one row each, whole numbers, readable and writable.
#[inline(always)]
unsafe fn sum_rows<N: Number, L: Line>(blocks: &[Block<'_>]) {
    let [first, second] = blocks else { return };
    let mut stage = RowBuffer::new();
    let stage = stage.pointer();
    let mut at = 0;
    while at < first.along.count {
        // The first part ends where a line of the target does, so that all others are whole lines.
        let past = first.target.addr().wrapping_add(at) % LINE / LARGEST * LARGEST;
        let n_bytes = (ROW_BUFFER_BYTES - past).min(first.along.count - at);
        // SAFETY: from `at` on there are `n_bytes` more on every side, and room in the stage.
        unsafe {
            sum_into::<N>(first.source.add(at), second.source.add(at), stage, n_bytes);
            copy_bytes::<L>(stage, first.target.add(at), n_bytes);
        }
        at += n_bytes;
    }
}

/// # Safety
/// `n_bytes` bytes of whole numbers must be readable and writable.
#[inline(always)]
unsafe fn sum_into<N: Number>(
    first: *const u8,
    second: *const u8,
    target: *mut u8,
    n_bytes: usize,
) {
    let (first, second, target) = (first.cast::<N>(), second.cast::<N>(), target.cast::<N>());
    for at in 0..n_bytes / size_of::<N>() {
        // SAFETY: one of the numbers.
        unsafe {
            let total = first.add(at).read_unaligned().plus(second.add(at).read_unaligned());
            target.add(at).write_unaligned(total);
        }
    }
}
