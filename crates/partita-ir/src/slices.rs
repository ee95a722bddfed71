//! The slice of an operation: numbers and operands put together again.

use crate::attr::Attr;
use crate::builder::{Entry, Slices};
use crate::module::{Module, Op, Value};
use crate::types::DYNAMIC;

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
