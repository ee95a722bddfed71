//! Arrays that are looked at after they were deleted, where the text shows it.
//!
//! What is behind a delete in its block, or nested there, comes after it. What reaches the array
//! through loops and calls is seen when the program runs.

use std::collections::HashSet;

use super::{Check, VerifyError, value_text};
use crate::kind::OpKind;
use crate::module::{Module, Op, Value};
use crate::table::Traits;

impl Check<'_> {
    pub(super) fn deleting(&mut self) {
        let Some(block) = self.module.block_of(self.op) else { return };
        let line = self.module.location(self.op).line;
        for value in sharing(self.module, self.module.operands(self.op)[0]) {
            for user in self.module.users(value) {
                let place = self.module.ancestor_in(user, block);
                if place.is_some_and(|place| self.module.is_before(self.op, place)) {
                    let op = self.module.name(user).to_string();
                    let value = value_text(self.module, value);
                    let error = VerifyError::UseAfterDelete { op, value, line };
                    self.found.push(error, self.module.location(user));
                }
            }
        }
    }
}

/// All values that surely share memory with one: its source and all views of that.
fn sharing(module: &Module, value: Value) -> Vec<Value> {
    let mut root = value;
    // A program that is wrong elsewhere may have views in a circle.
    for _ in 0..module.n_values() {
        match module.defining_op(root).and_then(|op| viewed(module, op)) {
            Some(source) => root = source,
            None => break,
        }
    }
    let (mut found, mut seen) = (vec![root], HashSet::from([root]));
    let mut at = 0;
    while let Some(value) = found.get(at).copied() {
        for user in module.users(value) {
            if viewed(module, user) == Some(value) {
                found.extend(views(module, user).iter().filter(|view| seen.insert(**view)));
            }
        }
        at += 1;
    }
    found
}

/// What an operation gives a view of; of a distributed array the owned part.
fn viewed(module: &Module, op: Op) -> Option<Value> {
    if !module.kind(op).traits().has(Traits::VIEW) {
        return None;
    }
    let arrays = match module.kind(op) {
        OpKind::DistInitDistArray => module.operand_group(op, 1),
        _ => module.operands(op).get(..1)?,
    };
    arrays.get(arrays.len() / 2).copied()
}

/// Which results are views; halos are copies.
fn views(module: &Module, op: Op) -> &[Value] {
    let results = module.results(op);
    match module.kind(op) {
        OpKind::DistPartsOf => results.get(results.len() / 2).map_or(&[], std::slice::from_ref),
        _ => results,
    }
}
