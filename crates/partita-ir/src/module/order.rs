//! What stands before what.

use super::{Block, Module, Op, Source, Value};

/// Distance of neighbours when a block is numbered afresh: room for 32 insertions at one place.
const GAP: u64 = 1 << 32;

impl Module {
    /// Whether `a` stands before `b` in the same block.
    #[must_use]
    pub fn is_before(&self, a: Op, b: Op) -> bool {
        let (a, b) = (&self.ops[a.index()], &self.ops[b.index()]);
        a.block.is_some() && a.block == b.block && a.order < b.order
    }

    /// Whether `value` can be used by an operation that stands where `op` stands.
    ///
    /// # Cost
    /// The depth of nesting, not the length of blocks.
    #[must_use]
    pub fn dominates(&self, value: Value, op: Op) -> bool {
        match self.source(value) {
            Source::Argument { block, .. } => self.ancestor_in(op, block).is_some(),
            Source::Result { op: source, .. } => self
                .block_of(source)
                .and_then(|block| self.ancestor_in(op, block))
                .is_some_and(|ancestor| self.is_before(source, ancestor)),
        }
    }

    /// The operation of `block` that is `op` or has it nested inside.
    #[must_use]
    pub fn ancestor_in(&self, op: Op, block: Block) -> Option<Op> {
        let mut op = op;
        loop {
            let parent = self.block_of(op)?;
            if parent == block {
                return Some(op);
            }
            op = self.owner(parent)?;
        }
    }

    /// The function an operation stands in; itself, if it is one.
    #[must_use]
    pub fn function_of(&self, op: Op) -> Option<Op> {
        self.ancestor_in(op, self.top)
    }

    /// A number between two neighbours; the block is numbered afresh when there is none.
    pub(super) fn number(&mut self, op: Op) {
        let data = &self.ops[op.index()];
        let low = data.before.map_or(0, |before| self.ops[before.index()].order);
        let high = match data.after {
            Some(after) => self.ops[after.index()].order,
            None => low.saturating_add(2 * GAP),
        };
        if high - low > 1 {
            self.ops[op.index()].order = low + (high - low) / 2;
        } else if let Some(block) = data.block {
            self.renumber(block);
        }
    }

    fn renumber(&mut self, block: Block) {
        let mut next = self.blocks[block.index()].first;
        let mut order = GAP;
        while let Some(op) = next {
            self.ops[op.index()].order = order;
            order += GAP;
            next = self.ops[op.index()].after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::NewOp;
    use super::*;
    use crate::kind::OpKind;

    #[test]
    fn order_survives_many_insertions_at_one_place() {
        let mut module = Module::new();
        let top = module.top();
        let last = module.append(top, NewOp::new(OpKind::FuncReturn));
        let mut wanted = Vec::new();
        for _ in 0..500 {
            wanted.push(module.insert_before(last, NewOp::new(OpKind::FuncReturn)));
        }
        for pair in wanted.windows(2) {
            assert!(module.is_before(pair[0], pair[1]) && !module.is_before(pair[1], pair[0]));
        }
        assert!(module.is_before(wanted[499], last));
    }
}
