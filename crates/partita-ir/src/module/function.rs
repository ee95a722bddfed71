//! Functions of a module.

use super::{Block, Module, NewOp, Op};
use crate::attr::Attr;
use crate::kind::OpKind;
use crate::types::{FunctionType, Type};

impl Module {
    /// Adds a function with an empty body.
    pub fn add_function(&mut self, name: &str, inputs: &[Type], results: &[Type]) -> Op {
        let op = self.declare_function(name, inputs, results);
        self.attrs_mut(op).remove("sym_visibility");
        self.add_region(op, inputs);
        op
    }

    /// Adds a function that is defined elsewhere.
    pub fn declare_function(&mut self, name: &str, inputs: &[Type], results: &[Type]) -> Op {
        let ty = FunctionType { inputs: inputs.to_vec(), results: results.to_vec() };
        let new = NewOp::new(OpKind::FuncFunc)
            .attr("sym_name", Attr::text(name))
            .attr("function_type", Attr::Type(ty.into()))
            .attr("sym_visibility", Attr::text("private"));
        self.append(self.top, new)
    }

    /// The functions, in order.
    pub fn functions(&self) -> impl Iterator<Item = Op> {
        self.ops(self.top).filter(|op| self.kind(*op) == OpKind::FuncFunc)
    }

    /// The function of a name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<Op> {
        self.functions().find(|op| self.function_name(*op) == Some(name))
    }

    /// A function's name.
    #[must_use]
    pub fn function_name(&self, function: Op) -> Option<&str> {
        self.attr(function, "sym_name").and_then(Attr::as_str)
    }

    /// A function's type.
    #[must_use]
    pub fn function_type(&self, function: Op) -> Option<&FunctionType> {
        match self.attr(function, "function_type") {
            Some(Attr::Type(Type::Function(ty))) => Some(ty),
            _ => None,
        }
    }

    /// A function's body; nothing if it is only declared.
    #[must_use]
    pub fn body(&self, function: Op) -> Option<Block> {
        self.regions(function).first().copied()
    }

    /// Makes a function's type that of its arguments and of what it returns.
    pub fn refresh_function_type(&mut self, function: Op) {
        let Some(body) = self.body(function) else { return };
        let types = |values: &[super::Value]| values.iter().map(|v| self.ty(*v).clone()).collect();
        let inputs = types(self.arguments(body));
        let results = match self.last_op(body) {
            Some(last) if self.kind(last) == OpKind::FuncReturn => types(self.operands(last)),
            _ => return,
        };
        let ty = FunctionType { inputs, results };
        self.attrs_mut(function).set("function_type", Attr::Type(ty.into()));
    }
}
