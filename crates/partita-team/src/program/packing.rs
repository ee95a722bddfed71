//! Packing: the regions of a message one after the other in dense memory.
//!
//! Sender and receiver list the moves of a pair of ranks alike, and the runs of each, so both know
//! where every element lies in the message without a word about it.

use std::borrow::Borrow;

use partita_layout::{Level, Run};
use partita_plan::Move;

use crate::copy::{self, Dtype, Prepared, Region, Stores, add_all, copy_all};
use crate::memory::buffer::Buffer;

/// Messages from this size on are written around the cache.
const LARGE_BYTES: usize = 128 << 10;

/// Which side of a move a buffer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Source,
    Target,
}

/// Bytes that moves take in a message.
pub(crate) fn n_bytes(moves: &[&Move], dtype: Dtype) -> usize {
    moves.iter().map(|m| (m.n_elements() * dtype.n_bytes()) as usize).sum()
}

/// Writes the elements of moves from their source buffers into messages.
///
/// Give it the messages to several ranks: lines that several of them touch are then read once.
///
/// # Safety
/// The buffers must hold every source position of the moves, and nobody may write them meanwhile.
pub(crate) unsafe fn pack<'a, M: Borrow<Move> + 'a>(
    messages: impl IntoIterator<Item = (&'a [M], &'a mut [u8])>,
    sources: &[Buffer],
    dtype: Dtype,
) {
    let (mut parts, mut n_bytes): (Vec<Part>, usize) = (Vec::new(), 0);
    for (moves, message) in messages {
        let mut at = 0;
        for m in moves {
            let m = m.borrow();
            let (runs, shape) = dense(m, Side::Source);
            let target = message[at..].as_mut_ptr();
            let dense = Buffer::dense(target as usize, &shape, item_bytes(dtype));
            let prepared = prepare(&runs, dtype, &sources[m.source_buffer], &dense);
            parts.push(Part { source_buffer: m.source_buffer, prepared, target });
            at += (m.n_elements() * dtype.n_bytes()) as usize;
        }
        n_bytes += at;
    }
    // Another core reads it next: from memory faster than out of this one's cache.
    let stores = if n_bytes >= LARGE_BYTES { Stores::Streaming } else { Stores::Cached };
    for (number, buffer) in sources.iter().enumerate() {
        let source = buffer.address as *const u8;
        let of_buffer = parts.iter().filter(|part| part.source_buffer == number);
        let moves: Vec<copy::Move<'_>> = of_buffer
            .map(|Part { prepared, target, .. }| copy::Move { prepared, source, target: *target })
            .collect();
        // SAFETY: the caller vouches for the source; the messages have room for every element.
        unsafe { copy_all(&moves, stores) };
    }
}

/// What a move brings into a message, and where.
struct Part {
    source_buffer: usize,
    prepared: Prepared,
    target: *mut u8,
}

/// How a message is taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unpack {
    Copy,
    Add,
}

/// Reads a message into the target buffers of its moves.
///
/// # Safety
/// The buffers must hold every target position of the moves, and nobody may touch them meanwhile.
pub(crate) unsafe fn unpack(
    moves: &[&Move],
    message: &[u8],
    dtype: Dtype,
    targets: &[Buffer],
    how: Unpack,
) {
    let mut at = 0;
    for m in moves {
        let buffer = &targets[m.target_buffer];
        let (runs, shape) = dense(m, Side::Target);
        let dense = Buffer::dense(message[at..].as_ptr() as usize, &shape, item_bytes(dtype));
        let prepared = prepare(&runs, dtype, &dense, buffer);
        let one = copy::Move {
            prepared: &prepared,
            source: dense.address as *const u8,
            target: buffer.address as *mut u8,
        };
        match how {
            // SAFETY: the caller vouches for the target; the message has every element.
            Unpack::Copy => unsafe { copy_all(&[one], Stores::Cached) },
            // SAFETY: as above.
            Unpack::Add => unsafe { add_all(&[one], dtype) },
        }
        at += (m.n_elements() * dtype.n_bytes()) as usize;
    }
}

fn item_bytes(dtype: Dtype) -> usize {
    dtype.n_bytes() as usize
}

pub(crate) fn prepare(
    runs: &[Vec<Run>],
    dtype: Dtype,
    source: &Buffer,
    target: &Buffer,
) -> Prepared {
    let runs: Vec<&[Run]> = runs.iter().map(Vec::as_slice).collect();
    let region = Region { runs: &runs, item_bytes: item_bytes(dtype) };
    Prepared::new(region, &source.strides, &target.strides)
}

/// A move with its other side replaced by dense memory in the order of the runs, and its shape.
pub(crate) fn dense(m: &Move, kept: Side) -> (Vec<Vec<Run>>, Vec<u64>) {
    let mut shape = Vec::with_capacity(m.runs.len());
    let runs = m.runs.iter().map(|runs| {
        let mut start = 0;
        let list: Vec<Run> = runs
            .iter()
            .map(|run| {
                let run = dense_run(run, start, kept);
                start += run.n_elements();
                run
            })
            .collect();
        shape.push(start);
        list
    });
    let runs = runs.collect();
    (runs, shape)
}

fn dense_run(run: &Run, start: u64, kept: Side) -> Run {
    let [_, inner, elements] = run.levels.map(|level| level.count);
    let steps = [inner * elements, elements, 1];
    let mut next = *run;
    for (level, step) in next.levels.iter_mut().zip(steps) {
        *level = match kept {
            Side::Source => Level { target_step: step as i64, ..*level },
            Side::Target => Level { source_step: step as i64, ..*level },
        };
    }
    match kept {
        Side::Source => next.target = start,
        Side::Target => next.source = start,
    }
    next
}

/// Where a message would lie if a side of its only move is dense memory in the message's order.
pub(crate) fn lies_at(m: &Move, side: Side, buffer: &Buffer, dtype: Dtype) -> Option<usize> {
    let (mut at, mut dense_bytes) = (buffer.address, item_bytes(dtype) as isize);
    for (runs, &stride) in m.runs.iter().zip(&buffer.strides).rev() {
        let (start, length) = neighbours(runs, side)?;
        if length > 1 && stride != dense_bytes {
            return None;
        }
        at = at.wrapping_add_signed(stride.wrapping_mul(start as isize));
        dense_bytes *= length as isize;
    }
    Some(at)
}

/// Start and length of runs that follow each other without a gap on a side.
fn neighbours(runs: &[Run], side: Side) -> Option<(u64, u64)> {
    let first = runs.first()?;
    let start = |run: &Run| if side == Side::Source { run.source } else { run.target };
    let step = |level: &Level| {
        if side == Side::Source { level.source_step } else { level.target_step }
    };
    let mut next = start(first);
    for run in runs {
        let [outer, inner, elements] = &run.levels;
        let steps = [(elements, 1), (inner, elements.count), (outer, inner.count * elements.count)];
        let is_dense = steps.iter().all(|(level, s)| level.count == 1 || step(level) == *s as i64);
        if start(run) != next || !is_dense {
            return None;
        }
        next += run.n_elements();
    }
    Some((start(first), next - start(first)))
}
