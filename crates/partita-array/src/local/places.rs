//! Where in the user's program kinds of nodes were recorded first.
//!
//! Asking for a line costs as much as recording. So it is asked once for each kind: the turns of a
//! loop record the same kinds again. On several ranks, segments know more (`segment`).

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Kinds that are remembered.
const MOST_KINDS: usize = 1 << 14;

/// Places by the marks of nodes.
#[derive(Debug, Default)]
pub(super) struct Places {
    known: FxHashMap<u64, Option<Arc<str>>>,
    new: Vec<u64>,
}

impl Places {
    /// A node was recorded.
    pub fn note(&mut self, mark: u64) {
        if self.known.len() > MOST_KINDS {
            self.known.clear();
        }
        let new = &mut self.new;
        self.known.entry(mark).or_insert_with(|| {
            new.push(mark);
            None
        });
    }

    pub fn has_new(&self) -> bool {
        !self.new.is_empty()
    }

    /// Says where the kinds that are new were recorded.
    pub fn set(&mut self, line: Option<&Arc<str>>) {
        for mark in self.new.drain(..) {
            self.known.insert(mark, line.cloned());
        }
    }

    pub fn get(&self, mark: u64) -> Option<&Arc<str>> {
        self.known.get(&mark).and_then(Option::as_ref)
    }
}
