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
