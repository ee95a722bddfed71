//! Writing programs: one method per operation, no names and no text.
//!
//! A builder has a place in a module and puts one operation after another there. Methods give the
//! values they make. Types of results are inferred where the operands decide them, and given
//! where they do not.

mod arith;
mod dist;
mod flow;
mod ndarray;
mod runtime;

pub use ndarray::{Entry, Slices};

use crate::kind::OpKind;
use crate::module::{Block, Location, Module, NewOp, Op, Value};
use crate::types::Type;

/// Puts operations at a place of a module.
#[derive(Debug)]
pub struct Builder<'m> {
    module: &'m mut Module,
    place: Place,
    location: Location,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    End(Block),
    Before(Op),
}

impl<'m> Builder<'m> {
    /// At the end of a block.
    pub fn at_end(module: &'m mut Module, block: Block) -> Self {
        Self { module, place: Place::End(block), location: Location::default() }
    }

    /// Before an operation; what is built has its location.
    pub fn before(module: &'m mut Module, op: Op) -> Self {
        let location = module.location(op);
        Self { module, place: Place::Before(op), location }
    }

    /// After an operation.
    pub fn after(module: &'m mut Module, op: Op) -> Self {
        let location = module.location(op);
        let place = match (module.next_op(op), module.block_of(op)) {
            (Some(next), _) => Place::Before(next),
            (None, block) => Place::End(block.unwrap_or_else(|| module.top())),
        };
        Self { module, place, location }
    }

    /// At the start of a block.
    pub fn at_start(module: &'m mut Module, block: Block) -> Self {
        let first = module.ops(block).next();
        match first {
            Some(first) => Self::before(module, first),
            None => Self::at_end(module, block),
        }
    }

    /// The module.
    #[must_use]
    pub fn module(&self) -> &Module {
        self.module
    }

    /// The module, to be changed.
    pub fn module_mut(&mut self) -> &mut Module {
        self.module
    }

    /// The location of what is built from now on.
    pub fn set_location(&mut self, location: Location) {
        self.location = location;
    }

    /// Goes on at the end of another block.
    pub fn move_to_end(&mut self, block: Block) {
        self.place = Place::End(block);
    }

    /// Puts any operation here.
    pub fn insert(&mut self, mut new: NewOp) -> Op {
        new.location = self.location;
        match self.place {
            Place::End(block) => self.module.append(block, new),
            Place::Before(op) => self.module.insert_before(op, new),
        }
    }

    /// Puts an operation with one result here.
    pub fn value(&mut self, new: NewOp) -> Value {
        let op = self.insert(new);
        self.module.result(op)
    }

    /// An operation with plain operands and one result.
    pub fn simple(&mut self, kind: OpKind, operands: &[Value], result: Type) -> Value {
        self.value(NewOp::new(kind).operands(operands).result(result))
    }

    /// The type of a value.
    #[must_use]
    pub fn ty(&self, value: Value) -> Type {
        self.module.ty(value).clone()
    }
}
