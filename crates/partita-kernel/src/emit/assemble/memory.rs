//! Loads and stores.

use super::registers::{Body, LAST_LANES, LAST_MASK, SCRATCH_MASK};
use super::{Emitter, Place, Result};
use crate::emit::codes;
use crate::emit::segment::{Form, Node, Operand};
use iced_x86::code_asm::registers::{gpr32::*, gpr64::*};
use iced_x86::code_asm::{dword_ptr, qword_ptr};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

const LINE: usize = 64;
/// How far ahead lines are asked for, in bytes: memory takes about as long as computing so many.
const AHEAD: usize = 512;

impl Emitter<'_> {
    /// Whether one element of a slot serves the whole row.
    pub fn is_repeated(&self, slot: u16) -> bool {
        self.access.repeated >> self.pointer_place(slot) & 1 == 1
    }

    /// Bytes from one element of a slot to the next.
    pub fn slot_size(&self, slot: u16) -> usize {
        let stored = self.segment.stores.iter().find(|s| s.0 == slot).map(|s| s.2);
        match stored.unwrap_or_else(|| self.segment.read_form(slot)) {
            Form::Lanes => self.shape.lane,
            Form::Halves => self.shape.lane / 2,
            Form::Bytes => 1,
        }
    }

    /// The elements of a slot at a place.
    pub fn element(&mut self, slot: u16, size: usize, place: Place) -> Result<MemoryOperand> {
        self.further(slot, size, place, 0)
    }

    /// As [`Emitter::element`], some bytes further on.
    fn further(
        &mut self,
        slot: u16,
        size: usize,
        place: Place,
        n_bytes: usize,
    ) -> Result<MemoryOperand> {
        let n_bytes = (place.offset * size + n_bytes) as i64;
        if self.access.grouped {
            return Ok(self.in_group(slot, n_bytes, place.row));
        }
        Ok(MemoryOperand::with_base_index_scale_displ_size(
            self.point(slot)?.1,
            Register::RAX,
            size as u32,
            n_bytes,
            u32::from(n_bytes > 0),
        ))
    }

    /// The only element of a slot that serves a whole row.
    fn repeated_element(&mut self, slot: u16, row: usize) -> Result<MemoryOperand> {
        match self.access.grouped {
            true => Ok(self.in_group(slot, 0, row)),
            false => Ok(MemoryOperand::with_base(self.point(slot)?.1)),
        }
    }

    /// Asks for lines further on of the slots that want it, once per line.
    pub fn ask_ahead(&mut self, place: Place) -> Result<()> {
        let n_bytes = place.offset * self.shape.lane;
        if place.partial || !n_bytes.is_multiple_of(LINE) {
            return Ok(());
        }
        for (i, slot) in self.slots.clone().into_iter().enumerate() {
            if self.access.ahead >> i & 1 == 1 {
                let memory = self.further(slot, self.slot_size(slot), place, AHEAD)?;
                self.add(Instruction::with1(Code::Prefetcht0_m8, memory)?)?;
            }
        }
        Ok(())
    }

    /// Writes the result of one of the segment's stores.
    pub fn store(&mut self, body: &mut Body, store: usize, place: Place) -> Result<()> {
        let (slot, node, form) = self.segment.stores[store];
        let from = body.nodes[node].unwrap_or_default();
        match form {
            Form::Bytes => return self.store_bytes(body, slot, from, place),
            Form::Halves => return self.store_halves(slot, from, place),
            Form::Lanes => {}
        }
        let memory = self.element(slot, self.shape.lane, place)?;
        let vector = self.vector(from);
        let streams = self.access.streams && !place.partial;
        let code = self.shape.of(if streams { codes::STREAM } else { codes::STORE });
        let instruction = match (place.partial, self.shape.wide) {
            (true, true) => masked(Instruction::with2(code, memory, vector)?, LAST_MASK, false),
            (true, false) => {
                let code = self.shape.of(codes::STORE_FIRST);
                Instruction::with3(code, memory, self.vector(LAST_LANES), vector)?
            }
            _ => Instruction::with2(code, memory, vector)?,
        };
        self.add(instruction)
    }

    /// Lanes of ones and zeros become bytes of one and zero. With AVX2 all lanes are written,
    /// also those beyond the last: such slots are tiles with room behind them.
    pub fn store_bytes(
        &mut self,
        body: &mut Body,
        slot: u16,
        from: usize,
        place: Place,
    ) -> Result<()> {
        let memory = self.element(slot, 1, place)?;
        if !self.shape.wide {
            self.add(Instruction::with2(
                self.shape.of(codes::SIGNS),
                Register::R10D,
                self.vector(from),
            )?)?;
            let (pointer, _) = self.pointer(slot);
            let displacement = place.offset as i32;
            // The mask of the bytes' lowest bits lies in no register: it is made where needed.
            self.a.push(rdx)?;
            self.a.mov(rdx, 0x0101_0101_0101_0101_u64)?;
            self.a.pdep(r10, r10, rdx)?;
            self.a.pop(rdx)?;
            return match self.shape.lane {
                8 => self.a.mov(dword_ptr(pointer + rax + displacement), r10d),
                _ => self.a.mov(qword_ptr(pointer + rax + displacement), r10),
            };
        }
        let bytes = body.take();
        let (wide, bytes_register) = (self.vector(from), self.narrow(bytes));
        let to_mask = self.shape.of(codes::LANES_TO_MASK);
        self.add(Instruction::with2(to_mask, SCRATCH_MASK, wide)?)?;
        self.add(Instruction::with2(Code::EVEX_Vpmovm2b_xmm_kr, bytes_register, SCRATCH_MASK)?)?;
        let absolute = Code::EVEX_Vpabsb_xmm_k1z_xmmm128;
        self.add(Instruction::with2(absolute, bytes_register, bytes_register)?)?;
        let store = Code::EVEX_Vmovdqu8_xmmm128_k1z_xmm;
        let instruction = match (place.partial, self.shape.lane) {
            (true, _) => {
                masked(Instruction::with2(store, memory, bytes_register)?, LAST_MASK, false)
            }
            (false, 4) => Instruction::with2(store, memory, bytes_register)?,
            _ => Instruction::with2(Code::EVEX_Vmovq_xmmm64_xmm, memory, bytes_register)?,
        };
        self.add(instruction)?;
        body.free.push(bytes);
        Ok(())
    }

    /// The lower half of a vector, which holds numbers of half a lane; only with AVX-512.
    fn store_halves(&mut self, slot: u16, from: usize, place: Place) -> Result<()> {
        let memory = self.element(slot, self.shape.lane / 2, place)?;
        let half = Register::YMM0 + from as u32;
        let store = Instruction::with2(Code::EVEX_Vmovups_ymmm256_k1z_ymm, memory, half)?;
        self.add(if place.partial { masked(store, LAST_MASK, false) } else { store })
    }

    /// Numbers of half a lane become lanes while they are loaded; only with AVX-512.
    pub fn load_halves(&mut self, node: &Node, to: usize, place: Place) -> Result<()> {
        let (Operand::Memory(slot), Some(code)) =
            (node.from[0], codes::cast(node.dtype, node.result))
        else {
            return Ok(());
        };
        let memory = self.element(slot, self.shape.lane / 2, place)?;
        let load = Instruction::with2(code, self.vector(to), memory)?;
        self.add(if place.partial { masked(load, LAST_MASK, true) } else { load })
    }

    pub fn load(&mut self, body: &mut Body, slot: u16, place: Place) -> Result<usize> {
        let to = body.take();
        let vector = self.vector(to);
        if self.segment.byte_slots.contains(&slot) {
            self.load_bytes(body, slot, to, place)?;
            return Ok(to);
        }
        if self.is_repeated(slot) {
            let memory = self.repeated_element(slot, place.row)?;
            self.add(Instruction::with2(self.shape.of(codes::BROADCAST), vector, memory)?)?;
            return Ok(to);
        }
        let memory = self.element(slot, self.shape.lane, place)?;
        let code = self.shape.of(codes::LOAD);
        let instruction = match (place.partial, self.shape.wide) {
            (true, true) => masked(Instruction::with2(code, vector, memory)?, LAST_MASK, true),
            (true, false) => {
                let code = self.shape.of(codes::LOAD_FIRST);
                Instruction::with3(code, vector, self.vector(LAST_LANES), memory)?
            }
            _ => Instruction::with2(code, vector, memory)?,
        };
        self.add(instruction)?;
        Ok(to)
    }

    /// Bytes become lanes of ones where they are not zero.
    pub fn load_bytes(
        &mut self,
        body: &mut Body,
        slot: u16,
        to: usize,
        place: Place,
    ) -> Result<()> {
        let memory = self.element(slot, 1, place)?;
        let vector = self.vector(to);
        let widen = Instruction::with2(self.shape.of(codes::WIDEN_BYTES), vector, memory)?;
        if self.shape.wide {
            let widen = if place.partial { masked(widen, LAST_MASK, true) } else { widen };
            self.add(widen)?;
            let test = self.shape.of(codes::TEST);
            self.add(Instruction::with3(test, SCRATCH_MASK, vector, vector)?)?;
            let lanes = self.shape.of(codes::MASK_TO_LANES);
            return self.add(Instruction::with2(lanes, vector, SCRATCH_MASK)?);
        }
        self.add(widen)?;
        let zero = body.take();
        let zeros = self.vector(zero);
        self.add(Instruction::with3(self.shape.of(codes::XOR), zeros, zeros, zeros)?)?;
        // Bytes are below 256 and hence not negative: not zero is above zero.
        self.add(Instruction::with3(self.shape.of(codes::GREATER), vector, vector, zeros)?)?;
        body.free.push(zero);
        Ok(())
    }
}

/// An instruction under a mask; lanes outside become zero or stay.
pub fn masked(mut instruction: Instruction, mask: Register, zeroing: bool) -> Instruction {
    instruction.set_op_mask(mask);
    instruction.set_zeroing_masking(zeroing);
    instruction
}
