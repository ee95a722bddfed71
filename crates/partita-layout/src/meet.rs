//! Who shares indices with a given set: the partners of one coordinate in another map.
//!
//! This is the one-dimensional heart of planning. Costs are proportional to the answer: blocks are
//! found by search, cyclic patterns over one common period, lists through their inverse.

use std::sync::Arc;

use crate::dim::{DimMap, Rule};
use crate::indices::{Cyclic, Indices, Interval, Part, common_period, gcd};
use crate::run::{Run, compress, n_elements};

/// A coordinate of another map and what it shares with the set that was asked about.
#[derive(Debug, Clone)]
pub struct Partner {
    /// The coordinate.
    pub coordinate: u64,
    /// Shared positions; the set that was asked about is the source side.
    pub runs: Arc<[Run]>,
}

impl Partner {
    /// Number of shared positions.
    #[must_use]
    pub fn n_elements(&self) -> u64 {
        n_elements(&self.runs)
    }

    /// The same partner with the sides exchanged.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let runs = self.runs.iter().map(Run::reversed).collect();
        Self { coordinate: self.coordinate, runs }
    }
}

/// Runs by coordinate, in the order found.
type Found = Vec<(u64, Run)>;

impl DimMap {
    /// Coordinates whose owned or held indices meet `mine`, in increasing order.
    #[must_use]
    pub fn partners(&self, mine: &Indices<'_>, part: Part) -> Vec<Partner> {
        let mut found = Found::new();
        self.meet(mine, part, &mut found);
        group(found)
    }

    fn meet(&self, mine: &Indices<'_>, part: Part, found: &mut Found) {
        match (&self.rule, mine) {
            (Rule::Lists(_), Indices::List { .. }) => self.meet_lists(mine, part, found),
            (Rule::Lists(_), _) => self.meet_entries(mine, part, found),
            (_, Indices::List { .. }) => self.meet_listed(mine, part, found),
            (Rule::Cyclic { .. }, Indices::Cyclic(mine)) => self.meet_cyclic(*mine, part, found),
            (_, Indices::Cyclic(mine)) => self.meet_blocks(*mine, part, found),
            _ => {
                for interval in mine.intervals().unwrap_or_default() {
                    self.meet_interval(interval, part, found);
                }
            }
        }
    }

    fn meet_interval(&self, mine: Interval, part: Part, found: &mut Found) {
        if mine.length == 0 {
            return;
        }
        for coordinate in self.candidates(mine.start, mine.stop(), part) {
            let theirs = self.indices(coordinate, part);
            theirs.meet_interval(mine, &mut |run| found.push((coordinate, run.reversed())));
        }
    }

    /// Coordinates that may hold an index of `[start, stop)`; few others are among them.
    fn candidates(&self, start: u64, stop: u64, part: Part) -> Candidates {
        match &self.rule {
            Rule::Block { halo, periodic, .. } if part == Part::Held => {
                let (left, right) = halo.widest();
                if *periodic && (left > 0 || right > 0) {
                    return self.wrapped_candidates(start, stop, (left, right));
                }
                Candidates::range(self.blocks_near(start.into(), stop.into(), (left, right)))
            }
            Rule::Block { .. } => {
                Candidates::range(self.blocks_near(start.into(), stop.into(), (0, 0)))
            }
            Rule::Cyclic { block, .. } => {
                let (first, last) = (start / block, (stop - 1) / block);
                Candidates::turns(first, last - first + 1, self.n_coordinates())
            }
            Rule::Whole | Rule::Lists(_) => Candidates::range((0, 1)),
        }
    }

    /// Blocks that reach into `[start, stop)` once widened, as a range of coordinates.
    fn blocks_near(&self, start: i128, stop: i128, (left, right): (u64, u64)) -> (u64, u64) {
        let Rule::Block { cuts, .. } = &self.rule else { return (0, 0) };
        let first = first_that(self.n_coordinates(), |k| {
            i128::from(cuts.start(k + 1)) + i128::from(right) > start
        });
        let end = first_that(self.n_coordinates(), |k| {
            i128::from(cuts.start(k)) - i128::from(left) >= stop
        });
        (first, end.max(first))
    }

    fn wrapped_candidates(&self, start: u64, stop: u64, halo: (u64, u64)) -> Candidates {
        let extent = i128::from(self.extent());
        if i128::from(halo.0.max(halo.1)) >= extent {
            return Candidates::range((0, self.n_coordinates()));
        }
        let mut near: Vec<u64> = [-extent, 0, extent]
            .into_iter()
            .flat_map(|shift| {
                let (first, end) =
                    self.blocks_near(i128::from(start) + shift, i128::from(stop) + shift, halo);
                first..end
            })
            .collect();
        near.sort_unstable();
        near.dedup();
        Candidates::List(near.into_iter())
    }

    /// A cyclic set against blocks: walk the blocks, skipping those without an index of the set.
    fn meet_blocks(&self, mine: Cyclic, part: Part, found: &mut Found) {
        let halo = match &self.rule {
            Rule::Block { halo, .. } if part == Part::Held => halo.widest(),
            _ => (0, 0),
        };
        let is_periodic =
            matches!(&self.rule, Rule::Block { periodic: true, .. }) && halo != (0, 0);
        let mut coordinate = 0;
        while coordinate < self.n_coordinates() {
            let theirs = self.indices(coordinate, part);
            for interval in theirs.intervals().unwrap_or_default() {
                Indices::Cyclic(mine)
                    .meet_interval(interval, &mut |run| found.push((coordinate, run)));
            }
            coordinate += 1;
            if let (Rule::Block { cuts, .. }, false) = (&self.rule, is_periodic) {
                let from = cuts.start(coordinate).saturating_sub(halo.0);
                let mut next = None;
                mine.within(from, self.extent(), |stretch| {
                    next.get_or_insert(stretch.start);
                });
                let Some(next) = next else { return };
                let (near, _) = self.blocks_near(next.into(), i128::from(next) + 1, halo);
                coordinate = coordinate.max(near);
            }
        }
    }

    /// Two cyclic patterns: the blocks of one, over one common period, against the other.
    ///
    /// Whose blocks does not depend on who asks: the coarser pattern's where one fits into a block
    /// of the other, else the owner's. So both sides of a move list the same runs in the same order.
    fn meet_cyclic(&self, mine: Cyclic, part: Part, found: &mut Found) {
        let Indices::Cyclic(theirs) = self.indices(0, part) else { return };
        let period = common_period(&mine, &theirs);
        let mine_fits = mine.period() <= u128::from(theirs.block);
        let theirs_fit = theirs.period() <= u128::from(mine.block);
        if mine_fits || (part == Part::Owned && !theirs_fit) {
            for coordinate in self.cyclic_candidates(mine, mine_fits, period, part) {
                let theirs = Cyclic { coordinate, ..theirs };
                each_block(theirs, period, |block, reps| {
                    meet_repeated(mine, block, reps.of(theirs, mine), |run| {
                        found.push((coordinate, run));
                    });
                });
            }
            return;
        }
        each_block(mine, period, |block, reps| {
            for coordinate in self.candidates(block.start, block.stop(), part) {
                let theirs = Cyclic { coordinate, ..theirs };
                meet_repeated(theirs, block, reps.of(mine, theirs), |run| {
                    found.push((coordinate, run.reversed()));
                });
            }
        });
    }

    /// Coordinates that a cyclic pattern touches in one common period.
    fn cyclic_candidates(&self, mine: Cyclic, all: bool, period: u128, part: Part) -> Vec<u64> {
        if all {
            return (0..self.n_coordinates()).collect();
        }
        let mut touched = Vec::new();
        each_block(mine, period, |block, _| {
            touched.extend(self.candidates(block.start, block.stop(), part));
        });
        touched.sort_unstable();
        touched.dedup();
        touched
    }

    /// A list against blocks or cycles: one look-up per index.
    fn meet_listed(&self, mine: &Indices<'_>, part: Part, found: &mut Found) {
        let mut pairs: Vec<(u64, (u64, u64))> = Vec::new();
        let mut single = Found::new();
        // Where nothing is held twice, the owner is the only one to ask.
        let is_single = part == Part::Owned || !self.holds_more();
        for (index, local) in mine.listed() {
            if index < 0 || index as u64 >= self.extent() {
                continue;
            }
            if is_single {
                let owner = self.owner(index);
                pairs.extend(owner.map(|(coordinate, theirs)| (coordinate, (local, theirs))));
                continue;
            }
            self.meet_interval(Interval::once(index as u64, 1, local), part, &mut single);
            for (coordinate, run) in single.drain(..) {
                pairs.extend(run.pairs().map(|pair| (coordinate, pair)));
            }
        }
        join(pairs, part, found);
    }

    /// A list against lists.
    fn meet_lists(&self, mine: &Indices<'_>, part: Part, found: &mut Found) {
        let Rule::Lists(map) = &self.rule else { return };
        let mut pairs = Vec::new();
        for (index, local) in mine.listed() {
            if part == Part::Owned || !map.has_shared() {
                let owner = map.owner(index);
                pairs.extend(owner.map(|(coordinate, theirs)| (coordinate, (local, theirs))));
                continue;
            }
            let entries = map.by_index();
            let from = entries.partition_point(|entry| entry.index < index);
            let same = entries[from..].iter().take_while(|entry| entry.index == index);
            pairs.extend(same.map(|entry| (entry.coordinate, (local, entry.local))));
        }
        join(pairs, part, found);
    }

    /// Blocks or cycles against lists: through the inverse, sorted by index.
    fn meet_entries(&self, mine: &Indices<'_>, part: Part, found: &mut Found) {
        let Rule::Lists(map) = &self.rule else { return };
        let mut pairs = Vec::new();
        let wanted = |is_owner: bool| part == Part::Held || is_owner;
        if let Indices::Cyclic(cyclic) = mine {
            for entry in map.by_index() {
                if wanted(entry.is_owner) && cyclic.contains(entry.index) {
                    let local = cyclic.local(entry.index as u64);
                    pairs.push((entry.coordinate, (local, entry.local)));
                }
            }
        }
        for interval in mine.intervals().unwrap_or_default() {
            for entry in map.entries_in(interval.start, interval.stop()) {
                if wanted(entry.is_owner) {
                    let at = interval.local + (entry.index as u64 - interval.start);
                    let places = (0..interval.count).map(|turn| at + turn * interval.local_step);
                    pairs.extend(places.map(|local| (entry.coordinate, (local, entry.local))));
                }
            }
        }
        join(pairs, part, found);
    }

    /// How many coordinates meet `mine`.
    ///
    /// # Cost
    /// Constant for an interval against a cyclic map, else that of [`DimMap::partners`].
    #[must_use]
    pub fn n_partners(&self, mine: &Indices<'_>, part: Part) -> u64 {
        if let (Rule::Cyclic { block, .. }, Indices::Range { start, length, .. }) =
            (&self.rule, mine)
        {
            if *length == 0 {
                return 0;
            }
            let n_blocks = (start + length - 1) / block - start / block + 1;
            return n_blocks.min(self.n_coordinates());
        }
        self.partners(mine, part).len() as u64
    }

    /// Number of (owner here, holder there) coordinate pairs that share an index.
    #[must_use]
    pub fn n_pairs(&self, target: &Self) -> u128 {
        if let (Rule::Cyclic { .. }, Rule::Cyclic { .. }) = (&self.rule, &target.rule)
            && let Some(n_pairs) = n_cyclic_pairs(self, target)
        {
            return n_pairs;
        }
        // Ask from the side whose sets are intervals: cyclic partners of those are only counted.
        if matches!(self.rule, Rule::Cyclic { .. }) {
            return (0..target.n_coordinates())
                .map(|k| u128::from(self.n_partners(&target.indices(k, Part::Held), Part::Owned)))
                .sum();
        }
        (0..self.n_coordinates())
            .map(|k| u128::from(target.n_partners(&self.indices(k, Part::Owned), Part::Held)))
            .sum()
    }
}

/// Pairs of two cyclic maps, if a formula gives them.
///
/// Blocks start on residues modulo `g = gcd` of the two periods. Over one common period each
/// residue occurs once, so either all pairs within reach of each other meet, or each pair meets in
/// at most one stretch and the stretches can be counted by their cuts.
fn n_cyclic_pairs(source: &DimMap, target: &DimMap) -> Option<u128> {
    let Indices::Cyclic(a) = source.indices(0, Part::Owned) else { return None };
    let Indices::Cyclic(b) = target.indices(0, Part::Held) else { return None };
    let extent = u128::from(a.extent);
    let (block_a, block_b) = (u128::from(a.block), u128::from(b.block));
    let residues = gcd(a.period(), b.period());
    let period = common_period(&a, &b);
    if block_a + block_b - 1 <= residues {
        let end = extent.min(period);
        let common_cut = block_a / gcd(block_a, block_b) * block_b;
        let cuts = end.div_ceil(block_a) + end.div_ceil(block_b) - end.div_ceil(common_cut);
        return Some(cuts);
    }
    (extent >= period).then(|| u128::from(a.n_coordinates) * u128::from(b.n_coordinates))
}

/// How often a block of a common period comes again, and how far apart in both buffers.
#[derive(Debug, Clone, Copy)]
struct Repeats {
    count: u64,
    period: u128,
}

#[derive(Debug, Clone, Copy)]
struct RepeatSteps {
    count: u64,
    block_step: u64,
    fine_step: u64,
}

impl Repeats {
    fn of(self, coarse: Cyclic, fine: Cyclic) -> RepeatSteps {
        RepeatSteps {
            count: self.count,
            block_step: (self.period / u128::from(coarse.n_coordinates)) as u64,
            fine_step: (self.period / u128::from(fine.n_coordinates)) as u64,
        }
    }
}

/// The blocks of a cyclic set in its first common period, each with its repeats.
fn each_block(cyclic: Cyclic, period: u128, mut put: impl FnMut(Interval, Repeats)) {
    let extent = u128::from(cyclic.extent);
    let block = u128::from(cyclic.block);
    let mut start = cyclic.first();
    while start < extent.min(period) {
        let n_whole =
            if start + block <= extent { (extent - start - block) / period + 1 } else { 0 };
        let at = |turn: u128| (start + turn * period) as u64;
        if n_whole > 0 {
            let interval = Interval::once(at(0), cyclic.block, cyclic.local(at(0)));
            put(interval, Repeats { count: n_whole as u64, period });
        }
        if start + n_whole * period < extent {
            let last = at(n_whole);
            let interval = Interval::once(last, cyclic.extent - last, cyclic.local(last));
            put(interval, Repeats { count: 1, period });
        }
        start += cyclic.period();
    }
}

/// What a fine cyclic set shares with a repeated block; the fine set is the source side.
fn meet_repeated(fine: Cyclic, block: Interval, steps: RepeatSteps, mut put: impl FnMut(Run)) {
    Indices::Cyclic(fine).meet_interval(block, &mut |run| {
        put(run.outer(steps.count, steps.fine_step, steps.block_step));
    });
}

/// Coordinates worth asking.
#[derive(Debug)]
enum Candidates {
    Range(std::ops::Range<u64>),
    Turns { next: u64, n_left: u64, n_coordinates: u64 },
    List(std::vec::IntoIter<u64>),
}

impl Candidates {
    fn range((first, end): (u64, u64)) -> Self {
        Self::Range(first..end)
    }

    /// `n_blocks` blocks dealt out in turn from block `first` on: each coordinate once.
    fn turns(first: u64, n_blocks: u64, n_coordinates: u64) -> Self {
        Self::Turns {
            next: first % n_coordinates,
            n_left: n_blocks.min(n_coordinates),
            n_coordinates,
        }
    }
}

impl Iterator for Candidates {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        match self {
            Self::Range(range) => range.next(),
            Self::List(list) => list.next(),
            Self::Turns { n_left: 0, .. } => None,
            Self::Turns { next, n_left, n_coordinates } => {
                let at = *next;
                *n_left -= 1;
                *next = if at + 1 == *n_coordinates { 0 } else { at + 1 };
                Some(at)
            }
        }
    }
}

/// First coordinate for which a condition holds that stays true from then on.
fn first_that(n_coordinates: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, n_coordinates);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Sorts runs by coordinate, keeping their order.
fn group(mut found: Found) -> Vec<Partner> {
    found.sort_by_key(|(coordinate, _)| *coordinate);
    found
        .chunk_by(|a, b| a.0 == b.0)
        .map(|same| Partner {
            coordinate: same[0].0,
            runs: same.iter().map(|(_, run)| *run).collect(),
        })
        .collect()
}

/// Joins single positions into runs, coordinate by coordinate, in the order of the owner's buffer.
fn join(pairs: Vec<(u64, (u64, u64))>, part: Part, found: &mut Found) {
    for (coordinate, mut positions) in by_coordinate(pairs) {
        let in_order = |(mine, theirs): &(u64, u64)| match part {
            Part::Held => (*mine, *theirs),
            Part::Owned => (*theirs, *mine),
        };
        // A list that was walked in the order of the owner is sorted already.
        if !positions.is_sorted_by_key(in_order) {
            positions.sort_unstable_by_key(in_order);
        }
        found.extend(compress(&positions).into_iter().map(|run| (coordinate, run)));
    }
}

/// Pairs grouped by coordinate, each group in its order.
fn by_coordinate(mut pairs: Vec<(u64, (u64, u64))>) -> Vec<(u64, Vec<(u64, u64)>)> {
    let n_coordinates = pairs.iter().map(|(coordinate, _)| coordinate + 1).max().unwrap_or(0);
    if n_coordinates > pairs.len() as u64 {
        pairs.sort_by_key(|(coordinate, _)| *coordinate);
        let groups = pairs.chunk_by(|a, b| a.0 == b.0);
        return groups.map(|g| (g[0].0, g.iter().map(|(_, pair)| *pair).collect())).collect();
    }
    let mut groups = vec![Vec::new(); n_coordinates as usize];
    for (coordinate, pair) in pairs {
        groups[coordinate as usize].push(pair);
    }
    (0..).zip(groups).filter(|(_, group)| !group.is_empty()).collect()
}
