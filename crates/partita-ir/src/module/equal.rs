//! Whether two modules are the same program, whatever their handles and the names of values.

use std::collections::HashMap;

use super::{Block, Module, Op, Value};

impl PartialEq for Module {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = Pairs { a: self, b: other, known: HashMap::new() };
        self.attrs == other.attrs && pairs.blocks(self.top, other.top)
    }
}

struct Pairs<'a> {
    a: &'a Module,
    b: &'a Module,
    known: HashMap<Value, Value>,
}

impl Pairs<'_> {
    fn blocks(&mut self, a: Block, b: Block) -> bool {
        let (a_ops, b_ops): (Vec<Op>, Vec<Op>) = (self.a.ops(a).collect(), self.b.ops(b).collect());
        self.define(self.a.arguments(a), self.b.arguments(b))
            && a_ops.len() == b_ops.len()
            && a_ops.into_iter().zip(b_ops).all(|(a, b)| self.ops(a, b))
    }

    fn ops(&mut self, a: Op, b: Op) -> bool {
        let regions = || self.a.regions(a).to_vec().into_iter().zip(self.b.regions(b).to_vec());
        self.a.name(a) == self.b.name(b)
            && self.a.attrs(a) == self.b.attrs(b)
            && self.a.operand_ranges(a) == self.b.operand_ranges(b)
            && self.same(self.a.operands(a), self.b.operands(b))
            && self.a.regions(a).len() == self.b.regions(b).len()
            && regions().all(|(a, b)| self.blocks(a, b))
            && self.define(self.a.results(a), self.b.results(b))
    }

    fn same(&self, a: &[Value], b: &[Value]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.known.get(a) == Some(b))
    }

    fn define(&mut self, a: &[Value], b: &[Value]) -> bool {
        let pairs = || a.iter().copied().zip(b.iter().copied());
        self.known.extend(pairs());
        a.len() == b.len() && pairs().all(|(a, b)| self.a.ty(a) == self.b.ty(b))
    }
}
