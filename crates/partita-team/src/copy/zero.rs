//! Setting a strided buffer to zero.

use partita_layout::Run;

use super::job::{Block, Kernel, Kind, LINE};
use super::kernels::{Isa, Line, fence, lead, versions};
use super::nest::sum;
use super::{Move, Prepared, Region, Stores, Target, run_all};

/// Sets every byte of every element to zero.
///
/// ```
/// use partita_team::copy::{Stores, Target, fill_zero};
/// let mut bytes = [7u8; 8];
/// // Every other byte.
/// let target = Target { pointer: bytes.as_mut_ptr(), strides: &[2] };
/// // SAFETY: the array holds all four elements.
/// unsafe { fill_zero(target, &[4], 1, Stores::Cached) };
/// assert_eq!(bytes, [0, 7, 0, 7, 0, 7, 0, 7]);
/// ```
///
/// # Panics
/// If `shape` and the strides differ in length.
///
/// # Safety
/// Every element must be writable, and nobody else may touch them meanwhile.
pub unsafe fn fill_zero(target: Target<'_>, shape: &[u64], item_bytes: usize, stores: Stores) {
    let runs: Vec<[Run; 1]> = shape.iter().map(|&n| [Run::contiguous(0, 0, n)]).collect();
    let runs: Vec<&[Run]> = runs.iter().map(|runs| runs.as_slice()).collect();
    // SAFETY: the caller's promise.
    unsafe { fill_zero_region(target, Region { runs: &runs, item_bytes }, stores) };
}

/// The same for the elements of a region, at the places where it has its targets.
///
/// # Safety
/// As [`fill_zero`].
pub(crate) unsafe fn fill_zero_region(target: Target<'_>, region: Region<'_>, stores: Stores) {
    let prepared = Prepared::new(region, target.strides, target.strides);
    // The kernels below never read: the source only keeps the offsets company.
    let once = Move { prepared: &prepared, source: target.pointer, target: target.pointer };
    // SAFETY: every block consists of elements the caller vouches for.
    unsafe { run_all(&[once], |_| true, |job| kernel(job.kind, stores)) };
    if stores == Stores::Streaming {
        fence();
    }
}

fn kernel(kind: Kind, stores: Stores) -> Kernel {
    let isa = Isa::detect();
    match kind {
        Kind::Bytes => versions!(zero_rows; isa, stores),
        _ => zero_units,
    }
}

/// # Safety
/// The blocks must lie in the buffer.
#[inline(always)]
unsafe fn zero_rows<L: Line>(blocks: &[Block<'_>]) {
    for block in blocks {
        for row in 0..block.rows.count {
            let target = block.target.wrapping_offset(block.rows.at(row).1);
            // SAFETY: a row of the block.
            unsafe { zero_bytes::<L>(target, block.along.count) };
        }
    }
}

/// # Safety
/// `n` bytes must be writable.
#[inline(always)]
unsafe fn zero_bytes<L: Line>(target: *mut u8, n: usize) {
    const ZEROS: [u8; LINE] = [0; LINE];
    // SAFETY: every part lies in the `n` bytes; the lines are whole and aligned.
    unsafe {
        if !L::STREAMS {
            return target.write_bytes(0, n);
        }
        let head = lead(target).min(n);
        target.write_bytes(0, head);
        let end = head + (n - head) / LINE * LINE;
        for at in (head..end).step_by(LINE) {
            L::store(ZEROS.as_ptr(), target.add(at));
        }
        target.add(end).write_bytes(0, n - end);
    }
}

/// # Safety
/// The blocks must lie in the buffer.
unsafe fn zero_units(blocks: &[Block<'_>]) {
    for block in blocks {
        for row in 0..block.rows.count {
            for turn in 0..block.along.count {
                let (_, target) = sum(block.rows.at(row), block.along.at(turn));
                // SAFETY: a unit of the block.
                unsafe { block.target.wrapping_offset(target).write_bytes(0, block.unit) };
            }
        }
    }
}
