//! Slices: numbers and operands that fit, and stay inside the array.

use super::arrays::shape_of;
use super::{Check, VerifyError, shape_text};
use crate::attr::Attr;
use crate::slices::{Reach, kept_dims};
use crate::types::{DYNAMIC, Size};

const LISTS: [(&str, &str); 3] =
    [("static_offsets", "offsets"), ("static_sizes", "sizes"), ("static_strides", "strides")];

impl Check<'_> {
    /// A slice of an array of this shape; gives the slice's sizes if it makes sense.
    pub(super) fn slice_of(&mut self, shape: &[Size]) -> Option<Vec<Size>> {
        let before = self.found.len();
        for (attr, group) in LISTS {
            self.slice_list(attr, group, shape.len());
        }
        let slices = self.module.slices(self.op).filter(|_| self.found.len() == before)?;
        if let Reach::Outside { dim, index } = slices.reach(shape) {
            let (op, extent) = (self.name(), shape[dim].known().unwrap_or(0));
            self.report(VerifyError::SliceOutside { op, dim, index, extent });
        }
        (self.found.len() == before).then(|| slices.static_sizes())
    }

    fn slice_list(&mut self, attr: &str, group: &str, ndim: usize) {
        let numbers = self.module.attr(self.op, attr).and_then(Attr::as_i64s).unwrap_or_default();
        let n_operands = self.group(group).len();
        let n_unknown = numbers.iter().filter(|number| **number == DYNAMIC).count();
        let (op, name) = (self.name(), group.to_string());
        if numbers.len() != ndim {
            let found = numbers.len();
            return self.report(VerifyError::SliceDims { op, name, found, ndim });
        }
        if n_unknown != n_operands {
            return self.report(VerifyError::SliceOperands { op, name, n_unknown, n_operands });
        }
        let is_wrong = |number: i64| match group {
            "strides" => number == 0,
            _ => number < 0,
        };
        let wrong = numbers.iter().copied().find(|number| *number != DYNAMIC && is_wrong(*number));
        if let Some(number) = wrong {
            self.report(VerifyError::SliceNumber { op, name, number });
        }
    }

    /// The result is the slice; dimensions of size 1 may be left out.
    pub(super) fn slice_result(&mut self, sizes: &[Size]) {
        let result = shape_of(self.result());
        if kept_dims(sizes, &result).is_none() {
            let op = self.name();
            let (found, wanted) = (shape_text(&result), shape_text(sizes));
            let what = "the result".to_string();
            self.report(VerifyError::ShapesDiffer { op, what, found, wanted });
        }
    }
}
