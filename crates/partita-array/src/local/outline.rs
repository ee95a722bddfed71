//! What pending work will cost, without doing it.

use std::fmt::Write;
use std::sync::Arc;

use super::engine::{Engine, State};
use super::kept::Structure;
use super::ranks::Divided;
use super::run::facts;
use super::schedule::{Schedule, Step, compile};
use super::segment::Segment;
use crate::error::Result;

/// What pending work comes to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// Operations that were recorded.
    pub n_operations: usize,
    /// Loops over memory.
    pub n_kernels: usize,
    /// Collective movements.
    pub n_exchanges: usize,
    /// Bytes that cross ranks, all ranks together.
    pub n_bytes: u128,
    /// Bytes of this rank's arrays at the worst moment, those that it has already among them.
    pub peak_bytes: usize,
    /// One line for each loop and movement, in order.
    pub steps: Vec<String>,
}

impl Engine {
    /// What the pending work comes to. Nothing is computed and nobody asked.
    ///
    /// # Errors
    /// Work that cannot be compiled.
    pub fn outline(&self) -> Result<Outline> {
        let state = &self.0;
        let mut found = Outline::default();
        let mut n_more = 0;
        for segment in state.ready.borrow().iter() {
            n_more = state.outline_of(segment, &mut found)?.max(n_more);
        }
        if let Some(segment) = &*state.before.borrow() {
            n_more = state.outline_of(segment, &mut found)?.max(n_more);
        }
        n_more = state.outline_of(&state.current.borrow(), &mut found)?.max(n_more);
        found.peak_bytes = state.meter.in_use() + n_more;
        Ok(found)
    }
}

impl State {
    /// Adds a segment; gives how many bytes it needs beside those that there are.
    fn outline_of(&self, segment: &Segment, found: &mut Outline) -> Result<usize> {
        if segment.work.nodes.is_empty() {
            return Ok(0);
        }
        found.n_operations += segment.work.nodes.len();
        let bases = segment.bases.iter().map(facts).collect();
        let structure = Structure { nodes: segment.work.nodes.clone(), bases };
        let Some(ranks) = &self.ranks else {
            let schedule = compile(&structure.nodes, &structure.bases, &self.machine)?;
            self.add_loops(&schedule, found);
            return Ok(schedule.growth_bytes);
        };
        let divided = ranks.divide(&structure, segment.work.numbers.len(), &self.machine)?;
        self.add_phases(&divided, found);
        Ok(divided.growth_bytes)
    }

    fn add_phases(&self, divided: &Divided, found: &mut Outline) {
        for phase in &divided.phases {
            for one in &phase.moves {
                found.n_exchanges += 1;
                found.n_bytes += one.n_bytes;
                let what = if one.targets.is_none() { "margins" } else { "boxes" };
                let mut words = format!("exchange  {what}, {} bytes in all", one.n_bytes);
                self.add_lines(&[one.mark], &mut words);
                found.steps.push(words);
            }
            self.add_loops(&phase.schedule, found);
        }
    }

    fn add_loops(&self, schedule: &Schedule, found: &mut Outline) {
        found.n_kernels += schedule.steps.len();
        found.steps.extend(schedule.steps.iter().map(|step| self.loop_in_words(step)));
    }

    fn loop_in_words(&self, step: &Step) -> String {
        let extents: Vec<String> = step.extents.iter().map(usize::to_string).collect();
        let extents = if extents.is_empty() { "1".into() } else { extents.join("x") };
        let (n_read, n_written) = (step.inputs.len(), step.outputs.len());
        let mut words = format!("kernel    {extents} points, reads {n_read}, writes {n_written}");
        self.add_lines(&step.marks, &mut words);
        words
    }

    /// Adds the user's lines that kinds of nodes are from.
    fn add_lines(&self, marks: &[u64], words: &mut String) {
        let known = self.places.borrow();
        let mut places: Vec<&Arc<str>> = Vec::new();
        for place in marks.iter().filter_map(|mark| known.get(*mark)) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        for (at, place) in places.iter().take(3).enumerate() {
            let _ = write!(words, "{}{place}", if at == 0 { "  from " } else { "; " });
        }
        if places.len() > 3 {
            let _ = write!(words, "; and {} more", places.len() - 3);
        }
    }
}
