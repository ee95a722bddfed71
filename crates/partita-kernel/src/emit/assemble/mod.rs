//! A segment as machine code; README.md beside this folder has the plan of registers and loops.
//!
//! This file has the loop over one row, `group.rs` the one over several; `frame.rs` what surrounds them, `memory.rs` loads and stores,
//! `compute.rs` where operands lie, `operations.rs` what is done with them.

mod compute;
mod frame;
mod group;
mod memory;
mod operations;
mod registers;

pub use registers::most_resident;

use super::access::Access;
use super::codes::Shape;
use super::segment::{Operand, Segment};
use iced_x86::code_asm::registers::{gpr32::eax, gpr64::*};
use iced_x86::code_asm::{CodeAssembler, qword_ptr};
use iced_x86::{IcedError, Instruction};
use registers::Body;

type Result<T> = std::result::Result<T, IcedError>;

/// The code of a segment, a function of the type [`super::Entry`].
pub fn assemble(segment: &Segment, access: Access) -> Result<Vec<u8>> {
    let residents = segment.residents();
    let constant = |r: &Operand| if let Operand::Constant(bits) = r { Some(*bits) } else { None };
    let mut emitter = Emitter {
        a: CodeAssembler::new(64)?,
        slots: segment.slots(),
        pool: residents.iter().filter_map(constant).collect(),
        residents,
        reloads: segment.reloads(),
        segment,
        shape: segment.shape,
        access,
    };
    emitter.function()?;
    emitter.a.assemble(0)
}

struct Emitter<'a> {
    a: CodeAssembler,
    segment: &'a Segment,
    shape: Shape,
    access: Access,
    /// Whether elements are loaded anew for every use.
    reloads: bool,
    slots: Vec<u16>,
    residents: Vec<Operand>,
    pool: Vec<u64>,
}

/// Which vector of the loop a body computes.
#[derive(Clone, Copy)]
struct Place {
    /// Row of a group.
    row: usize,
    /// Lanes after the index.
    offset: usize,
    /// Only the lanes of the mask.
    partial: bool,
}

impl Emitter<'_> {
    fn function(&mut self) -> Result<()> {
        let (mut pool, mut row) = (self.a.create_label(), self.a.create_label());
        self.enter(pool)?;
        self.a.set_label(&mut row)?;
        if self.access.grouped {
            self.group()?;
            self.next_group(row)?;
        } else {
            self.row()?;
            self.next_row(row)?;
        }
        self.leave()?;
        self.a.set_label(&mut pool)?;
        self.data()
    }

    /// One row: lines that are not whole, pairs of vectors, single vectors, the rest.
    fn row(&mut self) -> Result<()> {
        let n_lanes = self.shape.n_lanes() as i32;
        let [mut head, mut whole, mut main, mut single, mut last, mut partial, mut done] =
            [(); 7].map(|()| self.a.create_label());
        self.a.xor(eax, eax)?;
        if self.access.streams {
            self.a.set_label(&mut head)?;
            self.count_to_line()?;
            self.a.jne(partial)?;
        }
        self.a.set_label(&mut whole)?;
        self.a.lea(rdx, qword_ptr(rax + 2 * n_lanes))?;
        self.a.cmp(rdx, rsi)?;
        self.a.ja(single)?;
        self.a.set_label(&mut main)?;
        self.pair(0)?;
        self.a.add(rax, 2 * n_lanes)?;
        self.a.lea(rdx, qword_ptr(rax + 2 * n_lanes))?;
        self.a.cmp(rdx, rsi)?;
        self.a.jbe(main)?;
        self.a.set_label(&mut single)?;
        self.a.lea(rdx, qword_ptr(rax + n_lanes))?;
        self.a.cmp(rdx, rsi)?;
        self.a.ja(last)?;
        self.body(Place { row: 0, offset: 0, partial: false })?;
        self.a.add(rax, n_lanes)?;
        self.a.jmp(single)?;
        self.a.set_label(&mut last)?;
        self.a.mov(rdx, rsi)?;
        self.a.sub(rdx, rax)?;
        self.a.je(done)?;
        self.a.set_label(&mut partial)?;
        self.mask()?;
        self.body(Place { row: 0, offset: 0, partial: true })?;
        self.a.add(rax, rdx)?;
        self.a.cmp(rax, rsi)?;
        self.a.jb(if self.access.streams { head } else { whole })?;
        self.a.set_label(&mut done)
    }

    /// One vector of everything: loads where needed, all stores last.
    fn body(&mut self, place: Place) -> Result<()> {
        let mut body = self.values(place, (0..self.n_free()).rev().collect())?;
        (0..self.segment.stores.len()).try_for_each(|store| self.store(&mut body, store, place))
    }

    /// Computes all nodes of one vector in the registers given.
    fn values(&mut self, place: Place, free: Vec<usize>) -> Result<Body> {
        let mut body = Body::new(free, self.segment.nodes.len());
        self.ask_ahead(place)?;
        for (at, node) in self.segment.nodes.iter().enumerate() {
            self.compute(&mut body, at, node, place)?;
        }
        Ok(body)
    }

    fn add(&mut self, instruction: Instruction) -> Result<()> {
        self.a.add_instruction(instruction)
    }
}
