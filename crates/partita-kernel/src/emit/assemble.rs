//! A segment as machine code; README.md beside this file has the plan of registers and loops.

use super::codes::{self, Shape};
use super::segment::{Node, Operand, Segment, gives_bool};
use crate::dtype::Kind;
use crate::program::Op;
use iced_x86::code_asm::registers::{gpr32::*, gpr64::*};
use iced_x86::code_asm::{AsmRegister64, CodeAssembler, dword_ptr, qword_ptr};
use iced_x86::{Code, IcedError, Instruction, MemoryOperand, Register};

type Result<T> = std::result::Result<T, IcedError>;

/// Pointers to tiles; the first three need not be saved.
const POINTERS: [(AsmRegister64, Register); super::segment::MOST_SLOTS] = [
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
const N_FREE_POINTERS: usize = 3;
/// The mask of the last, partial vector.
const LAST_MASK: Register = Register::K7;
const SCRATCH_MASK: Register = Register::K1;

/// Numbers that stay in registers; the others are loaded where they are used.
pub fn most_resident(shape: Shape) -> usize {
    if shape.wide { 12 } else { 5 }
}

/// How outputs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stores {
    /// Through the cache.
    Cached,
    /// Past the cache, whole lines; the first output decides where lines begin.
    Streaming,
}

/// The code of a segment: `extern "C" fn(slots: *const *mut u8, n: usize)`.
pub fn assemble(segment: &Segment, stores: Stores) -> Result<Vec<u8>> {
    let mut emitter = Emitter {
        a: CodeAssembler::new(64)?,
        slots: segment.slots(),
        residents: segment.residents(),
        pool: Vec::new(),
        segment,
        shape: segment.shape,
        stores,
    };
    emitter.pool = emitter
        .residents
        .iter()
        .filter_map(|r| if let Operand::Constant(bits) = r { Some(*bits) } else { None })
        .collect();
    emitter.function()?;
    emitter.a.assemble(0)
}

struct Emitter<'a> {
    a: CodeAssembler,
    segment: &'a Segment,
    shape: Shape,
    stores: Stores,
    slots: Vec<u16>,
    residents: Vec<Operand>,
    pool: Vec<u64>,
}

/// Which vector of the loop a body computes.
#[derive(Clone, Copy)]
struct Place {
    /// Lanes after the index.
    offset: usize,
    /// Only the lanes of the mask.
    partial: bool,
}

impl Emitter<'_> {
    fn function(&mut self) -> Result<()> {
        let n_lanes = self.shape.n_lanes() as i32;
        let (mut pool, mut head, mut whole, mut main, mut single, mut last, mut partial, mut done) = (
            self.a.create_label(),
            self.a.create_label(),
            self.a.create_label(),
            self.a.create_label(),
            self.a.create_label(),
            self.a.create_label(),
            self.a.create_label(),
            self.a.create_label(),
        );
        self.enter(pool)?;
        if self.stores == Stores::Streaming {
            self.a.set_label(&mut head)?;
            self.count_to_line()?;
            self.a.jne(partial)?;
        }
        self.a.set_label(&mut whole)?;
        self.a.lea(rdx, qword_ptr(rax + 2 * n_lanes))?;
        self.a.cmp(rdx, rsi)?;
        self.a.ja(single)?;
        self.a.set_label(&mut main)?;
        self.body(Place { offset: 0, partial: false })?;
        self.body(Place { offset: n_lanes as usize, partial: false })?;
        self.a.add(rax, 2 * n_lanes)?;
        self.a.lea(rdx, qword_ptr(rax + 2 * n_lanes))?;
        self.a.cmp(rdx, rsi)?;
        self.a.jbe(main)?;
        self.a.set_label(&mut single)?;
        self.a.lea(rdx, qword_ptr(rax + n_lanes))?;
        self.a.cmp(rdx, rsi)?;
        self.a.ja(last)?;
        self.body(Place { offset: 0, partial: false })?;
        self.a.add(rax, n_lanes)?;
        self.a.jmp(single)?;
        self.a.set_label(&mut last)?;
        self.a.mov(rdx, rsi)?;
        self.a.sub(rdx, rax)?;
        self.a.je(done)?;
        self.a.set_label(&mut partial)?;
        self.mask()?;
        self.body(Place { offset: 0, partial: true })?;
        self.a.add(rax, rdx)?;
        self.a.cmp(rax, rsi)?;
        self.a.jb(if self.stores == Stores::Streaming { head } else { whole })?;
        self.a.set_label(&mut done)?;
        self.leave()?;
        self.a.set_label(&mut pool)?;
        self.data()
    }

    /// Saves registers, loads pointers and numbers, sets the index to zero.
    fn enter(&mut self, pool: iced_x86::code_asm::CodeLabel) -> Result<()> {
        for &(register, _) in self.saved() {
            self.a.push(register)?;
        }
        self.a.lea(r11, qword_ptr(pool))?;
        for (i, &slot) in self.slots.clone().iter().enumerate() {
            self.a.mov(POINTERS[i].0, qword_ptr(rdi + 8 * i32::from(slot)))?;
        }
        for i in 0..self.residents.len().min(most_resident(self.shape)) {
            let register = self.resident_register(i);
            self.load_number(self.residents[i], register)?;
        }
        self.a.xor(eax, eax)
    }

    fn saved(&self) -> &'static [(AsmRegister64, Register)] {
        &POINTERS[N_FREE_POINTERS..self.slots.len().max(N_FREE_POINTERS)]
    }

    fn leave(&mut self) -> Result<()> {
        self.a.vzeroupper()?;
        for &(register, _) in self.saved().iter().rev() {
            self.a.pop(register)?;
        }
        self.a.ret()
    }

    /// Numbers of eight bytes, then as many ones as a vector has lanes, then zeros.
    fn data(&mut self) -> Result<()> {
        if !self.pool.is_empty() {
            self.a.dq(&self.pool)?;
        }
        let words = self.shape.n_bytes() / 8;
        self.a.dq(&vec![u64::MAX; words])?;
        self.a.dq(&vec![0; words])
    }

    /// rdx: elements up to the first output's next line; sets the zero flag.
    fn count_to_line(&mut self) -> Result<()> {
        let first = self.segment.stores[0].0;
        let (pointer, _) = self.pointer(first);
        self.a.lea(rdx, qword_ptr(pointer + rax * self.shape.lane as i32))?;
        self.a.neg(rdx)?;
        self.a.and(edx, 63)?;
        self.a.shr(edx, self.shape.lane.trailing_zeros())
    }

    /// rdx becomes the lanes of a partial vector: at most as many as there are elements left and
    /// as a vector has; the mask is set.
    fn mask(&mut self) -> Result<()> {
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
            return self.add(Instruction::with2(
                Code::VEX_Kmovd_kr_r32,
                LAST_MASK,
                Register::R10D,
            )?);
        }
        self.a.sub(r10, rdx)?;
        let displacement = 8 * self.pool.len() as i64;
        let lane = self.shape.lane as u32;
        let memory = MemoryOperand::with_base_index_scale_displ_size(
            Register::R11,
            Register::R10,
            lane,
            displacement,
            1,
        );
        self.add(Instruction::with2(Code::VEX_Vmovdqu_ymm_ymmm256, self.vector(15), memory)?)
    }

    fn add(&mut self, instruction: Instruction) -> Result<()> {
        self.a.add_instruction(instruction)
    }

    fn vector(&self, number: usize) -> Register {
        let first = if self.shape.wide { Register::ZMM0 } else { Register::YMM0 };
        first + number as u32
    }

    fn narrow(&self, number: usize) -> Register {
        Register::XMM0 + number as u32
    }

    fn resident_register(&self, i: usize) -> usize {
        (if self.shape.wide { 31 } else { 14 }) - i
    }

    fn n_free(&self) -> usize {
        self.resident_register(self.residents.len().min(most_resident(self.shape))) + 1
    }

    fn pointer(&self, slot: u16) -> (AsmRegister64, Register) {
        POINTERS[self.slots.iter().position(|&s| s == slot).unwrap_or_default()]
    }

    /// Loads a constant or scalar into all lanes.
    fn load_number(&mut self, number: Operand, to: usize) -> Result<()> {
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

    /// The elements of a slot at a place.
    fn element(&self, slot: u16, size: usize, place: Place) -> MemoryOperand {
        MemoryOperand::with_base_index_scale_displ_size(
            self.pointer(slot).1,
            Register::RAX,
            size as u32,
            (place.offset * size) as i64,
            u32::from(place.offset > 0),
        )
    }

    /// One vector of everything: loads where needed, all stores last.
    fn body(&mut self, place: Place) -> Result<()> {
        let mut body = Body {
            free: (0..self.n_free()).rev().collect(),
            nodes: vec![None; self.segment.nodes.len()],
            loaded: Vec::new(),
            left: Vec::new(),
        };
        for (at, node) in self.segment.nodes.iter().enumerate() {
            self.compute(&mut body, at, node, place)?;
        }
        for &(slot, node, boolean) in &self.segment.stores {
            let register = body.nodes[node].unwrap_or_default();
            self.store(&mut body, slot, register, boolean, place)?;
        }
        Ok(())
    }

    fn store(
        &mut self,
        body: &mut Body,
        slot: u16,
        from: usize,
        boolean: bool,
        place: Place,
    ) -> Result<()> {
        if boolean {
            return self.store_bytes(body, slot, from, place);
        }
        let memory = self.element(slot, self.shape.lane, place);
        let vector = self.vector(from);
        let code = match self.stores {
            Stores::Streaming if !place.partial => self.shape.of(codes::STREAM),
            _ => self.shape.of(codes::STORE),
        };
        let instruction = match (place.partial, self.shape.wide) {
            (true, true) => masked(Instruction::with2(code, memory, vector)?, LAST_MASK, false),
            (true, false) => {
                let code = self.shape.of(codes::STORE_FIRST);
                Instruction::with3(code, memory, self.vector(15), vector)?
            }
            _ => Instruction::with2(code, memory, vector)?,
        };
        self.add(instruction)
    }

    /// Lanes of ones and zeros become bytes of one and zero. With AVX2 all lanes are written,
    /// also those beyond the last: such slots are tiles with room behind them.
    fn store_bytes(&mut self, body: &mut Body, slot: u16, from: usize, place: Place) -> Result<()> {
        let memory = self.element(slot, 1, place);
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

    fn load(&mut self, body: &mut Body, slot: u16, place: Place) -> Result<usize> {
        let to = body.take();
        let vector = self.vector(to);
        if self.segment.byte_slots.contains(&slot) {
            self.load_bytes(body, slot, to, place)?;
            return Ok(to);
        }
        let memory = self.element(slot, self.shape.lane, place);
        let code = self.shape.of(codes::LOAD);
        let instruction = match (place.partial, self.shape.wide) {
            (true, true) => masked(Instruction::with2(code, vector, memory)?, LAST_MASK, true),
            (true, false) => {
                let code = self.shape.of(codes::LOAD_FIRST);
                Instruction::with3(code, vector, self.vector(15), memory)?
            }
            _ => Instruction::with2(code, vector, memory)?,
        };
        self.add(instruction)?;
        Ok(to)
    }

    /// Bytes become lanes of ones where they are not zero.
    fn load_bytes(&mut self, body: &mut Body, slot: u16, to: usize, place: Place) -> Result<()> {
        let memory = self.element(slot, 1, place);
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

    /// The register that holds an operand, and whether it must be freed after use.
    fn operand(
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

    fn compute(&mut self, body: &mut Body, at: usize, node: &Node, place: Place) -> Result<()> {
        let operands = &node.from[..node.n_from];
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

    /// The instruction that can read the last operand from memory, if that is its only use.
    fn folds(&self, body: &Body, node: &Node, place: Place) -> Option<Code> {
        let Operand::Memory(slot) = node.from[1] else {
            return None;
        };
        let once = self.segment.uses(node.from[1]) == 1;
        let plain = !place.partial && !self.segment.byte_slots.contains(&slot);
        let loaded = body.loaded.iter().any(|l| l.0 == slot);
        if node.n_from != 2 || !once || !plain || loaded || gives_bool(node) {
            return None;
        }
        codes::two(node.op, node.dtype, self.shape)
    }

    fn fold_load(
        &mut self,
        body: &mut Body,
        at: usize,
        node: &Node,
        code: Code,
        place: Place,
    ) -> Result<()> {
        let Operand::Memory(slot) = node.from[1] else { return Ok(()) };
        let (first, free) = self.operand(body, node.from[0], place)?;
        let memory = self.element(slot, self.shape.lane, place);
        let to = body.take();
        self.add(Instruction::with3(code, self.vector(to), self.vector(first), memory)?)?;
        if free {
            body.free.push(first);
        }
        body.nodes[at] = Some(to);
        self.release(body, &node.from[..1]);
        Ok(())
    }

    fn release(&self, body: &mut Body, operands: &[Operand]) {
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

    fn operate(&mut self, body: &mut Body, node: &Node, to: usize, from: [usize; 3]) -> Result<()> {
        let shape = self.shape;
        let [x, y, z] = from.map(|r| self.vector(r));
        let out = self.vector(to);
        let float = node.dtype.kind() == Kind::Float;
        match node.op {
            Op::Where => self.select(out, x, y, z),
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
    fn select(&mut self, out: Register, x: Register, y: Register, z: Register) -> Result<()> {
        let blend = self.shape.of(codes::BLEND);
        if !self.shape.wide {
            return self.add(Instruction::with4(blend, out, z, y, x)?);
        }
        let to_mask = self.shape.of(codes::LANES_TO_MASK);
        self.add(Instruction::with2(to_mask, SCRATCH_MASK, x)?)?;
        self.add(masked(Instruction::with3(blend, out, z, y)?, SCRATCH_MASK, false))
    }

    /// The instruction gives the second of equals and of NaN; a NaN that comes first is kept.
    fn extreme(
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

    fn compare(
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
    fn compare_integers(
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

/// Which registers hold what, within one body.
struct Body {
    free: Vec<usize>,
    nodes: Vec<Option<usize>>,
    loaded: Vec<(u16, usize)>,
    left: Vec<(Operand, usize)>,
}

impl Body {
    /// A free register; a segment that fits always has one.
    fn take(&mut self) -> usize {
        self.free.pop().expect("segments are cut where registers end")
    }
}

fn masked(mut instruction: Instruction, mask: Register, zeroing: bool) -> Instruction {
    instruction.set_op_mask(mask);
    instruction.set_zeroing_masking(zeroing);
    instruction
}
