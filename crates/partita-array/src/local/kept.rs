//! Schedules by structure, so that a loop of a program is compiled once.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::node::{BaseFacts, Node};
use super::schedule::Schedule;

/// Programs with more loops than this compile some of them again.
const MOST_SCHEDULES: usize = 512;

/// What a schedule depends on: numbers of the program are not part of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Structure {
    pub nodes: Vec<Node>,
    pub bases: Vec<BaseFacts>,
}

/// Schedules that were made before.
#[derive(Debug, Default)]
pub(super) struct Kept {
    schedules: FxHashMap<Structure, Rc<Schedule>>,
}

impl Kept {
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.schedules.len()
    }

    pub fn find(&self, structure: &Structure) -> Option<Rc<Schedule>> {
        self.schedules.get(structure).map(Rc::clone)
    }

    pub fn keep(&mut self, structure: Structure, schedule: Rc<Schedule>) {
        if self.schedules.len() == MOST_SCHEDULES {
            self.schedules.clear();
        }
        self.schedules.insert(structure, schedule);
    }
}
