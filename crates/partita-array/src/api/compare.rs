//! Signed integers beside unsigned ones of 64 bits, compared as numbers: no type holds both, and
//! the nearest floating-point numbers of different integers may be equal.

use partita_kernel::{Dtype, Op};

use super::error::Result;
use super::function::{Function, Operand};
use super::number::Number;
use crate::local::{Array, Engine};

/// The comparison, if it is one of such integers.
pub(super) fn exactly(op: Op, engine: &Engine, operands: &[Operand<'_>]) -> Option<Result<Array>> {
    let [Operand::Array(left), Operand::Array(right)] = operands else { return None };
    let (signed, unsigned, op) = match (left.dtype(), right.dtype()) {
        (Dtype::Int64, Dtype::UInt64) => (left, right, op),
        (Dtype::UInt64, Dtype::Int64) => (right, left, turned(op)?),
        _ => return None,
    };
    // Negative numbers are below all unsigned ones; the others are such numbers themselves.
    let (sign, join, compare) = match op {
        Op::Less => (LESS, OR, LESS),
        Op::LessEqual => (LESS, OR, Function::known("less_equal")),
        Op::NotEqual => (LESS, OR, Function::known("not_equal")),
        Op::Greater => (NOT_LESS, AND, Function::known("greater")),
        Op::GreaterEqual => (NOT_LESS, AND, NOT_LESS),
        Op::Equal => (NOT_LESS, AND, Function::known("equal")),
        _ => return None,
    };
    let compared = || {
        let sign =
            sign.apply(engine, &[Operand::Array(signed), Operand::Number(Number::Int(0))])?;
        let same = engine.cast(signed, Dtype::UInt64)?;
        let found = compare.apply(engine, &[Operand::Array(&same), Operand::Array(unsigned)])?;
        join.apply(engine, &[Operand::Array(&sign), Operand::Array(&found)])
    };
    Some(compared())
}

const LESS: &Function = Function::known("less");
const NOT_LESS: &Function = Function::known("greater_equal");
const OR: &Function = Function::known("logical_or");
const AND: &Function = Function::known("logical_and");

/// The comparison with its operands in the other order.
fn turned(op: Op) -> Option<Op> {
    Some(match op {
        Op::Less => Op::Greater,
        Op::LessEqual => Op::GreaterEqual,
        Op::Greater => Op::Less,
        Op::GreaterEqual => Op::LessEqual,
        Op::Equal | Op::NotEqual => op,
        _ => return None,
    })
}
