//! Rules of `partition`.

use super::arrays::shape_of;
use super::{Check, VerifyError};
use crate::attr::{Attr, DialectAttr, Placement};
use crate::kind::OpKind;
use crate::types::{Size, TensorType, Type};

impl Check<'_> {
    pub(super) fn partition(&mut self) {
        if self.module.kind(self.op) == OpKind::PartitionGetGridSize {
            if self.module.results(self.op).is_empty() {
                let (op, wanted) = (self.name(), "one per dimension of a tensor".to_string());
                self.report(VerifyError::ResultCount { op, found: 0, wanted });
            }
            return;
        }
        let Type::Tensor(tensor) = self.single("tensor").clone() else { return };
        let Some(dims) = self.placements(&tensor) else { return };
        let ndim = tensor.shape.len();
        self.one_per_dim("slice_id", ndim);
        self.together("grid_size", "processor_id");
        let is_get = self.module.kind(self.op) == OpKind::PartitionGetSlice;
        let slice = if is_get { self.result().clone() } else { self.single("slice").clone() };
        self.same_element(slice.element(), Some(tensor.element));
        if !has_encoding_of_slice(&slice, &tensor) {
            let (op, found) = (self.name(), super::shown(&slice));
            self.report(VerifyError::SliceEncoding { op, found });
        }
        // A replicated dimension is whole in every slice; a distributed one has any size up to that.
        let found = shape_of(&slice);
        let wanted: Vec<Size> = (0..ndim)
            .map(|dim| match (dims[dim], tensor.shape[dim], found.get(dim)) {
                (Placement::Replicated, size, _) => size,
                (_, Size::Known(most), Some(Size::Known(found))) if *found > most => {
                    Size::Known(most)
                }
                _ => Size::Dynamic,
            })
            .collect();
        self.same_shape("the slice", &found, &wanted);
        if !is_get && *self.result() != Type::Tensor(tensor) {
            let (op, found) = (self.name(), super::shown(self.result()));
            let wanted = super::shown(self.single("tensor"));
            self.report(VerifyError::ResultType { op, found, wanted });
        }
    }

    fn placements(&mut self, tensor: &TensorType) -> Option<Vec<Placement>> {
        let Some(Attr::Dialect(DialectAttr::Partition { dims, .. })) = &tensor.encoding else {
            let op = self.name();
            self.report(VerifyError::EncodingMissing { op });
            return None;
        };
        // One that does not fit is told where the tensor is made.
        Some(dims.to_vec()).filter(|dims| dims.len() == tensor.shape.len())
    }
}

/// Whether a slice of a tensor can have this type: sparse where the tensor is, and no longer in parts.
fn has_encoding_of_slice(slice: &Type, tensor: &TensorType) -> bool {
    let Type::Tensor(slice) = slice else { return false };
    let is_dense = match &tensor.encoding {
        Some(Attr::Dialect(DialectAttr::Partition { sparse, .. })) => **sparse == Attr::Unit,
        _ => true,
    };
    match &slice.encoding {
        None => is_dense,
        Some(Attr::Dialect(_)) => false,
        Some(_) => !is_dense,
    }
}
