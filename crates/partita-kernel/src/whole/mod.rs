//! Programs that are one emitted loop: it runs over whole rows of the call's memory, without tiles.
//!
//! The loop itself goes from row to row; here is decided how it meets memory (`access.rs`), and
//! what each thread gets (`pieces.rs`).

mod access;
mod pieces;

use crate::emit::{Access, Fused, Work};
use crate::machine::Settings;
use crate::program::Program;
use crate::space::{Call, Space, View};
use crate::tiles::order::Order;
use crate::tiles::{Code, Source};
use pieces::{Contiguous, Rows, Versions};

/// Slots that are held on the stack.
const MOST_SLOTS: usize = 64;
/// Points from which rows are worth going through several at once.
const LONG: usize = 64;

/// Which slot of the only loop is which buffer of a call.
#[derive(Debug)]
pub struct Whole {
    inputs: Vec<Bound>,
    outputs: Vec<Bound>,
    scalars: Vec<Bound>,
}

/// A slot, and what of a call it stands for.
#[derive(Debug, Clone, Copy)]
struct Bound {
    slot: u16,
    /// The number of the input, output or scalar.
    number: usize,
    /// The slot's place among those the loop has pointers for.
    place: usize,
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
            let place = read_or_written.iter().position(|&s| s == slot)?;
            whole.outputs.push(Bound { slot, number: output, place });
        }
        for (place, &slot) in read_or_written.iter().enumerate() {
            match code.slots[slot as usize].source {
                Source::Input(number) => whole.inputs.push(Bound { slot, number, place }),
                Source::Register if code.outputs.contains(&slot) => {}
                _ => return None,
            }
        }
        for slot in repeated {
            if let Source::Scalar(number) = code.slots[slot as usize].source {
                whole.scalars.push(Bound { slot, number, place: 0 });
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
        settings: &Settings,
    ) -> bool {
        let Settings { n_threads, stream_from, .. } = *settings;
        if n_points == 0 {
            return true;
        }
        let mut slots: Slots = [std::ptr::null_mut(); MOST_SLOTS];
        for scalar in &self.scalars {
            slots[scalar.slot as usize] = call.scalars[scalar.number].bytes.as_ptr().cast_mut();
        }
        let n_bytes = (0..call.outputs.len())
            .map(|o| program.output_dtype(o).size().saturating_mul(n_points))
            .fold(0, usize::saturating_add);
        let large = n_bytes >= stream_from;
        let access = if large { self.access(program, fused, call) } else { Access::default() };
        let contiguous = contiguous(program, call);
        if contiguous && !large && n_points < pieces::DIVIDE_FROM {
            self.fill(&mut slots, call);
            // SAFETY: the caller's.
            unsafe { fused.call(slots.as_ptr(), n_points) };
            return true;
        }
        if contiguous {
            let steps = self.sizes(program);
            let Some(versions) = self.versions(fused, access, large, steps) else { return false };
            let runs = Contiguous { whole: self, program, versions, call, slots };
            // SAFETY: the caller's.
            unsafe { runs.run(n_points, n_threads) };
            return true;
        }
        let order = Order::new(program, call);
        let space = Space::new(program, call, &order.outer, &order.inner);
        let Some(repeated) = self.repeated(program, fused, &space) else { return false };
        let access = Access { ahead: access.ahead & !repeated, repeated, ..access };
        let long = large && space.row() >= LONG;
        let steps = self.steps(program, &space);
        let Some(versions) = self.versions(fused, access, long, steps) else { return false };
        let rows = Rows { whole: self, program, versions, space: &space, slots };
        // SAFETY: the caller's.
        unsafe { rows.run(n_points, n_threads) };
        true
    }

    /// Where the buffers of a call begin, by slot.
    #[inline]
    fn fill(&self, slots: &mut Slots, call: &Call<'_>) {
        for input in &self.inputs {
            slots[input.slot as usize] = call.inputs[input.number].data;
        }
        for output in &self.outputs {
            slots[output.slot as usize] = call.outputs[output.number].data;
        }
    }

    /// The loops for a call whose slots step from row to row as given, by their places; groups
    /// where they pay. Nothing where the system forbids more code.
    fn versions<'a>(
        &self,
        fused: &'a Fused,
        access: Access,
        grouped: bool,
        steps: impl Iterator<Item = (usize, isize)> + Clone,
    ) -> Option<Versions<'a>> {
        let rows = fused.version(access)?;
        let groups = if grouped { groups(access, fused, steps) } else { None };
        let groups = match groups {
            Some(access) => Some(fused.version(access)?),
            None => None,
        };
        Some(Versions { rows, groups, streams: access.streams })
    }

    /// Bytes of an element, by place.
    fn sizes<'a>(
        &'a self,
        program: &'a Program,
    ) -> impl Iterator<Item = (usize, isize)> + Clone + 'a {
        let inputs = self.inputs.iter().map(|i| (i.place, program.inputs[i.number].size()));
        let outputs = self.outputs.iter().map(|o| (o.place, program.output_dtype(o.number).size()));
        // Long rows are folded after a multiple of lines, whatever the elements.
        outputs.chain(inputs).map(|(place, size)| (place, 64 * size as isize))
    }

    /// Steps from row to row, by place; those of outputs first.
    fn steps<'a>(
        &'a self,
        program: &'a Program,
        space: &'a Space,
    ) -> impl Iterator<Item = (usize, isize)> + Clone + 'a {
        let n_inputs = program.inputs.len();
        let inputs = self.inputs.iter().map(|i| (i.place, space.step(i.number)));
        let outputs = self.outputs.iter().map(move |o| (o.place, space.step(n_inputs + o.number)));
        outputs.chain(inputs)
    }

    /// The inputs of which one element serves a whole row; nothing if rows lie otherwise than
    /// element after element.
    fn repeated(&self, program: &Program, fused: &Fused, space: &Space) -> Option<u32> {
        let mut repeated = 0;
        for input in &self.inputs {
            match space.row_stride(input.number) {
                0 if fused.can_repeat(input.slot) => repeated |= 1 << input.place,
                stride if stride == space.buffers[input.number].size as isize => {}
                _ => return None,
            }
        }
        let outputs = program.inputs.len()..space.buffers.len();
        let plain = |buffer: usize| space.row_stride(buffer) == space.buffers[buffer].size as isize;
        outputs.into_iter().all(plain).then_some(repeated)
    }
}

/// The version that takes several rows at once, if there are not too many different steps and
/// lines begin at the same points of all rows.
fn groups(
    access: Access,
    fused: &Fused,
    mut steps: impl Iterator<Item = (usize, isize)> + Clone,
) -> Option<Access> {
    let (_, first) = steps.clone().next()?;
    let others = steps.clone().filter(|s| s.1 != first);
    let second = others.clone().fold(0, |all, s| all | 1 << s.0);
    let other = others.clone().next().map(|s| s.1);
    let two = others.clone().all(|s| Some(s.1) == other);
    let whole_lines = !access.streams || steps.all(|s| s.1 % 64 == 0 || s.1 != first);
    let fits = two && whole_lines && fused.can_group(if second == 0 { 1 } else { 2 });
    fits.then_some(Access { grouped: true, second, ..access })
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
