//! `overlap-comm-and-compute`: computes while data are under way.
//!
//! **In**: exchanges that are started and waited for at once, and loops that follow. **Out**: the
//! same, where an exchange is waited for right before the first operation that needs what it
//! brings; operations that do not need it, the cores of operators among them, come before.
//!
//! How: what follows a wait is walked in order. An operation is *late* if it uses what the exchange
//! brings, or uses what a late operation gives, or writes memory or may see a write that a late
//! operation would have come before. All others are moved in front of the wait, in their order.
//!
//! **Why it is right.** No operation passes another that gives what it uses. Only operations that
//! write nothing pass late ones, and only while no late operation writes memory that they may read:
//! a first late write to anything but a buffer that was made among the late operations ends the
//! walk. Operations that communicate pass nothing, so that ranks meet in the same order, and memory
//! that is being sent is not written before the wait, since writes never move.

use std::collections::HashSet;

use crate::kind::OpKind;
use crate::module::{Module, Op, Value};
use crate::passes::Options;
use crate::passes::memory::{Class, Memory};
use crate::table::Traits;

pub(super) fn run(module: &mut Module, _: &Options) {
    let mut memory = Memory::of(module);
    let waits: Vec<Op> = module
        .walk(module.top())
        .into_iter()
        .filter(|op| module.kind(*op) == OpKind::RuntimeWait)
        .collect();
    // The last first: a wait is passed by what may pass it, and then moved on as one of the late.
    for wait in waits.into_iter().rev() {
        delay(module, &mut memory, wait);
    }
}

fn delay(module: &mut Module, memory: &mut Memory, wait: Op) {
    let handle = module.operands(wait)[0];
    let Some(start) = module.defining_op(handle) else { return };
    let mut late: HashSet<Value> = module.results(start)[1..].iter().copied().collect();
    let mut own_buffers: HashSet<Value> = HashSet::new();
    let mut next = module.next_op(wait);
    while let Some(op) = next {
        next = module.next_op(op);
        let traits = module.kind(op).traits();
        let ends = traits.has(Traits::TERMINATOR)
            || !module.regions(op).is_empty()
            || traits.has(Traits::COMMUNICATES) && module.kind(op) != OpKind::RuntimeWait;
        if ends {
            return;
        }
        let is_late = module.operands(op).iter().any(|value| late.contains(value));
        if is_late || traits.has(Traits::WRITES) {
            late.extend(module.results(op).iter().copied());
            for class in memory.written(module, op) {
                match class {
                    Class::Own(root) if own_buffers.contains(&root) || late.contains(&root) => {}
                    // A buffer that was made early and is filled late: what reads it is late too.
                    Class::Own(root) if made_after(module, root, start) => {
                        late.insert(root);
                        own_buffers.insert(root);
                    }
                    _ => return,
                }
            }
            continue;
        }
        if reads_any(module, memory, op, &own_buffers) {
            late.extend(module.results(op).iter().copied());
            continue;
        }
        module.move_before(op, wait);
    }
}

fn made_after(module: &Module, root: Value, start: Op) -> bool {
    module.defining_op(root).is_some_and(|op| module.is_before(start, op))
}

/// Whether an operation looks at one of some buffers, through any view.
fn reads_any(module: &Module, memory: &mut Memory, op: Op, buffers: &HashSet<Value>) -> bool {
    let operands = module.operands(op).to_vec();
    operands.into_iter().any(|value| buffers.contains(&memory.root(module, value)))
}
