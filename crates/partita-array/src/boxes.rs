//! Boxes of an array that ranks have: plans between them, and whether they tile it.

use partita_kernel::Dtype;
use partita_layout::{BoxPiece, IndexBox, Layout};
use partita_plan::{Plan, PlanError};

/// The plan between boxes of every rank, each rank's in the order of its buffers.
pub(crate) fn plan_between(
    shape: &[u64],
    sources: &[Vec<IndexBox>],
    targets: &[Vec<IndexBox>],
    dtype: Dtype,
) -> Result<Plan, PlanError> {
    let layout = |boxes: &[Vec<IndexBox>]| {
        let piece = |one: &IndexBox| BoxPiece { held: one.clone(), owned: one.clone() };
        let pieces = boxes.iter().map(|own| own.iter().map(piece).collect()).collect();
        Layout::from_boxes(shape, pieces, None)
    };
    Plan::new(&layout(sources)?, &layout(targets)?, plan_dtype(dtype))
}

/// Whether every element of a shape is in exactly one of the boxes, which lie inside.
pub(crate) fn tile(boxes: &[IndexBox], shape: &[u64]) -> bool {
    let n_elements: u64 = boxes.iter().map(IndexBox::n_elements).sum();
    let is_apart = |at: usize| boxes[at + 1..].iter().all(|other| !boxes[at].meets(other));
    n_elements == shape.iter().product::<u64>() && (0..boxes.len()).all(is_apart)
}

/// The element type as plans have it.
pub(crate) fn plan_dtype(dtype: Dtype) -> partita_plan::Dtype {
    use partita_plan::Dtype as P;
    match dtype {
        Dtype::Bool => P::Bool,
        Dtype::Int8 => P::I8,
        Dtype::Int16 => P::I16,
        Dtype::Int32 => P::I32,
        Dtype::Int64 => P::I64,
        Dtype::UInt8 => P::U8,
        Dtype::UInt16 => P::U16,
        Dtype::UInt32 => P::U32,
        Dtype::UInt64 => P::U64,
        Dtype::Float16 => P::F16,
        Dtype::BFloat16 => P::Bf16,
        Dtype::Float32 => P::F32,
        Dtype::Float64 => P::F64,
        Dtype::Complex64 => P::C64,
        Dtype::Complex128 => P::C128,
    }
}
