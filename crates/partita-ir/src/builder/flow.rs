//! Functions, loops, choices.

use super::Builder;
use crate::attr::Attr;
use crate::kind::OpKind;
use crate::module::{Block, NewOp, Op, Value};
use crate::types::Type;

impl Builder<'_> {
    /// `func.return`
    pub fn ret(&mut self, values: &[Value]) -> Op {
        self.insert(NewOp::new(OpKind::FuncReturn).operands(values))
    }

    /// `func.call`
    pub fn call(&mut self, callee: &str, arguments: &[Value], results: &[Type]) -> Op {
        let new = NewOp::new(OpKind::FuncCall).operands(arguments).results(results.to_vec());
        self.insert(new.attr("callee", Attr::Symbol(callee.into())))
    }

    /// `scf.for`: the loop and its empty body, whose arguments are the counter and what is carried.
    pub fn for_loop(
        &mut self,
        lower: Value,
        upper: Value,
        step: Value,
        initial: &[Value],
    ) -> (Op, Block) {
        let carried: Vec<Type> = initial.iter().map(|value| self.ty(*value)).collect();
        let mut arguments = vec![self.ty(lower)];
        arguments.extend(carried.iter().cloned());
        let new = NewOp::new(OpKind::ScfFor).operands(&[lower, upper, step]).operands(initial);
        let op = self.insert(new.results(carried).region(&arguments));
        (op, self.module().regions(op)[0])
    }

    /// `scf.if` with both blocks empty.
    pub fn if_else(&mut self, condition: Value, results: &[Type]) -> (Op, Block, Block) {
        let new = NewOp::new(OpKind::ScfIf).operands(&[condition]).results(results.to_vec());
        let op = self.insert(new.region(&[]).region(&[]));
        let regions = self.module().regions(op);
        (op, regions[0], regions[1])
    }

    /// `scf.if` without results and without an `else`.
    pub fn if_then(&mut self, condition: Value) -> (Op, Block) {
        let op = self.insert(NewOp::new(OpKind::ScfIf).operands(&[condition]).region(&[]));
        (op, self.module().regions(op)[0])
    }

    /// `scf.yield`
    pub fn yield_(&mut self, values: &[Value]) -> Op {
        self.insert(NewOp::new(OpKind::ScfYield).operands(values))
    }
}
