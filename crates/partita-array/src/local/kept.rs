//! Schedules by structure, so that a loop of a program is compiled once.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::node::{BaseFacts, Node};

/// Programs with more loops than this compile some of them again.
const MOST_KEPT: usize = 512;
/// Nodes of all that is kept: a program that never repeats would keep all it has done.
const MOST_NODES: usize = 1 << 15;

/// What a schedule depends on: numbers of the program are not part of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Structure {
    pub nodes: Vec<Node>,
    pub bases: Vec<BaseFacts>,
}

/// What was made of structures before: schedules, or a rank's share of the work.
#[derive(Debug)]
pub(super) struct Kept<T> {
    made: FxHashMap<Structure, Rc<T>>,
    n_nodes: usize,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { made: FxHashMap::default(), n_nodes: 0 }
    }
}

impl<T> Kept<T> {
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.made.len()
    }

    pub fn find(&self, structure: &Structure) -> Option<Rc<T>> {
        self.made.get(structure).map(Rc::clone)
    }

    pub fn keep(&mut self, structure: Structure, made: Rc<T>) {
        if self.made.len() == MOST_KEPT || self.n_nodes > MOST_NODES {
            self.made.clear();
            self.n_nodes = 0;
        }
        self.n_nodes += structure.nodes.len();
        self.made.insert(structure, made);
    }
}
