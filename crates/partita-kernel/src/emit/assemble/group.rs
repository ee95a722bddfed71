//! Several rows at once: memory gives more when several places are read and written in turns, and
//! a line that neighbouring rows share is brought in once.
//!
//! Pointers move along the rows of the first of the group; the others are reached by steps, which
//! lie in registers behind the pointers: once and three times each.

use super::registers::{Body, POINTERS};
use super::{Emitter, Place, Result};
use crate::emit::access::GROUP;
use iced_x86::code_asm::registers::{gpr32::eax, gpr64::*};
use iced_x86::code_asm::{AsmRegister64, CodeLabel, qword_ptr};
use iced_x86::{MemoryOperand, Register};

impl Emitter<'_> {
    /// Step registers: two for every different step.
    pub fn n_step_registers(&self) -> usize {
        match (self.access.grouped, self.access.second) {
            (false, _) => 0,
            (true, 0) => 2,
            (true, _) => 4,
        }
    }

    /// The registers of a slot's step: once and three times.
    fn step(&self, slot: u16) -> [(AsmRegister64, Register); 2] {
        let second = self.access.second >> self.pointer_place(slot) & 1 == 1;
        let first = self.slots.len() + 2 * usize::from(second);
        [POINTERS[first], POINTERS[first + 1]]
    }

    /// Loads the steps from the table in rcx, which the first pointer takes over later.
    pub fn load_steps(&mut self) -> Result<()> {
        for slot in self.slots.clone() {
            let [once, thrice] = self.step(slot).map(|s| s.0);
            self.a.mov(once, qword_ptr(rcx + 8 * i32::from(slot)))?;
            self.a.lea(thrice, qword_ptr(once + once * 2))?;
        }
        Ok(())
    }

    /// A place of one row of the group.
    pub fn in_group(&self, slot: u16, n_bytes: i64, row: usize) -> MemoryOperand {
        let pointer = self.pointer(slot).1;
        let [once, thrice] = self.step(slot).map(|s| s.1);
        let (index, scale) = match row {
            0 => return MemoryOperand::with_base_displ(pointer, n_bytes),
            1 => (once, 1),
            2 => (once, 2),
            _ => (thrice, 1),
        };
        let size = u32::from(n_bytes != 0);
        MemoryOperand::with_base_index_scale_displ_size(pointer, index, scale, n_bytes, size)
    }

    /// A group of rows: lines that are not whole, whole lines, the rest.
    pub fn group(&mut self) -> Result<()> {
        let per_line = (64 / self.shape.lane) as i32;
        let [mut head, mut whole, mut main, mut last, mut partial, mut done] =
            [(); 6].map(|()| self.a.create_label());
        self.a.xor(eax, eax)?;
        if self.access.streams {
            self.a.set_label(&mut head)?;
            self.count_to_line()?;
            self.a.jne(partial)?;
        }
        self.a.set_label(&mut whole)?;
        self.a.lea(rdx, qword_ptr(rax + per_line))?;
        self.a.cmp(rdx, rsi)?;
        self.a.ja(last)?;
        self.a.set_label(&mut main)?;
        self.lines()?;
        self.a.add(rax, per_line)?;
        self.a.lea(rdx, qword_ptr(rax + per_line))?;
        self.a.cmp(rdx, rsi)?;
        self.a.jbe(main)?;
        self.a.set_label(&mut last)?;
        self.a.mov(rdx, rsi)?;
        self.a.sub(rdx, rax)?;
        self.a.je(done)?;
        self.a.set_label(&mut partial)?;
        self.mask()?;
        for row in 0..GROUP {
            self.body(Place { row, offset: 0, partial: true })?;
        }
        self.move_on(|a, pointer, size| a.lea(pointer, qword_ptr(pointer + rdx * size)))?;
        self.a.add(rax, rdx)?;
        self.a.cmp(rax, rsi)?;
        self.a.jb(if self.access.streams { head } else { whole })?;
        self.a.set_label(&mut done)
    }

    /// One line of every row.
    fn lines(&mut self) -> Result<()> {
        let per_line = (64 / self.shape.lane) as i32;
        for row in 0..GROUP {
            if self.shape.wide {
                self.body(Place { row, offset: 0, partial: false })?;
            } else {
                self.pair(row)?;
            }
        }
        self.move_on(|a, pointer, size| a.add(pointer, per_line * size))
    }

    /// Moves the pointers of all slots that have an element for every point.
    fn move_on(
        &mut self,
        by: impl Fn(&mut iced_x86::code_asm::CodeAssembler, AsmRegister64, i32) -> Result<()>,
    ) -> Result<()> {
        for slot in self.slots.clone() {
            if !self.is_repeated(slot) {
                let (pointer, size) = (self.pointer(slot).0, self.slot_size(slot) as i32);
                by(&mut self.a, pointer, size)?;
            }
        }
        Ok(())
    }

    /// Moves all pointers to the first row of the next group, as long as rows are left.
    pub fn next_group(&mut self, row: CodeLabel) -> Result<()> {
        let mut done = self.a.create_label();
        self.a.sub(qword_ptr(rsp), GROUP as i32)?;
        self.a.je(done)?;
        self.a.mov(r10, rsi)?;
        self.a.neg(r10)?;
        self.move_on(|a, pointer, size| a.lea(pointer, qword_ptr(pointer + r10 * size)))?;
        for slot in self.slots.clone() {
            let (pointer, once) = (self.pointer(slot).0, self.step(slot)[0].0);
            self.a.lea(pointer, qword_ptr(pointer + once * GROUP as i32))?;
        }
        self.a.jmp(row)?;
        self.a.set_label(&mut done)
    }

    /// Two halves of a line. Where registers suffice they are written beside each other: a line
    /// that waits for its other half may leave as two.
    pub fn pair(&mut self, row: usize) -> Result<()> {
        let [first, second] =
            [0, self.shape.n_lanes()].map(|offset| Place { row, offset, partial: false });
        if !self.access.streams || self.shape.wide || !self.segment.fits_pair() {
            self.body(first)?;
            return self.body(second);
        }
        let mut one = self.values(first, (0..self.n_free()).rev().collect())?;
        let waits = self.results(&one);
        let free = (0..self.n_free()).rev().filter(|r| !waits.contains(r)).collect();
        let mut two = self.values(second, free)?;
        for store in 0..self.segment.stores.len() {
            self.store(&mut one, store, first)?;
            self.store(&mut two, store, second)?;
        }
        Ok(())
    }

    /// The registers that wait to be stored.
    fn results(&self, body: &Body) -> Vec<usize> {
        self.segment.stores.iter().filter_map(|s| body.nodes[s.1]).collect()
    }
}
