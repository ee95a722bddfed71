//! What it costs to find out who holds what, where a dimension's map is a list.
//!
//! No rank knows the others' lists. Where one side has lists and the other a formula, the list
//! side works out its partners and tells each which positions it means: one message per partner.
//! Where both have lists, a directory answers: index `i` has a home among the ranks of the axis,
//! owners register there, takers ask there, and then tell the owners. Nothing is gathered on all
//! ranks. The lists of one grid line are the same on all lines; each line keeps its own directory.

use std::collections::HashSet;

use partita_layout::{DimMap, Map, Part, Unstructured};

use crate::plan::Forward;
use crate::reach::grid_form;

/// Bytes of an index or a position on the way.
const WORD_BYTES: u128 = 8;
/// What a rank keeps per listed element while it finds its moves and while it moves them: pairs of
/// positions, runs, buckets and scratch.
const LISTED_BYTES: u128 = 320;

/// Messages that finding the partners takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DirectoryCost {
    /// Messages between different ranks.
    pub n_messages: u128,
    /// Their bytes.
    pub bytes: u128,
    /// Most bytes that one rank keeps of the directory and for its own lists.
    pub max_rank_bytes: u128,
}

impl DirectoryCost {
    pub(crate) fn new(plan: &Forward) -> Self {
        let mut cost = Self::default();
        let (Some(source), Some(target)) = (grid_form(&plan.source), grid_form(&plan.target))
        else {
            return cost;
        };
        for (from, to) in source.dims().iter().zip(target.dims()) {
            let n_lines = |n_ranks: u64, dim: &DimMap| u128::from(n_ranks / dim.n_coordinates());
            let one = match (from.map(), to.map()) {
                (Map::Unstructured(owned), Map::Unstructured(wanted)) => {
                    both(owned, wanted).times(n_lines(target.grid().n_ranks(), to))
                }
                (Map::Unstructured(_), _) => {
                    tell(from, to, Part::Owned).times(n_lines(source.grid().n_ranks(), from))
                }
                (_, Map::Unstructured(_)) => {
                    tell(to, from, Part::Held).times(n_lines(target.grid().n_ranks(), to))
                }
                _ => Self::default(),
            };
            cost.n_messages += one.n_messages;
            cost.bytes += one.bytes;
            cost.max_rank_bytes += one.max_rank_bytes;
        }
        cost
    }

    fn times(self, n_lines: u128) -> Self {
        Self { n_messages: self.n_messages * n_lines, bytes: self.bytes * n_lines, ..self }
    }
}

/// The list side tells its partners their positions.
fn tell(lists: &DimMap, formula: &DimMap, lists_part: Part) -> DirectoryCost {
    let other_part = if lists_part == Part::Owned { Part::Held } else { Part::Owned };
    let mut cost = DirectoryCost::default();
    for coordinate in 0..lists.n_coordinates() {
        let set = lists.indices(coordinate, lists_part);
        let partners = formula.partners(&set, other_part);
        let others = partners.iter().filter(|partner| partner.coordinate != coordinate);
        for partner in others {
            cost.n_messages += 1;
            cost.bytes += u128::from(partner.n_elements()) * WORD_BYTES;
        }
    }
    cost.max_rank_bytes = LISTED_BYTES * largest(lists).max(largest(formula));
    cost
}

/// Most elements that a coordinate holds.
fn largest(dim: &DimMap) -> u128 {
    let held = (0..dim.n_coordinates()).map(|k| u128::from(dim.count(k, Part::Held)));
    held.max().unwrap_or(0)
}

/// Register with the homes, ask the homes, be answered, tell the owners.
fn both(owned: &Unstructured, wanted: &Unstructured) -> DirectoryCost {
    let n_homes = wanted.n_coordinates();
    let mut exchanges = Exchanges::default();
    let mut kept = vec![0_u128; n_homes as usize];
    for coordinate in 0..owned.n_coordinates() {
        for index in owned.list(coordinate) {
            let at = home(*index, n_homes);
            exchanges.add(Step::Register, coordinate, at, 2);
            kept[at as usize] += 3 * WORD_BYTES;
        }
    }
    for coordinate in 0..wanted.n_coordinates() {
        for index in wanted.list(coordinate) {
            let at = home(*index, n_homes);
            exchanges.add(Step::Ask, coordinate, at, 1);
            exchanges.add(Step::Answer, at, coordinate, 2);
            if let Some((owner, _)) = owned.owner(*index) {
                exchanges.add(Step::Tell, coordinate, owner, 2);
            }
        }
    }
    let longest = |lists: &Unstructured| {
        let lengths = (0..lists.n_coordinates()).map(|k| lists.list(k).len() as u128);
        lengths.max().unwrap_or(0)
    };
    let listed = LISTED_BYTES * longest(owned).max(longest(wanted));
    let max_rank_bytes = kept.into_iter().max().unwrap_or(0) + listed;
    DirectoryCost {
        n_messages: exchanges.pairs.len() as u128,
        bytes: exchanges.n_words * WORD_BYTES,
        max_rank_bytes,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    Register,
    Ask,
    Answer,
    Tell,
}

/// Words on the way, and who sends to whom in which step.
#[derive(Default)]
struct Exchanges {
    pairs: HashSet<(Step, u64, u64)>,
    n_words: u128,
}

impl Exchanges {
    fn add(&mut self, step: Step, from: u64, to: u64, n_words: u128) {
        if from != to {
            self.pairs.insert((step, from, to));
            self.n_words += n_words;
        }
    }
}

/// Spreads any pattern of indices evenly.
fn home(index: i64, n_homes: u64) -> u64 {
    let mixed = (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((u128::from(mixed) * u128::from(n_homes)) >> 64) as u64
}
