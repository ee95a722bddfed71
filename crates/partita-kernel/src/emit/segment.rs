//! Segments: neighbouring steps that become one loop with their values in registers.

use super::codes::{self, Shape};
use crate::dtype::{Dtype, Kind};
use crate::program::Op;
use crate::tiles::{Code, Source, Step};

/// Pointers that a segment keeps in registers; those of further slots lie on the stack.
pub const N_POINTERS: usize = 9;
/// Slots of a segment.
pub const MOST_SLOTS: usize = 24;

/// Where an operand comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// A tile, read element by element.
    Memory(u16),
    /// A number, repeated in all lanes.
    Constant(u64),
    /// A tile whose elements are all alike.
    Scalar(u16),
    /// An earlier node.
    Node(usize),
}

/// One operation on vectors.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    /// What is computed.
    pub op: Op,
    /// Type of the operands; truth values are lanes of ones or zeros.
    pub dtype: Dtype,
    /// The operands, as many as the operation has.
    pub from: [Operand; 3],
    /// How many.
    pub n_from: usize,
    /// Type of the result.
    pub result: Dtype,
}

/// How the lanes of a result lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As they are.
    Lanes,
    /// Numbers of half a lane.
    Halves,
    /// Truth values in bytes.
    Bytes,
}

impl Node {
    /// Whether it casts to numbers of half a lane.
    pub fn narrows(&self) -> bool {
        self.op == Op::Cast && self.result.size() < self.dtype.size()
    }

    /// Whether it casts from numbers of half a lane.
    pub fn widens(&self) -> bool {
        self.op == Op::Cast && self.result.size() > self.dtype.size()
    }
}

/// A loop to be emitted.
#[derive(Debug, Clone)]
pub struct Segment {
    /// Width and lanes.
    pub shape: Shape,
    /// What is computed, in order.
    pub nodes: Vec<Node>,
    /// What is written at the end of the body: slot, node, how.
    pub stores: Vec<(u16, usize, Form)>,
    /// The slots whose elements are truth values in bytes.
    pub byte_slots: Vec<u16>,
    /// The slots whose elements are numbers of half a lane, which casts read.
    pub half_slots: Vec<u16>,
}

impl Segment {
    /// The longest segment from a step on; nothing if that step cannot be emitted.
    pub fn grow(code: &Code, first: usize, wide: bool) -> Option<(Segment, usize)> {
        let lane = code.steps[first..].iter().find_map(lane_of)?;
        let mut growing = Growing::new(code, Shape { wide, lane });
        let taken = code.steps[first..].iter().take_while(|s| growing.take(s).is_some()).count();
        // Most programs fit whole; only for others is it worth looking for the end.
        growing.find_stores(first + taken);
        if taken > 0 && growing.segment.fits() {
            return Some((growing.segment, first + taken));
        }
        // The longest start that fits: more steps seldom need less.
        let start = |n_steps: usize| {
            let mut growing = Growing::new(code, Shape { wide, lane });
            code.steps[first..first + n_steps].iter().for_each(|step| {
                growing.take(step);
            });
            growing.find_stores(first + n_steps);
            growing.segment.fits().then_some((growing.segment, first + n_steps))
        };
        let (mut best, mut low, mut high) = (None, 0, taken);
        while low + 1 < high {
            let middle = (low + high) / 2;
            match start(middle) {
                Some(found) => (best, low) = (Some(found), middle),
                None => high = middle,
            }
        }
        best
    }

    /// Whether pointers and values find registers.
    fn fits(&self) -> bool {
        let has_bytes =
            !self.byte_slots.is_empty() || self.stores.iter().any(|s| s.2 == Form::Bytes);
        // Truth values are packed with the register that far pointers are loaded into.
        let most = if has_bytes { N_POINTERS } else { MOST_SLOTS };
        self.slots().len() <= most && self.n_needed() <= self.n_registers() && !self.overtakes()
    }

    /// Whether the results of one vector can wait in registers while another is computed.
    pub fn fits_pair(&self) -> bool {
        self.n_needed() + self.stores.len() <= self.n_registers()
    }

    fn n_registers(&self) -> usize {
        if self.shape.wide { 32 } else { 15 }
    }

    /// Vectors of one body, numbers that stay, and three to work with.
    fn n_needed(&self) -> usize {
        self.pressure(self.reloads()) + self.n_resident() + 3
    }

    fn n_resident(&self) -> usize {
        self.residents().len().min(super::assemble::most_resident(self.shape))
    }

    /// Whether elements are loaded anew for every use, since registers cannot keep them.
    pub fn reloads(&self) -> bool {
        self.pressure(false) + self.n_resident() + 3 > self.n_registers()
    }

    /// Whether a tile is read in one form and written in another: then stores would reach
    /// elements that are still to be read.
    fn overtakes(&self) -> bool {
        self.stores.iter().any(|&(slot, _, form)| {
            let mut read = self.nodes.iter().flat_map(|n| &n.from[..n.n_from]);
            read.any(|&o| o == Operand::Memory(slot)) && self.read_form(slot) != form
        })
    }

    /// How the elements of a slot that is read lie in memory.
    pub fn read_form(&self, slot: u16) -> Form {
        match () {
            () if self.byte_slots.contains(&slot) => Form::Bytes,
            () if self.half_slots.contains(&slot) => Form::Halves,
            () => Form::Lanes,
        }
    }

    /// Numbers that stay in registers or are loaded where they are used, most used first.
    pub fn residents(&self) -> Vec<Operand> {
        let mut found: Vec<(Operand, usize)> = Vec::new();
        for operand in self.nodes.iter().flat_map(|n| &n.from[..n.n_from]) {
            if matches!(operand, Operand::Constant(_) | Operand::Scalar(_)) {
                match found.iter_mut().find(|f| f.0 == *operand) {
                    Some(known) => known.1 += 1,
                    None => found.push((*operand, 1)),
                }
            }
        }
        found.sort_by_key(|f| std::cmp::Reverse(f.1));
        found.into_iter().map(|f| f.0).collect()
    }

    /// Slots read or written element by element.
    pub fn slots(&self) -> Vec<u16> {
        let mut slots: Vec<u16> = self.stores.iter().map(|s| s.0).collect();
        for operand in self.nodes.iter().flat_map(|n| &n.from[..n.n_from]) {
            if let Operand::Memory(slot) = operand {
                slots.push(*slot);
            }
        }
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// How often every node and every slot is used; stores count.
    pub fn uses(&self, operand: Operand) -> usize {
        let all = self.nodes.iter().flat_map(|n| &n.from[..n.n_from]);
        let stored = match operand {
            Operand::Node(node) => self.stores.iter().filter(|s| s.1 == node).count(),
            _ => 0,
        };
        all.filter(|&&o| o == operand).count() + stored
    }

    /// The most vectors alive at once, with what is loaded kept until its last use or not.
    fn pressure(&self, reloads: bool) -> usize {
        let n = self.nodes.len();
        let mut spans: Vec<(Operand, usize, usize)> = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            for &operand in &node.from[..node.n_from] {
                let kept = match operand {
                    Operand::Node(_) => true,
                    Operand::Memory(_) => !reloads,
                    _ => false,
                };
                match spans.iter_mut().rev().find(|span| kept && span.0 == operand) {
                    Some(known) => known.2 = at,
                    None if kept => spans.push((operand, first_of(operand, at), at)),
                    None => {}
                }
            }
        }
        for &(_, node, _) in &self.stores {
            spans.retain(|span| span.0 != Operand::Node(node));
            spans.push((Operand::Node(node), node, n));
        }
        // How many begin less how many have ended, point by point.
        let mut changes = vec![0_isize; n + 2];
        for (_, first, last) in spans {
            changes[first] += 1;
            changes[last + 1] -= 1;
        }
        let mut alive = 0;
        let loaded = |at: usize| match self.nodes.get(at).filter(|_| reloads) {
            Some(node) => {
                let memory = |operand: &&Operand| matches!(operand, Operand::Memory(_));
                node.from[..node.n_from].iter().filter(memory).count()
            }
            None => 0,
        };
        let counts = (0..n).map(|at| {
            alive += changes[at];
            alive as usize + loaded(at)
        });
        counts.max().unwrap_or(0)
    }
}

/// Where an operand is there for the first time: a node where it is computed.
fn first_of(operand: Operand, used_at: usize) -> usize {
    match operand {
        Operand::Node(node) => node,
        _ => used_at,
    }
}

/// Bytes of the lanes a step computes in; nothing for truth values, which follow the others.
fn lane_of(step: &Step) -> Option<usize> {
    let size = |dtype: Dtype| matches!(dtype.size(), 4 | 8).then_some(dtype.size());
    match step.operand.kind() {
        _ if between_sizes(step) => Some(8),
        Kind::Bool | Kind::Complex => None,
        _ => size(step.operand),
    }
}

/// Whether a step casts between lanes of four and of eight bytes.
fn between_sizes(step: &Step) -> bool {
    step.op == Op::Cast
        && codes::cast(step.operand, step.result).is_some()
        && step.operand.size() != step.result.size()
}

struct Growing<'a> {
    code: &'a Code,
    segment: Segment,
    /// The node that was last written to a slot.
    current: Vec<Option<usize>>,
}

impl<'a> Growing<'a> {
    fn new(code: &'a Code, shape: Shape) -> Growing<'a> {
        let segment = Segment {
            shape,
            nodes: Vec::new(),
            stores: Vec::new(),
            byte_slots: Vec::new(),
            half_slots: Vec::new(),
        };
        Growing { code, segment, current: vec![None; code.slots.len()] }
    }

    /// Appends a step, or leaves everything as it was.
    fn take(&mut self, step: &Step) -> Option<()> {
        let lane = self.segment.shape.lane;
        let fits = |d: Dtype| d == Dtype::Bool || d.size() == lane && d.kind() != Kind::Complex;
        let node = if between_sizes(step) {
            self.cast(step)?
        } else if fits(step.operand) && fits(step.result) {
            self.node(step)?
        } else {
            return None;
        };
        // What has become half a lane is only stored.
        let halved = |o: &Operand| matches!(o, Operand::Node(n) if self.form(*n) == Form::Halves);
        if node.from[..node.n_from].iter().any(halved) {
            return None;
        }
        let known = self.segment.nodes.len();
        self.segment.nodes.push(node);
        self.current[step.to as usize] = Some(known);
        Some(())
    }

    /// A cast to lanes reads halves of them from memory; one from lanes is stored as such halves.
    fn cast(&mut self, step: &Step) -> Option<Node> {
        let (Shape { wide: true, lane: 8 }, slot) = (self.segment.shape, step.from[0]) else {
            return None;
        };
        let from = if step.operand.size() == 8 {
            self.operand(slot, false)
        } else {
            let source = self.code.slots[slot as usize].source;
            let in_memory = matches!(source, Source::Input(_) | Source::Register);
            if !in_memory || self.current[slot as usize].is_some() {
                return None;
            }
            if !self.segment.half_slots.contains(&slot) {
                self.segment.half_slots.push(slot);
            }
            Operand::Memory(slot)
        };
        let from = [from, Operand::Constant(0), Operand::Constant(0)];
        Some(Node { op: Op::Cast, dtype: step.operand, from, n_from: 1, result: step.result })
    }

    /// How a node's lanes are written.
    fn form(&self, node: usize) -> Form {
        let node = &self.segment.nodes[node];
        match () {
            () if gives_bool(node) => Form::Bytes,
            () if node.narrows() => Form::Halves,
            () => Form::Lanes,
        }
    }

    fn node(&mut self, step: &Step) -> Option<Node> {
        let float = step.operand.kind() == Kind::Float;
        let lane = self.segment.shape.lane;
        let sign = if lane == 8 { 1 << 63 } else { 1 << 31 };
        let ones = Operand::Constant(u64::MAX >> (64 - 8 * lane));
        let n_from = step.op.n_operands();
        let mut from = [Operand::Constant(0); 3];
        for (i, from) in from.iter_mut().enumerate().take(n_from) {
            let boolean = step.op == Op::Where && i == 0 || step.operand == Dtype::Bool;
            *from = self.operand(step.from[i], boolean);
        }
        let x = from[0];
        let zero = Operand::Constant(0);
        let (op, from, n_from) = match step.op {
            Op::Negative if float => (Op::BitXor, [x, Operand::Constant(sign), zero], 2),
            Op::Negative => (Op::Subtract, [zero, x, zero], 2),
            Op::Absolute if float => (Op::BitAnd, [x, Operand::Constant(sign - 1), zero], 2),
            Op::Square => (Op::Multiply, [x, x, zero], 2),
            Op::Reciprocal => (Op::Divide, [one(lane), x, zero], 2),
            Op::BitNot | Op::LogicalNot => (Op::BitXor, [x, ones, zero], 2),
            Op::IsNan => (Op::IsNan, [x, x, zero], 2),
            op => (op, from, n_from),
        };
        let node = Node { op, dtype: step.operand, from, n_from, result: step.result };
        self.emittable(&node, step).then_some(node)
    }

    fn operand(&mut self, slot: u16, boolean: bool) -> Operand {
        if let Some(node) = self.current[slot as usize] {
            return Operand::Node(node);
        }
        match self.code.slots[slot as usize].source {
            Source::Constant(number) if !boolean => {
                let bits = u128::from_le_bytes(number.bytes) as u64;
                return Operand::Constant(bits);
            }
            Source::Scalar(_) if !boolean => return Operand::Scalar(slot),
            _ => {}
        }
        if boolean && !self.segment.byte_slots.contains(&slot) {
            self.segment.byte_slots.push(slot);
        }
        Operand::Memory(slot)
    }

    fn emittable(&self, node: &Node, step: &Step) -> bool {
        let shape = self.segment.shape;
        let kind = node.dtype.kind();
        match node.op {
            Op::Cast => {
                let same = step.operand.kind() == Kind::Signed && step.result.kind() == Kind::Float;
                same && shape.of(codes::TO_FLOAT) != iced_x86::Code::INVALID
            }
            Op::Where => true,
            Op::FusedMultiplyAdd => kind == Kind::Float,
            Op::Minimum | Op::Maximum if kind == Kind::Float => true,
            Op::IsNan => kind == Kind::Float,
            Op::Equal
            | Op::NotEqual
            | Op::Less
            | Op::LessEqual
            | Op::Greater
            | Op::GreaterEqual => match kind {
                Kind::Float => true,
                Kind::Signed => true,
                Kind::Unsigned => shape.wide || matches!(node.op, Op::Equal | Op::NotEqual),
                _ => false,
            },
            op if node.n_from == 1 => kind == Kind::Float && codes::one(op, shape).is_some(),
            op => codes::two(op, node.dtype, shape).is_some(),
        }
    }

    /// What must be in memory when the segment ends before step `end`.
    fn find_stores(&mut self, end: usize) {
        self.segment.stores.clear();
        for (slot, node) in self.current.iter().enumerate() {
            let Some(node) = *node else { continue };
            if self.is_needed(slot as u16, end) {
                let form = self.form(node);
                self.segment.stores.push((slot as u16, node, form));
            }
        }
    }

    fn is_needed(&self, slot: u16, end: usize) -> bool {
        for step in &self.code.steps[end..] {
            if step.from.contains(&slot) {
                return true;
            }
            if step.to == slot {
                return false;
            }
        }
        self.code.outputs.contains(&slot)
    }
}

fn one(lane: usize) -> Operand {
    Operand::Constant(if lane == 8 { 1.0_f64.to_bits() } else { 1.0_f32.to_bits().into() })
}

/// Whether a node's lanes are truth values.
pub fn gives_bool(node: &Node) -> bool {
    node.op.gives(node.dtype) == Some(Dtype::Bool) && node.op != Op::Cast
}
