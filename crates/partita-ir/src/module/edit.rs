//! Making, inserting, moving and erasing operations.

use std::sync::Arc;

use super::{Block, BlockData, Location, Module, Op, OpData, Source, Value};
use crate::attr::{Attr, Attrs, Name};
use crate::kind::OpKind;
use crate::types::Type;

/// What an operation is made of before it has a place.
#[derive(Debug, Clone)]
pub struct NewOp {
    /// What it is.
    pub kind: OpKind,
    /// Its name, if the table does not have it.
    pub name: Option<Arc<str>>,
    /// All operands, group after group.
    pub operands: Vec<Value>,
    /// Lengths of the operand groups, for operations where the number of operands does not say.
    pub segments: Option<Box<[u32]>>,
    /// Types of the results.
    pub results: Vec<Type>,
    /// Attributes.
    pub attrs: Attrs,
    /// Argument types of each nested block.
    pub regions: Vec<Vec<Type>>,
    /// Where the text has it.
    pub location: Location,
}

impl NewOp {
    /// An operation of a kind, with nothing.
    #[must_use]
    pub fn new(kind: OpKind) -> Self {
        Self {
            kind,
            name: None,
            operands: Vec::new(),
            segments: None,
            results: Vec::new(),
            attrs: Attrs::new(),
            regions: Vec::new(),
            location: Location::default(),
        }
    }

    /// An operation of any name; a known one gets its kind.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let kind = OpKind::from_name(name);
        let name = (kind == OpKind::Unknown).then(|| name.into());
        Self { name, ..Self::new(kind) }
    }

    /// With operands added at the end.
    #[must_use]
    pub fn operands(mut self, operands: &[Value]) -> Self {
        self.operands.extend_from_slice(operands);
        self
    }

    /// With operands in groups, each as long as it is.
    #[must_use]
    pub fn groups(mut self, groups: &[&[Value]]) -> Self {
        self.operands = groups.concat();
        let lengths = groups.iter().map(|group| u32::try_from(group.len()).unwrap_or(u32::MAX));
        self.segments = Some(lengths.collect());
        self
    }

    /// With one more result.
    #[must_use]
    pub fn result(mut self, ty: Type) -> Self {
        self.results.push(ty);
        self
    }

    /// With more results.
    #[must_use]
    pub fn results(mut self, types: impl IntoIterator<Item = Type>) -> Self {
        self.results.extend(types);
        self
    }

    /// With an attribute.
    #[must_use]
    pub fn attr(mut self, name: impl Into<Name>, value: Attr) -> Self {
        self.attrs.set(name, value);
        self
    }

    /// With a nested block.
    #[must_use]
    pub fn region(mut self, arguments: &[Type]) -> Self {
        self.regions.push(arguments.to_vec());
        self
    }
}

impl Module {
    /// Adds an operation at the end of a block.
    pub fn append(&mut self, block: Block, new: NewOp) -> Op {
        let op = self.make(new);
        self.link(op, block, self.blocks[block.index()].last);
        op
    }

    /// Adds an operation at the start of a block.
    pub fn prepend(&mut self, block: Block, new: NewOp) -> Op {
        let op = self.make(new);
        self.link(op, block, None);
        op
    }

    /// Adds an operation before another.
    ///
    /// # Panics
    /// If the other one was erased.
    pub fn insert_before(&mut self, place: Op, new: NewOp) -> Op {
        let op = self.make(new);
        self.link(op, self.standing(place), self.ops[place.index()].before);
        op
    }

    /// Adds an operation after another.
    ///
    /// # Panics
    /// If the other one was erased.
    pub fn insert_after(&mut self, place: Op, new: NewOp) -> Op {
        let op = self.make(new);
        self.link(op, self.standing(place), Some(place));
        op
    }

    /// Moves an operation before another. That its operands come first there is the caller's care.
    pub fn move_before(&mut self, op: Op, place: Op) {
        if op != place {
            self.unlink(op);
            self.link(op, self.standing(place), self.ops[place.index()].before);
        }
    }

    /// Moves an operation after another.
    pub fn move_after(&mut self, op: Op, place: Op) {
        if op != place {
            self.unlink(op);
            self.link(op, self.standing(place), Some(place));
        }
    }

    /// Erases an operation with what is nested in it.
    ///
    /// # Panics
    /// If a result is still used outside.
    pub fn erase(&mut self, op: Op) {
        for block in self.regions(op).to_vec() {
            while let Some(last) = self.blocks[block.index()].last {
                self.erase(last);
            }
        }
        let used = self.results(op).iter().find(|value| !self.is_unused(**value));
        assert!(used.is_none(), "{} has a result that is still used", self.name(op));
        for operand in 0..self.operands(op).len() {
            self.drop_use(op, operand);
        }
        self.unlink(op);
        let data = &mut self.ops[op.index()];
        data.operands.clear();
        data.places.clear();
        data.erased = true;
    }

    /// Adds an argument to a block.
    pub fn add_argument(&mut self, block: Block, ty: Type) -> Value {
        let number = u32::try_from(self.arguments(block).len()).expect("fewer than 2^32 arguments");
        let value = self.new_value(ty, Source::Argument { block, number });
        self.blocks[block.index()].arguments.push(value);
        value
    }

    /// Adds a nested block to an operation.
    pub fn add_region(&mut self, op: Op, arguments: &[Type]) -> Block {
        let block = Block::at(self.blocks.len());
        self.blocks.push(BlockData { owner: Some(op), ..BlockData::default() });
        for ty in arguments {
            self.add_argument(block, ty.clone());
        }
        self.ops[op.index()].regions.push(block);
        block
    }

    /// Adds a result to an operation.
    pub fn add_result(&mut self, op: Op, ty: Type) -> Value {
        let number = u32::try_from(self.results(op).len()).expect("fewer than 2^32 results");
        let value = self.new_value(ty, Source::Result { op, number });
        self.ops[op.index()].results.push(value);
        value
    }

    /// Replaces all operands; `segments` as in [`NewOp`].
    pub fn set_operands(&mut self, op: Op, operands: &[Value], segments: Option<&[u32]>) {
        for operand in 0..self.operands(op).len() {
            self.drop_use(op, operand);
        }
        let data = &mut self.ops[op.index()];
        data.operands = operands.to_vec();
        data.places = vec![0; operands.len()];
        data.segments = segments.map(Into::into);
        for operand in 0..operands.len() {
            self.add_use(op, operand);
        }
    }

    /// Makes it another operation with the same operands, results and attributes.
    pub fn set_kind(&mut self, op: Op, kind: OpKind) {
        let data = &mut self.ops[op.index()];
        data.kind = kind;
        data.name = None;
    }

    /// Makes it an operation that the table does not have, with the same operands and results.
    pub(crate) fn rename(&mut self, op: Op, name: &str) {
        let data = &mut self.ops[op.index()];
        data.kind = OpKind::Unknown;
        data.name = Some(name.into());
    }

    /// Takes a block's arguments away.
    ///
    /// # Panics
    /// If one is still used.
    pub(crate) fn clear_arguments(&mut self, block: Block) {
        let used = self.arguments(block).iter().find(|value| !self.is_unused(**value));
        assert!(used.is_none(), "an argument is still used");
        self.blocks[block.index()].arguments.clear();
    }

    fn standing(&self, op: Op) -> Block {
        self.block_of(op).expect("an operation that stands in a block")
    }

    fn make(&mut self, new: NewOp) -> Op {
        let op = Op::at(self.ops.len());
        self.ops.push(OpData {
            kind: new.kind,
            name: new.name,
            places: vec![0; new.operands.len()],
            operands: new.operands,
            segments: new.segments,
            results: Vec::with_capacity(new.results.len()),
            attrs: new.attrs,
            regions: Vec::new(),
            location: new.location,
            block: None,
            before: None,
            after: None,
            order: 0,
            erased: false,
        });
        for operand in 0..self.operands(op).len() {
            self.add_use(op, operand);
        }
        for ty in new.results {
            self.add_result(op, ty);
        }
        for arguments in new.regions {
            self.add_region(op, &arguments);
        }
        op
    }

    fn link(&mut self, op: Op, block: Block, before: Option<Op>) {
        let after = match before {
            Some(before) => self.ops[before.index()].after.replace(op),
            None => self.blocks[block.index()].first.replace(op),
        };
        match after {
            Some(after) => self.ops[after.index()].before = Some(op),
            None => self.blocks[block.index()].last = Some(op),
        }
        let data = &mut self.ops[op.index()];
        (data.block, data.before, data.after) = (Some(block), before, after);
        self.number(op);
    }

    fn unlink(&mut self, op: Op) {
        let data = &mut self.ops[op.index()];
        let (before, after) = (data.before.take(), data.after.take());
        let Some(block) = data.block.take() else { return };
        match before {
            Some(before) => self.ops[before.index()].after = after,
            None => self.blocks[block.index()].first = after,
        }
        match after {
            Some(after) => self.ops[after.index()].before = before,
            None => self.blocks[block.index()].last = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;

    fn three() -> (Module, Block, [Op; 3]) {
        let mut module = Module::new();
        let f = module.add_function("f", &[], &[]);
        let body = module.body(f).expect("a body");
        let mut b = Builder::at_end(&mut module, body);
        let (one, two) = (b.index(1), b.index(2));
        let sum = b.addi(one, two);
        let ops = [one, two, sum].map(|value| module.defining_op(value).expect("an operation"));
        (module, body, ops)
    }

    #[test]
    fn moving_keeps_the_list_whole() {
        let (mut module, body, [one, two, sum]) = three();
        module.move_before(two, one);
        assert_eq!(module.ops(body).collect::<Vec<_>>(), [two, one, sum]);
        module.move_after(two, one);
        assert_eq!(module.ops(body).collect::<Vec<_>>(), [one, two, sum]);
        module.move_after(two, two);
        assert!(module.is_before(one, two) && module.is_before(two, sum));
    }

    #[test]
    fn erasing_gives_the_uses_back() {
        let (mut module, body, [one, two, sum]) = three();
        module.erase(sum);
        assert!(module.is_unused(module.result(one)) && module.is_erased(sum));
        module.erase(two);
        module.erase(one);
        assert_eq!(module.ops(body).count(), 0);
    }

    #[test]
    #[should_panic(expected = "still used")]
    fn a_used_operation_is_not_erased() {
        let (mut module, _, [one, ..]) = three();
        module.erase(one);
    }

    #[test]
    fn replacing_uses_keeps_every_place() {
        let (mut module, _, [one, two, sum]) = three();
        let (one, two) = (module.result(one), module.result(two));
        module.replace_uses(two, one);
        assert_eq!(module.operands(sum), [one, one]);
        assert_eq!(module.uses(one).len(), 2);
        module.set_operand(sum, 0, two);
        module.set_operand(sum, 1, two);
        assert!(module.is_unused(one));
        assert_eq!(module.users(two), [sum]);
    }

    #[test]
    fn dominance_reaches_into_nested_blocks_and_not_out() {
        let (mut module, body, [one, ..]) = three();
        let mut b = Builder::at_end(&mut module, body);
        let (low, high, step) = (b.index(0), b.index(4), b.index(1));
        let (_, inner) = b.for_loop(low, high, step, &[]);
        let mut b = Builder::at_end(&mut module, inner);
        let inside = b.index(9);
        b.yield_(&[]);
        let inside_op = module.defining_op(inside).expect("an operation");
        assert!(module.dominates(module.result(one), inside_op));
        assert!(module.dominates(module.arguments(inner)[0], inside_op));
        assert!(!module.dominates(inside, one));
        assert!(!module.dominates(inside, inside_op));
    }
}
