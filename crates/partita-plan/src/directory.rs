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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use partita_layout::{GridSpec, Layout};

    use super::*;
    use crate::{Dtype, Plan};

    fn lists(lists: &[Vec<i64>]) -> Map {
        Map::Unstructured(Unstructured::new(lists).into())
    }

    fn layout(shape: &[u64], maps: Vec<Map>, grid: &[u64]) -> Layout {
        let spec = GridSpec { maps, grid: Some(grid.to_vec()), ..GridSpec::default() };
        Layout::new(shape, &spec).expect("a good layout")
    }

    fn cost(source: &Layout, target: &Layout) -> DirectoryCost {
        Plan::new(source, target, Dtype::F64).expect("a plan").totals().directory
    }

    /// Rank 0 lists 0, 4, 5 and rank 1 the rest; blocks are 0..3 and 3..6.
    fn six() -> (Layout, Layout) {
        let listed = layout(&[6], vec![lists(&[vec![0, 4, 5], vec![1, 2, 3]])], &[2]);
        (listed, Layout::parse(&[6], "block @ 2").expect("blocks"))
    }

    #[test]
    fn lists_tell_blocks_what_they_bring() {
        let (listed, blocks) = six();
        // Rank 0 tells rank 1 of 4 and 5, rank 1 tells rank 0 of 1 and 2.
        let told = DirectoryCost { n_messages: 2, bytes: 4 * 8, max_rank_bytes: 3 * 320 };
        assert_eq!(cost(&listed, &blocks), told);
        assert_eq!(cost(&blocks, &listed), told);
    }

    #[test]
    fn the_longer_side_decides_what_a_rank_keeps() {
        let listed = layout(&[6], vec![lists(&[vec![0], vec![1, 2, 3, 4, 5]])], &[2]);
        let whole = Layout::parse(&[6], "* @ 2").expect("whole");
        assert_eq!(cost(&listed, &whole).max_rank_bytes, 6 * 320);
        let blocks = Layout::parse(&[6], "block @ 2").expect("blocks");
        assert_eq!(cost(&listed, &blocks).max_rank_bytes, 5 * 320);
    }

    #[test]
    fn every_line_of_the_grid_pays_for_itself() {
        let own = vec![lists(&[vec![0, 4, 5], vec![1, 2, 3]]), Map::Whole];
        let listed = layout(&[6, 8], own, &[2, 3]);
        let blocks = Layout::parse(&[6, 8], "block, * @ 2x3").expect("blocks");
        let one = cost(&six().0, &six().1);
        for found in [cost(&listed, &blocks), cost(&blocks, &listed), cost(&listed, &listed)] {
            assert_eq!(found.n_messages % 3, 0);
            assert_eq!(found.max_rank_bytes >= one.max_rank_bytes, found.n_messages > 0);
        }
        assert_eq!(cost(&listed, &blocks), one.times(3));
        assert_eq!(cost(&blocks, &listed), one.times(3));
    }

    #[test]
    fn dimensions_add_up() {
        let own = || lists(&[vec![0, 4, 5], vec![1, 2, 3]]);
        let listed = layout(&[6, 6], vec![own(), own()], &[2, 2]);
        let blocks = Layout::parse(&[6, 6], "block, block @ 2x2").expect("blocks");
        let one = cost(&six().0, &six().1);
        let both = cost(&listed, &blocks);
        assert_eq!(both.n_messages, 2 * 2 * one.n_messages);
        assert_eq!(both.bytes, 2 * 2 * one.bytes);
        assert_eq!(both.max_rank_bytes, 2 * one.max_rank_bytes);
    }

    #[test]
    fn formulas_cost_nothing() {
        let blocks = Layout::parse(&[6], "block @ 2").expect("blocks");
        let cyclic = Layout::parse(&[6], "cyclic @ 2").expect("cyclic");
        assert_eq!(cost(&blocks, &cyclic), DirectoryCost::default());
    }

    /// Every message of the four steps, listed one by one.
    fn counted(owned: &[Vec<i64>], wanted: &[Vec<i64>]) -> DirectoryCost {
        let n_homes = wanted.len() as u64;
        let mut words: BTreeMap<(&str, u64, u64), u128> = BTreeMap::new();
        let mut send = |step, from: u64, to: u64, n_words| {
            if from != to {
                *words.entry((step, from, to)).or_default() += n_words;
            }
        };
        let mut kept = vec![0; wanted.len()];
        for (rank, list) in (0..).zip(owned) {
            for index in list {
                send("register", rank, home(*index, n_homes), 2);
                kept[home(*index, n_homes) as usize] += 24;
            }
        }
        for (rank, list) in (0..).zip(wanted) {
            for index in list {
                let owner = owned.iter().position(|list| list.contains(index));
                send("ask", rank, home(*index, n_homes), 1);
                send("answer", home(*index, n_homes), rank, 2);
                send("tell", rank, owner.expect("owned") as u64, 2);
            }
        }
        let longest = owned.iter().chain(wanted).map(Vec::len).max().unwrap_or(0);
        DirectoryCost {
            n_messages: words.len() as u128,
            bytes: 8 * words.values().sum::<u128>(),
            max_rank_bytes: kept.into_iter().max().unwrap_or(0) + 320 * longest as u128,
        }
    }

    #[test]
    fn two_lists_meet_in_a_directory() {
        let owned = [vec![7, -3, 100, 12], vec![8, 9], vec![0, 41, 5]];
        let wanted = [vec![0], vec![100, 9, 8, 5], vec![7, -3, 41, 12]];
        let source = layout(&[9], vec![lists(&owned)], &[3]);
        let target = layout(&[9], vec![lists(&wanted)], &[3]);
        assert_eq!(cost(&source, &target), counted(&owned, &wanted));
        assert_eq!(cost(&target, &source), counted(&wanted, &owned));
        assert_eq!(cost(&source, &source), counted(&owned, &owned));
    }

    #[test]
    fn homes_are_spread_evenly() {
        for step in [1_i64, 2, 3, 64, 1000, 1 << 20, -7] {
            let mut counts = [0; 8];
            for k in 0..8000 {
                counts[home(k * step - 5, 8) as usize] += 1;
            }
            let fair = counts.iter().all(|count| (900..1100).contains(count));
            assert!(fair, "step {step}: {counts:?}");
        }
        assert!((0..100).all(|index| home(index, 1) == 0));
    }
}
