//! How a loop meets memory: past the cache or through it, and what is asked for ahead.

use super::Whole;
use crate::emit::{Access, Fused};
use crate::program::Program;
use crate::space::{Call, View};
use crate::tiles::in_place;

/// Bytes that a view stays in the cache after another view of the same buffer has read them.
const STAYS: usize = 1 << 20;

impl Whole {
    /// For large calls whose rows lie element after element.
    pub fn access(&self, program: &Program, fused: &Fused, call: &Call<'_>) -> Access {
        let streams = fused.can_stream() && !in_place(call) && self.in_whole_lines(program, call);
        Access { streams, ahead: self.leaders(call), ..Access::default() }
    }

    /// Whether the lines of all outputs begin at the same points, between elements.
    fn in_whole_lines(&self, program: &Program, call: &Call<'_>) -> bool {
        let first = &call.outputs[0];
        self.outputs.iter().all(|output| {
            let view = &call.outputs[output.number];
            let size = program.output_dtype(output.number).size();
            let aligned = |stride: &isize| stride % size as isize == 0;
            (view.data as usize).wrapping_sub(first.data as usize).is_multiple_of(64)
                && (view.data as usize).is_multiple_of(size)
                && view.strides.iter().all(aligned)
                && view.strides == first.strides
        })
    }

    /// The inputs that read memory first. Views of one buffer, shifted against each other, read
    /// the same lines one after another: only the foremost has to wait for memory.
    fn leaders(&self, call: &Call<'_>) -> u32 {
        let leads = |input: usize| !call.inputs.iter().any(|v| follows(&call.inputs[input], v));
        self.inputs.iter().filter(|i| leads(i.number)).fold(0, |all, i| all | 1 << i.place)
    }
}

/// Whether a view reads what another has read a little earlier.
fn follows(view: &View<'_>, other: &View<'_>) -> bool {
    let before = (other.data as usize).wrapping_sub(view.data as usize);
    let forward = |stride: &isize| *stride >= 0;
    (1..=STAYS).contains(&before)
        && view.strides == other.strides
        && view.strides.iter().all(forward)
}
