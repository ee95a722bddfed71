//! Who uses a value.

use super::{Module, Op, Value};

/// One use of a value: an operand of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Use {
    /// The operation.
    pub op: Op,
    /// Which of its operands.
    pub operand: u32,
}

impl Module {
    /// Uses of a value, in no particular order.
    #[must_use]
    pub fn uses(&self, value: Value) -> &[Use] {
        &self.values[value.index()].uses
    }

    /// Whether nothing uses a value.
    #[must_use]
    pub fn is_unused(&self, value: Value) -> bool {
        self.uses(value).is_empty()
    }

    /// Operations that use a value, each once, in the order of their numbers.
    #[must_use]
    pub fn users(&self, value: Value) -> Vec<Op> {
        let mut users: Vec<Op> = self.uses(value).iter().map(|u| u.op).collect();
        users.sort_unstable();
        users.dedup();
        users
    }

    /// Replaces one operand.
    pub fn set_operand(&mut self, op: Op, operand: usize, value: Value) {
        self.drop_use(op, operand);
        self.ops[op.index()].operands[operand] = value;
        self.add_use(op, operand);
    }

    /// Lets everything that uses `old` use `new`.
    pub fn replace_uses(&mut self, old: Value, new: Value) {
        self.replace_uses_if(old, new, |_| true);
    }

    /// Lets those uses of `old` that satisfy a condition use `new`.
    pub fn replace_uses_if(&mut self, old: Value, new: Value, wanted: impl Fn(Use) -> bool) {
        if old == new {
            return;
        }
        let uses: Vec<Use> = self.uses(old).iter().copied().filter(|u| wanted(*u)).collect();
        for one in uses {
            self.set_operand(one.op, one.operand as usize, new);
        }
    }

    /// Replaces the results of an operation by other values and erases it.
    ///
    /// # Panics
    /// If there are not as many values as results.
    pub fn replace_op(&mut self, op: Op, values: &[Value]) {
        let results = self.results(op).to_vec();
        assert_eq!(results.len(), values.len(), "one value for every result");
        for (old, new) in results.into_iter().zip(values) {
            self.replace_uses(old, *new);
        }
        self.erase(op);
    }

    pub(super) fn add_use(&mut self, op: Op, operand: usize) {
        let value = self.ops[op.index()].operands[operand];
        let uses = &mut self.values[value.index()].uses;
        let place = u32::try_from(uses.len()).expect("fewer than 2^32 uses");
        uses.push(Use { op, operand: u32::try_from(operand).expect("fewer than 2^32 operands") });
        self.ops[op.index()].places[operand] = place;
    }

    pub(super) fn drop_use(&mut self, op: Op, operand: usize) {
        let data = &self.ops[op.index()];
        let (value, place) = (data.operands[operand], data.places[operand]);
        let uses = &mut self.values[value.index()].uses;
        uses.swap_remove(place as usize);
        if let Some(moved) = uses.get(place as usize).copied() {
            self.ops[moved.op.index()].places[moved.operand as usize] = place;
        }
    }
}
