//! A program lowered to steps over tiles.
//!
//! Values live in *slots*: an input's elements, a constant repeated, or a register that several
//! values use one after another. Constants are folded by computing tiles of one element.

use super::functions::{self, Function};
use super::sequence::sequence;
use crate::dtype::{Dtype, Kind};
use crate::math::Level;
use crate::program::{Instruction, Op, Program, Scalar, Value};

/// Where a slot's elements come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Source {
    /// An input buffer.
    Input(usize),
    /// A number of the program.
    Constant(Scalar),
    /// A number of the call.
    Scalar(usize),
    /// Positions along an axis.
    Index(usize),
    /// A step.
    Register,
}

/// A tile, and the size of the largest element that lies in it.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    /// Where its elements come from.
    pub source: Source,
    /// Bytes of an element.
    pub size: usize,
}

/// One tile function with its slots.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// The loop.
    pub function: Function,
    /// The slots it reads; unused ones repeat the first.
    pub from: [u16; 3],
    /// The slot it writes, which it does not read.
    pub to: u16,
    /// What it computes, for those who compute it otherwise.
    pub op: Op,
    /// Type of the operands.
    pub operand: Dtype,
    /// Type of the result.
    pub result: Dtype,
}

/// A lowered program.
#[derive(Debug, Clone, Default)]
pub struct Code {
    /// All tiles.
    pub slots: Vec<Slot>,
    /// What is done for every tile, in order.
    pub steps: Vec<Step>,
    /// The slot of every output; registers among them belong to that output alone.
    pub outputs: Vec<u16>,
}

impl Code {
    /// Lowers a verified program.
    pub fn new(program: &Program, level: Level) -> Code {
        let mut lowering = Lowering {
            program,
            level,
            code: Code::default(),
            slot: vec![None; program.instructions.len()],
            uses: count_uses(program),
            free: Vec::new(),
            is_output: false,
        };
        for at in sequence(program, &lowering.uses) {
            lowering.lower(at);
        }
        let slots = &lowering.slot;
        let slot = |value: Value| slots[value.0 as usize].unwrap_or_default();
        lowering.code.outputs = program.outputs.iter().map(|o| slot(o.value)).collect();
        lowering.code
    }
}

/// How often each value is used; outputs count once more, so that their slots are never freed.
pub(super) fn count_uses(program: &Program) -> Vec<usize> {
    let mut uses = vec![0; program.instructions.len()];
    for output in &program.outputs {
        uses[output.value.0 as usize] += 1;
    }
    for (at, instruction) in program.instructions.iter().enumerate().rev() {
        if uses[at] > 0 {
            for operand in &instruction.operands[..instruction.op.n_operands()] {
                uses[operand.0 as usize] += 1;
            }
        }
    }
    uses
}

struct Lowering<'a> {
    program: &'a Program,
    level: Level,
    code: Code,
    slot: Vec<Option<u16>>,
    uses: Vec<usize>,
    free: Vec<u16>,
    /// Whether the current instruction makes an output, whose register serves nothing else: it may
    /// be the output's own memory.
    is_output: bool,
}

impl Lowering<'_> {
    fn lower(&mut self, at: usize) {
        let instruction = self.program.instructions[at];
        self.is_output = self.program.outputs.iter().any(|o| o.value.0 as usize == at);
        let slot = match instruction.op {
            Op::Input => {
                self.source(Source::Input(instruction.operands[0].0 as usize), &instruction)
            }
            Op::Scalar => {
                self.source(Source::Scalar(instruction.operands[0].0 as usize), &instruction)
            }
            Op::Index => {
                self.source(Source::Index(instruction.operands[0].0 as usize), &instruction)
            }
            Op::Constant => {
                let constant = self.program.constants[instruction.operands[0].0 as usize];
                self.source(Source::Constant(constant), &instruction)
            }
            _ => self.compute(&instruction),
        };
        self.slot[at] = Some(slot);
        for operand in &instruction.operands[..instruction.op.n_operands()] {
            self.release(*operand);
        }
    }

    fn compute(&mut self, instruction: &Instruction) -> u16 {
        let n_operands = instruction.op.n_operands();
        let mut from = [0; 3];
        for (slot, operand) in from.iter_mut().zip(&instruction.operands[..n_operands]) {
            *slot = self.slot[operand.0 as usize].unwrap_or_default();
        }
        let first = from[0];
        from[n_operands..].fill(first);
        let operand = self.program.dtype(instruction.operands[n_operands - 1]);
        let half = operand.kind() == Kind::Float && operand.size() == 2;
        if half && functions::in_float32(instruction.op) {
            return self.widened(instruction, from);
        }
        self.step(instruction.op, operand, instruction.dtype, from)
    }

    /// A function of half precision: the operands become float32, the result is rounded.
    fn widened(&mut self, instruction: &Instruction, from: [u16; 3]) -> u16 {
        let half = instruction.dtype;
        let mut wide = [0; 3];
        for i in 0..3 {
            wide[i] = match (0..i).find(|&j| from[j] == from[i]) {
                Some(same) => wide[same],
                None => self.step(Op::Cast, half, Dtype::Float32, [from[i]; 3]),
            };
        }
        let result = self.step(instruction.op, Dtype::Float32, Dtype::Float32, wide);
        let narrow = self.step(Op::Cast, Dtype::Float32, half, [result; 3]);
        let mut spent = vec![wide[0], wide[1], wide[2], result];
        spent.sort_unstable();
        spent.dedup();
        spent.retain(|&slot| self.code.slots[slot as usize].source == Source::Register);
        self.free.extend(spent);
        narrow
    }

    fn step(&mut self, op: Op, operand: Dtype, result: Dtype, from: [u16; 3]) -> u16 {
        let function = functions::find(op, operand, result, self.level)
            .unwrap_or_else(|| unreachable!("verified: {op:?} takes {operand}"));
        let constants = from.map(|slot| self.code.slots[slot as usize].source);
        if let [Source::Constant(x), Source::Constant(y), Source::Constant(z)] = constants {
            let folded = fold(function, [x, y, z], result);
            return self.add(Source::Constant(folded), result.size());
        }
        let to = self.register(result.size());
        self.code.steps.push(Step { function, from, to, op, operand, result });
        to
    }

    fn source(&mut self, source: Source, instruction: &Instruction) -> u16 {
        let same = self.code.slots.iter().position(|slot| slot.source == source);
        match same {
            Some(slot) => slot as u16,
            None => self.add(source, instruction.dtype.size()),
        }
    }

    fn register(&mut self, size: usize) -> u16 {
        match self.free.pop_if(|_| !self.is_output) {
            Some(slot) => {
                let slot_size = &mut self.code.slots[slot as usize].size;
                *slot_size = size.max(*slot_size);
                slot
            }
            None => self.add(Source::Register, size),
        }
    }

    fn add(&mut self, source: Source, size: usize) -> u16 {
        self.code.slots.push(Slot { source, size });
        (self.code.slots.len() - 1) as u16
    }

    fn release(&mut self, value: Value) {
        let at = value.0 as usize;
        self.uses[at] -= 1;
        if self.uses[at] == 0
            && let Some(slot) = self.slot[at]
            && self.code.slots[slot as usize].source == Source::Register
        {
            self.free.push(slot);
        }
    }
}

/// The result of a function of constants.
fn fold(function: Function, from: [Scalar; 3], dtype: Dtype) -> Scalar {
    #[repr(align(16))]
    struct Aligned([u8; 16]);
    let [x, y, z] = from.map(|s| Aligned(s.bytes));
    let mut out = Aligned([0; 16]);
    let (x, y, z, to) = (x.0.as_ptr(), y.0.as_ptr(), z.0.as_ptr(), out.0.as_mut_ptr());
    // SAFETY: every tile has one element of at most 16 bytes.
    unsafe { function.call([x, y, z], to, 1) };
    Scalar::from_bytes(dtype, &out.0)
}
