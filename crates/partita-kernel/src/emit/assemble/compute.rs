//! Where operands lie, and which registers are free again.

use super::registers::{Body, most_resident};
use super::{Emitter, Place, Result};
use crate::emit::codes;
use crate::emit::segment::{Node, Operand, gives_bool};
use iced_x86::{Code, Instruction};

impl Emitter<'_> {
    pub fn compute(&mut self, body: &mut Body, at: usize, node: &Node, place: Place) -> Result<()> {
        let operands = &node.from[..node.n_from];
        if node.widens() {
            let to = body.take();
            body.nodes[at] = Some(to);
            return self.load_halves(node, to, place);
        }
        if let Some(code) = self.folds(body, node, place) {
            return self.fold_load(body, at, node, code, place);
        }
        let mut registers = [0; 3];
        let mut spent = Vec::new();
        for (i, &operand) in operands.iter().enumerate() {
            let (register, free) = self.operand(body, operand, place)?;
            registers[i] = register;
            if free {
                spent.push(register);
            }
        }
        let to = body.take();
        self.operate(body, node, to, registers)?;
        body.free.extend(spent);
        body.nodes[at] = Some(to);
        self.release(body, operands);
        Ok(())
    }

    /// The register that holds an operand, and whether it must be freed after use.
    pub fn operand(
        &mut self,
        body: &mut Body,
        operand: Operand,
        place: Place,
    ) -> Result<(usize, bool)> {
        match operand {
            Operand::Node(node) => Ok((body.nodes[node].unwrap_or_default(), false)),
            Operand::Memory(slot) => {
                if let Some(known) = body.loaded.iter().find(|l| l.0 == slot) {
                    return Ok((known.1, false));
                }
                let register = self.load(body, slot, place)?;
                if self.reloads {
                    return Ok((register, true));
                }
                body.loaded.push((slot, register));
                Ok((register, false))
            }
            number => {
                let place = self.residents.iter().position(|&r| r == number).unwrap_or_default();
                if place < most_resident(self.shape) {
                    return Ok((self.resident_register(place), false));
                }
                let register = body.take();
                self.load_number(number, register)?;
                Ok((register, true))
            }
        }
    }

    /// The instruction that can read the last operand from memory, if nobody keeps it.
    pub fn folds(&self, body: &Body, node: &Node, place: Place) -> Option<Code> {
        let Operand::Memory(slot) = node.from[1] else {
            return None;
        };
        let once = self.reloads || self.segment.uses(node.from[1]) == 1;
        let plain =
            !place.partial && !self.segment.byte_slots.contains(&slot) && !self.is_repeated(slot);
        let loaded = body.loaded.iter().any(|l| l.0 == slot);
        if node.n_from != 2 || !once || !plain || loaded || gives_bool(node) {
            return None;
        }
        codes::two(node.op, node.dtype, self.shape)
    }

    pub fn fold_load(
        &mut self,
        body: &mut Body,
        at: usize,
        node: &Node,
        code: Code,
        place: Place,
    ) -> Result<()> {
        let Operand::Memory(slot) = node.from[1] else { return Ok(()) };
        let (first, free) = self.operand(body, node.from[0], place)?;
        let memory = self.element(slot, self.shape.lane, place)?;
        let to = body.take();
        self.add(Instruction::with3(code, self.vector(to), self.vector(first), memory)?)?;
        if free {
            body.free.push(first);
        }
        body.nodes[at] = Some(to);
        self.release(body, &node.from[..1]);
        Ok(())
    }

    pub fn release(&self, body: &mut Body, operands: &[Operand]) {
        for (i, &operand) in operands.iter().enumerate() {
            if operands[..i].contains(&operand) {
                continue;
            }
            let now = operands.iter().filter(|&&o| o == operand).count();
            let known = body.left.iter().position(|l| l.0 == operand).unwrap_or_else(|| {
                body.left.push((operand, self.segment.uses(operand)));
                body.left.len() - 1
            });
            body.left[known].1 -= now;
            if body.left[known].1 > 0 {
                continue;
            }
            match operand {
                Operand::Node(node) => body.free.extend(body.nodes[node]),
                Operand::Memory(slot) => {
                    let loaded = body.loaded.iter().find(|l| l.0 == slot);
                    body.free.extend(loaded.map(|l| l.1));
                }
                _ => {}
            }
        }
    }
}
