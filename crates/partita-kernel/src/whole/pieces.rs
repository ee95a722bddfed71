//! Dividing a loop's points among threads.

use super::{MOST_SLOTS, Slots, Whole};
use crate::emit::{GROUP, Loop, fence};
use crate::program::Program;
use crate::space::{Call, Position, Space};
use crate::threads::divide;

/// Points from which threads are worth waking.
pub const DIVIDE_FROM: usize = 1 << 17;
/// Points of a thread's piece, at least and at most: small pieces read the rows between them
/// twice, large ones let threads wait for each other.
const LEAST: usize = 1 << 16;
const MOST: usize = 1 << 20;
/// Points of a row into which a long row is folded: several pages, and an odd number of lines, so
/// that the rows of a group do not compete for places in the cache.
const FOLD: usize = 2048 + 64;
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

/// The versions of one loop that a call uses.
pub struct Versions<'a> {
    /// One row after another.
    pub rows: Loop<'a>,
    /// Several rows at once, where that pays.
    pub groups: Option<Loop<'a>>,
    /// Whether results go past the cache.
    pub streams: bool,
}

/// A block of rows: where every slot's elements are, and the steps from row to row.
struct Block<'a> {
    slots: Slots,
    steps: &'a [isize; MOST_SLOTS],
    n_rows: usize,
    length: usize,
}

impl Versions<'_> {
    /// # Safety
    /// As [`Whole::run`], for the elements of the block.
    unsafe fn run(&self, mut block: Block<'_>) {
        let steps = block.steps.as_ptr();
        let grouped = if self.groups.is_some() { block.n_rows / GROUP * GROUP } else { 0 };
        // SAFETY: the caller's; the rows of groups are a multiple of a group.
        unsafe {
            if let Some(groups) = self.groups.as_ref().filter(|_| grouped > 0) {
                groups.call(block.slots.as_ptr(), block.length, grouped, steps);
            }
            if grouped < block.n_rows {
                for (slot, step) in block.slots.iter_mut().zip(block.steps) {
                    *slot = slot.wrapping_offset(step * grouped as isize);
                }
                self.rows.call(block.slots.as_ptr(), block.length, block.n_rows - grouped, steps);
            }
        }
    }
}

/// One long row.
pub struct Contiguous<'a> {
    pub whole: &'a Whole,
    pub program: &'a Program,
    pub versions: Versions<'a>,
    pub call: &'a Call<'a>,
    pub slots: Slots,
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

    /// Slots, where point zero lies, and bytes of an element.
    fn bound(&self) -> impl Iterator<Item = (usize, *mut u8, usize)> + '_ {
        let inputs = self.whole.inputs.iter().map(|i| {
            let size = self.program.inputs[i.number].size();
            (i.slot as usize, self.call.inputs[i.number].data, size)
        });
        inputs.chain(self.whole.outputs.iter().map(|o| {
            let size = self.program.output_dtype(o.number).size();
            (o.slot as usize, self.call.outputs[o.number].data, size)
        }))
    }

    /// # Safety
    /// As [`Whole::run`].
    #[inline]
    unsafe fn stretch(&self, first: usize, n: usize) {
        let mut slots = self.slots;
        for (slot, data, size) in self.bound() {
            slots[slot] = data.wrapping_add(first * size);
        }
        // SAFETY: the caller's.
        unsafe {
            if self.versions.groups.is_some() {
                self.folded(slots, n);
            } else {
                self.versions.rows.call(slots.as_ptr(), n, 1, std::ptr::null());
            }
        }
        if self.versions.streams {
            fence();
        }
    }

    /// A long row as a table of [`FOLD`] points in a row, and what is left.
    ///
    /// # Safety
    /// As [`Whole::run`].
    unsafe fn folded(&self, mut slots: Slots, n: usize) {
        let mut steps = [0; MOST_SLOTS];
        for (slot, _, size) in self.bound() {
            steps[slot] = (FOLD * size) as isize;
        }
        let n_rows = n / (FOLD * GROUP) * GROUP;
        // SAFETY: the caller's.
        unsafe {
            self.versions.run(Block { slots, steps: &steps, n_rows, length: FOLD });
            for (slot, _, size) in self.bound() {
                slots[slot] = slots[slot].wrapping_add(n_rows * FOLD * size);
            }
            let rest = n - n_rows * FOLD;
            self.versions.rows.call(slots.as_ptr(), rest, 1, std::ptr::null());
        }
    }
}

/// Rows of a space.
pub struct Rows<'a> {
    pub whole: &'a Whole,
    pub program: &'a Program,
    pub versions: Versions<'a>,
    pub space: &'a Space,
    pub slots: Slots,
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
        for (slot, buffer) in self.bound() {
            steps[slot] = self.space.step(buffer);
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
            unsafe { self.versions.run(Block { slots, steps: &steps, n_rows, length }) };
        });
        if self.versions.streams {
            fence();
        }
    }
}
