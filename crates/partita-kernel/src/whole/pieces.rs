//! Dividing a loop's points among threads.

use super::{MOST_SLOTS, Slots, Whole};
use crate::emit::{Access, Loop, fence};
use crate::program::Program;
use crate::space::{Call, Position, Space};
use crate::threads::divide;

/// Points from which threads are worth waking.
const DIVIDE_FROM: usize = 1 << 17;
/// Points of a thread's piece, at least and at most: small pieces read the rows between them
/// twice, large ones let threads wait for each other.
const LEAST: usize = 1 << 16;
const MOST: usize = 1 << 20;
/// Pieces that every thread should get where there is enough work.
const PER_THREAD: usize = 8;

/// Points of a piece, whole rows if they are short.
fn per_piece(n_points: usize, n_threads: usize, row: usize) -> usize {
    if n_threads == 1 || n_points < DIVIDE_FROM {
        return n_points;
    }
    let wanted = (n_points / (n_threads * PER_THREAD)).clamp(LEAST, MOST);
    if row < wanted { wanted.next_multiple_of(row) } else { wanted }
}

/// Calls `stretch` for all pieces: the first point, and how many.
fn in_pieces(
    n_points: usize,
    n_threads: usize,
    row: usize,
    stretch: &(dyn Fn(usize, usize) + Sync),
) {
    let per_piece = per_piece(n_points, n_threads, row);
    if per_piece >= n_points {
        return stretch(0, n_points);
    }
    divide(n_threads, n_points.div_ceil(per_piece), &|piece| {
        let first = piece * per_piece;
        stretch(first, per_piece.min(n_points - first));
    });
}

/// One long row.
pub struct Contiguous<'a> {
    pub whole: &'a Whole,
    pub program: &'a Program,
    pub version: Loop<'a>,
    pub call: &'a Call<'a>,
    pub slots: Slots,
    pub access: Access,
}

// SAFETY: the pointers are those of one call, whose caller promises that all threads may use them.
unsafe impl Sync for Contiguous<'_> {}

impl Contiguous<'_> {
    /// # Safety
    /// As [`Whole::run`].
    #[inline]
    pub unsafe fn run(&self, n_points: usize, n_threads: usize) {
        in_pieces(n_points, n_threads, 1, &|first, n| {
            // SAFETY: the caller's; pieces are apart.
            unsafe { self.stretch(first, n) };
        });
    }

    /// # Safety
    /// As [`Whole::run`].
    #[inline]
    unsafe fn stretch(&self, first: usize, n: usize) {
        let mut slots = self.slots;
        for input in &self.whole.inputs {
            let offset = first * self.program.inputs[input.number].size();
            slots[input.slot as usize] = self.call.inputs[input.number].data.wrapping_add(offset);
        }
        for output in &self.whole.outputs {
            let offset = first * self.program.output_dtype(output.number).size();
            slots[output.slot as usize] =
                self.call.outputs[output.number].data.wrapping_add(offset);
        }
        // SAFETY: the caller's; one row has no steps.
        unsafe { self.version.call(slots.as_ptr(), n, 1, std::ptr::null()) };
        if self.access.streams {
            fence();
        }
    }
}

/// Rows of a space.
pub struct Rows<'a> {
    pub whole: &'a Whole,
    pub program: &'a Program,
    pub version: Loop<'a>,
    pub space: &'a Space,
    pub slots: Slots,
    pub access: Access,
}

// SAFETY: as for `Contiguous`.
unsafe impl Sync for Rows<'_> {}

impl Rows<'_> {
    /// # Safety
    /// As [`Whole::run`].
    pub unsafe fn run(&self, n_points: usize, n_threads: usize) {
        in_pieces(n_points, n_threads, self.space.row(), &|first, n| {
            // SAFETY: the caller's; pieces are apart.
            unsafe { self.stretch(first, n) };
        });
    }

    /// Slots and the buffers of the space they stand for.
    fn bound(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let n_inputs = self.program.inputs.len();
        let inputs = self.whole.inputs.iter().map(|i| (i.slot as usize, i.number));
        let outputs = self.whole.outputs.iter();
        inputs.chain(outputs.map(move |o| (o.slot as usize, n_inputs + o.number)))
    }

    /// Steps from row to row, by slot.
    fn steps(&self) -> [isize; MOST_SLOTS] {
        let mut steps = [0; MOST_SLOTS];
        if let Some(outer) = self.space.dims.len().checked_sub(2) {
            for (slot, buffer) in self.bound() {
                steps[slot] = self.space.strides_of(buffer)[outer];
            }
        }
        steps
    }

    /// # Safety
    /// As [`Whole::run`].
    unsafe fn stretch(&self, first: usize, n: usize) {
        let (mut slots, steps) = (self.slots, self.steps());
        Position::new(self.space, first).blocks(self.space, n, |at, n_rows, length| {
            for (slot, buffer) in self.bound() {
                slots[slot] = at.address(self.space, buffer);
            }
            // SAFETY: the caller's; the block lies in the space.
            unsafe { self.version.call(slots.as_ptr(), length, n_rows, steps.as_ptr()) };
        });
        if self.access.streams {
            fence();
        }
    }
}
