//! Where in the user's program kinds of nodes were recorded first.
//!
//! Asking for a line costs as much as recording. So it is asked once for each kind: the turns of a
//! loop record the same kinds again. Another part of a program may do so, too: the first kind after
//! a run is asked for again now and then, and if it is from elsewhere now, all lines are forgotten.
//! On several ranks, segments know more (`segment`).

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Kinds that are remembered.
const MOST_KINDS: usize = 1 << 14;
/// After so many runs, only one of so many is followed by a question.
const MANY_RUNS: u64 = 64;

/// Places by the marks of nodes.
#[derive(Debug, Default)]
pub(super) struct Places {
    known: FxHashMap<u64, Option<Arc<str>>>,
    new: Vec<u64>,
    n_runs: u64,
    /// Whether the next kind is asked for, known or not.
    asks: bool,
    /// A kind that is known, and asked for again.
    again: Option<u64>,
}

impl Places {
    /// What was recorded is computed.
    pub fn run(&mut self) {
        self.n_runs += 1;
        self.asks = self.n_runs <= MANY_RUNS || self.n_runs.is_multiple_of(MANY_RUNS);
    }

    /// A node was recorded.
    #[inline]
    pub fn note(&mut self, mark: u64) {
        if self.known.len() > MOST_KINDS {
            self.known.clear();
        }
        if self.asks {
            self.asks = false;
            self.again = self.known.contains_key(&mark).then_some(mark);
        }
        let new = &mut self.new;
        self.known.entry(mark).or_insert_with(|| {
            new.push(mark);
            None
        });
    }

    pub fn has_new(&self) -> bool {
        !self.new.is_empty() || self.again.is_some()
    }

    /// Says where the kinds that are new were recorded.
    pub fn set(&mut self, line: Option<&Arc<str>>) {
        if let Some(mark) = self.again.take()
            && self.get(mark) != line
        {
            self.known.clear();
            self.new.push(mark);
        }
        for mark in self.new.drain(..) {
            self.known.insert(mark, line.cloned());
        }
    }

    pub fn get(&self, mark: u64) -> Option<&Arc<str>> {
        self.known.get(&mark).and_then(Option::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_that_come_again_from_elsewhere_have_their_new_lines() {
        let (here, there): (Arc<str>, Arc<str>) = ("line 3".into(), "line 6".into());
        let mut places = Places::default();
        for mark in [1, 2] {
            places.note(mark);
            places.set(Some(&here));
        }
        places.run();
        places.note(1);
        assert!(places.has_new());
        places.set(Some(&here));
        places.note(2);
        assert!(!places.has_new(), "the turns of a loop");
        places.run();
        for mark in [1, 2] {
            places.note(mark);
            assert!(places.has_new());
            places.set(Some(&there));
        }
        assert_eq!(
            [1, 2].map(|mark| places.get(mark).cloned()),
            [Some(there.clone()), Some(there)]
        );
    }
}
