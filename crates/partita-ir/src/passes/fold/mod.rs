//! What operations give when their operands are known.

pub(crate) mod arith;
mod dist;

pub use dist::{
    Range, bound_of, checked_slice, core, default_partition, entries, joined_box, needed,
};

use crate::attr::Attr;
use crate::kind::OpKind;
use crate::module::{Module, Op, Value};

impl Module {
    /// The constant a value is, if an `arith.constant` gives it.
    #[must_use]
    pub fn constant_of(&self, value: Value) -> Option<&Attr> {
        let op = self.defining_op(value)?;
        (self.kind(op) == OpKind::ArithConstant).then(|| self.attr(op, "value")).flatten()
    }

    /// The integer a value is, if it is a constant.
    #[must_use]
    pub fn known_index(&self, value: Value) -> Option<i64> {
        self.constant_of(value).and_then(Attr::as_int)
    }

    /// The integers that values are, if all are constants.
    #[must_use]
    pub fn known_indices(&self, values: &[Value]) -> Option<Vec<i64>> {
        values.iter().map(|value| self.known_index(*value)).collect()
    }
}

/// What an operation gives, one attribute per result, if its operands are constants.
#[must_use]
pub fn results(module: &Module, op: Op) -> Option<Vec<Attr>> {
    if module.kind(op).dialect() == "dist" {
        let numbers = dist::results(module, op)?;
        return Some(numbers.into_iter().map(Attr::index).collect());
    }
    let operands: Option<Vec<&Attr>> =
        module.operands(op).iter().map(|value| module.constant_of(*value)).collect();
    let to = module.results(op).first().and_then(|result| module.ty(*result).as_scalar())?;
    arith::result(module.kind(op), &operands?, module.attrs(op), to).map(|attr| vec![attr])
}
