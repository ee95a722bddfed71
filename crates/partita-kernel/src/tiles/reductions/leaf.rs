//! One leaf of all reductions of a program.

use super::Reductions;
use crate::tiles::runner::Runner;

/// The states of a leaf of all reductions.
pub struct Leaf<'a> {
    reductions: &'a Reductions,
    states: Vec<u8>,
    partials: Vec<u8>,
}

impl<'a> Leaf<'a> {
    pub fn new(reductions: &'a Reductions) -> Leaf<'a> {
        let states = reductions.reducers.iter().map(|r| r.state).sum();
        let partials = vec![0; reductions.row(1).width()];
        Leaf { reductions, states: vec![0; states], partials }
    }

    pub fn start(&mut self) {
        let mut state = self.states.as_mut_ptr();
        for reducer in &self.reductions.reducers {
            // SAFETY: the states lie beside each other.
            unsafe {
                (reducer.start)(state);
                state = state.add(reducer.state);
            }
        }
    }

    /// Takes `n` values from the `skip`-th of the current stretch on, the first of number `at`.
    ///
    /// # Safety
    /// The runner has computed them.
    pub unsafe fn add(&mut self, runner: &Runner<'_>, skip: usize, n: usize, at: usize) {
        let mut state = self.states.as_mut_ptr();
        for (reducer, &output) in self.reductions.reducers.iter().zip(&self.reductions.outputs) {
            // SAFETY: the states lie beside each other; the caller's.
            unsafe {
                let items = runner.value(output).add(skip * reducer.item);
                (reducer.add)(state, items, n, at as u64);
                state = state.add(reducer.state);
            }
        }
    }

    pub fn end(&mut self) -> &[u8] {
        let (mut state, mut partial) = (self.states.as_ptr(), self.partials.as_mut_ptr());
        for reducer in &self.reductions.reducers {
            // SAFETY: states and partial results lie beside each other.
            unsafe {
                (reducer.leaf)(state, partial);
                state = state.add(reducer.state);
                partial = partial.add(reducer.partial);
            }
        }
        &self.partials
    }
}
