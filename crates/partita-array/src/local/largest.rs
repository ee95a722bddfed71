//! Which arrays pending work needs the most memory for, in words.

use std::rc::Rc;

use super::base::Base;
use super::engine::State;
use super::ranks::Divided;
use super::schedule::Schedule;

/// So many are told.
const MOST_TOLD: usize = 3;

/// New memory that work needs.
pub(super) struct Wanted<'a> {
    pub n_bytes: usize,
    /// What it is memory of; none if the work alone knows it.
    pub base: Option<&'a Base>,
    /// Kinds of the nodes that need it.
    pub marks: &'a [u64],
}

impl Schedule {
    /// All new memory, for work on these bases.
    pub fn wants<'a>(&'a self, bases: &'a [Rc<Base>]) -> Vec<Wanted<'a>> {
        let steps =
            self.steps.iter().flat_map(|step| step.fresh.iter().map(move |one| (step, one)));
        let wanted = steps.map(|(step, (slot, n_bytes))| {
            let base = self.slot_bases.get(*slot).and_then(|base| bases.get(*base));
            Wanted { n_bytes: *n_bytes, base: base.map(Rc::as_ref), marks: &step.marks }
        });
        wanted.collect()
    }
}

impl Divided {
    /// The same of a rank's share of the work.
    pub fn wants<'a>(&'a self, bases: &'a [Rc<Base>]) -> Vec<Wanted<'a>> {
        let mut wanted = Vec::new();
        for phase in &self.phases {
            for (one, spot) in phase
                .moves
                .iter()
                .flat_map(|one| one.targets.iter().flatten().map(move |spot| (one, spot)))
            {
                let base = bases.get(spot.part).map(Rc::as_ref);
                let marks = std::slice::from_ref(&one.mark);
                wanted.push(Wanted { n_bytes: spot.part_bytes, base, marks });
            }
            wanted.extend(phase.schedule.wants(bases));
        }
        wanted
    }
}

impl State {
    /// The largest of what is wanted, in words; nothing if nothing is.
    pub fn largest(&self, mut wanted: Vec<Wanted<'_>>) -> String {
        wanted.sort_by_key(|one| std::cmp::Reverse(one.n_bytes));
        let mut words = String::new();
        for one in wanted.iter().filter(|one| one.n_bytes > 0).take(MOST_TOLD) {
            words += if words.is_empty() { " (the largest new ones are " } else { ", " };
            words += &match one.base {
                Some(base) => format!("{} {:?}", base.dtype, base.shape()),
                None => "what is fetched".to_string(),
            };
            words += &format!(" with {} bytes{}", one.n_bytes, self.lines(one.marks, " "));
        }
        if words.is_empty() { words } else { words + ")" }
    }
}
