//! Programs that are one emitted loop: it runs over whole rows of the call's memory, without tiles.

use crate::emit::{Fused, Work, fence};
use crate::program::Program;
use crate::space::{Call, Position, Space, View};
use crate::threads::divide;
use crate::tiles::order::Order;
use crate::tiles::{Code, STREAM_FROM, Source, in_place};

/// Slots that are held on the stack.
const MOST_SLOTS: usize = 64;
/// Points of a thread's piece.
const PER_PIECE: usize = 1 << 16;
/// Points from which threads are worth waking.
const DIVIDE_FROM: usize = 1 << 17;

/// Which slot of the only loop is which buffer of a call.
#[derive(Debug)]
pub struct Whole {
    /// Slot and input.
    inputs: Vec<(u16, usize)>,
    /// Slot and output.
    outputs: Vec<(u16, usize)>,
    /// Slot and scalar.
    scalars: Vec<(u16, usize)>,
}

/// Where every slot's elements are.
type Slots = [*mut u8; MOST_SLOTS];

impl Whole {
    /// Nothing if the program is more than one loop, or needs tiles.
    pub fn new(program: &Program, code: &Code, work: &[Work]) -> Option<Whole> {
        let [Work::Fused(fused)] = work else { return None };
        let padded = fused.pads_bytes() && fused.has_bytes();
        if padded || program.reduces() || program.scans() || code.slots.len() > MOST_SLOTS {
            return None;
        }
        let (read_or_written, repeated) = fused.slots();
        let mut whole = Whole { inputs: Vec::new(), outputs: Vec::new(), scalars: Vec::new() };
        for (output, &slot) in code.outputs.iter().enumerate() {
            let own = code.slots[slot as usize].source == Source::Register;
            if !own || code.outputs[..output].contains(&slot) {
                return None;
            }
            whole.outputs.push((slot, output));
        }
        for slot in read_or_written {
            match code.slots[slot as usize].source {
                Source::Input(input) => whole.inputs.push((slot, input)),
                Source::Register if code.outputs.contains(&slot) => {}
                _ => return None,
            }
        }
        for slot in repeated {
            if let Source::Scalar(scalar) = code.slots[slot as usize].source {
                whole.scalars.push((slot, scalar));
            }
        }
        Some(whole)
    }

    /// Runs a checked call; false if its memory needs tiles.
    ///
    /// # Safety
    /// The views of the call may be read and written.
    pub unsafe fn run(
        &self,
        program: &Program,
        fused: &Fused,
        call: &Call<'_>,
        n_points: usize,
        n_threads: usize,
    ) -> bool {
        if n_points == 0 {
            return true;
        }
        let streams = self.streams(program, fused, call, n_points);
        let mut slots: Slots = [std::ptr::null_mut(); MOST_SLOTS];
        for &(slot, scalar) in &self.scalars {
            slots[slot as usize] = call.scalars[scalar].bytes.as_ptr().cast_mut();
        }
        if contiguous(program, call) {
            let runs = Contiguous { whole: self, program, fused, call, slots, streams };
            // SAFETY: the caller's.
            unsafe { runs.run(n_points, n_threads) };
            return true;
        }
        let order = Order::new(program, call);
        let space = Space::new(program, call, &order.outer, &order.inner);
        let plain = |buffer: usize| space.row_stride(buffer) == space.buffers[buffer].size as isize;
        if !(0..space.buffers.len()).all(plain) {
            return false;
        }
        let rows = Rows { whole: self, program, fused, space: &space, slots, streams };
        // SAFETY: the caller's.
        unsafe { rows.run(n_points, n_threads) };
        true
    }

    /// Whether results are written past the cache: too many to be kept, nobody reads them, and
    /// whole lines of all outputs coincide.
    fn streams(&self, program: &Program, fused: &Fused, call: &Call<'_>, n_points: usize) -> bool {
        let size = |&(_, output): &(u16, usize)| program.output_dtype(output).size();
        let n_bytes: usize = self.outputs.iter().map(|o| size(o).saturating_mul(n_points)).sum();
        if n_bytes < STREAM_FROM || !fused.can_stream() || in_place(call) {
            return false;
        }
        let first = call.outputs[0].data as usize;
        self.outputs.iter().all(|output| {
            let view = &call.outputs[output.1];
            let aligned = |stride: &isize| stride % size(output) as isize == 0;
            (view.data as usize).wrapping_sub(first).is_multiple_of(64)
                && (view.data as usize).is_multiple_of(size(output))
                && view.strides.iter().all(aligned)
                && view.strides == call.outputs[0].strides
        })
    }
}

/// Whether all buffers lie in C order without gaps.
fn contiguous(program: &Program, call: &Call<'_>) -> bool {
    let whole = |view: &View<'_>, size: usize| {
        let mut expected = size as isize;
        view.strides.iter().zip(call.extents).rev().all(|(&stride, &extent)| {
            let fits = stride == expected || extent == 1;
            expected *= extent as isize;
            fits
        })
    };
    call.inputs.iter().zip(&program.inputs).all(|(v, d)| whole(v, d.size()))
        && call.outputs.iter().enumerate().all(|(i, v)| whole(v, program.output_dtype(i).size()))
}

/// # Safety
/// As [`Fused::call_streaming`].
#[inline]
unsafe fn call(fused: &Fused, slots: &Slots, n: usize, streams: bool) {
    // SAFETY: the caller's.
    unsafe {
        if streams {
            fused.call_streaming(slots.as_ptr(), n);
        } else {
            fused.call(slots.as_ptr(), n);
        }
    }
}

/// One long row.
struct Contiguous<'a> {
    whole: &'a Whole,
    program: &'a Program,
    fused: &'a Fused,
    call: &'a Call<'a>,
    slots: Slots,
    streams: bool,
}

// SAFETY: the pointers are those of one call, whose caller promises that all threads may use them.
unsafe impl Sync for Contiguous<'_> {}

impl Contiguous<'_> {
    /// # Safety
    /// As [`Whole::run`].
    unsafe fn run(&self, n_points: usize, n_threads: usize) {
        if n_threads == 1 || n_points < DIVIDE_FROM {
            // SAFETY: the caller's.
            return unsafe { self.stretch(0, n_points) };
        }
        divide(n_threads, n_points.div_ceil(PER_PIECE), &|piece| {
            let first = piece * PER_PIECE;
            // SAFETY: the caller's; pieces are apart.
            unsafe { self.stretch(first, PER_PIECE.min(n_points - first)) };
        });
    }

    /// # Safety
    /// As [`Whole::run`].
    #[inline]
    unsafe fn stretch(&self, first: usize, n: usize) {
        let mut slots = self.slots;
        for &(slot, input) in &self.whole.inputs {
            let offset = first * self.program.inputs[input].size();
            slots[slot as usize] = self.call.inputs[input].data.wrapping_add(offset);
        }
        for &(slot, output) in &self.whole.outputs {
            let offset = first * self.program.output_dtype(output).size();
            slots[slot as usize] = self.call.outputs[output].data.wrapping_add(offset);
        }
        // SAFETY: the caller's.
        unsafe { call(self.fused, &slots, n, self.streams) };
        if self.streams {
            fence();
        }
    }
}

/// Rows of a space.
struct Rows<'a> {
    whole: &'a Whole,
    program: &'a Program,
    fused: &'a Fused,
    space: &'a Space,
    slots: Slots,
    streams: bool,
}

// SAFETY: as for `Contiguous`.
unsafe impl Sync for Rows<'_> {}

impl Rows<'_> {
    /// # Safety
    /// As [`Whole::run`].
    unsafe fn run(&self, n_points: usize, n_threads: usize) {
        let row = self.space.row();
        let per_piece = PER_PIECE.next_multiple_of(row);
        let n_pieces = if n_points < DIVIDE_FROM { 1 } else { n_points.div_ceil(per_piece) };
        let per_piece = if n_pieces == 1 { n_points } else { per_piece };
        divide(n_threads, n_pieces, &|piece| {
            let first = piece * per_piece;
            // SAFETY: the caller's; pieces are apart.
            unsafe { self.stretch(first, per_piece.min(n_points - first)) };
        });
    }

    /// # Safety
    /// As [`Whole::run`].
    unsafe fn stretch(&self, first: usize, n: usize) {
        let mut slots = self.slots;
        let n_inputs = self.program.inputs.len();
        Position::new(self.space, first).stretches(self.space, n, |at, _, length| {
            for &(slot, input) in &self.whole.inputs {
                slots[slot as usize] = at.address(self.space, input);
            }
            for &(slot, output) in &self.whole.outputs {
                slots[slot as usize] = at.address(self.space, n_inputs + output);
            }
            // SAFETY: the caller's; the stretch lies in one row.
            unsafe { call(self.fused, &slots, length, self.streams) };
        });
        if self.streams {
            fence();
        }
    }
}
