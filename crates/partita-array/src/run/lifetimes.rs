//! When values of a function are used for the last time, so that their memory can go.

use std::collections::HashMap;

use partita_ir::{Block, Module, Op, Source, Value};

use super::steady::Steady;

/// Which values go after which operation.
#[derive(Debug, Default)]
pub(super) struct Lifetimes {
    ends: HashMap<Op, Vec<Value>>,
}

impl Lifetimes {
    /// Those of a function; what is steady is kept for the next turn.
    pub fn new(module: &Module, function: Op, steady: &Steady) -> Self {
        let mut lifetimes = Self::default();
        if let Some(body) = module.body(function) {
            lifetimes.visit(module, body, steady);
        }
        lifetimes
    }

    /// Values that nobody needs after an operation.
    pub fn after(&self, op: Op) -> &[Value] {
        self.ends.get(&op).map_or(&[], Vec::as_slice)
    }

    fn visit(&mut self, module: &Module, block: Block, steady: &Steady) {
        let mut places: HashMap<Op, usize> = HashMap::new();
        for (place, op) in module.ops(block).enumerate() {
            places.insert(op, place);
        }
        for &argument in module.arguments(block) {
            self.note(module, block, argument, &places);
        }
        for op in module.ops(block) {
            for &result in module.results(op).iter().filter(|_| !steady.has_numbers(op)) {
                self.note(module, block, result, &places);
            }
            module.regions(op).iter().for_each(|region| self.visit(module, *region, steady));
        }
    }

    fn note(&mut self, module: &Module, block: Block, value: Value, places: &HashMap<Op, usize>) {
        let users = module.uses(value).iter().filter_map(|one| lifted(module, one.op, block));
        let last = users.max_by_key(|op| places.get(op).copied());
        let last = last.or(match module.source(value) {
            Source::Result { op, .. } => Some(op),
            Source::Argument { .. } => None,
        });
        if let Some(last) = last {
            self.ends.entry(last).or_default().push(value);
        }
    }
}

/// The operation of a block in which a use is nested.
fn lifted(module: &Module, mut op: Op, block: Block) -> Option<Op> {
    loop {
        let own = module.block_of(op)?;
        if own == block {
            return Some(op);
        }
        op = module.owner(own)?;
    }
}
