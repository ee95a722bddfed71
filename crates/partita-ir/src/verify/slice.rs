//! Slices: numbers and operands that fit, and stay inside the array.

use super::arrays::shape_of;
use super::{Check, VerifyError, shape_text};
use crate::attr::Attr;
use crate::builder::{Entry, Slices};
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
        for (dim, size) in shape.iter().enumerate() {
            self.slice_dim(&slices, dim, *size);
        }
        let sizes = slices.sizes.iter().map(|entry| match entry {
            Entry::Known(size) => Size::from_i64(*size).unwrap_or(Size::Dynamic),
            Entry::Value(_) => Size::Dynamic,
        });
        (self.found.len() == before).then(|| sizes.collect())
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

    fn slice_dim(&mut self, slices: &Slices, dim: usize, size: Size) {
        let known = |entry: &Entry| match entry {
            Entry::Known(number) => Some(i128::from(*number)),
            Entry::Value(_) => None,
        };
        let (Some(offset), Some(count), Some(stride), Some(extent)) = (
            known(&slices.offsets[dim]),
            known(&slices.sizes[dim]),
            known(&slices.strides[dim]),
            size.known(),
        ) else {
            return;
        };
        if count == 0 {
            return;
        }
        let ends = [offset, offset + (count - 1) * stride];
        if let Some(index) = ends.into_iter().find(|end| *end < 0 || *end >= i128::from(extent)) {
            let op = self.name();
            self.report(VerifyError::SliceOutside { op, dim, index, extent });
        }
    }

    /// The result is the slice; dimensions of size 1 may be left out.
    pub(super) fn slice_result(&mut self, sizes: &[Size]) {
        let result = shape_of(self.result());
        if !is_reduced(sizes, &result) {
            let op = self.name();
            let (found, wanted) = (shape_text(&result), shape_text(sizes));
            let what = "the result".to_string();
            self.report(VerifyError::ShapesDiffer { op, what, found, wanted });
        }
    }
}

/// Whether a shape is another without some dimensions of size 1.
fn is_reduced(whole: &[Size], reduced: &[Size]) -> bool {
    let mut rest = reduced.iter().peekable();
    let mut n_spare = whole.len().saturating_sub(reduced.len());
    for size in whole {
        let keeps = rest.peek().is_some_and(|next| next.may_equal(*size));
        // A dimension is kept where it can be, unless it is 1 and one more must go.
        let must_go = n_spare > 0 && *size == Size::Known(1) && rest.peek() != Some(&size);
        if keeps && !must_go {
            rest.next();
        } else if n_spare > 0 && size.may_equal(Size::Known(1)) {
            n_spare -= 1;
        } else {
            return false;
        }
    }
    rest.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_of_one_may_go() {
        let sizes = |numbers: &[u64]| numbers.iter().map(|n| Size::Known(*n)).collect::<Vec<_>>();
        assert!(is_reduced(&sizes(&[1, 4, 1]), &sizes(&[4])));
        assert!(is_reduced(&sizes(&[1, 4, 1]), &sizes(&[1, 4, 1])));
        assert!(is_reduced(&sizes(&[1, 4, 1]), &[Size::Dynamic]));
        assert!(!is_reduced(&sizes(&[1, 4, 1]), &sizes(&[5])));
        assert!(!is_reduced(&sizes(&[2, 4]), &sizes(&[4])));
        assert!(!is_reduced(&sizes(&[4]), &sizes(&[4, 1])));
    }
}
