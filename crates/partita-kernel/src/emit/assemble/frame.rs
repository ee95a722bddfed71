//! What surrounds the loops: saved registers, pointers, rows, masks, numbers behind the code.

use super::registers::{LAST_LANES, LAST_MASK, N_FREE_POINTERS, POINTERS, most_resident};
use super::{Emitter, Result};
use crate::emit::codes;
use crate::emit::segment::{N_POINTERS, Operand};
use iced_x86::code_asm::registers::{gpr32::*, gpr64::*};
use iced_x86::code_asm::{AsmRegister64, CodeLabel, qword_ptr};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

impl Emitter<'_> {
    /// Saves registers, the steps and the number of rows, loads pointers and numbers.
    pub fn enter(&mut self, pool: CodeLabel) -> Result<()> {
        for &(register, _) in self.saved() {
            self.a.push(register)?;
        }
        for &slot in self.slots.clone().iter().skip(N_POINTERS) {
            self.a.push(qword_ptr(rdi + 8 * i32::from(slot)))?;
        }
        self.a.push(rcx)?;
        self.a.push(rdx)?;
        self.a.lea(r11, qword_ptr(pool))?;
        if self.access.grouped {
            self.load_steps()?;
        }
        for (i, &slot) in self.slots.clone().iter().enumerate().take(N_POINTERS) {
            self.a.mov(POINTERS[i].0, qword_ptr(rdi + 8 * i32::from(slot)))?;
        }
        for i in 0..self.residents.len().min(most_resident(self.shape)) {
            let register = self.resident_register(i);
            self.load_number(self.residents[i], register)?;
        }
        Ok(())
    }

    fn saved(&self) -> &'static [(AsmRegister64, Register)] {
        let n_used = self.slots.len() + self.n_step_registers();
        &POINTERS[N_FREE_POINTERS..n_used.clamp(N_FREE_POINTERS, N_POINTERS)]
    }

    /// Moves all pointers by their steps, as long as rows are left.
    pub fn next_row(&mut self, row: CodeLabel) -> Result<()> {
        let mut done = self.a.create_label();
        self.a.sub(qword_ptr(rsp), 1)?;
        self.a.je(done)?;
        self.a.mov(r10, qword_ptr(rsp + 8))?;
        for (i, &slot) in self.slots.clone().iter().enumerate() {
            let step = qword_ptr(r10 + 8 * i32::from(slot));
            if i < N_POINTERS {
                self.a.add(POINTERS[i].0, step)?;
            } else {
                let far = self.far(i);
                self.a.mov(rdx, step)?;
                self.a.add(qword_ptr(rsp + far), rdx)?;
            }
        }
        self.a.jmp(row)?;
        self.a.set_label(&mut done)
    }

    pub fn leave(&mut self) -> Result<()> {
        self.a.vzeroupper()?;
        self.a.pop(rdx)?;
        self.a.pop(rcx)?;
        if self.n_far() > 0 {
            let n_bytes = 8 * self.n_far() as i32;
            self.a.add(rsp, n_bytes)?;
        }
        for &(register, _) in self.saved().iter().rev() {
            self.a.pop(register)?;
        }
        self.a.ret()
    }

    /// Numbers of eight bytes, then as many ones as a vector has lanes, then zeros.
    pub fn data(&mut self) -> Result<()> {
        if !self.pool.is_empty() {
            self.a.dq(&self.pool)?;
        }
        let words = self.shape.n_bytes() / 8;
        self.a.dq(&vec![u64::MAX; words])?;
        self.a.dq(&vec![0; words])
    }

    /// rdx: elements up to the first output's next line; sets the zero flag.
    pub fn count_to_line(&mut self) -> Result<()> {
        let first = self.segment.stores[0].0;
        let (pointer, _) = self.point(first)?;
        // The pointers of a group move along; those of a row stay, and the index moves.
        if self.access.grouped {
            self.a.mov(rdx, pointer)?;
        } else {
            self.a.lea(rdx, qword_ptr(pointer + rax * self.shape.lane as i32))?;
        }
        self.a.neg(rdx)?;
        self.a.and(edx, 63)?;
        self.a.shr(edx, self.shape.lane.trailing_zeros())
    }

    /// rdx becomes the lanes of a partial vector: at most as many as there are elements left and
    /// as a vector has; the mask is set.
    pub fn mask(&mut self) -> Result<()> {
        let n_lanes = self.shape.n_lanes() as i32;
        self.a.mov(r10, rsi)?;
        self.a.sub(r10, rax)?;
        self.a.cmp(rdx, r10)?;
        self.a.cmova(rdx, r10)?;
        self.a.mov(r10d, n_lanes)?;
        self.a.cmp(rdx, r10)?;
        self.a.cmova(rdx, r10)?;
        if self.shape.wide {
            self.a.mov(r10d, -1)?;
            self.a.bzhi(r10d, r10d, edx)?;
            let move_mask = Code::VEX_Kmovd_kr_r32;
            return self.add(Instruction::with2(move_mask, LAST_MASK, Register::R10D)?);
        }
        // Ones lie before zeros: loaded so that as many ones come first as lanes are wanted.
        self.a.sub(r10, rdx)?;
        let memory = MemoryOperand::with_base_index_scale_displ_size(
            Register::R11,
            Register::R10,
            self.shape.lane as u32,
            8 * self.pool.len() as i64,
            1,
        );
        let load = Code::VEX_Vmovdqu_ymm_ymmm256;
        self.add(Instruction::with2(load, self.vector(LAST_LANES), memory)?)
    }

    /// Loads a constant or scalar into all lanes.
    pub fn load_number(&mut self, number: Operand, to: usize) -> Result<()> {
        let memory = match number {
            Operand::Constant(bits) => {
                let place = self.pool.iter().position(|&p| p == bits).unwrap_or_default();
                MemoryOperand::with_base_displ(Register::R11, 8 * place as i64)
            }
            Operand::Scalar(slot) => {
                self.a.mov(r10, qword_ptr(rdi + 8 * i32::from(slot)))?;
                MemoryOperand::with_base(Register::R10)
            }
            _ => return Ok(()),
        };
        self.add(Instruction::with2(self.shape.of(codes::BROADCAST), self.vector(to), memory)?)
    }
}
