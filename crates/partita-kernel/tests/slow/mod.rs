//! A slow evaluator: one element at a time, by plain rules, for comparing with.
//!
//! Elementary functions are asked of the portable machine, one element at a time: their accuracy
//! is tested apart. Reductions of floating numbers are bounded, everything else is exact.

pub mod cases;
pub mod number;
pub mod operations;
pub mod reductions;

use number::Number;
use partita_kernel::{Op, Program, Scalar};

/// The values of all instructions at one point.
pub fn evaluate(
    program: &Program,
    scalars: &[Scalar],
    point: &[usize],
    input: impl Fn(usize) -> Number,
) -> Vec<Number> {
    let mut values: Vec<Number> = Vec::new();
    for instruction in &program.instructions {
        let number = instruction.operands[0].0 as usize;
        let value = match instruction.op {
            Op::Input => input(number),
            Op::Scalar => Number::read(&scalars[number].bytes, scalars[number].dtype),
            Op::Constant => {
                let constant = program.constants[number];
                Number::read(&constant.bytes, constant.dtype)
            }
            Op::Index => Number::Int(point[number] as i128),
            op => {
                let operands: Vec<Number> = instruction.operands[..op.n_operands()]
                    .iter()
                    .map(|v| values[v.0 as usize])
                    .collect();
                let last = instruction.operands[op.n_operands() - 1];
                operations::apply(op, program.dtype(last), instruction.dtype, &operands)
            }
        };
        values.push(value);
    }
    values
}
