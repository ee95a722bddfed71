//! Repartitions give copies, and passes look at their sources instead: this keeps the two apart.
//!
//! What a repartition gives shares no memory with its source, on any number of ranks. Passes still
//! fetch only what is missing and look at the rest where it is, which nobody can tell as long as
//! neither of the two is written while the other one is read. A repartition of which that is not
//! certain gets a copy of its own to look at.

use std::collections::HashMap;

use crate::builder::Builder;
use crate::kind::OpKind;
use crate::module::{Block, Module, NewOp, Op, Value};
use crate::passes::memory::{Epochs, Memory, lets_escape};
use crate::table::Traits;
use crate::types::{DistEnv, Type};

/// Gives a copy to every repartition that might be told from one.
pub(super) fn separate(module: &mut Module) {
    let ops = module.walk(module.top());
    let moves: Vec<Op> =
        ops.into_iter().filter(|op| module.kind(*op) == OpKind::DistRepartition).collect();
    if moves.is_empty() {
        return;
    }
    let mut memory = Memory::of(module);
    let mut epochs: HashMap<Block, Epochs> = HashMap::new();
    let mut shared = Vec::new();
    for op in moves {
        let Some(block) = module.block_of(op) else { continue };
        let epochs = epochs.entry(block).or_insert_with(|| Epochs::of(module, &mut memory, block));
        if !is_copy(module, module.operands(op)[0])
            && !is_only_read(module, &mut memory, epochs, op)
        {
            shared.push(op);
        }
    }
    for op in shared {
        let source = module.operands(op)[0];
        let ty = somewhere(module.ty(source));
        let copy = NewOp::new(OpKind::NdarrayCopy).operands(&[source]).result(ty);
        let copy = Builder::before(module, op).value(copy);
        module.set_operand(op, 0, copy);
    }
}

/// Whether an array is a copy that nobody else looks at.
fn is_copy(module: &Module, value: Value) -> bool {
    let copied = module.defining_op(value).map(|op| module.kind(op));
    copied == Some(OpKind::NdarrayCopy) && module.uses(value).len() == 1
}

/// Whether the result of a repartition, and every view of it, is only read, and nothing is written
/// meanwhile that may share memory with its source.
fn is_only_read(module: &Module, memory: &mut Memory, epochs: &Epochs, op: Op) -> bool {
    let Some(block) = module.block_of(op) else { return false };
    let class = memory.class(module, module.operands(op)[0]);
    let epoch = epochs.epoch(class, op);
    let mut waiting = module.results(op).to_vec();
    while let Some(value) = waiting.pop() {
        for user in module.uses(value) {
            let traits = module.kind(user.op).traits();
            let writes = traits.has(Traits::WRITES) && user.operand == 0;
            let leaves = lets_escape(module, user.op)
                || traits.has(Traits::TERMINATOR) && !ends_program(module, user.op);
            let same = epochs.epoch_of_user(module, block, class, user.op) == epoch;
            if writes || leaves || !same {
                return false;
            }
            let is_array = |value: &&Value| module.ty(**value).shape().is_some();
            if !traits.has(Traits::FRESH) {
                waiting.extend(module.results(user.op).iter().filter(is_array));
            }
        }
    }
    true
}

/// Whether a return hands values to whoever runs the program, who gets copies.
fn ends_program(module: &Module, op: Op) -> bool {
    let calls = |op: &Op| module.kind(*op) == OpKind::FuncCall;
    module.kind(op) == OpKind::FuncReturn && !module.walk(module.top()).iter().any(calls)
}

/// The type of an array in places that are not known.
fn somewhere(ty: &Type) -> Type {
    let (Some(array), Some(env)) = (ty.as_array(), ty.dist()) else { return ty.clone() };
    let (team, ndim) = (env.team.clone(), array.shape.len());
    let mut new = array.clone();
    new.set_dist(Some(match &env.grid {
        Some(grid) => DistEnv::unknown_on(team, ndim, grid.clone()),
        None => DistEnv::unknown(team, ndim),
    }));
    new.into()
}
