//! The order in which the axes of a call are gone through.
//!
//! It depends on extents and strides alone, never on threads or tiles: it decides the order in
//! which reductions combine.

use crate::program::Program;
use crate::space::Call;

/// Results beside each other that make columns worth while.
const MANY: usize = 8;

/// Two groups of axes, the first outside.
pub struct Order {
    /// Axes of the outer loops.
    pub outer: Vec<usize>,
    /// Axes of the inner loops.
    pub inner: Vec<usize>,
    /// Whether the outer axes are those that are reduced or run along.
    pub by_columns: bool,
}

impl Order {
    /// For reductions and running sums the axes they combine keep their order and are either
    /// inside (rows) or outside (columns); all others are ordered by their strides.
    pub fn new(program: &Program, call: &Call<'_>) -> Order {
        let all = 0..program.ndim as usize;
        let combined = |axis: &usize| match (program.reduces(), program.scans()) {
            (true, _) => program.is_reduced(*axis),
            (_, true) => program.scan_axis as usize == *axis,
            _ => false,
        };
        let (combined, mut kept): (Vec<usize>, Vec<usize>) = all.partition(combined);
        kept.sort_by_key(|&axis| std::cmp::Reverse(step(call, axis)));
        if !program.reduces() && !program.scans() {
            return Order { outer: Vec::new(), inner: kept, by_columns: false };
        }
        let by_columns = columns(call, &combined, &kept);
        let (outer, inner) = if by_columns { (combined, kept) } else { (kept, combined) };
        Order { outer, inner, by_columns }
    }
}

/// Whether neighbours in memory belong to different results.
fn columns(call: &Call<'_>, combined: &[usize], kept: &[usize]) -> bool {
    let wide = |axis: &&usize| call.extents[**axis] > 1;
    let Some(&last) = kept.iter().rfind(wide) else {
        return false;
    };
    let nearest = combined.iter().filter(wide).map(|&axis| step(call, axis)).min();
    call.extents[last] >= MANY && nearest.is_some_and(|nearest| step(call, last) < nearest)
}

/// How far apart neighbours along an axis lie, all buffers together.
fn step(call: &Call<'_>, axis: usize) -> usize {
    let stride = |views: &[crate::space::View<'_>]| -> usize {
        views.iter().map(|v| v.strides[axis].unsigned_abs()).fold(0, usize::saturating_add)
    };
    match stride(call.inputs) {
        0 => stride(call.outputs),
        inputs => inputs,
    }
}
