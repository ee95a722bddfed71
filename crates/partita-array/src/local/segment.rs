//! Segments: stretches of pending work that run as one.
//!
//! An engine that divides its work runs a loop without any read one segment behind: the segment
//! that is being recorded, and the one before it. By the time the one before runs, the names that
//! the loop binds anew have let go of its temporaries, so these are never stored. `rhythm` says
//! where a segment ends.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::base::Base;
use super::node::{Node, Operand, Place, Work};
use super::record::Input;
use super::window::{Dims, Window};

/// Nodes, and the bases they touch by number.
#[derive(Debug, Default)]
pub(super) struct Segment {
    pub work: Work,
    pub bases: Vec<Rc<Base>>,
    /// Which segment it is: bases know their number in it.
    pub turn: u64,
    /// Bytes of all its bases.
    pub n_bytes: usize,
    /// From which of the user's lines nodes are; on several ranks, for whoever has to say where
    /// these differ. A loop that repeats itself is asked for none.
    lines: Vec<(Range<usize>, Arc<str>)>,
    /// What of arrays with the same number everywhere nodes read as that number; on several ranks,
    /// for the same.
    filled: Vec<(usize, Filled)>,
    /// The first node whose line is yet to be told.
    pub unlined: Option<usize>,
}

/// A part of an array with the same number everywhere.
#[derive(Debug, Clone)]
pub(super) struct Filled {
    pub window: Window,
    pub shape: Dims<usize>,
}

impl Segment {
    /// Notes which inputs the next node reads as numbers, though they are arrays.
    pub fn note_filled(&mut self, inputs: &[Input<'_>]) {
        let at = self.work.nodes.len();
        for array in inputs.iter().filter(|input| input.is_filled()).filter_map(Input::array) {
            let (window, shape) = (array.window.clone(), array.base.shape().into());
            self.filled.push((at, Filled { window, shape }));
        }
    }

    /// What a node reads as numbers, though it is of arrays.
    pub fn filled(&self, node: usize) -> impl Iterator<Item = &Filled> {
        self.filled.iter().filter(move |(at, _)| *at == node).map(|(_, filled)| filled)
    }

    /// The base's number in this segment.
    pub fn number(&mut self, base: &Rc<Base>) -> usize {
        let (known_in, number) = base.number.get();
        if known_in == self.turn {
            return number;
        }
        self.n_bytes = self.n_bytes.saturating_add(base.n_bytes().unwrap_or(0));
        self.bases.push(Rc::clone(base));
        base.number.set((self.turn, self.bases.len() - 1));
        self.bases.len() - 1
    }

    /// Empties it; its memory stays.
    pub fn clear(&mut self) {
        self.work.nodes.clear();
        self.work.numbers.clear();
        self.bases.clear();
        self.lines.clear();
        self.filled.clear();
        (self.n_bytes, self.unlined) = (0, None);
    }

    /// The nodes whose line is yet to be told are from this one.
    pub fn set_line(&mut self, line: Option<&Arc<str>>) {
        if let (Some(first), Some(line)) = (self.unlined.take(), line) {
            self.lines.push((first..self.work.nodes.len(), Arc::clone(line)));
        }
    }

    /// The line that a node is from, if that is known.
    pub fn line_of(&self, node: usize) -> Option<&Arc<str>> {
        let found = self.lines.iter().find(|(nodes, _)| nodes.contains(&node));
        found.map(|(_, line)| line)
    }

    /// Takes the nodes from one on into a segment of their own.
    pub fn split(&mut self, at: usize, turn: u64) -> Self {
        let mut tail = Self { turn, ..Self::default() };
        for mut node in self.work.nodes.split_off(at) {
            self.hand_over(&mut node, &mut tail);
            tail.work.nodes.push(node);
        }
        for (node, filled) in self.filled.iter().filter(|(node, _)| *node >= at) {
            tail.filled.push((node - at, filled.clone()));
        }
        for (nodes, line) in self.lines.iter().filter(|(nodes, _)| nodes.end > at) {
            let own = nodes.start.saturating_sub(at)..nodes.end - at;
            tail.lines.push((own, Arc::clone(line)));
        }
        tail
    }

    /// One segment of several, in their order.
    pub fn joined(segments: Vec<Self>, turn: u64) -> Self {
        let mut all = Self { turn, ..Self::default() };
        for mut segment in segments {
            let first = all.work.nodes.len();
            for mut node in std::mem::take(&mut segment.work.nodes) {
                segment.hand_over(&mut node, &mut all);
                all.work.nodes.push(node);
            }
            all.filled
                .extend(segment.filled.drain(..).map(|(node, filled)| (first + node, filled)));
            let lines = segment.lines.drain(..);
            all.lines.extend(lines.map(|(own, line)| (first + own.start..first + own.end, line)));
        }
        all
    }

    /// Gives a node the numbers that its bases and numbers have in another segment.
    fn hand_over(&self, node: &mut Node, tail: &mut Self) {
        let moved = |place: &mut Place, tail: &mut Self| {
            place.base = tail.number(&self.bases[place.base]);
        };
        for operand in &mut node.operands {
            match operand {
                Operand::Array(place) => moved(place, tail),
                Operand::Number(number, _) => {
                    tail.work.numbers.push(self.work.numbers[*number]);
                    *number = tail.work.numbers.len() - 1;
                }
            }
        }
        moved(&mut node.target, tail);
    }
}
