//! Which register holds what.

use super::{Emitter, Result};
use crate::emit::codes::Shape;
use crate::emit::segment::{N_POINTERS, Operand};
use iced_x86::Register;
use iced_x86::code_asm::registers::gpr64::*;
use iced_x86::code_asm::{AsmRegister64, qword_ptr};

/// Pointers to elements; the first three need not be saved.
pub const POINTERS: [(AsmRegister64, Register); N_POINTERS] = [
    (rcx, Register::RCX),
    (r8, Register::R8),
    (r9, Register::R9),
    (rbx, Register::RBX),
    (rbp, Register::RBP),
    (r12, Register::R12),
    (r13, Register::R13),
    (r14, Register::R14),
    (r15, Register::R15),
];
pub const N_FREE_POINTERS: usize = 3;
/// The mask of a partial vector.
pub const LAST_MASK: Register = Register::K7;
/// The same without AVX-512: lanes of ones and zeros.
pub const LAST_LANES: usize = 15;
pub const SCRATCH_MASK: Register = Register::K1;

/// Numbers that stay in registers; the others are loaded where they are used.
pub fn most_resident(shape: Shape) -> usize {
    if shape.wide { 12 } else { 5 }
}

/// Which registers hold what, within one body.
pub struct Body {
    pub free: Vec<usize>,
    pub nodes: Vec<Option<usize>>,
    pub loaded: Vec<(u16, usize)>,
    /// How often an operand is still to be used.
    pub left: Vec<(Operand, usize)>,
}

impl Body {
    pub fn new(free: Vec<usize>, n_nodes: usize) -> Body {
        Body { free, nodes: vec![None; n_nodes], loaded: Vec::new(), left: Vec::new() }
    }

    /// A free register; a segment that fits always has one.
    pub fn take(&mut self) -> usize {
        self.free.pop().expect("segments are cut where registers end")
    }
}

impl Emitter<'_> {
    pub fn vector(&self, number: usize) -> Register {
        let first = if self.shape.wide { Register::ZMM0 } else { Register::YMM0 };
        first + number as u32
    }

    pub fn narrow(&self, number: usize) -> Register {
        Register::XMM0 + number as u32
    }

    pub fn resident_register(&self, i: usize) -> usize {
        (if self.shape.wide { 31 } else { LAST_LANES - 1 }) - i
    }

    /// Registers that numbers have left for values.
    pub fn n_free(&self) -> usize {
        self.resident_register(self.residents.len().min(most_resident(self.shape))) + 1
    }

    /// The place of a slot among the pointers.
    pub fn pointer_place(&self, slot: u16) -> usize {
        self.slots.iter().position(|&s| s == slot).unwrap_or_default()
    }

    /// The register of a slot that is known to have one.
    pub fn pointer(&self, slot: u16) -> (AsmRegister64, Register) {
        POINTERS[self.pointer_place(slot)]
    }

    /// A register that points to a slot's elements: its own, or a scratch one that is loaded now
    /// and holds only until the next instruction.
    pub fn point(&mut self, slot: u16) -> Result<(AsmRegister64, Register)> {
        let place = self.pointer_place(slot);
        if place < N_POINTERS {
            return Ok(POINTERS[place]);
        }
        let far = self.far(place);
        self.a.mov(r10, qword_ptr(rsp + far))?;
        Ok((r10, Register::R10))
    }

    /// Slots whose pointers lie on the stack.
    pub fn n_far(&self) -> usize {
        self.slots.len().saturating_sub(N_POINTERS)
    }

    /// Where the pointer of such a slot lies, above the number of rows and the table of steps.
    pub fn far(&self, place: usize) -> i32 {
        16 + 8 * (self.slots.len() - 1 - place) as i32
    }
}
