//! From phases of nodes and movements to loops, with what becomes of memory between them.

use std::rc::Rc;

use partita_kernel::{Machine, Scalar};

use super::super::node::{BaseFacts, Node};
use super::super::schedule::{Schedule, compile};
use super::divide::{Dividing, Part};
use super::moves::Move;
use super::spread::Spread;
use crate::error::Result;

/// Movements, then loops.
#[derive(Debug)]
pub(in super::super) struct Phase {
    pub moves: Vec<Move>,
    pub schedule: Schedule,
    /// Memory that must be there when the loops begin, with its size.
    pub expected: Vec<(usize, usize)>,
    /// Memory that nobody needs afterwards.
    pub spent: Vec<usize>,
}

/// What becomes of a base.
#[derive(Debug)]
pub(in super::super) struct End {
    pub spread: Rc<Spread>,
    pub is_fresh: bool,
    pub is_alive: bool,
    /// Bytes of this rank's memory.
    pub n_bytes: usize,
}

/// One rank's share of some work.
#[derive(Debug)]
pub(in super::super) struct Divided {
    pub phases: Vec<Phase>,
    /// Number of pieces of memory; the first ones are the bases'.
    pub n_parts: usize,
    /// Bases that get wider margins, and where their old memory goes.
    pub grown: Vec<(usize, usize)>,
    /// Numbers behind those of the work.
    pub numbers: Vec<Scalar>,
    /// Bytes of new memory at the worst moment.
    pub growth_bytes: usize,
    /// For each base that the work touches.
    pub ends: Vec<Option<End>>,
}

impl Dividing {
    /// Makes loops of all phases.
    pub fn finish(mut self, touched: &[bool], machine: &Machine) -> Result<Divided> {
        self.end_phase();
        let raw = std::mem::take(&mut self.phases);
        let last_use = self.last_uses(&raw);
        let mut facts: Vec<BaseFacts> = (0..self.parts.len())
            .map(|part| {
                let Part { dtype, is_shared, has_storage, .. } = self.parts[part];
                BaseFacts {
                    dtype,
                    shape: self.local_shape(part),
                    is_alive: true,
                    has_storage,
                    is_shared,
                    spread: None,
                    is_fresh: false,
                    is_from_nothing: false,
                }
            })
            .collect();
        let mut phases = Vec::with_capacity(raw.len());
        let mut growth = Growth::default();
        let sizes: Vec<usize> = facts
            .iter()
            .map(|facts| facts.shape.iter().product::<usize>() * facts.dtype.size())
            .collect();
        let n_bytes = |part: usize| sizes[part];
        let was_there: Vec<bool> = facts.iter().map(|facts| facts.has_storage).collect();
        for (at, (moves, nodes)) in raw.into_iter().enumerate() {
            let before: Vec<bool> = facts.iter().map(|facts| facts.has_storage).collect();
            for one in &moves {
                one.touched().for_each(|part| facts[part].has_storage = true);
            }
            for (part, facts) in facts.iter_mut().enumerate() {
                facts.is_alive = self.parts[part].is_alive || last_use[part] > Some(at);
            }
            let schedule = compile(&nodes, &facts, machine)?;
            let touched: Vec<usize> = (0..facts.len())
                .filter(|part| last_use[*part] >= Some(at) || self.parts[*part].is_alive)
                .collect();
            let expected = touched.iter().copied().filter(|part| facts[*part].has_storage);
            let expected = expected.map(|part| (part, n_bytes(part))).collect();
            let spent: Vec<usize> = (0..facts.len())
                .filter(|part| last_use[*part] == Some(at) && !self.parts[*part].is_alive)
                .collect();
            let brought =
                (0..facts.len()).filter(|part| facts[*part].has_storage && !before[*part]);
            growth.add(brought.map(&n_bytes).sum(), schedule.growth_bytes);
            let made = schedule.kept.iter().filter(|(part, _)| !facts[*part].has_storage);
            growth.add(made.map(|(part, _)| n_bytes(*part)).sum(), 0);
            for (part, _) in &schedule.kept {
                facts[*part].has_storage = true;
            }
            let gone = spent.iter().filter(|part| facts[**part].has_storage && !was_there[**part]);
            growth.now -= gone.map(|part| n_bytes(*part)).sum::<usize>();
            phases.push(Phase { moves, schedule, expected, spent });
        }
        let end = |part: usize| {
            let Part { spread, is_fresh, is_alive, dtype, .. } = &self.parts[part];
            let n_bytes = self.local_shape(part).iter().product::<usize>() * dtype.size();
            End { spread: Rc::clone(spread), is_fresh: *is_fresh, is_alive: *is_alive, n_bytes }
        };
        let ends = touched.iter().enumerate();
        let ends = ends.map(|(part, is_touched)| is_touched.then(|| end(part))).collect();
        let n_parts = self.parts.len();
        let (grown, numbers, growth_bytes) = (self.grown, self.numbers, growth.most);
        Ok(Divided { phases, n_parts, grown, numbers, growth_bytes, ends })
    }

    /// The last phase in which each part is read, written or moved.
    fn last_uses(&self, phases: &[(Vec<Move>, Vec<Node>)]) -> Vec<Option<usize>> {
        let mut last = vec![None; self.parts.len()];
        for (at, (moves, nodes)) in phases.iter().enumerate() {
            for node in nodes {
                last[node.target.base] = Some(at);
                node.places().for_each(|place| last[place.base] = Some(at));
            }
            moves.iter().flat_map(Move::touched).for_each(|part| last[part] = Some(at));
        }
        last
    }
}

/// New memory from phase to phase.
#[derive(Debug, Default)]
struct Growth {
    now: usize,
    most: usize,
}

impl Growth {
    /// Memory that comes and stays, and what comes and goes beside it.
    fn add(&mut self, stays: usize, passes: usize) {
        self.now += stays;
        self.most = self.most.max(self.now + passes);
    }
}
