//! Index sets: what one coordinate owns or holds of one dimension, and what two of them share.
//!
//! Every set knows where in the local buffer its indices lie, so an intersection comes out as
//! [`Run`]s, ready to copy. Intersections are in closed form: their cost is the number of runs
//! they give, never the number of indices.

use crate::run::{Run, compress};
use crate::unstructured::Unstructured;

/// Indices of one dimension, in the order of a local buffer.
#[derive(Debug, Clone, Copy)]
pub enum Indices<'a> {
    /// An interval that begins at position `local` of the buffer.
    Range {
        /// First index.
        start: u64,
        /// Number of indices.
        length: u64,
        /// Position of the first index in the buffer.
        local: u64,
    },
    /// An interval of a periodic dimension that may pass its end, perhaps several times.
    Wrapped {
        /// First index, inside the extent.
        start: u64,
        /// Number of positions.
        length: u64,
        /// Extent of the dimension.
        extent: u64,
    },
    /// Every `n_coordinates`-th block of `block` indices.
    Cyclic(Cyclic),
    /// The list of one coordinate of an unstructured map.
    List {
        /// The map.
        map: &'a Unstructured,
        /// Whose list.
        coordinate: u64,
        /// Which of its indices.
        part: Part,
    },
}

/// Which indices of a coordinate are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Those it owns.
    Owned,
    /// Those it holds: owned, halo and shared ones.
    Held,
}

/// The indices of one coordinate of a block-cyclic map.
#[derive(Debug, Clone, Copy)]
pub struct Cyclic {
    /// The coordinate.
    pub coordinate: u64,
    /// Indices per block.
    pub block: u64,
    /// Coordinates that take turns.
    pub n_coordinates: u64,
    /// Extent of the dimension.
    pub extent: u64,
}

/// Some of a cyclic set's blocks inside an interval: `count` stretches, one period apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    pub start: u64,
    pub length: u64,
    pub count: u64,
}

impl Cyclic {
    pub(crate) fn first(&self) -> u128 {
        u128::from(self.coordinate) * u128::from(self.block)
    }

    pub(crate) fn period(&self) -> u128 {
        u128::from(self.block) * u128::from(self.n_coordinates)
    }

    /// Position in the buffer of an index of the set.
    pub(crate) fn local(&self, index: u64) -> u64 {
        let turn = (u128::from(index) / self.period()) as u64;
        turn * self.block + index % self.block
    }

    pub(crate) fn contains(&self, index: i64) -> bool {
        index >= 0
            && (index as u64) < self.extent
            && (index as u64 / self.block) % self.n_coordinates == self.coordinate
    }

    /// Number of indices below `bound`.
    pub(crate) fn n_below(&self, bound: u64) -> u64 {
        let (bound, period) = (u128::from(bound.min(self.extent)), self.period());
        let rest = (bound % period).saturating_sub(self.first()).min(u128::from(self.block));
        ((bound / period) * u128::from(self.block) + rest) as u64
    }

    /// The set's part of `[start, stop)` as at most three stretches: cut, whole blocks, cut.
    pub(crate) fn within(&self, start: u64, stop: u64, mut put: impl FnMut(Stretch)) {
        let stop = u128::from(stop.min(self.extent));
        let (from, block, period) = (u128::from(start), u128::from(self.block), self.period());
        if from >= stop {
            return;
        }
        let mut at = self.first();
        if from > at {
            at += (from - at) / period * period;
            if from >= at + block {
                at += period;
            }
        }
        if at < from {
            let end = (at + block).min(stop);
            put(Stretch { start, length: (end - from) as u64, count: 1 });
            at += period;
        }
        if at + block <= stop {
            let count = (stop - at - block) / period + 1;
            put(Stretch { start: at as u64, length: self.block, count: count as u64 });
            at += count * period;
        }
        if at < stop {
            put(Stretch { start: at as u64, length: (stop - at) as u64, count: 1 });
        }
    }
}

/// An interval at `count` places of the buffer, `local_step` apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interval {
    pub start: u64,
    pub length: u64,
    pub local: u64,
    pub count: u64,
    pub local_step: u64,
}

impl Interval {
    pub(crate) fn once(start: u64, length: u64, local: u64) -> Self {
        Self { start, length, local, count: 1, local_step: 0 }
    }

    pub(crate) fn stop(&self) -> u64 {
        self.start + self.length
    }

    fn local_of(&self, index: u64) -> u64 {
        self.local + (index - self.start)
    }
}

impl<'a> Indices<'a> {
    /// The set as intervals, if it is made of few: at most three.
    pub(crate) fn intervals(&self) -> Option<Vec<Interval>> {
        match *self {
            Self::Range { start, length, local } => {
                Some(vec![Interval::once(start, length, local)])
            }
            Self::Wrapped { start, length, extent } => Some(unwrap(start, length, extent)),
            _ => None,
        }
    }

    /// The set as ranges of global indices, if it is made of few: at most three.
    #[must_use]
    pub fn ranges(&self) -> Option<Vec<std::ops::Range<u64>>> {
        let intervals = self.intervals()?;
        Some(intervals.iter().map(|one| one.start..one.stop()).collect())
    }

    /// Number of positions of the set.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::Range { length, .. } | Self::Wrapped { length, .. } => *length,
            Self::Cyclic(cyclic) => cyclic.n_below(cyclic.extent),
            Self::List { .. } => self.listed().count() as u64,
        }
    }

    /// Whether the set has no index.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// (index, position) of a list's entries; empty for the other kinds.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (i64, u64)> + use<'a> {
        let (map, coordinate, part) = match *self {
            Self::List { map, coordinate, part } => (Some(map), coordinate, part),
            _ => (None, 0, Part::Held),
        };
        map.into_iter().flat_map(move |map| {
            map.list(coordinate)
                .iter()
                .enumerate()
                .map(|(local, &index)| (index, local as u64))
                .filter(move |&(index, local)| {
                    part == Part::Held || map.owner(index) == Some((coordinate, local))
                })
        })
    }

    /// What the set shares with an interval: the set is the source side of the runs.
    pub(crate) fn meet_interval(&self, other: Interval, put: &mut impl FnMut(Run)) {
        match self {
            Self::Range { .. } | Self::Wrapped { .. } => {
                for mine in self.intervals().unwrap_or_default() {
                    meet_intervals(mine, other, put);
                }
            }
            Self::Cyclic(cyclic) => meet_cyclic(*cyclic, other, put),
            Self::List { map, .. } => meet_list(map, *self, other, put),
        }
    }

    /// What the set shares with an interval at position `local` of another buffer.
    ///
    /// The set is the source side of the runs, which come in the order of the owner's buffer; the
    /// interval is the `other` side's owned or held part.
    #[must_use]
    pub fn meet_range(&self, start: u64, length: u64, local: u64, other: Part) -> Vec<Run> {
        let mut runs = Vec::new();
        let interval = Interval::once(start, length, local);
        if let Self::List { map, .. } = self {
            let mut pairs = list_pairs(map, *self, interval);
            if other == Part::Owned {
                pairs.sort_unstable_by_key(|(mine, theirs)| (*theirs, *mine));
            }
            return compress(&pairs);
        }
        self.meet_interval(interval, &mut |run| runs.push(run));
        runs
    }

    /// An interval that contains the set's indices inside the dimension: start and stop.
    #[must_use]
    pub fn hull(&self) -> (u64, u64) {
        match self {
            Self::Range { start, length, .. } => (*start, start + length),
            Self::Wrapped { start, length, extent } => {
                if *length <= extent - start {
                    (*start, start + length)
                } else {
                    (0, *extent)
                }
            }
            Self::Cyclic(cyclic) => (cyclic.first().min(u64::MAX.into()) as u64, cyclic.extent),
            Self::List { map, .. } => map.range().map_or((0, 0), |(first, last)| {
                (first.max(0) as u64, last.saturating_add(1).max(0) as u64)
            }),
        }
    }

    /// Number of position pairs that two sets share.
    #[must_use]
    pub fn overlap(&self, other: &Self) -> u64 {
        if let Some(intervals) = other.intervals() {
            return intervals.into_iter().map(|interval| self.overlap_interval(interval)).sum();
        }
        match (self, other) {
            (Self::Cyclic(mine), Self::Cyclic(theirs)) => overlap_cyclic(*mine, *theirs),
            (Self::Cyclic(mine), Self::List { .. }) => {
                other.listed().filter(|(index, _)| mine.contains(*index)).count() as u64
            }
            (Self::List { .. }, Self::List { .. }) => overlap_lists(self, other),
            _ => other.overlap(self),
        }
    }

    fn overlap_interval(&self, other: Interval) -> u64 {
        if let Self::Cyclic(cyclic) = self {
            let inside = cyclic.n_below(other.stop()) - cyclic.n_below(other.start);
            return inside * other.count;
        }
        let mut total = 0;
        self.meet_interval(other, &mut |run| total += run.n_elements());
        total
    }
}

fn unwrap(start: u64, length: u64, extent: u64) -> Vec<Interval> {
    let head = length.min(extent - start);
    let rest = length - head;
    let (n_cycles, tail) = (rest / extent, rest % extent);
    let mut intervals = vec![Interval::once(start, head, 0)];
    if n_cycles > 0 {
        intervals.push(Interval {
            start: 0,
            length: extent,
            local: head,
            count: n_cycles,
            local_step: extent,
        });
    }
    if tail > 0 {
        intervals.push(Interval::once(0, tail, length - tail));
    }
    intervals
}

/// At most one of the two repeats: only what is held wraps, and plans pair owned with held.
fn meet_intervals(mine: Interval, other: Interval, put: &mut impl FnMut(Run)) {
    let start = mine.start.max(other.start);
    let stop = mine.stop().min(other.stop());
    if start < stop {
        let run = Run::contiguous(mine.local_of(start), other.local_of(start), stop - start);
        put(run.outer(mine.count, mine.local_step, 0).inner(other.count, 0, other.local_step));
    }
}

fn meet_cyclic(cyclic: Cyclic, other: Interval, put: &mut impl FnMut(Run)) {
    let period = cyclic.period() as u64;
    cyclic.within(other.start, other.stop(), |stretch| {
        let local = cyclic.local(stretch.start);
        let run = Run::contiguous(local, other.local_of(stretch.start), stretch.length);
        put(run.inner(stretch.count, cyclic.block, period).outer(other.count, 0, other.local_step));
    });
}

fn meet_list(map: &Unstructured, list: Indices<'_>, other: Interval, put: &mut impl FnMut(Run)) {
    for run in compress(&list_pairs(map, list, other)) {
        // A single list element per turn leaves the outer level free for the repeats.
        put(run.outer(other.count, 0, other.local_step));
    }
}

/// Positions of a list's indices that lie in an interval, in the order of the list.
fn list_pairs(map: &Unstructured, list: Indices<'_>, other: Interval) -> Vec<(u64, u64)> {
    let (start, stop) = (i128::from(other.start), i128::from(other.stop()));
    match map.range() {
        Some((first, last)) if i128::from(last) >= start && i128::from(first) < stop => list
            .listed()
            .filter(|(index, _)| (start..stop).contains(&i128::from(*index)))
            .map(|(index, local)| (local, other.local_of(index as u64)))
            .collect(),
        _ => Vec::new(),
    }
}

/// Counts what two cyclic sets share, by the cheaper of two exact ways.
fn overlap_cyclic(mine: Cyclic, theirs: Cyclic) -> u64 {
    let (coarse, fine) = if mine.block >= theirs.block { (mine, theirs) } else { (theirs, mine) };
    let residues = gcd(coarse.period(), fine.period());
    let n_shifts = (u128::from(coarse.block) + u128::from(fine.block)) / residues + 1;
    let end = common_period(&coarse, &fine).min(u128::from(coarse.extent));
    let n_blocks = end / coarse.period() + 1;
    let fits = coarse.period().max(fine.period()) < 1 << 63;
    if fits && n_shifts < n_blocks {
        return overlap_by_shifts(coarse, fine, residues);
    }
    overlap_by_blocks(coarse, fine)
}

/// Goes through the coarser set's blocks in one common period, which repeats.
fn overlap_by_blocks(coarse: Cyclic, fine: Cyclic) -> u64 {
    let period = common_period(&coarse, &fine);
    let extent = u128::from(coarse.extent);
    let in_prefix = |bound: u128| -> u128 {
        let mut total = 0;
        let mut at = coarse.first();
        while at < bound {
            let stop = (at + u128::from(coarse.block)).min(bound);
            total += u128::from(fine.n_below(stop as u64) - fine.n_below(at as u64));
            at += coarse.period();
        }
        total
    };
    if period >= extent {
        return in_prefix(extent) as u64;
    }
    let (n_periods, rest) = (extent / period, extent % period);
    (n_periods * in_prefix(period) + in_prefix(rest)) as u64
}

/// Goes through the shifts by which a block of one set can overlap a block of the other.
///
/// Block starts differ by a shift known modulo the gcd of the periods, and each shift occurs once
/// in a common period, at a place that a modular inverse gives (Chinese remainder theorem).
fn overlap_by_shifts(a: Cyclic, b: Cyclic, residues: u128) -> u64 {
    let (first_a, first_b) = (a.first() as i128, b.first() as i128);
    let (step, residues) = (a.period() as i128, residues as i128);
    let modulus = b.period() as i128 / residues;
    let inverse = inverse(step / residues, modulus);
    let period = common_period(&a, &b) as i128;
    let (block_a, block_b) = (i128::from(a.block), i128::from(b.block));
    let lowest = 1 - block_a;
    let mut shift = lowest + (first_a - first_b - lowest).rem_euclid(residues);
    let mut total = 0;
    while shift < block_b {
        let turns = ((shift - (first_a - first_b)) / residues).rem_euclid(modulus);
        let mut start_a = first_a + turns * inverse % modulus * step;
        if start_a < shift {
            start_a += period;
        }
        let start_b = start_a - shift;
        let start = start_a.max(start_b);
        let length = (start_a + block_a).min(start_b + block_b) - start;
        total += repeated_below(start, length, period, i128::from(a.extent));
        shift += residues;
    }
    total as u64
}

/// Elements below `extent` of a stretch that comes again every `period`.
fn repeated_below(start: i128, length: i128, period: i128, extent: i128) -> i128 {
    let n_whole = if start + length <= extent { (extent - start - length) / period + 1 } else { 0 };
    n_whole * length + (extent - start - n_whole * period).clamp(0, length)
}

/// The number whose product with `value` is 1 modulo `modulus`; they share no factor.
fn inverse(value: i128, modulus: i128) -> i128 {
    let (mut old, mut new) = ((value.rem_euclid(modulus), 1), (modulus, 0));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
    }
    old.1.rem_euclid(modulus)
}

fn overlap_lists(mine: &Indices<'_>, theirs: &Indices<'_>) -> u64 {
    let Indices::List { map, coordinate, part } = *theirs else { return 0 };
    mine.listed()
        .filter(|(index, _)| match part {
            Part::Owned => map.owner(*index).is_some_and(|(owner, _)| owner == coordinate),
            Part::Held => holds(map, coordinate, *index),
        })
        .count() as u64
}

fn holds(map: &Unstructured, coordinate: u64, index: i64) -> bool {
    if !map.has_shared() {
        return map.owner(index).is_some_and(|(owner, _)| owner == coordinate);
    }
    let entries = map.by_index();
    let from = entries.partition_point(|e| (e.index, e.coordinate) < (index, coordinate));
    entries.get(from).is_some_and(|e| (e.index, e.coordinate) == (index, coordinate))
}

/// Least common multiple of two cyclic periods; it may be far beyond the extent.
pub(crate) fn common_period(a: &Cyclic, b: &Cyclic) -> u128 {
    let (x, y) = (a.period(), b.period());
    (x / gcd(x, y)).saturating_mul(y)
}

pub(crate) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_counting_cyclic_overlaps_agree() {
        let sides = |block: u64, n: u64, extent: u64| {
            (0..n).map(move |coordinate| Cyclic { coordinate, block, n_coordinates: n, extent })
        };
        for extent in [0, 1, 7, 30, 101, 400] {
            for (b1, p1, b2, p2) in
                [(1, 3, 1, 5), (2, 3, 5, 4), (4, 6, 6, 4), (7, 2, 3, 5), (6, 5, 4, 7)]
            {
                for a in sides(b1, p1, extent) {
                    for b in sides(b2, p2, extent) {
                        let residues = gcd(a.period(), b.period());
                        let by_blocks = overlap_by_blocks(a, b);
                        assert_eq!(overlap_by_shifts(a, b, residues), by_blocks, "{a:?} {b:?}");
                        let both = |i: &i64| a.contains(*i) && b.contains(*i);
                        assert_eq!((0..extent as i64).filter(both).count() as u64, by_blocks);
                    }
                }
            }
        }
    }
}
