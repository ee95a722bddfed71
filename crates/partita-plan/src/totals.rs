//! Exact totals of a plan: messages, bytes, the lower bound, the busiest ranks.
//!
//! Between two grid layouts nothing is enumerated but coordinates per dimension and ranks: sums
//! over moves are products of sums over dimensions, less what each rank keeps. With boxes the
//! moves are counted one by one; they are as many as the boxes at hand.

use std::collections::HashMap;

use partita_layout::{DimMap, Form, GridForm, Layout, Part, Place, Ranks, Run};

use crate::directory::DirectoryCost;
use crate::moves::Move;
use crate::plan::{Forward, Plan};
use crate::reach::{Reach, grid_form};
use crate::stages::Staged;

/// Messages travel packed, in chunks; so much is under way at most, in each direction.
const MOST_PACKED_BYTES: u128 = 8 << 20;

/// Messages and bytes over all ranks. What is run in two stages is counted so.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Ranks of the source and of the target together.
    pub n_ranks: u64,
    /// Pairs of a giving and a taking rank, a rank with itself among them.
    pub n_moves: u128,
    /// Pairs of different ranks.
    pub n_messages: u128,
    /// Bytes that cross ranks.
    pub bytes_moved: u128,
    /// Bytes that stay on their rank.
    pub bytes_kept: u128,
    /// Bytes that any plan must move, given who owns what.
    pub bytes_lower_bound: u128,
    /// Most bytes that one rank sends; of two stages, the most in each.
    pub max_send_bytes: u128,
    /// Most bytes that one rank receives; likewise.
    pub max_recv_bytes: u128,
    /// Messages to find out who holds what, where maps are lists.
    pub directory: DirectoryCost,
}

/// Messages and bytes of one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RankTotals {
    /// Ranks that it sends to, itself left out.
    pub n_sends: u64,
    /// Ranks that it receives from, itself left out.
    pub n_receives: u64,
    /// Bytes that it sends.
    pub send_bytes: u128,
    /// Bytes that it receives.
    pub recv_bytes: u128,
    /// Bytes that it keeps.
    pub keep_bytes: u128,
}

impl RankTotals {
    pub(crate) fn new(plan: &Plan, rank: u64) -> Self {
        let Some(stages) = plan.stages(&[]) else { return Self::at_once(plan, rank) };
        let [first, second] = stages.map(|stage| Self::at_once(&stage, rank));
        Self {
            n_sends: first.n_sends + second.n_sends,
            n_receives: first.n_receives + second.n_receives,
            send_bytes: first.send_bytes + second.send_bytes,
            recv_bytes: first.recv_bytes + second.recv_bytes,
            keep_bytes: first.keep_bytes + second.keep_bytes,
        }
    }

    fn at_once(plan: &Plan, rank: u64) -> Self {
        let bytes = |moves: &mut dyn Iterator<Item = &Move>| -> u128 {
            let n_bytes = u128::from(plan.dtype().n_bytes());
            moves.map(|m| u128::from(m.n_elements()) * n_bytes).sum()
        };
        let (sends, receives) = (plan.sends(rank), plan.receives(rank));
        let n_partners = |moves: &[Move], other: fn(&Move) -> u64| {
            let mut others: Vec<u64> = moves.iter().filter(|m| m.crosses()).map(other).collect();
            others.sort_unstable();
            others.dedup();
            others.len() as u64
        };
        Self {
            n_sends: n_partners(&sends, |m| m.target_rank),
            n_receives: n_partners(&receives, |m| m.source_rank),
            send_bytes: bytes(&mut sends.iter().filter(|m| m.crosses())),
            recv_bytes: bytes(&mut receives.iter().filter(|m| m.crosses())),
            keep_bytes: bytes(&mut sends.iter().filter(|m| !m.crosses())),
        }
    }
}

impl Totals {
    pub(crate) fn new(plan: &Forward) -> Self {
        let at_once = Self::at_once(plan);
        let Some([first, second]) = plan.staged().and_then(Staged::everywhere) else {
            return at_once;
        };
        let (first, second) = (first.totals(), second.totals());
        Self {
            n_moves: first.n_moves + second.n_moves,
            n_messages: first.n_messages + second.n_messages,
            bytes_moved: first.bytes_moved + second.bytes_moved,
            bytes_kept: first.bytes_kept + second.bytes_kept,
            max_send_bytes: first.max_send_bytes + second.max_send_bytes,
            max_recv_bytes: first.max_recv_bytes + second.max_recv_bytes,
            ..at_once
        }
    }

    fn at_once(plan: &Forward) -> Self {
        let mut totals = match (plan.source.form(), plan.target.form()) {
            (Form::Grid(source), Form::Grid(target)) => GridTotals::new(plan, source, target).sum(),
            _ => count_moves(plan),
        };
        totals.directory = DirectoryCost::new(plan);
        totals
    }

    /// The totals of the adjoint.
    pub(crate) fn reversed(&self) -> Self {
        let (max_send_bytes, max_recv_bytes) = (self.max_recv_bytes, self.max_send_bytes);
        Self { max_send_bytes, max_recv_bytes, ..self.clone() }
    }

    /// Most bytes a rank needs beyond source and target: packed chunks, and its directory.
    #[must_use]
    pub fn extra_bytes(&self) -> u128 {
        let chunks = |bytes: u128| bytes.min(MOST_PACKED_BYTES);
        chunks(self.max_send_bytes) + chunks(self.max_recv_bytes) + self.directory.max_rank_bytes
    }

    fn scaled(mut self, n_bytes: u64) -> Self {
        let n_bytes = u128::from(n_bytes);
        for count in [
            &mut self.bytes_moved,
            &mut self.bytes_kept,
            &mut self.bytes_lower_bound,
            &mut self.max_send_bytes,
            &mut self.max_recv_bytes,
        ] {
            *count *= n_bytes;
        }
        self
    }
}

/// Totals between two grids, in elements until the end.
struct GridTotals<'a> {
    plan: &'a Forward,
    source: &'a GridForm,
    target: &'a GridForm,
    reach: Reach<'a>,
    overlaps: Vec<Overlaps<'a>>,
}

/// What a rank that is in both layouts keeps.
struct Kept {
    elements: u128,
    distinct: u128,
}

impl<'a> GridTotals<'a> {
    fn new(plan: &'a Forward, source: &'a GridForm, target: &'a GridForm) -> Self {
        let dims = source.dims().iter().zip(target.dims());
        let overlaps = dims.map(|(source, target)| Overlaps::new(source, target)).collect();
        let reach = Reach::new(&plan.source, &plan.target);
        Self { plan, source, target, reach, overlaps }
    }

    fn sum(mut self) -> Totals {
        let dims = || self.source.dims().iter().zip(self.target.dims());
        let n_pairs: u128 = dims().map(|(source, target)| source.n_pairs(target)).product();
        let n_reaching = u128::from(self.reach.n_summands);
        let n_copies = u128::from(self.reach.n_target_replicas) * n_reaching;
        let n_held: u128 = self.target.dims().iter().map(n_held).product();
        let mut totals = empty(&self.plan.source, &self.plan.target);
        totals.n_moves = n_copies * n_pairs;
        let mut n_kept_moves = 0;
        let mut bound = Bound::default();
        for (rank, place) in self.target.ranks().iter().zip(0..) {
            let at = self.target.grid().place(place, self.plan.target.ndim());
            let kept = self.kept(rank, &at);
            let n_sources = self.reach.sources_of(at.summand).count() as u128;
            let wanted = u128::from(self.target.count(&at, Part::Held)) * n_sources;
            totals.max_recv_bytes = totals.max_recv_bytes.max(wanted - kept.elements);
            totals.bytes_kept += kept.elements;
            n_kept_moves += u128::from(kept.elements > 0);
            bound.add(&self, rank, &at, &kept);
        }
        totals.n_messages = totals.n_moves - n_kept_moves;
        totals.bytes_moved = n_copies * n_held - totals.bytes_kept;
        totals.bytes_lower_bound = bound.finish(&self);
        totals.max_send_bytes = self.max_sent();
        totals.scaled(self.plan.dtype.n_bytes())
    }

    /// Elements that a target rank takes from itself.
    fn kept(&mut self, rank: u64, at: &Place) -> Kept {
        let mut kept = Kept { elements: 0, distinct: 0 };
        let Some(own) = self.source.place(rank) else { return kept };
        if !self.reach.sources_of(at.summand).contains(&own.summand) {
            return kept;
        }
        (kept.elements, kept.distinct) = (1, 1);
        for (dim, overlap) in self.overlaps.iter_mut().enumerate() {
            let (from, to) = (own.coordinates[dim], at.coordinates[dim]);
            let elements = u128::from(overlap.count(from, to));
            let all = u128::from(overlap.source.count(from, Part::Owned));
            kept.elements *= elements;
            // A halo that wraps around the whole dimension holds elements more than once.
            kept.distinct *= if overlap.wraps(to) { all } else { elements };
        }
        kept
    }

    fn max_sent(&mut self) -> u128 {
        let sent: Vec<Vec<u128>> = self.overlaps.iter().map(Overlaps::sent).collect();
        if self.reach.n_replicas > 1 {
            return self.max_sent_by_replicas();
        }
        let n_copies = u128::from(self.reach.n_target_replicas);
        let mut largest = 0;
        for (rank, place) in self.source.ranks().iter().zip(0..) {
            let own = self.source.grid().place(place, self.plan.source.ndim());
            let all: u128 =
                own.coordinates.iter().zip(&sent).map(|(k, sent)| sent[*k as usize]).product();
            let kept = self.kept_by_source(rank);
            largest = largest.max(all * n_copies - kept);
        }
        largest
    }

    fn kept_by_source(&mut self, rank: u64) -> u128 {
        let at = self.target.place(rank);
        at.map_or(0, |at| self.kept(rank, &at).elements)
    }

    /// Replicas share their takers by place, so each replica's load is a sum over residues.
    fn max_sent_by_replicas(&mut self) -> u128 {
        let n_replicas = self.reach.n_replicas;
        let partners: Vec<Vec<Vec<(u64, u128)>>> =
            self.overlaps.iter().map(Overlaps::all).collect();
        let strides = self.target.grid().dim_strides(self.plan.target.ndim());
        let firsts = (0..self.source.grid().n_ranks())
            .map(|place| self.source.grid().place(place, self.plan.source.ndim()))
            .filter(|place| place.replica == 0);
        let mut largest = 0;
        for first in firsts.collect::<Vec<_>>() {
            let summand = self.reach.target_of(first.summand);
            let from = self.target.grid().summand_offset(summand) % n_replicas;
            let mut loads = HashMap::from([(from, 1_u128)]);
            for (dim, stride) in strides.iter().enumerate() {
                let takers = &partners[dim][first.coordinates[dim] as usize];
                let steps = takers.iter().map(|(k, n)| ((k * stride) % n_replicas, *n));
                loads = spread(&loads, &merged(steps), n_replicas);
            }
            let grid = self.target.grid();
            let offsets = (0..self.reach.n_target_replicas)
                .map(|replica| (grid.replica_offset(replica) % n_replicas, 1));
            loads = spread(&loads, &merged(offsets), n_replicas);
            largest = largest.max(self.without_own(&first, loads));
        }
        largest
    }

    /// Takes away what holders take from themselves; gives the largest load that is left.
    fn without_own(&mut self, first: &Place, mut loads: HashMap<u64, u128>) -> u128 {
        for replica in 0..self.reach.n_replicas {
            let place = self.source.grid().place_of(&Place { replica, ..first.clone() });
            let rank = self.source.ranks().rank_at(place);
            let kept = self.kept_by_source(rank);
            if kept > 0
                && let Some(place) = self.target.ranks().place_of(rank)
                && let Some(load) = loads.get_mut(&(place % self.reach.n_replicas))
            {
                *load -= kept;
            }
        }
        loads.values().copied().max().unwrap_or(0)
    }
}

/// Adds up equal residues.
fn merged(steps: impl Iterator<Item = (u64, u128)>) -> HashMap<u64, u128> {
    let mut sums = HashMap::new();
    for (residue, weight) in steps {
        *sums.entry(residue).or_insert(0) += weight;
    }
    sums
}

/// Loads after one more axis: residues add, weights multiply.
fn spread(
    loads: &HashMap<u64, u128>,
    steps: &HashMap<u64, u128>,
    modulus: u64,
) -> HashMap<u64, u128> {
    merged(loads.iter().flat_map(|(residue, load)| {
        steps.iter().map(move |(step, weight)| ((residue + step) % modulus, load * weight))
    }))
}

/// The lower bound, gathered rank by rank.
///
/// Without summands a rank must receive what it wants and does not own. With `p` summands of an
/// element and takers `T`, `p - 1` transfers gather them on one rank and each other taker needs
/// one more; a taker that has a summand can be that rank.
#[derive(Default)]
struct Bound {
    wanted: u128,
    kept: u128,
    kept_by_group: HashMap<Vec<u64>, u128>,
}

impl Bound {
    fn add(&mut self, totals: &GridTotals<'_>, rank: u64, at: &Place, kept: &Kept) {
        if totals.reach.sources_of(at.summand).is_empty() {
            return;
        }
        let dims = totals.target.dims().iter().zip(&at.coordinates);
        let distinct = dims.map(|(dim, k)| u128::from(dim.count(*k, Part::Held).min(dim.extent())));
        self.wanted += distinct.product::<u128>();
        if totals.plan.n_summands_added() == 1 {
            self.kept += kept.distinct;
        } else if kept.distinct > 0
            && let Some(own) = totals.source.place(rank)
        {
            *self.kept_by_group.entry(own.coordinates).or_insert(0) += kept.distinct;
        }
    }

    fn finish(self, totals: &GridTotals<'_>) -> u128 {
        if totals.plan.n_summands_added() == 1 {
            return self.wanted - self.kept;
        }
        let owned = |coordinates: &Vec<u64>| {
            let place = Place { coordinates: coordinates.clone(), replica: 0, summand: 0 };
            u128::from(totals.source.count(&place, Part::Owned))
        };
        let groups = self.kept_by_group.iter();
        let rooted: u128 = groups.map(|(group, kept)| (*kept).min(owned(group))).sum();
        let n_elements = u128::from(totals.plan.source.n_elements());
        n_elements * u128::from(totals.reach.n_summands - 1) + self.wanted - rooted
    }
}

/// Overlaps of one dimension's coordinates, each worked out once.
struct Overlaps<'a> {
    source: &'a DimMap,
    target: &'a DimMap,
    known: HashMap<(u64, u64), u64>,
}

impl<'a> Overlaps<'a> {
    fn new(source: &'a DimMap, target: &'a DimMap) -> Self {
        Self { source, target, known: HashMap::new() }
    }

    fn count(&mut self, from: u64, to: u64) -> u64 {
        *self.known.entry((from, to)).or_insert_with(|| {
            let (owned, held) =
                (self.source.indices(from, Part::Owned), self.target.indices(to, Part::Held));
            owned.overlap(&held)
        })
    }

    fn wraps(&self, to: u64) -> bool {
        self.target.count(to, Part::Held) > self.target.extent()
    }

    /// Elements that each source coordinate gives, to all target coordinates together.
    fn sent(&self) -> Vec<u128> {
        let all = 0..self.source.n_coordinates();
        if !self.target.holds_more() {
            return all.map(|k| u128::from(self.source.count(k, Part::Owned))).collect();
        }
        all.map(|k| self.partners(k).iter().map(|(_, count)| count).sum()).collect()
    }

    fn partners(&self, from: u64) -> Vec<(u64, u128)> {
        let partners = self.target.partners(&self.source.indices(from, Part::Owned), Part::Held);
        partners.iter().map(|p| (p.coordinate, u128::from(p.n_elements()))).collect()
    }

    fn all(&self) -> Vec<Vec<(u64, u128)>> {
        (0..self.source.n_coordinates()).map(|k| self.partners(k)).collect()
    }
}

/// Elements that all coordinates of a dimension hold together.
fn n_held(dim: &DimMap) -> u128 {
    if !dim.holds_more() {
        return u128::from(dim.extent());
    }
    (0..dim.n_coordinates()).map(|k| u128::from(dim.count(k, Part::Held))).sum()
}

fn empty(source: &Layout, target: &Layout) -> Totals {
    Totals {
        n_ranks: n_ranks_together(source.ranks(), target.ranks()),
        n_moves: 0,
        n_messages: 0,
        bytes_moved: 0,
        bytes_kept: 0,
        bytes_lower_bound: 0,
        max_send_bytes: 0,
        max_recv_bytes: 0,
        directory: DirectoryCost::default(),
    }
}

fn n_ranks_together(source: &Ranks, target: &Ranks) -> u64 {
    let n_shared = match (source, target) {
        (Ranks::Range { first, count }, Ranks::Range { first: f, count: c }) => {
            (first + count).min(f + c).saturating_sub(*first.max(f))
        }
        _ => target.iter().filter(|rank| source.place_of(*rank).is_some()).count() as u64,
    };
    source.count() + target.count() - n_shared
}

/// Totals by counting every move: for boxes, which are all at hand anyway.
fn count_moves(plan: &Forward) -> Totals {
    let mut totals = empty(&plan.source, &plan.target);
    let mut received: HashMap<u64, u128> = HashMap::new();
    let mut n_repeated = 0;
    for rank in plan.source.ranks().iter() {
        let mut takers: HashMap<u64, u128> = HashMap::new();
        for sent in plan.sends(rank) {
            *takers.entry(sent.target_rank).or_insert(0) += u128::from(sent.n_elements());
            n_repeated += if sent.crosses() { repeated(plan, &sent) } else { 0 };
        }
        totals.n_moves += takers.len() as u128;
        totals.bytes_kept += takers.remove(&rank).unwrap_or(0);
        totals.n_messages += takers.len() as u128;
        let sent: u128 = takers.values().sum();
        totals.bytes_moved += sent;
        totals.max_send_bytes = totals.max_send_bytes.max(sent);
        for (taker, elements) in takers {
            *received.entry(taker).or_insert(0) += elements;
        }
    }
    totals.max_recv_bytes = received.values().copied().max().unwrap_or(0);
    totals.bytes_lower_bound = totals.bytes_moved - n_repeated;
    if plan.n_summands_added() > 1 {
        totals.bytes_lower_bound = bound_of_sums(plan, &totals);
    }
    totals.scaled(plan.dtype.n_bytes())
}

/// Elements of a move that its taker gets more than once, through halos that wrap around.
fn repeated(plan: &Forward, sent: &Move) -> u128 {
    let Some(form) = grid_form(&plan.target) else { return 0 };
    let Some(at) = form.place(sent.target_rank) else { return 0 };
    let mut distinct = 1;
    for (dim, map) in form.dims().iter().enumerate() {
        let n_held = map.count(at.coordinates[dim], Part::Held);
        let runs = &sent.runs[dim];
        let is_wrapped = n_held > map.extent();
        let n_shared = if is_wrapped { n_read(runs) } else { partita_layout::n_elements(runs) };
        distinct *= u128::from(n_shared);
    }
    u128::from(sent.n_elements()) - distinct
}

/// Positions of a box that runs read, each counted once: the union of their intervals.
fn n_read(runs: &[Run]) -> u64 {
    let mut intervals: Vec<(u64, u64)> =
        runs.iter().map(|run| (run.source, run.source + run.levels[2].count)).collect();
    intervals.sort_unstable();
    let mut end = 0;
    let lengths = intervals.into_iter().map(|(start, stop)| {
        let new = stop.saturating_sub(start.max(end));
        end = end.max(stop);
        new
    });
    lengths.sum()
}

/// A bound for sums into boxes: any one taker needs all summands but one.
fn bound_of_sums(plan: &Forward, totals: &Totals) -> u128 {
    let largest = plan.target.ranks().iter().filter_map(|rank| plan.target.n_held(rank).ok()).max();
    let gathered = u128::from(largest.unwrap_or(0)) * u128::from(plan.n_summands_added() - 1);
    gathered.min(totals.bytes_moved)
}
