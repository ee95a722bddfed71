//! A module: functions made of operations, all in one arena.
//!
//! Operations stand in blocks as linked lists, so that inserting, moving and erasing one costs the
//! same wherever it stands. Every value knows its uses, every use knows its place among them;
//! replacing an operand never searches. An operation's place in its block is a number with gaps,
//! so that "does this stand before that" is a comparison.
//!
//! ```
//! use partita_ir::{Builder, Module, Type};
//! let mut module = Module::new();
//! let f = module.add_function("f", &[Type::INDEX], &[Type::INDEX]);
//! let body = module.body(f).expect("a body");
//! let x = module.arguments(body)[0];
//! let mut b = Builder::at_end(&mut module, body);
//! let two = b.index(2);
//! let y = b.muli(x, two);
//! b.ret(&[y]);
//! assert_eq!(module.ops(body).count(), 3);
//! ```
//!
//! There are no branches between blocks: a function, the body of a loop and the two sides of an
//! `scf.if` have one block each, so a value is visible after its operation in the same block and
//! in blocks nested there.

mod copy;
mod edit;
mod equal;
mod function;
mod groups;
mod ids;
mod order;
mod uses;
mod walk;

pub use copy::Mapping;
pub use edit::NewOp;
pub use ids::{Block, Location, Op, Value};
pub use uses::Use;
pub use walk::Ops;

use std::sync::Arc;

use crate::attr::{Attr, Attrs};
use crate::kind::OpKind;
use crate::table::OpInfo;
use crate::types::Type;

/// A program: functions, their operations and values.
#[derive(Debug, Clone)]
pub struct Module {
    ops: Vec<OpData>,
    blocks: Vec<BlockData>,
    values: Vec<ValueData>,
    top: Block,
    /// Attributes of the module itself.
    pub attrs: Attrs,
}

#[derive(Debug, Clone)]
struct OpData {
    kind: OpKind,
    /// The name of an operation that the table does not have.
    name: Option<Arc<str>>,
    operands: Vec<Value>,
    /// For each operand, its place among the uses of its value.
    places: Vec<u32>,
    /// Lengths of the operand groups, where they do not follow from the number of operands.
    segments: Option<Box<[u32]>>,
    results: Vec<Value>,
    attrs: Attrs,
    regions: Vec<Block>,
    location: Location,
    block: Option<Block>,
    before: Option<Op>,
    after: Option<Op>,
    order: u64,
    erased: bool,
}

#[derive(Debug, Clone, Default)]
struct BlockData {
    arguments: Vec<Value>,
    first: Option<Op>,
    last: Option<Op>,
    owner: Option<Op>,
}

#[derive(Debug, Clone)]
struct ValueData {
    ty: Type,
    source: Source,
    uses: Vec<Use>,
    hint: Option<Arc<str>>,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// A result of an operation.
    Result {
        /// The operation.
        op: Op,
        /// Which of its results.
        number: u32,
    },
    /// An argument of a block.
    Argument {
        /// The block.
        block: Block,
        /// Which of its arguments.
        number: u32,
    },
}

impl Default for Module {
    fn default() -> Self {
        Self::new()
    }
}

impl Module {
    /// A module without functions.
    #[must_use]
    pub fn new() -> Self {
        let top = BlockData::default();
        Self {
            ops: Vec::new(),
            blocks: vec![top],
            values: Vec::new(),
            top: Block(0),
            attrs: Attrs::new(),
        }
    }

    /// The block of the functions.
    #[must_use]
    pub fn top(&self) -> Block {
        self.top
    }

    /// What kind of operation it is.
    #[must_use]
    pub fn kind(&self, op: Op) -> OpKind {
        self.ops[op.index()].kind
    }

    /// The operation's entry in the table; nothing for one that the table does not have.
    #[must_use]
    pub fn info(&self, op: Op) -> Option<&'static OpInfo> {
        self.kind(op).info()
    }

    /// The operation's name, such as `dist.ewbin`.
    #[must_use]
    pub fn name(&self, op: Op) -> &str {
        let data = &self.ops[op.index()];
        data.name.as_deref().unwrap_or_else(|| data.kind.name())
    }

    /// All operands.
    #[must_use]
    pub fn operands(&self, op: Op) -> &[Value] {
        &self.ops[op.index()].operands
    }

    /// All results.
    #[must_use]
    pub fn results(&self, op: Op) -> &[Value] {
        &self.ops[op.index()].results
    }

    /// The first result.
    ///
    /// # Panics
    /// For an operation without results.
    #[must_use]
    pub fn result(&self, op: Op) -> Value {
        self.ops[op.index()].results[0]
    }

    /// The attributes.
    #[must_use]
    pub fn attrs(&self, op: Op) -> &Attrs {
        &self.ops[op.index()].attrs
    }

    /// One attribute.
    #[must_use]
    pub fn attr(&self, op: Op, name: &str) -> Option<&Attr> {
        self.ops[op.index()].attrs.get(name)
    }

    /// The attributes, to be changed.
    pub fn attrs_mut(&mut self, op: Op) -> &mut Attrs {
        &mut self.ops[op.index()].attrs
    }

    /// The blocks nested in an operation.
    #[must_use]
    pub fn regions(&self, op: Op) -> &[Block] {
        &self.ops[op.index()].regions
    }

    /// Where the text has the operation.
    #[must_use]
    pub fn location(&self, op: Op) -> Location {
        self.ops[op.index()].location
    }

    /// Says where the text has the operation.
    pub fn set_location(&mut self, op: Op, location: Location) {
        self.ops[op.index()].location = location;
    }

    /// The block an operation stands in; nothing once it is erased.
    #[must_use]
    pub fn block_of(&self, op: Op) -> Option<Block> {
        self.ops[op.index()].block
    }

    /// Whether an operation was erased.
    #[must_use]
    pub fn is_erased(&self, op: Op) -> bool {
        self.ops[op.index()].erased
    }

    /// The operation a block is nested in; nothing for the block of the functions.
    #[must_use]
    pub fn owner(&self, block: Block) -> Option<Op> {
        self.blocks[block.index()].owner
    }

    /// Arguments of a block.
    #[must_use]
    pub fn arguments(&self, block: Block) -> &[Value] {
        &self.blocks[block.index()].arguments
    }

    /// A value's type.
    #[must_use]
    pub fn ty(&self, value: Value) -> &Type {
        &self.values[value.index()].ty
    }

    /// Gives a value another type.
    pub fn set_ty(&mut self, value: Value, ty: Type) {
        self.values[value.index()].ty = ty;
    }

    /// Where a value comes from.
    #[must_use]
    pub fn source(&self, value: Value) -> Source {
        self.values[value.index()].source
    }

    /// The operation that gives a value; nothing for an argument.
    #[must_use]
    pub fn defining_op(&self, value: Value) -> Option<Op> {
        match self.source(value) {
            Source::Result { op, .. } => Some(op),
            Source::Argument { .. } => None,
        }
    }

    /// The name a value had in the text, without `%`.
    #[must_use]
    pub fn hint(&self, value: Value) -> Option<&str> {
        self.values[value.index()].hint.as_deref()
    }

    /// Names a value for the printer.
    pub fn set_hint(&mut self, value: Value, hint: Option<&str>) {
        self.values[value.index()].hint = hint.map(Into::into);
    }

    /// One more than the largest number of a value: the length of a table of values.
    #[must_use]
    pub fn n_values(&self) -> usize {
        self.values.len()
    }

    /// One more than the largest number of an operation, erased ones included.
    #[must_use]
    pub fn n_ops(&self) -> usize {
        self.ops.len()
    }

    fn new_value(&mut self, ty: Type, source: Source) -> Value {
        let value = Value::at(self.values.len());
        self.values.push(ValueData { ty, source, uses: Vec::new(), hint: None });
        value
    }
}
