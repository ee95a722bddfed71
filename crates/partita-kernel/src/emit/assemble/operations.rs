//! What is done with vectors, by operation.

use super::registers::{Body, SCRATCH_MASK};
use super::{Emitter, Result, memory::masked};
use crate::dtype::Kind;
use crate::emit::codes;
use crate::emit::segment::{Node, gives_bool};
use crate::program::Op;
use iced_x86::{Code, Instruction, Register};

impl Emitter<'_> {
    pub fn operate(
        &mut self,
        body: &mut Body,
        node: &Node,
        to: usize,
        from: [usize; 3],
    ) -> Result<()> {
        let shape = self.shape;
        let [x, y, z] = from.map(|r| self.vector(r));
        let out = self.vector(to);
        let float = node.dtype.kind() == Kind::Float;
        match node.op {
            Op::Where => self.select(out, x, y, z),
            Op::Cast if node.narrows() => {
                let half = Register::YMM0 + to as u32;
                match codes::cast(node.dtype, node.result) {
                    Some(code) => self.add(Instruction::with2(code, half, x)?),
                    None => Ok(()),
                }
            }
            Op::Cast => self.add(Instruction::with2(shape.of(codes::TO_FLOAT), out, x)?),
            Op::FusedMultiplyAdd => {
                self.add(Instruction::with2(shape.of(codes::LOAD), out, x)?)?;
                self.add(Instruction::with3(shape.of(codes::FUSED), out, y, z)?)
            }
            Op::Minimum if float => self.extreme(body, codes::MINIMUM, out, x, y),
            Op::Maximum if float => self.extreme(body, codes::MAXIMUM, out, x, y),
            _ if gives_bool(node) && node.dtype.kind() != Kind::Bool => {
                self.compare(body, node, out, x, y)
            }
            op if node.n_from == 1 => {
                let Some((code, immediate)) = codes::one(op, shape) else { return Ok(()) };
                self.add(match immediate {
                    Some(byte) => Instruction::with3(code, out, x, byte)?,
                    None => Instruction::with2(code, out, x)?,
                })
            }
            op => match codes::two(op, node.dtype, shape) {
                Some(code) => self.add(Instruction::with3(code, out, x, y)?),
                None => Ok(()),
            },
        }
    }

    /// `y` where the lanes of `x` are ones, `z` elsewhere.
    pub fn select(&mut self, out: Register, x: Register, y: Register, z: Register) -> Result<()> {
        let blend = self.shape.of(codes::BLEND);
        if !self.shape.wide {
            return self.add(Instruction::with4(blend, out, z, y, x)?);
        }
        let to_mask = self.shape.of(codes::LANES_TO_MASK);
        self.add(Instruction::with2(to_mask, SCRATCH_MASK, x)?)?;
        self.add(masked(Instruction::with3(blend, out, z, y)?, SCRATCH_MASK, false))
    }

    /// The instruction gives the second of equals and of NaN; a NaN that comes first is kept.
    pub fn extreme(
        &mut self,
        body: &mut Body,
        codes: [Code; 4],
        out: Register,
        x: Register,
        y: Register,
    ) -> Result<()> {
        let (shape, blend) = (self.shape, self.shape.of(codes::BLEND));
        let compare = shape.of(codes::COMPARE);
        let unordered = 3_u32;
        if shape.wide {
            self.add(Instruction::with4(compare, SCRATCH_MASK, x, x, unordered)?)?;
            self.add(Instruction::with3(shape.of(codes), out, x, y)?)?;
            return self.add(masked(Instruction::with3(blend, out, out, x)?, SCRATCH_MASK, false));
        }
        let mask = body.take();
        let lanes = self.vector(mask);
        self.add(Instruction::with4(compare, lanes, x, x, unordered)?)?;
        self.add(Instruction::with3(shape.of(codes), out, x, y)?)?;
        self.add(Instruction::with4(blend, out, out, x, lanes)?)?;
        body.free.push(mask);
        Ok(())
    }

    pub fn compare(
        &mut self,
        body: &mut Body,
        node: &Node,
        out: Register,
        x: Register,
        y: Register,
    ) -> Result<()> {
        let shape = self.shape;
        let kind = node.dtype.kind();
        if kind == Kind::Float {
            let predicate = codes::float_predicate(node.op).unwrap_or_default();
            let code = shape.of(codes::COMPARE);
            if !shape.wide {
                return self.add(Instruction::with4(code, out, x, y, predicate)?);
            }
            self.add(Instruction::with4(code, SCRATCH_MASK, x, y, predicate)?)?;
        } else if shape.wide {
            let signed = kind == Kind::Signed;
            let codes = if signed { codes::COMPARE_SIGNED } else { codes::COMPARE_UNSIGNED };
            let predicate = codes::integer_predicate(node.op).unwrap_or_default();
            self.add(Instruction::with4(shape.of(codes), SCRATCH_MASK, x, y, predicate)?)?;
        } else {
            return self.compare_integers(body, node.op, out, x, y);
        }
        self.add(Instruction::with2(shape.of(codes::MASK_TO_LANES), out, SCRATCH_MASK)?)
    }

    /// AVX2 has only equal and greater: the others swap, and negate.
    pub fn compare_integers(
        &mut self,
        body: &mut Body,
        op: Op,
        out: Register,
        x: Register,
        y: Register,
    ) -> Result<()> {
        let (equal, greater) = (self.shape.of(codes::EQUAL), self.shape.of(codes::GREATER));
        let (code, first, second, negate) = match op {
            Op::Equal => (equal, x, y, false),
            Op::NotEqual => (equal, x, y, true),
            Op::Greater => (greater, x, y, false),
            Op::Less => (greater, y, x, false),
            Op::LessEqual => (greater, x, y, true),
            _ => (greater, y, x, true),
        };
        self.add(Instruction::with3(code, out, first, second)?)?;
        if negate {
            let number = body.take();
            let ones = self.vector(number);
            self.add(Instruction::with3(equal, ones, ones, ones)?)?;
            self.add(Instruction::with3(self.shape.of(codes::XOR), out, out, ones)?)?;
            body.free.push(number);
        }
        Ok(())
    }
}
