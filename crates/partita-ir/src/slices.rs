//! The slice of an operation: numbers and operands put together again.

use crate::attr::Attr;
use crate::builder::{Entry, Slices};
use crate::module::{Module, Op, Value};
use crate::types::{DYNAMIC, Size};

/// Whether a slice stays inside an array, as far as its numbers say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It does.
    Inside,
    /// It reaches an index of a dimension that is not there; or a size is negative, or a stride 0.
    Outside {
        /// The dimension.
        dim: usize,
        /// The index, or the wrong number.
        index: i128,
    },
    /// That is seen when the program runs.
    Unknown,
}

impl Slices {
    /// Whether it stays inside an array of a shape.
    ///
    /// One without entries along a dimension begins at most at its end.
    #[must_use]
    pub fn reach(&self, shape: &[Size]) -> Reach {
        let lengths = [self.offsets.len(), self.sizes.len(), self.strides.len()];
        if lengths.iter().any(|length| *length != shape.len()) {
            return Reach::Unknown;
        }
        let sizes: Vec<Option<i64>> = self.sizes.iter().map(|entry| entry.known()).collect();
        if let Some(dim) = sizes.iter().position(|size| size.is_some_and(|size| size < 0)) {
            return Reach::Outside { dim, index: sizes[dim].unwrap_or(0).into() };
        }
        let all: Vec<Reach> =
            (0..shape.len()).map(|dim| self.reach_along(dim, shape[dim])).collect();
        let outside = all.iter().find(|reach| matches!(reach, Reach::Outside { .. }));
        match outside {
            Some(outside) => *outside,
            None if all.contains(&Reach::Unknown) => Reach::Unknown,
            None => Reach::Inside,
        }
    }

    /// Its sizes as a type has them.
    #[must_use]
    pub fn static_sizes(&self) -> Vec<Size> {
        let size = |entry: &Entry| entry.known().and_then(Size::from_i64);
        self.sizes.iter().map(|entry| size(entry).unwrap_or(Size::Dynamic)).collect()
    }

    fn reach_along(&self, dim: usize, extent: Size) -> Reach {
        let numbers = [self.offsets[dim], self.sizes[dim], self.strides[dim]].map(Entry::known);
        let ([Some(offset), Some(size), Some(stride)], Some(extent)) = (numbers, extent.known())
        else {
            return Reach::Unknown;
        };
        if stride == 0 && size > 1 {
            return Reach::Outside { dim, index: 0 };
        }
        if size == 0 {
            // Backwards, the first of no entries may lie before the array.
            let low = if stride < 0 { -1 } else { 0 };
            let inside = offset >= low && i128::from(offset) <= i128::from(extent);
            let outside = Reach::Outside { dim, index: offset.into() };
            return if inside { Reach::Inside } else { outside };
        }
        let (first, steps) = (i128::from(offset), i128::from(size) - 1);
        let ends = [first, first + steps * i128::from(stride)];
        let wrong = ends.into_iter().find(|end| *end < 0 || *end >= i128::from(extent));
        wrong.map_or(Reach::Inside, |index| Reach::Outside { dim, index })
    }
}

/// Which dimensions of a shape another one keeps, if it is the same without some of size 1.
///
/// As in stock MLIR, only sizes that are *known* to be 1 may go: one that turns out to be 1 when
/// the program runs stays, or the meaning of a view would depend on its numbers.
#[must_use]
pub fn kept_dims(whole: &[Size], reduced: &[Size]) -> Option<Vec<usize>> {
    let mut rest = reduced.iter().peekable();
    let mut n_spare = whole.len().checked_sub(reduced.len())?;
    let mut kept = Vec::with_capacity(reduced.len());
    for (dim, size) in whole.iter().enumerate() {
        let keeps = rest.peek().is_some_and(|next| next.may_equal(*size));
        // A dimension is kept where it can be, unless it is 1 and one more must go.
        let must_go = n_spare > 0 && *size == Size::Known(1) && rest.peek() != Some(&size);
        if keeps && !must_go {
            rest.next();
            kept.push(dim);
        } else if n_spare > 0 && *size == Size::Known(1) {
            n_spare -= 1;
        } else {
            return None;
        }
    }
    rest.next().is_none().then_some(kept)
}

impl Module {
    /// The slice an operation such as `ndarray.subview` has.
    ///
    /// Nothing if the operation has none, or one whose numbers and operands do not fit.
    #[must_use]
    pub fn slices(&self, op: Op) -> Option<Slices> {
        let list = |attr: &str, group: &str| {
            let numbers = self.attr(op, attr).and_then(Attr::as_i64s)?;
            joined(numbers, self.operands_named(op, group))
        };
        Some(Slices {
            offsets: list("static_offsets", "offsets")?,
            sizes: list("static_sizes", "sizes")?,
            strides: list("static_strides", "strides")?,
        })
    }

    /// The dimensions of its slice that the type of a view keeps; nothing if they do not fit.
    #[must_use]
    pub fn kept_dims(&self, op: Op) -> Option<Vec<usize>> {
        let sizes = self.slices(op)?.static_sizes();
        kept_dims(&sizes, self.ty(self.result(op)).shape().unwrap_or(&[]))
    }

    /// Gives an operation another slice.
    ///
    /// # Panics
    /// If the operation has no slice.
    pub fn set_slices(&mut self, op: Op, slices: &Slices) {
        let lists = [&slices.offsets, &slices.sizes, &slices.strides];
        let names = [
            ("static_offsets", "offsets"),
            ("static_sizes", "sizes"),
            ("static_strides", "strides"),
        ];
        for ((attr, group), entries) in names.into_iter().zip(lists) {
            let number = |entry: &Entry| match entry {
                Entry::Known(number) => *number,
                Entry::Value(_) => DYNAMIC,
            };
            let value = |entry: &Entry| match entry {
                Entry::Known(_) => None,
                Entry::Value(value) => Some(*value),
            };
            let numbers: Vec<i64> = entries.iter().map(number).collect();
            let values: Vec<Value> = entries.iter().filter_map(value).collect();
            let groups = self.info(op).map_or(&[][..], |info| info.operands);
            let place = groups.iter().position(|one| one.name == group).expect("a slice");
            self.set_operand_group(op, place, &values);
            self.attrs_mut(op).set(attr, Attr::i64s(&numbers));
        }
    }
}

fn joined(numbers: &[i64], values: &[Value]) -> Option<Vec<Entry>> {
    let mut values = values.iter();
    let mut entries = Vec::with_capacity(numbers.len());
    for number in numbers {
        entries.push(match *number {
            DYNAMIC => Entry::Value(*values.next()?),
            number => Entry::Known(number),
        });
    }
    values.next().is_none().then_some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_of_one_may_go() {
        let sizes = |numbers: &[u64]| numbers.iter().map(|n| Size::Known(*n)).collect::<Vec<_>>();
        let kept = |whole: &[u64], reduced: &[u64]| kept_dims(&sizes(whole), &sizes(reduced));
        assert_eq!(kept(&[1, 4, 1], &[4]), Some(vec![1]));
        assert_eq!(kept(&[1, 4, 1], &[1, 4, 1]), Some(vec![0, 1, 2]));
        assert_eq!(kept_dims(&sizes(&[1, 4, 1]), &[Size::Dynamic]), Some(vec![1]));
        assert_eq!(kept(&[1, 4, 1], &[5]), None);
        assert_eq!(kept(&[2, 4], &[4]), None);
        assert_eq!(kept(&[4], &[4, 1]), None);
    }

    #[test]
    fn only_what_is_known_to_be_one_may_go() {
        let (one, three, any) = (Size::Known(1), Size::Known(3), Size::Dynamic);
        assert_eq!(kept_dims(&[any, three, one], &[any, any]), Some(vec![0, 1]));
        assert_eq!(kept_dims(&[any, three, one], &[Size::Known(2), any]), Some(vec![0, 1]));
        assert_eq!(kept_dims(&[one, any], &[any]), Some(vec![1]));
        assert_eq!(kept_dims(&[any, one], &[one]), Some(vec![0]));
        assert_eq!(kept_dims(&[any, three], &[three]), None);
    }

    #[test]
    fn a_slice_is_inside_outside_or_not_known() {
        let reach = |offset, size, stride, extent| {
            Slices::known(&[offset], &[size], &[stride]).reach(&[Size::Known(extent)])
        };
        assert_eq!(reach(2, 4, 1, 6), Reach::Inside);
        assert_eq!(reach(5, 6, -1, 6), Reach::Inside);
        assert_eq!(reach(6, 0, 1, 6), Reach::Inside);
        assert_eq!(reach(9, 0, 1, 6), Reach::Outside { dim: 0, index: 9 });
        assert_eq!(reach(3, 4, 1, 6), Reach::Outside { dim: 0, index: 6 });
        assert_eq!(reach(4, 6, -1, 6), Reach::Outside { dim: 0, index: -1 });
        assert_eq!(reach(0, -1, 1, 6), Reach::Outside { dim: 0, index: -1 });
        assert_eq!(Slices::known(&[0], &[1], &[1]).reach(&[Size::Dynamic]), Reach::Unknown);
    }
}
