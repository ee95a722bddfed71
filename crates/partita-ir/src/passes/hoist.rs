//! Moving index arithmetic up, so that a box is known where it is needed.

use crate::module::{Module, Op, Value};
use crate::table::Traits;
use crate::types::Type;

/// Most operations that are moved for one value.
const LIMIT: usize = 256;

/// Moves what gives some index values before a place, with all that they depend on.
///
/// Nothing is moved unless everything can be: each operation depends on its operands alone, gives
/// only numbers, and what it depends on in the end stands before the place already.
pub(super) fn hoist(module: &mut Module, values: &[Value], place: Op) -> bool {
    let mut order = Vec::new();
    if !values.iter().all(|value| collect(module, *value, place, &mut order)) {
        return false;
    }
    for op in order {
        module.move_before(op, place);
    }
    true
}

fn collect(module: &Module, value: Value, place: Op, order: &mut Vec<Op>) -> bool {
    if module.dominates(value, place) {
        return true;
    }
    let Some(op) = module.defining_op(value) else { return false };
    if order.contains(&op) {
        return true;
    }
    let numbers =
        module.results(op).iter().all(|result| matches!(module.ty(*result), Type::Scalar(_)));
    let movable = module.kind(op).traits().has(Traits::PURE)
        && numbers
        && module.block_of(op) == module.block_of(place)
        && op != place
        && order.len() < LIMIT;
    let operands = module.operands(op).to_vec();
    let ready = movable && operands.iter().all(|operand| collect(module, *operand, place, order));
    if ready {
        order.push(op);
    }
    ready
}
