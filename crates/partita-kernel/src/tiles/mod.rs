//! The tile machine: one operation after another over tiles that stay in the first cache.
//!
//! It runs everywhere, knows every operation and type, and is what emitted code is compared with.

mod code;
mod elementwise;
mod functions;
pub(crate) mod order;
mod pack;
mod reduce;
mod reductions;
mod runner;
mod scans;
mod scratch;
mod sequence;

pub use code::{Code, Source, Step};

use crate::emit::Work;
use crate::math::Level;
use crate::program::{Program, Scalar};
use crate::space::{Call, Space};
use order::Order;
use reductions::Reductions;
use runner::Run;

/// What the tile machine needs to know besides a call.
#[derive(Debug, Clone, Copy)]
pub struct Tiles {
    /// Instructions that may be used.
    pub level: Level,
    /// Elements of a tile: a multiple of 512.
    pub tile: usize,
    /// Threads that may be used.
    pub n_threads: usize,
    /// Bytes of results from which they are written past the cache.
    pub stream_from: usize,
}

/// Runs a checked call.
///
/// # Safety
/// The views of the call may be read and written.
pub unsafe fn run(
    program: &Program,
    code: &Code,
    work: Option<&[Work]>,
    call: &Call<'_>,
    n_points: usize,
    how: &Tiles,
) {
    let order = Order::new(program, call);
    let space = Space::new(program, call, &order.outer, &order.inner);
    // SAFETY: the caller's.
    unsafe {
        if n_points == 0 {
            return empty(program, call, how.level);
        }
        let run = Run {
            program,
            code,
            work,
            space: &space,
            scalars: call.scalars,
            tile: how.tile.min(n_points.next_multiple_of(512)),
            in_place: in_place(call),
            streams: streams(program, n_points, how.stream_from),
        };
        let reductions = |scalars: &[Scalar]| Reductions::new(program, scalars, how.level);
        match (program.reduces(), program.scans(), order.by_columns) {
            (true, _, true) => reductions::columns(&run, &reductions(call.scalars), how.n_threads),
            (true, _, false) => reductions::rows(&run, &reductions(call.scalars), how.n_threads),
            (_, true, true) => scans::columns(&run, how.level, how.n_threads),
            (_, true, false) => scans::rows(&run, how.level, how.n_threads),
            _ => elementwise::run(&run, n_points, how.n_threads),
        }
    }
}

/// Bytes at most that a run of a program keeps beside the call's memory and a few tiles for each
/// thread: partial results of reductions.
///
/// The call's strides and extents are looked at, its memory is not.
pub fn scratch_bytes(program: &Program, call: &Call<'_>, how: &Tiles) -> usize {
    if !program.reduces() {
        return 0;
    }
    let order = Order::new(program, call);
    let product = |axes: &[usize]| axes.iter().map(|axis| call.extents[*axis]).product::<usize>();
    let (outer, inner) = (product(&order.outer), product(&order.inner));
    let sizes = if order.by_columns { (inner, outer) } else { (outer, inner) };
    reductions::scratch_bytes(program, sizes, order.by_columns, how)
}

/// # Safety
/// As [`run`].
unsafe fn empty(program: &Program, call: &Call<'_>, level: Level) {
    let kept: Vec<usize> =
        (0..program.ndim as usize).filter(|&axis| !program.is_reduced(axis)).collect();
    if program.reduces() && kept.iter().all(|&axis| call.extents[axis] > 0) {
        let space = Space::new(program, call, &kept, &[]);
        let reductions = Reductions::new(program, call.scalars, level);
        // SAFETY: the caller's.
        unsafe { reductions.nothing(&space, program.inputs.len()) };
    }
}

/// Whether a program only stores, and more than is worth keeping in the cache.
fn streams(program: &Program, n_points: usize, stream_from: usize) -> bool {
    let size = |output: usize| program.output_dtype(output).size().saturating_mul(n_points);
    let n_bytes: usize = (0..program.outputs.len()).map(size).fold(0, usize::saturating_add);
    !program.reduces() && !program.scans() && n_bytes >= stream_from
}

/// Whether an output lies where an input does; a checked call has them at the same points.
pub(crate) fn in_place(call: &Call<'_>) -> bool {
    call.outputs.iter().any(|o| call.inputs.iter().any(|i| i.data == o.data))
}
