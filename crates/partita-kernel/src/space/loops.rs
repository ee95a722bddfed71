//! The order of the loops, and which of them are one.

use super::{Call, View};
use crate::program::{Op, Program};

/// No single axis: several axes became one loop.
pub const NO_AXIS: usize = usize::MAX;

/// One loop.
#[derive(Debug, Clone, Copy)]
pub struct Dim {
    /// How often it turns.
    pub extent: usize,
    /// The axis of the program it runs along.
    pub axis: usize,
}

/// One buffer: its first element and the element's size.
#[derive(Debug, Clone, Copy)]
pub struct Buffer {
    /// The element of point zero.
    pub data: *mut u8,
    /// Bytes of an element.
    pub size: usize,
}

/// Nested loops over all buffers of a call, outermost first.
///
/// The first `n_outer` loops run along the axes of the first group the space was made of.
#[derive(Debug, Default)]
pub struct Space {
    /// The loops.
    pub dims: Vec<Dim>,
    /// How many of them belong to the first group.
    pub n_outer: usize,
    /// Inputs, then outputs.
    pub buffers: Vec<Buffer>,
    /// Steps in bytes, `dims.len()` per buffer.
    pub strides: Vec<isize>,
}

// SAFETY: the pointers are those of one call, whose caller promises that they may be used by all
// threads that work on it.
unsafe impl Sync for Space {}

impl Space {
    /// Loops along two groups of axes, in this order; neighbours within a group are joined where
    /// every buffer allows it.
    pub fn new(program: &Program, call: &Call<'_>, outer: &[usize], inner: &[usize]) -> Space {
        let indexed = indexed_axes(program);
        let wide = |axis: &&usize| call.extents[**axis] != 1 || indexed >> **axis & 1 == 1;
        let mut dims: Vec<(Dim, usize)> = Vec::with_capacity(outer.len() + inner.len());
        let mut n_outer = 0;
        for (group, axes) in [outer, inner].into_iter().enumerate() {
            let first = dims.len();
            for &axis in axes.iter().filter(wide) {
                let dim = Dim { extent: call.extents[axis], axis };
                match dims[first..].last_mut() {
                    Some(last) if joins(call, indexed, last, axis) => {
                        last.0 = Dim { extent: last.0.extent * dim.extent, axis: NO_AXIS };
                        last.1 = axis;
                    }
                    _ => dims.push((dim, axis)),
                }
            }
            if group == 0 {
                n_outer = dims.len();
            }
        }
        let mut space = Space { n_outer, ..Space::default() };
        space.fill(program, call, &dims);
        space
    }

    fn fill(&mut self, program: &Program, call: &Call<'_>, dims: &[(Dim, usize)]) {
        self.dims = dims.iter().map(|d| d.0).collect();
        let reduces = program.reduces();
        let inputs = call.inputs.iter().zip(program.inputs.iter().map(|d| (d.size(), false)));
        let outputs = call.outputs.iter().enumerate().map(|(number, view)| {
            let action = program.outputs[number].action;
            let reduced = reduces && matches!(action, crate::program::Action::Reduce(_));
            (view, (program.output_dtype(number).size(), reduced))
        });
        for (view, (size, reduced)) in inputs.chain(outputs) {
            self.buffers.push(Buffer { data: view.data, size });
            // A joined loop steps as the innermost of its axes does.
            self.strides.extend(dims.iter().map(|&(_, axis)| {
                if reduced && program.is_reduced(axis) { 0 } else { view.strides[axis] }
            }));
        }
    }

    /// Steps of one buffer.
    pub fn strides_of(&self, buffer: usize) -> &[isize] {
        let n = self.dims.len();
        &self.strides[buffer * n..(buffer + 1) * n]
    }

    /// Turns of the innermost loop.
    pub fn row(&self) -> usize {
        self.dims.last().map_or(1, |d| d.extent)
    }

    /// Points of the first group of loops.
    pub fn n_outer_points(&self) -> usize {
        self.dims[..self.n_outer].iter().map(|d| d.extent).product()
    }

    /// Points of the second group of loops.
    pub fn n_inner_points(&self) -> usize {
        self.dims[self.n_outer..].iter().map(|d| d.extent).product()
    }

    /// Step from row to row; zero where there is one row.
    pub fn step(&self, buffer: usize) -> isize {
        let strides = self.strides_of(buffer);
        strides.len().checked_sub(2).map_or(0, |outer| strides[outer])
    }

    /// Step of the innermost loop; the element's size where there is none.
    pub fn row_stride(&self, buffer: usize) -> isize {
        self.strides_of(buffer).last().copied().unwrap_or(self.buffers[buffer].size as isize)
    }
}

/// Bit per axis whose position the program asks for; such axes stay loops of their own.
fn indexed_axes(program: &Program) -> u32 {
    let axis = |i: &crate::program::Instruction| 1 << i.operands[0].0;
    program.instructions.iter().filter(|i| i.op == Op::Index).map(axis).fold(0, |a, b| a | b)
}

/// Whether the loop before steps in every buffer as if it were one loop with the axis.
fn joins(call: &Call<'_>, indexed: u32, before: &(Dim, usize), axis: usize) -> bool {
    let (_, outer) = *before;
    if (indexed >> axis | indexed >> outer) & 1 == 1 {
        return false;
    }
    let extent = call.extents[axis] as isize;
    let one = |view: &View<'_>| view.strides[axis].checked_mul(extent) == Some(view.strides[outer]);
    call.inputs.iter().all(one) && call.outputs.iter().all(one)
}
