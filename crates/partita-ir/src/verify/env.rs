//! Whether distributions in types make sense.

use super::{Check, VerifyError};
use crate::attr::{Attr, DialectAttr};
use crate::listed::listed;
use crate::text::{Form, attr_text};
use crate::types::{ArrayType, DistEnv, Scalar, Size, TensorType, Type};

impl Check<'_> {
    /// The types an operation brings into the program.
    pub(super) fn environments(&mut self) {
        let module = self.module;
        let results = module.results(self.op).iter();
        let inside = module.regions(self.op).iter().flat_map(|block| module.arguments(*block));
        for value in results.chain(inside) {
            match module.ty(*value) {
                Type::Array(array) => {
                    self.element_width(array.element);
                    self.environment(array);
                }
                Type::Tensor(tensor) => self.encoding(tensor),
                _ => {}
            }
        }
    }

    fn element_width(&mut self, element: Scalar) {
        let known = [1, 8, 16, 32, 64];
        if matches!(element, Scalar::Int { width, .. } if !known.contains(&width)) {
            let element = element.to_string();
            self.report(VerifyError::ElementWidth { element });
        }
    }

    /// A partitioned tensor says of every dimension whether it is cut.
    fn encoding(&mut self, tensor: &TensorType) {
        let Some(Attr::Dialect(DialectAttr::Partition { dims, sparse })) = &tensor.encoding else {
            return;
        };
        let ndim = tensor.shape.len();
        if dims.len() != ndim {
            self.report(VerifyError::EncodingDims { found: dims.len(), ndim });
        }
        if !is_sparsity(sparse) {
            let found = attr_text(sparse, Form::Rfc);
            self.report(VerifyError::EncodingSparsity { found });
        }
        if let Some(found) = map_dims(sparse).filter(|found| *found != ndim) {
            self.report(VerifyError::EncodingMap { found, ndim });
        }
    }

    fn environment(&mut self, array: &ArrayType) {
        let Some(dist) = array.dist() else { return };
        let ndim = array.shape.len();
        let lengths = dist.lparts.iter().map(Vec::len).chain([dist.loffs.len()]);
        if let Some(found) = lengths.into_iter().find(|n| *n != ndim) {
            return self.report(VerifyError::EnvDims { found, ndim });
        }
        if let Some(grid) = &dist.grid {
            let n_open = grid.shape.iter().filter(|size| **size == Size::Dynamic).count();
            if n_open > 1 || grid.shape.contains(&Size::Known(0)) {
                let shape = grid.shape.iter().map(Size::to_string).collect::<Vec<_>>().join(", ");
                return self.report(VerifyError::EnvGrid { shape });
            }
        }
        if let Some(dim) = dist.cut().iter().copied().find(|dim| *dim >= ndim) {
            return self.report(VerifyError::EnvCut { dim, ndim });
        }
        if ndim > 0 && dist.lparts.len() != dist.n_parts() {
            let (found, wanted) = (dist.lparts.len(), dist.n_parts());
            let op = "a distribution".to_string();
            return self.report(VerifyError::PartsCount { op, found, wanted });
        }
        for dim in 0..ndim {
            self.env_dim(array, dist, dim);
        }
    }

    fn env_dim(&mut self, array: &ArrayType, dist: &DistEnv, dim: usize) {
        let widths = match widths(dist, dim) {
            Ok(widths) => widths,
            Err(()) => return self.report(VerifyError::EnvParts { dim }),
        };
        let (Some(start), Some(extent)) = (dist.loffs[dim].known(), array.shape[dim].known())
        else {
            return;
        };
        let total: u128 = widths.iter().map(|width| u128::from(*width)).sum();
        let reach = u128::from(start) + total;
        if total > 0 && reach > u128::from(extent) {
            self.report(VerifyError::EnvOutside { dim, reach, extent });
        }
    }
}

/// Whether it can say how elements are stored: an encoding of another dialect, or none.
fn is_sparsity(sparse: &Attr) -> bool {
    match sparse {
        Attr::Unit => true,
        Attr::Other(text) => text.starts_with('#'),
        _ => false,
    }
}

/// How many dimensions the map of a sparsity encoding has.
///
/// A dimension may have a slice beside it, with commas of its own.
fn map_dims(sparse: &Attr) -> Option<usize> {
    let Attr::Other(text) = sparse else { return None };
    let (_, rest) = text.split_once("map = (")?;
    Some(listed(rest)?.into_iter().filter(|dim| !dim.trim().is_empty()).count())
}

/// Known widths along a dimension: three where it is cut, one where it is not.
///
/// Parts at the same place along the dimension have the same width there, unless they are empty.
fn widths(dist: &DistEnv, dim: usize) -> Result<Vec<u64>, ()> {
    let cuts = dist.cut();
    let axis = cuts.iter().position(|cut| *cut == dim);
    let below = axis.map_or(0, |axis| cuts.len() - axis - 1);
    let place = |part: usize| match axis {
        Some(_) => part / 3_usize.pow(below as u32) % 3,
        None => 0,
    };
    let mut widths: [Option<u64>; 3] = [None; 3];
    for (number, part) in dist.lparts.iter().enumerate() {
        let is_empty = part.contains(&Size::Known(0));
        let Some(width) = part[dim].known().filter(|_| !is_empty) else { continue };
        match &mut widths[place(number)] {
            Some(known) if *known != width => return Err(()),
            slot => *slot = Some(width),
        }
    }
    Ok(widths.into_iter().flatten().collect())
}
