//! Writing index arithmetic that is computed at once where its operands are known.

use std::collections::HashMap;

use crate::attr::Attr;
use crate::builder::{Builder, Entry};
use crate::enums::CmpI;
use crate::kind::OpKind;
use crate::module::{Block, Module, NewOp, Op, Value};
use crate::passes::{Options, fold};
use crate::types::{Size, Type};

/// So many operations at the start of a function are searched for a constant.
const N_CONSTANTS: usize = 64;

/// Puts operations before a place; index arithmetic on constants gives constants.
///
/// Constants stand at the start of the function, each once, so that everything may use them.
#[derive(Debug)]
pub(super) struct Emit<'m> {
    pub(super) module: &'m mut Module,
    place: Op,
    options: Options,
    constants: HashMap<(Op, i64), Value>,
    /// Arithmetic that was written before, so that the same box has the same values.
    written: HashMap<(OpKind, Value, Value), Value>,
}

impl<'m> Emit<'m> {
    /// Before an operation.
    pub(super) fn before(module: &'m mut Module, place: Op, options: &Options) -> Self {
        Self {
            module,
            place,
            options: *options,
            constants: HashMap::new(),
            written: HashMap::new(),
        }
    }

    /// Goes on before another operation.
    pub(super) fn move_before(&mut self, place: Op) {
        self.place = place;
    }

    /// Where it stands.
    pub(super) fn place(&self) -> Op {
        self.place
    }

    /// A builder at the place.
    pub(super) fn build(&mut self) -> Builder<'_> {
        Builder::before(self.module, self.place)
    }

    /// A constant index.
    pub(super) fn index(&mut self, number: i64) -> Value {
        let function = self.module.function_of(self.place).unwrap_or(self.place);
        if let Some(value) = self.constants.get(&(function, number))
            && self.module.dominates(*value, self.place)
        {
            return *value;
        }
        let value = match self.module.body(function) {
            Some(body) => self
                .standing(body, number)
                .unwrap_or_else(|| Builder::at_start(self.module, body).index(number)),
            None => self.build().index(number),
        };
        self.constants.insert((function, number), value);
        value
    }

    /// A constant among the first operations of a body.
    fn standing(&self, body: Block, number: i64) -> Option<Value> {
        let wanted = Attr::index(number);
        let mut first = self.module.ops(body).take(N_CONSTANTS);
        let op = first.find(|op| {
            self.module.kind(*op) == OpKind::ArithConstant
                && self.module.attr(*op, "value") == Some(&wanted)
        })?;
        let value = self.module.result(op);
        self.module.dominates(value, self.place).then_some(value)
    }

    /// The number a value is, if it is a constant.
    pub(super) fn known(&self, value: Value) -> Option<i64> {
        self.module.known_index(value)
    }

    /// A number of a slice as a value.
    pub(super) fn entry(&mut self, entry: Entry) -> Value {
        match entry {
            Entry::Known(number) => self.index(number),
            Entry::Value(value) => value,
        }
    }

    /// Numbers of a slice as values.
    pub(super) fn entries(&mut self, entries: &[Entry]) -> Vec<Value> {
        entries.iter().map(|entry| self.entry(*entry)).collect()
    }

    /// A value as a number of a slice, known if it is a constant.
    pub(super) fn as_entry(&self, value: Value) -> Entry {
        self.known(value).map_or(Entry::Value(value), Entry::Known)
    }

    /// The size of a dimension: the type's, or asked for.
    pub(super) fn size(&mut self, array: Value, dim: usize) -> Value {
        let known = self.module.ty(array).shape().and_then(|shape| shape.get(dim).copied());
        match known.and_then(Size::known) {
            Some(size) => self.index(size as i64),
            None => {
                let dim = self.index(dim as i64);
                self.build().dim(array, dim)
            }
        }
    }

    /// The sizes of all dimensions.
    pub(super) fn shape(&mut self, array: Value) -> Vec<Value> {
        let ndim = self.module.ty(array).shape().map_or(0, <[_]>::len);
        (0..ndim).map(|dim| self.size(array, dim)).collect()
    }

    /// Sum.
    pub(super) fn add(&mut self, a: Value, b: Value) -> Value {
        match (self.known(a), self.known(b)) {
            (Some(0), _) => b,
            (_, Some(0)) => a,
            _ => self.binary(OpKind::ArithAddi, a, b),
        }
    }

    /// Difference.
    pub(super) fn sub(&mut self, a: Value, b: Value) -> Value {
        match (self.known(a), self.known(b)) {
            _ if a == b => self.index(0),
            (_, Some(0)) => a,
            _ => self.binary(OpKind::ArithSubi, a, b),
        }
    }

    /// Product.
    pub(super) fn mul(&mut self, a: Value, b: Value) -> Value {
        match (self.known(a), self.known(b)) {
            (Some(1), _) => b,
            (_, Some(1)) => a,
            (Some(0), _) | (_, Some(0)) => self.index(0),
            _ => self.binary(OpKind::ArithMuli, a, b),
        }
    }

    /// Smaller one.
    pub(super) fn min(&mut self, a: Value, b: Value) -> Value {
        if a == b { a } else { self.binary(OpKind::ArithMinsi, a, b) }
    }

    /// Larger one.
    pub(super) fn max(&mut self, a: Value, b: Value) -> Value {
        if a == b { a } else { self.binary(OpKind::ArithMaxsi, a, b) }
    }

    /// The nearest number from `low` to `high`.
    pub(super) fn clamp(&mut self, value: Value, low: Value, high: Value) -> Value {
        let raised = self.max(value, low);
        self.min(raised, high)
    }

    /// Quotient, rounded up.
    pub(super) fn ceil_div(&mut self, a: Value, b: Value) -> Value {
        if self.known(b) == Some(1) { a } else { self.binary(OpKind::ArithCeildivsi, a, b) }
    }

    /// Quotient, rounded down.
    pub(super) fn floor_div(&mut self, a: Value, b: Value) -> Value {
        if self.known(b) == Some(1) { a } else { self.binary(OpKind::ArithFloordivsi, a, b) }
    }

    /// Remainder.
    pub(super) fn rem(&mut self, a: Value, b: Value) -> Value {
        self.binary(OpKind::ArithRemsi, a, b)
    }

    /// One of two values, as equality of two others says.
    pub(super) fn if_equal(&mut self, a: Value, b: Value, yes: Value, no: Value) -> Value {
        if yes == no || a == b {
            return yes;
        }
        if let (Some(a), Some(b)) = (self.known(a), self.known(b)) {
            return if a == b { yes } else { no };
        }
        let equal = self.build().cmpi(CmpI::Eq, a, b);
        self.build().select(equal, yes, no)
    }

    /// An operation on indices that gives indices: at once where its operands are known.
    pub(super) fn indices(&mut self, new: NewOp) -> Vec<Value> {
        let op = self.build().insert(new);
        match fold::results(self.module, op) {
            Some(attrs) => {
                self.module.erase(op);
                attrs.iter().map(|attr| self.index(attr.as_int().unwrap_or(0))).collect()
            }
            None => self.module.results(op).to_vec(),
        }
    }

    /// The same, its results as offsets and sizes.
    pub(super) fn boxed(&mut self, new: NewOp, ndim: usize) -> (Vec<Value>, Vec<Value>) {
        let values = self.indices(new.results(vec![Type::INDEX; 2 * ndim]));
        (values[..ndim].to_vec(), values[ndim..].to_vec())
    }

    /// Number of ranks of a team, or a rank's number; a constant where the options say it.
    pub(super) fn of_team(&mut self, kind: OpKind, team: &Attr) -> Value {
        let known = match kind {
            OpKind::RuntimeTeamSize => self.options.n_ranks,
            _ => self.options.rank,
        };
        if let Some(number) = known.and_then(|number| i64::try_from(number).ok()) {
            return self.index(number);
        }
        self.build().value(NewOp::new(kind).attr("team", team.clone()).result(Type::INDEX))
    }

    fn binary(&mut self, kind: OpKind, a: Value, b: Value) -> Value {
        if let Some(value) = self.written.get(&(kind, a, b))
            && self.module.dominates(*value, self.place)
        {
            return *value;
        }
        let value = self.indices(NewOp::new(kind).operands(&[a, b]).result(Type::INDEX))[0];
        self.written.insert((kind, a, b), value);
        value
    }
}
