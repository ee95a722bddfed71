//! The order in which values are computed: simple operations before functions.
//!
//! A function is a pass over a tile of its own, and what lies between two functions is a loop.
//! Operations that could be computed earlier come before the next function, so that there are fewer
//! loops; functions that could be computed together come together, so that one of them is computed
//! while the divisions of another are waited for.

use super::functions::is_long;
use crate::program::{Op, Program};

/// Instructions behind the first that has to wait which are looked at.
const WINDOW: usize = 64;
/// How many of them go before it: each may need a tile in the first cache.
const MOST_AHEAD: usize = 8;

/// The instructions whose values are used, operands always before what is made of them.
pub fn sequence(program: &Program, uses: &[usize]) -> Vec<usize> {
    let used: Vec<usize> = (0..program.instructions.len()).filter(|&at| uses[at] > 0).collect();
    let long = |at: usize| is_long(program.instructions[at].op, program.instructions[at].dtype);
    if !used.iter().any(|&at| long(at)) {
        return used;
    }
    let mut waiting = used;
    let mut sequence = Sequence {
        program,
        is_done: vec![false; program.instructions.len()],
        order: Vec::with_capacity(waiting.len()),
    };
    while !waiting.is_empty() {
        sequence.take(&mut waiting, |at| !long(at));
        sequence.take(&mut waiting, long);
    }
    sequence.order
}

struct Sequence<'a> {
    program: &'a Program,
    is_done: Vec<bool>,
    order: Vec<usize>,
}

impl Sequence<'_> {
    /// Takes what is wanted and has its operands out of the first that wait.
    fn take(&mut self, waiting: &mut Vec<usize>, wanted: impl Fn(usize) -> bool) {
        let (mut n_seen, mut n_ahead) = (0, 0);
        waiting.retain(|&at| {
            let is_near = n_seen < WINDOW && n_ahead < MOST_AHEAD;
            if is_near && wanted(at) && self.is_ready(at) {
                n_ahead += usize::from(n_seen > 0);
                self.is_done[at] = true;
                self.order.push(at);
                return false;
            }
            n_seen += 1;
            true
        });
    }

    fn is_ready(&self, at: usize) -> bool {
        let instruction = &self.program.instructions[at];
        let operands = match instruction.op {
            // Theirs are numbers of something else.
            Op::Input | Op::Scalar | Op::Constant | Op::Index => &[],
            op => &instruction.operands[..op.n_operands()],
        };
        operands.iter().all(|operand| self.is_done[operand.0 as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::super::code::count_uses;
    use super::*;
    use crate::dtype::Dtype;
    use crate::program::Builder;

    /// The operations of a program in the order in which they are computed.
    fn order(program: &Program) -> Vec<Op> {
        let all = sequence(program, &count_uses(program));
        let ops = all.into_iter().map(|at| program.instructions[at].op);
        ops.filter(|op| op.n_operands() > 0).collect()
    }

    #[test]
    fn simple_operations_go_before_functions() {
        let mut build = Builder::new(1);
        let x = build.input(Dtype::Float64);
        let first = build.apply(Op::Log, &[x]);
        let second = build.apply(Op::Negative, &[x]);
        let second = build.apply(Op::Exp, &[second]);
        let sum = build.apply(Op::Add, &[first, second]);
        build.store(sum);
        let program = build.finish();
        assert_eq!(order(&program), [Op::Negative, Op::Log, Op::Exp, Op::Add]);
    }

    #[test]
    fn not_too_much_goes_ahead() {
        let mut build = Builder::new(1);
        let x = build.input(Dtype::Float64);
        let made: Vec<_> = (0..30)
            .map(|_| {
                let negative = build.apply(Op::Negative, &[x]);
                build.apply(Op::Sin, &[negative])
            })
            .collect();
        made.into_iter().for_each(|value| {
            build.store(value);
        });
        let program = build.finish();
        let order = order(&program);
        assert_eq!(order.len(), 60);
        let n_first = order.iter().take_while(|op| **op == Op::Negative).count();
        assert!((2..=MOST_AHEAD + 1).contains(&n_first), "{order:?}");
    }
}
