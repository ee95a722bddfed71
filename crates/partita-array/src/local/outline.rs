//! What pending work will cost, without doing it.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::base::Base;
use super::engine::{Engine, State};
use super::kept::Structure;
use super::node::BaseFacts;
use super::ranks::{Divided, Spread};
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
        let (mut found, mut ahead) = self.outline_ready()?;
        if let Some(segment) = &*state.before.borrow() {
            state.outline_of(segment, &mut found, &mut ahead)?;
        }
        state.outline_of(&state.current.borrow(), &mut found, &mut ahead)?;
        found.peak_bytes = state.meter.in_use() + ahead.most_bytes;
        Ok(found)
    }

    /// Loops of the segments that may run.
    pub(super) fn n_ready_loops(&self) -> usize {
        self.outline_ready().map_or(0, |(found, _)| found.n_kernels)
    }

    fn outline_ready(&self) -> Result<(Outline, Ahead)> {
        let (mut found, mut ahead) = (Outline::default(), Ahead::default());
        for segment in self.0.ready.borrow().iter() {
            self.0.outline_of(segment, &mut found, &mut ahead)?;
        }
        Ok((found, ahead))
    }
}

/// What there will be beside what there is, when the segments before have run.
#[derive(Debug, Default)]
struct Ahead {
    made: FxHashMap<*const Base, Made>,
    n_bytes: usize,
    most_bytes: usize,
}

/// What a segment makes of a base: where it is, on several ranks.
#[derive(Debug)]
struct Made {
    spread: Option<Rc<Spread>>,
    is_fresh: bool,
}

impl Ahead {
    fn facts(&self, base: &Rc<Base>) -> BaseFacts {
        let mut facts = facts(base);
        if let Some(made) = self.made.get(&Rc::as_ptr(base)) {
            facts.has_storage = true;
            if made.spread.is_some() {
                (facts.spread, facts.is_fresh) = (made.spread.clone(), made.is_fresh);
            }
        }
        facts
    }

    fn grow(&mut self, n_bytes: usize) {
        self.most_bytes = self.most_bytes.max(self.n_bytes + n_bytes);
    }

    fn make(&mut self, base: &Rc<Base>, made: Made, (before, after): (usize, usize)) {
        self.made.insert(Rc::as_ptr(base), made);
        self.n_bytes += after.saturating_sub(before);
    }
}

impl State {
    /// Adds a segment.
    fn outline_of(&self, segment: &Segment, found: &mut Outline, ahead: &mut Ahead) -> Result<()> {
        if segment.work.nodes.is_empty() {
            return Ok(());
        }
        found.n_operations += segment.work.nodes.len();
        let bases = segment.bases.iter().map(|base| ahead.facts(base)).collect();
        let structure = Structure { nodes: segment.work.nodes.clone(), bases };
        let Some(ranks) = &self.ranks else {
            let schedule = compile(&structure.nodes, &structure.bases, &self.machine)?;
            self.add_loops(&schedule, found);
            ahead.grow(schedule.growth_bytes);
            for (base, _) in &schedule.kept {
                if !structure.bases[*base].has_storage {
                    let made = Made { spread: None, is_fresh: false };
                    let n_bytes = segment.bases[*base].n_bytes().unwrap_or(0);
                    ahead.make(&segment.bases[*base], made, (0, n_bytes));
                }
            }
            return Ok(());
        };
        let divided = ranks.divide(&structure, segment.work.numbers.len(), &self.machine)?;
        self.add_phases(&divided, found);
        ahead.grow(divided.growth_bytes);
        for ((base, facts), end) in segment.bases.iter().zip(&structure.bases).zip(&divided.ends) {
            let Some(end) = end.as_ref().filter(|end| end.is_alive) else { continue };
            let made = Made { spread: Some(Rc::clone(&end.spread)), is_fresh: end.is_fresh };
            ahead.make(base, made, (ranks.bytes_here(facts), end.n_bytes));
        }
        Ok(())
    }

    fn add_phases(&self, divided: &Divided, found: &mut Outline) {
        for phase in &divided.phases {
            for one in &phase.moves {
                found.n_exchanges += 1;
                found.n_bytes += one.n_bytes;
                let what = if one.targets.is_none() { "margins" } else { "boxes" };
                let lines = self.lines(&[one.mark], "  ");
                let words = format!("exchange  {what}, {} bytes in all{lines}", one.n_bytes);
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
        let lines = self.lines(&step.marks, "  ");
        format!("kernel    {extents} points, reads {n_read}, writes {n_written}{lines}")
    }

    /// The user's lines that kinds of nodes are from, behind a gap; nothing if none is known.
    pub(super) fn lines(&self, marks: &[u64], gap: &str) -> String {
        let known = self.places.borrow();
        let mut places: Vec<&str> = Vec::new();
        for place in marks.iter().filter_map(|mark| known.get(*mark)) {
            if !places.contains(&&**place) {
                places.push(place);
            }
        }
        let n_more = places.len().saturating_sub(3);
        places.truncate(3);
        match (places.is_empty(), n_more) {
            (true, _) => String::new(),
            (_, 0) => format!("{gap}from {}", places.join("; ")),
            _ => format!("{gap}from {}; and {n_more} more", places.join("; ")),
        }
    }
}
