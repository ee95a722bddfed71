//! From pending work on bases of a team to one rank's work and the movements between.
//!
//! Whoever owns what a node writes computes it. What it reads and does not own lies in a margin
//! that the rank holds around its part (`margins`), or is fetched into memory of its own. Both are
//! movements; work between two movements is a phase. A movement is made as early as its data are
//! complete: at the beginning of the phase.
//!
//! All ranks divide the same work and come to the same phases.

use std::rc::Rc;

use partita_kernel::{Dtype, Machine, Op, Scalar};
use partita_layout::IndexBox;
use rustc_hash::FxHashMap;
use smallvec::smallvec;

use super::super::node::{Action, BaseFacts, Node, Operand, Operands, Place};
use super::super::schedule::needed;
use super::super::window::{Dims, Window};
use super::choose::choose;
use super::margins::margins;
use super::moves::{Move, Piece, moved, refreshed};
use super::phases::Divided;
use super::product::{Product, everything, lies_in, nothing};
use super::spread::Spread;
use crate::error::Result;

/// What each rank computes of a node: points of its space.
pub(super) type Points = Vec<Option<IndexBox>>;

/// A base, or memory that only the division knows.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub dtype: Dtype,
    /// Shape of the whole.
    pub shape: Dims<usize>,
    pub spread: Rc<Spread>,
    /// Whether the margins are those of the owners.
    pub is_fresh: bool,
    /// How often it was written.
    version: u32,
    pub is_alive: bool,
    pub has_storage: bool,
    pub is_shared: bool,
}

/// Divides work for a rank.
pub(in super::super) fn divide(
    nodes: &[Node],
    bases: &[BaseFacts],
    n_numbers: usize,
    (rank, n_ranks): (u64, u64),
    machine: &Machine,
) -> Result<Divided> {
    let needed = needed(nodes, bases);
    let spreads = choose(nodes, bases, &needed, n_ranks);
    let held = margins(nodes, bases, &needed, &spreads);
    let mut dividing = Dividing::new(bases, spreads, (rank, n_ranks), n_numbers);
    for (base, spread) in held {
        dividing.widen(base, spread)?;
    }
    for (_, node) in nodes.iter().enumerate().filter(|(at, _)| needed[*at]) {
        dividing.node(node)?;
    }
    let mut touched = vec![false; bases.len()];
    for (_, node) in nodes.iter().enumerate().filter(|(at, _)| needed[*at]) {
        touched[node.target.base] = true;
        node.places().for_each(|place| touched[place.base] = true);
    }
    dividing.finish(&touched, machine)
}

pub(super) struct Dividing {
    pub rank: usize,
    pub n_ranks: u64,
    pub parts: Vec<Part>,
    pub phases: Vec<(Vec<Move>, Vec<Node>)>,
    moves: Vec<Move>,
    nodes: Vec<Node>,
    /// The mark of the user's node that is being divided.
    mark: u64,
    /// What was written in this phase.
    written: Vec<usize>,
    fetched: FxHashMap<(usize, u32, Vec<IndexBox>), usize>,
    pub grown: Vec<(usize, usize)>,
    n_numbers: usize,
    pub numbers: Vec<Scalar>,
}

impl Dividing {
    fn new(
        bases: &[BaseFacts],
        spreads: Vec<Rc<Spread>>,
        (rank, n_ranks): (u64, u64),
        n_numbers: usize,
    ) -> Self {
        let part = |(facts, spread): (&BaseFacts, Rc<Spread>)| Part {
            dtype: facts.dtype,
            shape: facts.shape.clone(),
            spread,
            is_fresh: facts.is_fresh,
            version: 0,
            is_alive: facts.is_alive,
            has_storage: facts.has_storage,
            is_shared: facts.is_shared,
        };
        let parts = bases.iter().zip(spreads).map(part).collect();
        let (phases, moves, nodes, written) = Default::default();
        let (fetched, grown, numbers) = Default::default();
        let rank = rank as usize;
        Self {
            rank,
            n_ranks,
            parts,
            phases,
            moves,
            nodes,
            mark: 0,
            written,
            fetched,
            grown,
            n_numbers,
            numbers,
        }
    }

    /// Memory of the division's own.
    pub fn add(&mut self, dtype: Dtype, shape: &[usize], spread: Rc<Spread>) -> usize {
        self.parts.push(Part {
            dtype,
            shape: shape.into(),
            spread,
            is_fresh: false,
            version: 0,
            is_alive: false,
            has_storage: false,
            is_shared: false,
        });
        self.parts.len() - 1
    }

    /// A number of this rank's own, as an operand.
    pub fn number(&mut self, value: Scalar) -> Operand {
        self.numbers.push(value);
        Operand::Number(self.n_numbers + self.numbers.len() - 1, value.dtype)
    }

    /// The box in this rank's memory of a part.
    pub fn held(&self, part: usize) -> IndexBox {
        let Part { spread, shape, .. } = &self.parts[part];
        spread.held(self.rank as u64, shape)
    }

    pub fn local_shape(&self, part: usize) -> Dims<usize> {
        self.held(part).shape.iter().map(|n| *n as usize).collect()
    }

    /// Gives a base memory with wider margins.
    fn widen(&mut self, base: usize, spread: Rc<Spread>) -> Result<()> {
        let old = std::mem::replace(&mut self.parts[base].spread, spread);
        if !self.parts[base].has_storage {
            return Ok(());
        }
        let (dtype, shape) = (self.parts[base].dtype, self.parts[base].shape.clone());
        let before = self.add(dtype, &shape, old);
        self.parts[before].has_storage = true;
        self.parts[base].has_storage = false;
        self.parts[base].is_fresh = false;
        self.grown.push((base, before));
        let all = Window::dense(&shape);
        if all.n_elements() == 0 {
            return Ok(());
        }
        let operands = smallvec![Operand::Array(Place { base: before, window: all.clone() })];
        let target = Place { base, window: all };
        self.node(&Node::derived(Action::Copy, dtype, operands, target))
    }

    /// Does one node of the work.
    pub fn node(&mut self, node: &Node) -> Result<()> {
        // Nodes that come from a user's have no mark of their own.
        if node.mark != 0 {
            self.mark = node.mark;
        }
        match node.action {
            Action::Reduce(..) if node.written().n_elements() == 0 => Ok(()),
            Action::Reduce(how, axes) => self.reduce(node, how, axes),
            _ if node.space().contains(&0) => Ok(()),
            Action::RunningSum(axis) | Action::RunningProduct(axis) => self.running(node, axis),
            _ => self.pointwise(node),
        }
    }

    /// The points that each rank computes; none if that is no box.
    pub fn points_of(&self, target: &Place) -> Option<Points> {
        let part = &self.parts[target.base];
        match &*part.spread {
            Spread::Whole => {
                let all = everything(&target.window.shape);
                Some(vec![Some(all); self.n_ranks as usize])
            }
            Spread::Boxes { owned, .. } => {
                let product = Product::of(&target.window, &part.shape)?;
                Some(owned.iter().map(|own| product.points_in(own)).collect())
            }
        }
    }

    fn pointwise(&mut self, node: &Node) -> Result<()> {
        match self.points_of(&node.target) {
            Some(points) => self.at_points(node, &points),
            None => self.odd_write(node),
        }
    }

    /// What is no box on any rank is written to a whole copy, of which each rank takes its part.
    fn odd_write(&mut self, node: &Node) -> Result<()> {
        let base = node.target.base;
        let (dtype, shape) = (self.parts[base].dtype, self.parts[base].shape.clone());
        let all = Place { base, window: Window::dense(&shape) };
        let whole = self.add(dtype, &shape, Rc::new(Spread::Whole));
        let copy = |from: Place, to: usize| {
            Node::derived(
                Action::Copy,
                dtype,
                smallvec![Operand::Array(from)],
                Place { base: to, window: Window::dense(&shape) },
            )
        };
        self.node(&copy(all, whole))?;
        let mut changed = node.clone();
        changed.target.base = whole;
        self.node(&changed)?;
        self.node(&copy(Place { base: whole, window: Window::dense(&shape) }, base))
    }

    /// Computes a node where it is to be computed.
    pub fn at_points(&mut self, node: &Node, points: &Points) -> Result<()> {
        let mut operands = Operands::new();
        for operand in &node.operands {
            operands.push(match operand {
                Operand::Array(place) => Operand::Array(self.read(place, points)?),
                Operand::Number(..) => operand.clone(),
            });
        }
        let own = points[self.rank].clone();
        self.mark_written(node.target.base);
        let Some(own) = own else { return Ok(()) };
        let target = self.seen(&node.target, &own, &self.held(node.target.base));
        match node.action {
            Action::Index(axis) if own.start[axis] > 0 => self.shifted_index(axis, &own, target),
            _ => {
                let (action, dtype) = (node.action, node.dtype);
                self.note(Node { mark: node.mark, action, dtype, operands, target });
            }
        }
        Ok(())
    }

    /// Positions along an axis that begin elsewhere than at zero.
    fn shifted_index(&mut self, axis: usize, own: &IndexBox, target: Place) {
        let shape: Dims<usize> = own.shape.iter().map(|n| *n as usize).collect();
        let counted = self.add(Dtype::Int64, &shape, Rc::new(Spread::Whole));
        let place = Place { base: counted, window: Window::dense(&shape) };
        let (action, dtype) = (Action::Index(axis), Dtype::Int64);
        self.note(Node::derived(action, dtype, Operands::new(), place.clone()));
        let start = self.number(Scalar::from(own.start[axis] as i64));
        let operands = smallvec![Operand::Array(place), start];
        self.note(Node::derived(Action::Apply(Op::Add), dtype, operands, target));
    }

    /// A node of this rank alone; its places are those of this rank's memory.
    pub fn push(&mut self, node: Node) {
        self.mark_written(node.target.base);
        self.note(node);
    }

    /// Adds a node to the phase; one that comes from a user's is told by the user's line.
    fn note(&mut self, mut node: Node) {
        if node.mark == 0 {
            node.mark = self.mark;
        }
        self.nodes.push(node);
    }

    pub fn mark_written(&mut self, base: usize) {
        let part = &mut self.parts[base];
        part.version += 1;
        part.is_fresh = false;
        if !self.written.contains(&base) {
            self.written.push(base);
        }
    }

    /// What each rank needs of a base to have some points of a window.
    pub fn needs(&self, place: &Place, points: &Points) -> Vec<IndexBox> {
        needs(place, &self.parts[place.base].shape, points)
    }

    /// Where this rank finds the elements of a window at points.
    pub fn read(&mut self, place: &Place, points: &Points) -> Result<Place> {
        let part = &self.parts[place.base];
        let dummy = || Place { base: place.base, window: Window::dense(&[]) };
        let Spread::Boxes { held, .. } = &*part.spread else {
            let Some(own) = &points[self.rank] else { return Ok(dummy()) };
            return Ok(self.seen(place, own, &everything(&part.shape)));
        };
        let needs = self.needs(place, points);
        let is_product = Product::of(&place.window, &part.shape).is_some();
        let has_rows = |held: &IndexBox| {
            held.shape[1..].iter().zip(&part.shape[1..]).all(|(a, b)| *a == *b as u64)
        };
        let is_readable = is_product || held.iter().all(has_rows);
        let is_held = || needs.iter().zip(held).all(|(need, held)| lies_in(need, held));
        let from = if is_readable && part.spread.has(&needs) {
            place.base
        } else if is_readable && is_held() {
            self.refresh(place.base)?;
            place.base
        } else {
            self.fetch(place.base, needs)?
        };
        let Some(own) = &points[self.rank] else { return Ok(dummy()) };
        let held = self.held(from);
        Ok(Place { base: from, ..self.seen(place, own, &held) })
    }

    /// A window of a part at some points, in memory that has a box of the part.
    pub fn seen(&self, place: &Place, points: &IndexBox, held: &IndexBox) -> Place {
        let shape = &self.parts[place.base].shape;
        let window = match Product::of(&place.window, shape) {
            Some(product) => product.window(points, held),
            None => {
                // The memory has whole rows: elements lie as far from each other as in the whole.
                let mut window = place.window.clone();
                let row: usize = shape.iter().skip(1).product();
                window.offset -=
                    held.start.first().map_or(0, |start| *start as isize) * row as isize;
                for (axis, start) in points.start.iter().enumerate() {
                    window.offset += *start as isize * window.strides[axis];
                    window.shape[axis] = points.shape[axis] as usize;
                }
                window
            }
        };
        Place { base: place.base, window }
    }

    /// Brings the margins of a base up to date.
    fn refresh(&mut self, base: usize) -> Result<()> {
        if self.parts[base].is_fresh {
            return Ok(());
        }
        self.before_moving(base);
        let piece = Piece { part: base, held: self.held(base) };
        let made = refreshed(&self.parts[base], &piece)?;
        self.moves.push(Move { mark: self.mark, ..made });
        self.parts[base].is_fresh = true;
        Ok(())
    }

    /// Brings boxes of a base into memory of their own.
    pub fn fetch(&mut self, base: usize, needs: Vec<IndexBox>) -> Result<usize> {
        let key = (base, self.parts[base].version, needs.clone());
        if let Some(known) = self.fetched.get(&key) {
            return Ok(*known);
        }
        self.before_moving(base);
        let (dtype, shape) = (self.parts[base].dtype, self.parts[base].shape.clone());
        let targets: Vec<Vec<IndexBox>> = needs
            .iter()
            .map(|need| if need.n_elements() > 0 { vec![need.clone()] } else { vec![] })
            .collect();
        let fetched = self.add(dtype, &shape, Spread::owned(needs));
        if let Spread::Boxes { owned, .. } = &*self.parts[base].spread {
            let from = Piece { part: base, held: self.held(base) };
            let into = Piece { part: fetched, held: self.held(fetched) };
            let made = moved(&self.parts[base], owned, &targets, (&from, &into), self.rank)?;
            self.moves.extend(made.map(|made| Move { mark: self.mark, ..made }));
        }
        self.fetched.insert(key, fetched);
        Ok(fetched)
    }

    /// What was written in this phase can move after it.
    fn before_moving(&mut self, base: usize) {
        if self.written.contains(&base) {
            self.end_phase();
        }
    }

    pub fn end_phase(&mut self) {
        self.phases.push((std::mem::take(&mut self.moves), std::mem::take(&mut self.nodes)));
        self.written.clear();
    }
}

/// What each rank needs of a base to have some points of a window.
pub(super) fn needs(place: &Place, shape: &[usize], points: &Points) -> Vec<IndexBox> {
    let none = nothing(shape.len());
    let product = Product::of(&place.window, shape);
    let need = |points: &Option<IndexBox>| {
        let Some(points) = points else { return none.clone() };
        if points.n_elements() == 0 {
            return none.clone();
        }
        match &product {
            Some(product) => product.reached(points),
            None => rows_of(&place.window, shape, points),
        }
    };
    points.iter().map(need).collect()
}

/// The rows of a base between the first and the last element of some points.
fn rows_of(window: &Window, shape: &[usize], points: &IndexBox) -> IndexBox {
    let (mut low, mut high) = (window.offset, window.offset);
    for (axis, stride) in window.strides.iter().enumerate() {
        let first = points.start[axis] as isize * stride;
        let last = first + (points.shape[axis] as isize - 1) * stride;
        low += first.min(last);
        high += first.max(last);
    }
    let mut rows = everything(shape);
    let row: usize = shape.iter().skip(1).product();
    if let (Some(start), Some(size)) = (rows.start.first_mut(), rows.shape.first_mut()) {
        *start = (low.unsigned_abs() / row.max(1)) as u64;
        *size = (high.unsigned_abs() / row.max(1)) as u64 + 1 - *start;
    }
    rows
}
