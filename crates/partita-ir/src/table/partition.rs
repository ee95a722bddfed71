//! `partition`: sparse tensors in slices.

use super::entry::{OpInfo, Traits, TypeRule, indices, one};
use crate::kind::OpKind;

pub(super) const OPS: &[OpInfo] = &[
    OpInfo::new(OpKind::PartitionGetGridSize, "Extents of the grid of ranks, one per axis.")
        .gives(&[indices("sizes")])
        .promises(Traits::PURE),
    OpInfo::new(
        OpKind::PartitionGetSlice,
        "A slice of a partitioned tensor, fetched from its owner where needed.",
    )
    .takes(&[
        one("tensor", TypeRule::Tensor),
        indices("processor_id"),
        indices("grid_size"),
        indices("slice_id"),
    ])
    .gives(&[one("slice", TypeRule::Tensor)])
    .promises(Traits::READS.and(Traits::COMMUNICATES)),
    OpInfo::new(
        OpKind::PartitionSetSlice,
        "The partitioned tensor with a slice replaced at its owner; ranks that bring one slice bring \
         the same.",
    )
    .takes(&[
        one("tensor", TypeRule::Tensor),
        one("slice", TypeRule::Tensor),
        indices("processor_id"),
        indices("grid_size"),
        indices("slice_id"),
    ])
    .gives(&[one("result", TypeRule::Tensor)])
    .promises(Traits::READS.and(Traits::COMMUNICATES)),
];
