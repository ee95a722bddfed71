//! Copies of operations, with other operands.

use std::collections::HashMap;

use super::{Block, Module, NewOp, Op, Value};
use crate::types::Type;

/// Which value of the copy stands for which of the original. Others stand for themselves.
#[derive(Debug, Clone, Default)]
pub struct Mapping(HashMap<Value, Value>);

impl Mapping {
    /// Every value stands for itself.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets `new` stand for `old`.
    pub fn set(&mut self, old: Value, new: Value) {
        self.0.insert(old, new);
    }

    /// What stands for a value.
    #[must_use]
    pub fn get(&self, old: Value) -> Value {
        self.0.get(&old).copied().unwrap_or(old)
    }
}

impl Module {
    /// Copies an operation with what is nested in it, to stand before `place`.
    pub fn clone_before(&mut self, op: Op, place: Op, mapping: &mut Mapping) -> Op {
        let new = self.unplaced(op, mapping);
        let copy = self.insert_before(place, new);
        self.finish(op, copy, mapping);
        copy
    }

    /// Copies an operation with what is nested in it, to the end of a block.
    pub fn clone_to_end(&mut self, op: Op, block: Block, mapping: &mut Mapping) -> Op {
        let new = self.unplaced(op, mapping);
        let copy = self.append(block, new);
        self.finish(op, copy, mapping);
        copy
    }

    fn unplaced(&self, op: Op, mapping: &Mapping) -> NewOp {
        let data = &self.ops[op.index()];
        let types = |values: &[Value]| -> Vec<Type> {
            values.iter().map(|value| self.ty(*value).clone()).collect()
        };
        NewOp {
            kind: data.kind,
            name: data.name.clone(),
            operands: data.operands.iter().map(|value| mapping.get(*value)).collect(),
            segments: data.segments.clone(),
            results: types(&data.results),
            attrs: data.attrs.clone(),
            regions: data.regions.iter().map(|block| types(self.arguments(*block))).collect(),
            location: data.location,
        }
    }

    fn finish(&mut self, op: Op, copy: Op, mapping: &mut Mapping) {
        self.pair(self.results(op).to_vec(), self.results(copy).to_vec(), mapping);
        let regions = self.regions(op).to_vec().into_iter().zip(self.regions(copy).to_vec());
        for (from, to) in regions {
            self.pair(self.arguments(from).to_vec(), self.arguments(to).to_vec(), mapping);
            for inner in self.ops(from).collect::<Vec<_>>() {
                self.clone_to_end(inner, to, mapping);
            }
        }
    }

    fn pair(&mut self, old: Vec<Value>, new: Vec<Value>, mapping: &mut Mapping) {
        for (old, new) in old.into_iter().zip(new) {
            self.values[new.index()].hint = self.values[old.index()].hint.clone();
            mapping.set(old, new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;

    #[test]
    fn a_copy_uses_its_own_values() {
        let mut module = Module::new();
        let f = module.add_function("f", &[], &[]);
        let body = module.body(f).expect("a body");
        let mut b = Builder::at_end(&mut module, body);
        let (low, high, step) = (b.index(0), b.index(4), b.index(1));
        let (for_op, inner) = b.for_loop(low, high, step, &[low]);
        let mut b = Builder::at_end(&mut module, inner);
        let carried = b.module().arguments(inner)[1];
        let sum = b.addi(carried, step);
        b.yield_(&[sum]);

        let copy = module.clone_to_end(for_op, body, &mut Mapping::new());
        let inside = module.regions(copy)[0];
        let add = module.ops(inside).next().expect("the addition");
        assert_eq!(module.operands(add), [module.arguments(inside)[1], step]);
        assert_eq!(module.uses(step).len(), 4);
        module.erase(copy);
        assert_eq!(module.uses(step).len(), 2);
    }
}
