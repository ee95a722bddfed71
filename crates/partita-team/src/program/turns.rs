//! Turns: what several ranks of a node want of a far rank travels there once.
//!
//! The ranks of a node that are sent the same by a far rank take its chunks in turn, and whoever has
//! taken one writes it into the targets of all, which lie in memory that they share. So a node gets
//! as many bytes as one of its ranks wants.
//!
//! Sender and takers find these groups by themselves, from the plan, from the nodes, which all know
//! alike, and from whose targets are open.

use std::collections::BTreeMap;

use partita_layout::{Form, Layout, Run};
use partita_plan::{Combine, Move, Plan};

use crate::program::cut::{Chunk, Chunks};

/// Where each taker would get less than this, all are sent their own.
const FROM_BYTES_EACH: u64 = 16 << 10;

/// How the chunks between this rank and another are shared out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Among how many takers.
    pub n_takers: usize,
    /// Which of them it is whose chunks are meant.
    pub at: usize,
    /// What the other takers want, where this rank is one: the same as it gets, for their targets.
    pub others: Vec<Vec<Move>>,
}

/// Turns by the rank at the other end; everything goes straight to the ranks that are not here.
pub(crate) type Turns = BTreeMap<u64, Turn>;

/// What is known of the ranks, by all of them alike.
#[derive(Clone, Copy)]
pub(crate) struct Ranks<'a> {
    /// The node of each rank; none where all are on one.
    pub nodes: &'a [u64],
    /// Whether all targets of a rank are open to its node.
    pub is_open: &'a dyn Fn(u64) -> bool,
}

impl Ranks<'_> {
    fn are_neighbours(&self, one: u64, other: u64) -> bool {
        self.nodes.get(one as usize) == self.nodes.get(other as usize)
    }

    fn may_share(&self, plan: &Plan) -> bool {
        !self.nodes.is_empty() && plan.combine() == Combine::Copy && wants_twice(plan.target())
    }
}

/// Turns in which a rank sends; `sent` is what goes by messages.
pub(crate) fn giving(plan: &Plan, sent: &[Move], ranks: Ranks<'_>) -> Turns {
    if !ranks.may_share(plan) {
        return Turns::new();
    }
    let by_target = grouped(sent, |m| m.target_rank);
    let mut groups: Vec<Vec<u64>> = Vec::new();
    for (&target, moves) in &by_target {
        let is_like = |group: &&mut Vec<u64>| {
            ranks.are_neighbours(group[0], target) && same_source(&by_target[&group[0]], moves)
        };
        match groups.iter_mut().find(is_like) {
            Some(group) => group.push(target),
            None if (ranks.is_open)(target) => groups.push(vec![target]),
            None => {}
        }
    }
    let mut turns = Turns::new();
    for group in groups {
        let takers: Vec<u64> = group.into_iter().filter(|rank| (ranks.is_open)(*rank)).collect();
        if !is_worth_it(takers.len(), &by_target[&takers[0]], plan) {
            continue;
        }
        for (at, taker) in takers.iter().enumerate() {
            turns.insert(*taker, Turn { n_takers: takers.len(), at, others: Vec::new() });
        }
    }
    turns
}

/// Turns in which a rank takes; `taken` is what comes by messages.
pub(crate) fn taking(plan: &Plan, rank: u64, taken: &[Move], ranks: Ranks<'_>) -> Turns {
    if taken.is_empty() || !ranks.may_share(plan) || !(ranks.is_open)(rank) {
        return Turns::new();
    }
    let is_taker = |other: &u64| ranks.are_neighbours(rank, *other) && (ranks.is_open)(*other);
    let neighbours = (0..ranks.nodes.len() as u64).filter(|other| *other != rank).filter(is_taker);
    let wanted: Vec<(u64, BTreeMap<u64, Vec<Move>>)> = neighbours
        .map(|other| (other, grouped(&plan.receives(other), |m| m.source_rank)))
        .collect();
    let mut turns = Turns::new();
    for (source, moves) in grouped(taken, |m| m.source_rank) {
        if ranks.are_neighbours(rank, source) {
            continue;
        }
        let theirs = wanted.iter().filter_map(|(other, all)| Some((*other, all.get(&source)?)));
        let (takers, others): (Vec<u64>, Vec<Vec<Move>>) = theirs
            .filter(|(_, theirs)| same_source(&moves, theirs))
            .map(|(other, theirs)| (other, theirs.clone()))
            .unzip();
        let n_takers = takers.len() + 1;
        if is_worth_it(n_takers, &moves, plan) {
            let at = takers.iter().filter(|other| **other < rank).count();
            turns.insert(source, Turn { n_takers, at, others });
        }
    }
    turns
}

/// Whether a rank takes part in turns of a plan, if all targets are open.
pub(crate) fn may_take_turns(plan: &Plan, rank: u64, nodes: &[u64]) -> bool {
    let ranks = Ranks { nodes, is_open: &|_| true };
    if !ranks.may_share(plan) {
        return false;
    }
    let is_far = |other: u64| !ranks.are_neighbours(rank, other);
    let mut sent = plan.sends(rank);
    sent.retain(|m| is_far(m.target_rank));
    let mut taken = plan.receives(rank);
    taken.retain(|m| is_far(m.source_rank));
    !giving(plan, &sent, ranks).is_empty() || !taking(plan, rank, &taken, ranks).is_empty()
}

fn is_worth_it(n_takers: usize, moves: &[Move], plan: &Plan) -> bool {
    let n_bytes = moves.iter().map(Move::n_elements).sum::<u64>() * plan.dtype().n_bytes();
    n_takers > 1 && n_bytes / n_takers as u64 >= FROM_BYTES_EACH
}

/// Whether some elements may be wanted by several ranks.
fn wants_twice(target: &Layout) -> bool {
    match target.form() {
        Form::Grid(form) => form.grid().n_replicas() > 1,
        Form::Boxes(_) => {
            let held = |rank| target.n_held(rank).unwrap_or_default();
            let n_held: u128 = target.ranks().iter().map(|rank| u128::from(held(rank))).sum();
            n_held > target.shape().iter().map(|n| u128::from(*n)).product()
        }
    }
}

/// Whether two ranks are sent the same elements in the same order.
///
/// Both runs are then cut alike, too.
fn same_source(one: &[Move], other: &[Move]) -> bool {
    let same_move = |(a, b): (&Move, &Move)| {
        a.source_buffer == b.source_buffer
            && a.runs.len() == b.runs.len()
            && a.runs.iter().zip(&b.runs).all(|(a, b)| {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same_source_run(a, b))
            })
    };
    one.len() == other.len() && one.iter().zip(other).all(same_move)
}

fn same_source_run(one: &Run, other: &Run) -> bool {
    let mut levels = one.levels.iter().zip(&other.levels);
    one.source == other.source
        && levels.all(|(a, b)| a.count == b.count && a.source_step == b.source_step)
}

/// Moves by the rank at the other end, each group as listed.
pub(crate) fn grouped(moves: &[Move], partner: fn(&Move) -> u64) -> BTreeMap<u64, Vec<Move>> {
    let mut groups: BTreeMap<u64, Vec<Move>> = BTreeMap::new();
    for m in moves {
        groups.entry(partner(m)).or_default().push(m.clone());
    }
    groups
}

/// What one message brings, and to whom besides its taker.
#[derive(Debug)]
pub(crate) struct Parcel {
    pub chunk: Chunk,
    /// The same for others of the taker's node, who wait for it to write them.
    pub others: Vec<Chunk>,
}

/// The messages between two ranks, one after the other.
#[derive(Debug)]
pub(crate) struct Parcels {
    chunks: Chunks,
    others: Vec<Chunks>,
    n_takers: usize,
    at: usize,
    n_gone: usize,
}

impl Parcels {
    /// Chunks of at most so many bytes; smaller where there is one for each taker only so.
    pub(crate) fn new(moves: Vec<Move>, turn: Option<&Turn>, item_bytes: u64, most: u64) -> Self {
        let n_takers = turn.map_or(1, |turn| turn.n_takers);
        let n_bytes = moves.iter().map(Move::n_elements).sum::<u64>() * item_bytes;
        let limit = if n_takers > 1 { most.min(n_bytes.div_ceil(n_takers as u64)) } else { most };
        let chunks = |moves| Chunks::new(moves, item_bytes, limit);
        let others = turn.map(|turn| turn.others.iter().cloned().map(chunks).collect());
        Self {
            chunks: chunks(moves),
            others: others.unwrap_or_default(),
            n_takers,
            at: turn.map_or(0, |turn| turn.at),
            n_gone: 0,
        }
    }
}

impl Iterator for Parcels {
    type Item = Parcel;

    fn next(&mut self) -> Option<Parcel> {
        loop {
            let chunk = self.chunks.next()?;
            let others = self.others.iter_mut().map(Iterator::next).collect::<Option<_>>()?;
            let is_ours = self.n_gone % self.n_takers == self.at;
            self.n_gone += 1;
            if is_ours {
                return Some(Parcel { chunk, others });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use partita_layout::{Layout, n_elements};
    use partita_plan::Dtype;

    use super::*;

    const MOST: u64 = 64 << 10;

    fn plan(shape: &[u64], source: &str, target: &str) -> Plan {
        let layout = |notation| Layout::parse(shape, notation).expect(notation);
        Plan::new(&layout(source), &layout(target), Dtype::F64).expect("a plan")
    }

    /// What goes by messages where ranks of a node reach each other: out of a rank, and into it.
    fn sent(plan: &Plan, rank: u64, nodes: &[u64]) -> (Vec<Move>, Vec<Move>) {
        let is_far = |m: &Move| nodes[m.source_rank as usize] != nodes[m.target_rank as usize];
        let far = |moves: Vec<Move>| moves.into_iter().filter(is_far).collect();
        (far(plan.sends(rank)), far(plan.receives(rank)))
    }

    /// Bytes that all ranks send; checks that every target gets all it wants, each element once.
    fn bytes_sent(plan: &Plan, nodes: &[u64], is_open: &dyn Fn(u64) -> bool) -> u64 {
        let (ranks, size) = (Ranks { nodes, is_open }, nodes.len() as u64);
        let parcels = |moves: &[Move], turn: Option<&Turn>| {
            Parcels::new(moves.to_vec(), turn, 8, MOST).collect::<Vec<Parcel>>()
        };
        let (mut n_bytes, mut got) = (0, vec![0; nodes.len()]);
        for taker in 0..size {
            let (_, into) = sent(plan, taker, nodes);
            let turns_in = taking(plan, taker, &into, ranks);
            for (source, taken) in grouped(&into, |m| m.source_rank) {
                let (out, _) = sent(plan, source, nodes);
                let turns_out = giving(plan, &out, ranks);
                let given = &grouped(&out, |m| m.target_rank)[&taker];
                let taken = parcels(&taken, turns_in.get(&source));
                let given = parcels(given, turns_out.get(&taker));
                let chunks = |parcels: &[Parcel]| -> Vec<Chunk> {
                    parcels.iter().map(|parcel| parcel.chunk.clone()).collect()
                };
                assert_eq!(chunks(&given), chunks(&taken), "from {source} to {taker}");
                for Parcel { chunk, others } in taken {
                    n_bytes += chunk.n_bytes as u64;
                    for one in others.iter().chain([&chunk]) {
                        assert_eq!(one.n_bytes, chunk.n_bytes);
                        assert!(one.moves.iter().all(|m| m.source_rank == source));
                        let elements: u64 = one.moves.iter().map(Move::n_elements).sum();
                        got[one.moves[0].target_rank as usize] += elements;
                    }
                }
            }
        }
        for rank in 0..size {
            let (_, into) = sent(plan, rank, nodes);
            let wanted: u64 = into.iter().map(Move::n_elements).sum();
            assert_eq!(got[rank as usize], wanted, "rank {rank}");
        }
        n_bytes
    }

    #[test]
    fn a_node_gets_what_its_ranks_share_once() {
        let n = 300 * 7_u64;
        let whole = n * 1000 * 8;
        let all = &|_| true;
        let broadcast = plan(&[n, 1000], "*, * @ 1x1", "*, * @ 6x1");
        assert_eq!(bytes_sent(&broadcast, &[0, 0, 2, 2, 2, 5], all), 2 * whole);
        assert_eq!(bytes_sent(&broadcast, &[0, 1, 0, 1, 0, 1], all), whole);
        assert_eq!(bytes_sent(&broadcast, &[0, 1, 2, 3, 4, 5], all), 5 * whole);
        // One of them has memory of its own.
        let shut = &|rank| rank != 3;
        assert_eq!(bytes_sent(&broadcast, &[0, 0, 2, 2, 2, 5], shut), 3 * whole);
        let gather = plan(&[n, 1000], "block, * @ 6x1", "*, * @ 6x1");
        assert_eq!(bytes_sent(&gather, &[0, 0, 0, 3, 3, 3], all), whole);
        let gather = plan(&[n, 1000], "block, block @ 3x2", "block, * @ 3x2");
        assert_eq!(bytes_sent(&gather, &[0, 1, 0, 1, 0, 1], all), whole);
        let lines = plan(&[n, 1000], "cyclic(3), * @ 2", "block, cyclic(7) @ 2x3 on 5,4,3,2,1,0");
        let moved = lines.totals().bytes_moved as u64;
        assert_eq!(bytes_sent(&lines, &[0, 1, 2, 3, 4, 5], all), moved);
    }

    #[test]
    fn little_is_sent_to_each() {
        let small = plan(&[1000], "* @ 1", "* @ 4");
        assert_eq!(bytes_sent(&small, &[0, 1, 1, 1], &|_| true), 3 * 8000);
        assert!(!may_take_turns(&small, 1, &[0, 1, 1, 1]));
        let large = plan(&[100_000], "* @ 1", "* @ 4");
        assert!((0..4).all(|rank| may_take_turns(&large, rank, &[0, 1, 1, 1])));
        assert!(!may_take_turns(&large, 3, &[0, 1, 1, 3]));
        assert!(!may_take_turns(&large.adjoint(), 1, &[0, 1, 1, 1]));
        assert!(!may_take_turns(&large, 1, &[]));
    }

    #[test]
    fn other_places_of_targets_do_not_matter() {
        // Halos give each rank other positions for the same elements.
        let moved = |source: u64, target: u64| Move {
            source_rank: 0,
            target_rank: 1,
            source_buffer: 0,
            target_buffer: 0,
            runs: vec![[partita_layout::Run::contiguous(source, target, 5)].into()],
        };
        assert!(same_source(&[moved(3, 0)], &[moved(3, 7)]));
        assert!(!same_source(&[moved(3, 0)], &[moved(4, 0)]));
        assert!(!same_source(&[moved(3, 0)], &[]));
        assert_eq!(n_elements(&moved(3, 0).runs[0]), 5);
    }
}
