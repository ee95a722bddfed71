//! Which arrays may share memory, and what is written between two operations.
//!
//! Values that views lead to are *roots*. A root that is made afresh and goes nowhere else shares
//! memory with no other root; all others (arguments, what loops carry, what calls give) may share
//! memory with each other. Writes are counted per such class along each block; two operations with
//! the same count have no write to that class between them.

use std::collections::{HashMap, HashSet};

use crate::kind::OpKind;
use crate::module::{Block, Module, Op, Value};
use crate::table::Traits;

/// Arrays that may share memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Class {
    /// One array of its own.
    Own(Value),
    /// Any of those that are not known to be of their own.
    Shared,
}

/// Who shares memory with whom in a module.
#[derive(Debug, Default)]
pub(super) struct Memory {
    roots: HashMap<Value, Value>,
    escaped: HashSet<Value>,
}

impl Memory {
    pub(super) fn of(module: &Module) -> Self {
        let mut memory = Self::default();
        for op in module.walk(module.top()) {
            if lets_escape(module, op) {
                for operand in module.operands(op) {
                    let root = memory.root(module, *operand);
                    memory.escaped.insert(root);
                }
            }
            // In program order, so that roots of operands are there already.
            for result in module.results(op) {
                memory.root(module, *result);
            }
        }
        memory
    }

    /// The array that a value is a view of, through any number of views.
    pub(super) fn root(&mut self, module: &Module, value: Value) -> Value {
        let mut trail = Vec::new();
        let mut at = value;
        let root = loop {
            if let Some(root) = self.roots.get(&at) {
                break *root;
            }
            trail.push(at);
            match viewed(module, at) {
                Some(source) => at = source,
                None => break at,
            }
        };
        self.roots.extend(trail.into_iter().map(|value| (value, root)));
        root
    }

    pub(super) fn class(&mut self, module: &Module, value: Value) -> Class {
        let root = self.root(module, value);
        let fresh =
            module.defining_op(root).is_some_and(|op| module.kind(op).traits().has(Traits::FRESH));
        if fresh && !self.escaped.contains(&root) { Class::Own(root) } else { Class::Shared }
    }

    /// Classes that an operation, or one nested in it, writes; nothing known of calls.
    pub(super) fn written(&mut self, module: &Module, op: Op) -> Vec<Class> {
        let mut found = Vec::new();
        if !module.kind(op).traits().has(Traits::WRITES) && module.regions(op).is_empty() {
            return found;
        }
        let mut ops = vec![op];
        ops.extend(module.regions(op).iter().flat_map(|block| module.walk(*block)));
        for op in ops {
            let kind = module.kind(op);
            let traits = kind.traits();
            if !traits.has(Traits::WRITES) || kind == OpKind::RuntimeWait {
                continue;
            }
            found.push(match module.operands(op).first() {
                Some(first) if traits != Traits::UNKNOWN => self.class(module, *first),
                _ => Class::Shared,
            });
        }
        found
    }
}

/// What a value is a view of.
fn viewed(module: &Module, value: Value) -> Option<Value> {
    let op = module.defining_op(value)?;
    let kind = module.kind(op);
    let views = kind.traits().has(Traits::VIEW)
        || matches!(
            kind,
            OpKind::DistRepartition | OpKind::NdarrayReshape | OpKind::NdarrayCastElemtype
        );
    let is_array = |value: &&Value| module.ty(**value).as_scalar().is_none();
    if !views {
        return None;
    }
    if kind == OpKind::DistInitDistArray {
        // The owned part decides; halos are copies that nobody else knows.
        let parts = module.operand_group(op, 1);
        return parts.get(parts.len() / 2).copied();
    }
    module.operands(op).iter().find(is_array).copied()
}

/// Whether an operation hands its operands on to where they are not followed.
pub(super) fn lets_escape(module: &Module, op: Op) -> bool {
    let kind = module.kind(op);
    matches!(
        kind,
        OpKind::ScfFor
            | OpKind::ScfYield
            | OpKind::FuncCall
            | OpKind::Unknown
            | OpKind::ArithSelect
            | OpKind::RegionEnvRegion
            | OpKind::RegionEnvRegionYield
    )
}

/// How often each class has been written before each operation of a block.
#[derive(Debug)]
pub(super) struct Epochs {
    at: HashMap<Op, usize>,
    /// For each class, the places of the operations that write it, in order.
    writes: HashMap<Class, Vec<usize>>,
}

impl Epochs {
    pub(super) fn of(module: &Module, memory: &mut Memory, block: Block) -> Self {
        let mut epochs = Self { at: HashMap::new(), writes: HashMap::new() };
        for (place, op) in module.ops(block).enumerate() {
            epochs.at.insert(op, place);
            for class in memory.written(module, op) {
                epochs.writes.entry(class).or_default().push(place);
            }
        }
        epochs
    }

    /// Number of writes to a class before an operation; nothing for one of another block.
    pub(super) fn epoch(&self, class: Class, op: Op) -> Option<usize> {
        let place = self.at.get(&op)?;
        let writes = self.writes.get(&class).map_or(&[][..], Vec::as_slice);
        Some(writes.partition_point(|write| write < place))
    }

    /// The place in the block from which on a class has been written so often.
    pub(super) fn start(&self, class: Class, epoch: usize) -> usize {
        let writes = self.writes.get(&class).map_or(&[][..], Vec::as_slice);
        epoch.checked_sub(1).and_then(|last| writes.get(last)).map_or(0, |write| write + 1)
    }

    /// The epoch of an operation that stands nested in one of the block's.
    ///
    /// What is nested in an operation that writes the class has no epoch.
    pub(super) fn epoch_of_user(
        &self,
        module: &Module,
        block: Block,
        class: Class,
        user: Op,
    ) -> Option<usize> {
        let ancestor = module.ancestor_in(user, block)?;
        let epoch = self.epoch(class, ancestor)?;
        let writes_itself = self.writes.get(&class).is_some_and(|writes| {
            self.at.get(&ancestor).is_some_and(|place| writes.binary_search(place).is_ok())
        });
        (ancestor == user || !writes_itself).then_some(epoch)
    }
}
