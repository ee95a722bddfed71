//! Programs with reductions: along rows or along columns.

mod columns;
mod leaf;
mod rows;

pub use columns::columns;
pub use rows::rows;

use super::reduce::{Reducer, Row, Tree, find};
use crate::math::Level;
use crate::program::{Action, Op, Program, Reduction, Scalar, Value};
use crate::space::{Position, Space};
use crate::tiles::Tiles;
use leaf::Leaf;

/// The reductions of a program: what is combined, and what is made of it.
pub struct Reductions {
    reducers: Vec<Reducer>,
    /// For each reducer, an output whose value it combines.
    outputs: Vec<usize>,
    results: Vec<Finish>,
}

/// An output that is made of what a reducer has combined.
struct Finish {
    output: usize,
    reducer: usize,
    write: unsafe fn(partial: *const u8, count: u64, correction: f64, out: *mut u8),
    correction: f64,
}

impl Reductions {
    /// Those of a call.
    pub fn new(program: &Program, scalars: &[Scalar], level: Level) -> Reductions {
        let mut all = Reductions { reducers: Vec::new(), outputs: Vec::new(), results: Vec::new() };
        let mut known = Vec::new();
        for (output, what) in program.outputs.iter().enumerate() {
            if let Action::Reduce(reduction) = what.action {
                let reducer = find(reduction, program.dtype(what.value), level);
                let way = (reduction.way(), what.value);
                let number = known.iter().position(|other| *other == way).unwrap_or(known.len());
                if number == known.len() {
                    known.push(way);
                    all.reducers.push(reducer);
                    all.outputs.push(output);
                }
                let correction = match reduction {
                    Reduction::Variance => correction(program, scalars, what.correction),
                    _ => 0.0,
                };
                let write = reducer.finish;
                all.results.push(Finish { output, reducer: number, write, correction });
            }
        }
        all
    }

    fn row(&self, n: usize) -> Row<'_> {
        Row { reducers: &self.reducers, n }
    }

    /// Writes the results of one output point from partial results that lie `n` to a reduction,
    /// of which the `column`-th is taken.
    ///
    /// # Safety
    /// The outputs may be written.
    unsafe fn finish(
        &self,
        at: &Position,
        space: &Space,
        n_inputs: usize,
        partials: &[u8],
        place: (usize, usize),
        count: usize,
    ) {
        let (n, column) = place;
        for Finish { output, reducer, write, correction } in &self.results {
            let out = at.address(space, n_inputs + output);
            let before: usize = self.reducers[..*reducer].iter().map(|one| n * one.partial).sum();
            // SAFETY: the partial results are those of this reduction; the caller's.
            unsafe {
                let partial =
                    partials.as_ptr().add(before + column * self.reducers[*reducer].partial);
                write(partial, count as u64, *correction, out);
            }
        }
    }

    /// Writes the results of combining nothing.
    ///
    /// # Safety
    /// The outputs may be written; the space has only axes that are kept.
    pub unsafe fn nothing(&self, space: &Space, n_inputs: usize) {
        let mut leaf = Leaf::new(self);
        leaf.start();
        let partials = leaf.end().to_vec();
        for point in 0..space.n_outer_points() {
            let at = Position::new(space, point);
            // SAFETY: the caller's.
            unsafe { self.finish(&at, space, n_inputs, &partials, (1, 0), 0) };
        }
    }
}

/// Bytes at most that a run keeps beside the call's memory; `sizes` are the number of results and
/// of elements for each.
pub fn scratch_bytes(
    program: &Program,
    sizes: (usize, usize),
    by_columns: bool,
    how: &Tiles,
) -> usize {
    let mut known = Vec::new();
    let mut partial_bytes = 0;
    for what in &program.outputs {
        let Action::Reduce(reduction) = what.action else { continue };
        let way = (reduction.way(), what.value);
        if !known.contains(&way) {
            known.push(way);
            partial_bytes += find(reduction, program.dtype(what.value), how.level).partial;
        }
    }
    match by_columns {
        true => columns::scratch_bytes(partial_bytes, sizes, how.tile, how.n_threads),
        false => rows::scratch_bytes(partial_bytes, sizes),
    }
}

/// The number that a verified variance is corrected by.
fn correction(program: &Program, scalars: &[Scalar], value: Value) -> f64 {
    let instruction = program.instruction(value);
    let number = instruction.operands[0].0 as usize;
    let scalar = match instruction.op {
        Op::Constant => program.constants[number],
        _ => scalars[number],
    };
    f64::from_bits(u128::from_le_bytes(scalar.bytes) as u64)
}

/// Partial results that several threads write, each its own.
struct Shared {
    bytes: Vec<u8>,
    width: usize,
}

impl Shared {
    fn new(n: usize, width: usize) -> Shared {
        Shared { bytes: vec![0; n * width], width }
    }

    /// # Safety
    /// Nobody else uses the `i`-th.
    unsafe fn put(&self, i: usize, partials: &[u8]) {
        let to = self.bytes.as_ptr().cast_mut().wrapping_add(i * self.width);
        // SAFETY: the i-th has as many bytes and is this caller's.
        unsafe { std::ptr::copy_nonoverlapping(partials.as_ptr(), to, self.width) };
    }

    fn get(&self, i: usize) -> &[u8] {
        &self.bytes[i * self.width..(i + 1) * self.width]
    }
}

/// Combines the groups of one result.
fn combine<'a>(
    tree: &'a mut Tree,
    row: &Row<'_>,
    groups: impl Iterator<Item = &'a [u8]>,
) -> &'a [u8] {
    tree.clear();
    let mut merge = |left: &mut [u8], right: &[u8]| row.merge(left, right);
    for group in groups {
        tree.push(group, 0, &mut merge);
    }
    tree.finish(&mut merge).unwrap_or(&[])
}
