//! Rows of contiguous bytes or pieces, several in flight at once.

use std::ops::Range;

use super::line::{Line, copy_bytes, lead};
use super::{Isa, gather, versions};
use crate::copy::Stores;
use crate::copy::job::{Block, Kernel, LINE, ROWS_IN_FLIGHT};
use crate::copy::nest::{Loop, sum};

/// What is copied of a row before the next row's turn.
const CHUNK: usize = 8 * LINE;

pub(super) fn bytes(isa: Isa, stores: Stores) -> Kernel {
    versions!(copy_rows; isa, stores)
}

pub(super) fn pieces(isa: Isa, stores: Stores) -> Kernel {
    versions!(copy_pieces; isa, stores)
}

/// Rows of `along.count` neighbouring bytes.
///
/// # Safety
/// The block must lie in the buffers.
#[inline(always)]
unsafe fn copy_rows<L: Line>(blocks: &[Block<'_>]) {
    for block in blocks {
        // SAFETY: the caller's promise.
        unsafe { copy_block::<L>(block) };
    }
}

/// # Safety
/// As [`copy_rows`].
#[inline(always)]
unsafe fn copy_block<L: Line>(block: &Block<'_>) {
    let n_bytes = block.along.count;
    let mut row = 0;
    while row < block.rows.count {
        let n_rows = ROWS_IN_FLIGHT.min(block.rows.count - row);
        let rows = Loop { count: n_rows, ..block.rows };
        let (source, target) = rows.at(row);
        let group = Block {
            source: block.source.wrapping_offset(source),
            target: block.target.wrapping_offset(target),
            rows,
            ..*block
        };
        // SAFETY: some rows of the caller's block.
        unsafe {
            if L::STREAMS && n_bytes > CHUNK + LINE {
                interleave::<L>(&group);
            } else {
                each_row::<L>(&group);
            }
        }
        row += n_rows;
    }
}

/// # Safety
/// As [`copy_rows`].
#[inline(always)]
unsafe fn each_row<L: Line>(block: &Block<'_>) {
    for row in 0..block.rows.count {
        let (source, target) = block.rows.at(row);
        // SAFETY: a row of the block.
        unsafe {
            copy_bytes::<L>(
                block.source.wrapping_offset(source),
                block.target.wrapping_offset(target),
                block.along.count,
            );
        }
    }
}

/// A chunk of each row in turn; chunks end where lines of the target do.
///
/// # Safety
/// As [`copy_rows`].
#[inline(always)]
unsafe fn interleave<L: Line>(block: &Block<'_>) {
    let n_bytes = block.along.count;
    let mut next = 0;
    while next < n_bytes + LINE {
        for row in 0..block.rows.count {
            let (source, target) = block.rows.at(row);
            let source = block.source.wrapping_offset(source);
            let target = block.target.wrapping_offset(target);
            let lead = lead(target);
            let from = if next == 0 { 0 } else { (next + lead).min(n_bytes) };
            let to = (next + lead + CHUNK).min(n_bytes);
            // SAFETY: `from <= to <= n_bytes`, within the row.
            unsafe { copy_bytes::<L>(source.add(from), target.add(from), to - from) };
        }
        next += CHUNK;
    }
}

/// Rows of pieces: each piece of all rows, lane by lane, before the next.
///
/// # Safety
/// The blocks must lie in the buffers.
#[inline(always)]
unsafe fn copy_pieces<L: Line>(blocks: &[Block<'_>]) {
    let Some(first) = blocks.first() else { return };
    if L::STREAMS && blocks.iter().all(is_dense) && blocks.iter().any(is_broken) {
        // SAFETY: the caller's promise.
        return unsafe { gather::gather_units::<L>(blocks) };
    }
    let mut row = 0;
    while row < first.rows.count {
        let rows = row..first.rows.count.min(row + ROWS_IN_FLIGHT);
        for piece in 0..first.along.count {
            for block in blocks {
                // SAFETY: a piece of each of these rows of the block.
                unsafe { copy_piece::<L>(block, piece, rows.clone()) };
            }
        }
        row = rows.end;
    }
}

/// # Safety
/// The piece and the rows must be those of a block that lies in the buffers.
#[inline(always)]
unsafe fn copy_piece<L: Line>(block: &Block<'_>, piece: usize, rows: Range<usize>) {
    let along = block.along.at(piece);
    for row in rows {
        let (source, target) = sum(along, block.rows.at(row));
        let source = block.source.wrapping_offset(source);
        // SAFETY: the caller's promise.
        unsafe { copy_bytes::<L>(source, block.target.wrapping_offset(target), block.unit) };
    }
}

/// Whether pieces are neighbours in the target.
fn is_dense(block: &Block<'_>) -> bool {
    block.along.target == block.unit as isize
}

/// Whether neighbouring pieces share lines.
fn is_broken(block: &Block<'_>) -> bool {
    let is_whole = |bytes: isize| bytes.unsigned_abs().is_multiple_of(LINE);
    let has_whole_rows = block.rows.count == 1 || is_whole(block.rows.target);
    lead(block.target) != 0 || !is_whole(block.unit as isize) || !has_whole_rows
}
