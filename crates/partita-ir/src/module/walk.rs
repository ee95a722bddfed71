//! Operations in order.

use super::{Block, Module, Op};

/// The operations of one block, first to last.
#[derive(Debug, Clone)]
pub struct Ops<'a> {
    module: &'a Module,
    next: Option<Op>,
}

impl Iterator for Ops<'_> {
    type Item = Op;

    fn next(&mut self) -> Option<Op> {
        let op = self.next?;
        self.next = self.module.ops[op.index()].after;
        Some(op)
    }
}

impl Module {
    /// The operations of a block, first to last, without those nested in them.
    #[must_use]
    pub fn ops(&self, block: Block) -> Ops<'_> {
        Ops { module: self, next: self.blocks[block.index()].first }
    }

    /// The last operation of a block.
    #[must_use]
    pub fn last_op(&self, block: Block) -> Option<Op> {
        self.blocks[block.index()].last
    }

    /// The operation after this one in its block.
    #[must_use]
    pub fn next_op(&self, op: Op) -> Option<Op> {
        self.ops[op.index()].after
    }

    /// The operation before this one in its block.
    #[must_use]
    pub fn previous_op(&self, op: Op) -> Option<Op> {
        self.ops[op.index()].before
    }

    /// All operations of a block and of blocks nested there, in the order of the text.
    ///
    /// A list rather than an iterator, so that a pass may change the module on its way; it asks
    /// [`Module::is_erased`] where it erases.
    #[must_use]
    pub fn walk(&self, block: Block) -> Vec<Op> {
        let mut found = Vec::new();
        self.walk_into(block, &mut found);
        found
    }

    fn walk_into(&self, block: Block, found: &mut Vec<Op>) {
        for op in self.ops(block) {
            found.push(op);
            for region in self.regions(op) {
                self.walk_into(*region, found);
            }
        }
    }
}
