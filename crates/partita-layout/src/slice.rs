//! Slices: offset, size and stride per dimension, and their intersection with any map.
//!
//! ```
//! use partita_layout::{DimMap, Map, Part, Slice};
//! // Every third index of 20, backwards from 19: 19, 16, 13, 10, 7, 4, 1.
//! let slice = Slice::new(19, 7, -3);
//! let map = DimMap::new(&Map::Cyclic { block: 4 }, 0, 20, 2)?;
//! let runs = slice.meet(&map, 1, Part::Owned)?;
//! // Coordinate 1 owns 4..8 and 12..16: of the slice 13, 7 and 4, its entries 2, 4 and 5.
//! let mut entries: Vec<_> = runs.iter().flat_map(|run| run.pairs()).collect();
//! entries.sort();
//! assert_eq!(entries, [(2, 5), (4, 3), (5, 0)]);
//! # Ok::<(), partita_layout::LayoutError>(())
//! ```

use crate::dim::DimMap;
use crate::error::{LayoutError, Result};
use crate::indices::{Cyclic, Indices, Interval, Part, gcd};
use crate::run::{Level, Run, compress};

/// The indices `offset, offset + stride, ...` of one dimension, `size` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slice {
    /// First index.
    pub offset: u64,
    /// Number of indices.
    pub size: u64,
    /// Distance between two of them; negative to go backwards.
    pub stride: i64,
}

impl Slice {
    /// A slice.
    #[must_use]
    pub const fn new(offset: u64, size: u64, stride: i64) -> Self {
        Self { offset, size, stride }
    }

    /// Checks that every index lies inside an extent.
    ///
    /// # Errors
    /// A stride of 0, an index outside.
    pub fn check(&self, dim: usize, extent: u64) -> Result<()> {
        if self.stride == 0 && self.size > 1 {
            return Err(LayoutError::SliceStrideZero { dim });
        }
        if self.size == 0 {
            return Ok(());
        }
        for index in [i128::from(self.offset), self.index(self.size - 1)] {
            if index < 0 || index >= i128::from(extent) {
                return Err(LayoutError::SliceOutside { dim, index, extent });
            }
        }
        Ok(())
    }

    /// Index of an entry.
    #[must_use]
    pub fn index(&self, entry: u64) -> i128 {
        i128::from(self.offset) + i128::from(entry) * i128::from(self.stride)
    }

    /// The same indices in increasing order.
    fn forward(&self) -> (u64, u64) {
        if self.stride >= 0 || self.size == 0 {
            return (self.offset, self.stride.unsigned_abs().max(1));
        }
        (self.index(self.size - 1) as u64, self.stride.unsigned_abs())
    }

    /// Entries whose index lies in `[start, stop)`: the first and how many.
    #[must_use]
    pub fn entries_in(&self, start: u64, stop: u64) -> (u64, u64) {
        let (first, step) = self.forward();
        let up_to = |bound: u64| bound.saturating_sub(first).div_ceil(step).min(self.size);
        let (low, high) = (up_to(start), up_to(stop.max(start)));
        if self.stride >= 0 { (low, high - low) } else { (self.size - high, high - low) }
    }

    /// Entries of the slice (source side) at positions of a coordinate's buffer (target side).
    ///
    /// # Errors
    /// A stride of 0, an index outside the dimension.
    ///
    /// # Cost
    /// The number of runs; for a list the length of the list.
    pub fn meet(&self, map: &DimMap, coordinate: u64, part: Part) -> Result<Vec<Run>> {
        self.check(0, map.extent())?;
        let mut runs = Vec::new();
        let theirs = map.indices(coordinate, part);
        match &theirs {
            Indices::Cyclic(cyclic) => self.meet_cyclic(*cyclic, &mut runs),
            Indices::List { .. } => {
                let pairs: Vec<_> = theirs
                    .listed()
                    .filter_map(|(index, local)| self.entry_of(index).map(|entry| (entry, local)))
                    .collect();
                runs = compress(&pairs);
            }
            _ => {
                for interval in theirs.intervals().unwrap_or_default() {
                    runs.extend(self.meet_interval(interval));
                }
            }
        }
        Ok(runs)
    }

    fn entry_of(&self, index: i64) -> Option<u64> {
        let (first, step) = self.forward();
        let distance = u64::try_from(i128::from(index) - i128::from(first)).ok()?;
        let entry = distance / step;
        if distance % step != 0 || entry >= self.size {
            return None;
        }
        Some(if self.stride >= 0 { entry } else { self.size - 1 - entry })
    }

    fn meet_interval(&self, interval: Interval) -> Option<Run> {
        let (entry, count) = self.entries_in(interval.start, interval.stop());
        if count == 0 {
            return None;
        }
        let local = interval.local + (self.index(entry) as u64 - interval.start);
        let mut run = Run::contiguous(entry, local, count);
        run.levels[2] = Level { count, source_step: 1, target_step: self.stride };
        Some(run.outer(interval.count, 0, interval.local_step))
    }

    /// Entries fall into the blocks with a period: the first one is worked out, the rest repeat.
    fn meet_cyclic(&self, cyclic: Cyclic, runs: &mut Vec<Run>) {
        let (first, step) = self.forward();
        let common = cyclic.period() / gcd(cyclic.period(), u128::from(step)) * u128::from(step);
        let (entries, turns) = (common / u128::from(step), common / cyclic.period());
        let size = u128::from(self.size);
        let n_periods = size / entries;
        let head = if n_periods > 1 { entries } else { size } as u64;
        let mut add = |from: u64, size: u64, n_repeats: u64| {
            let part = Self { offset: first + from * step, size, stride: step as i64 };
            part.each_block(cyclic, |interval| {
                let Some(mut run) = part.meet_interval(interval) else { return };
                run.source += from;
                let step = |number: u128| number as u64;
                let local_step = step(turns) * cyclic.block;
                let run = run.outer(n_repeats, step(entries), local_step);
                runs.push(if self.stride < 0 { self.backward(run) } else { run });
            });
        };
        if n_periods > 1 {
            add(0, head, n_periods as u64);
            let done = (n_periods * entries) as u64;
            add(done, self.size - done, 1);
        } else {
            add(0, head, 1);
        }
    }

    /// The blocks of a cyclic set that a forward slice passes over and may touch.
    fn each_block(&self, cyclic: Cyclic, mut put: impl FnMut(Interval)) {
        if self.size == 0 {
            return;
        }
        let stop = self.index(self.size - 1) as u64 + 1;
        cyclic.within(self.offset, stop, |stretch| {
            for turn in 0..stretch.count {
                let start = stretch.start + turn * cyclic.period() as u64;
                put(Interval::once(start, stretch.length, cyclic.local(start)));
            }
        });
    }

    /// Renumbers entries of the forward slice.
    fn backward(&self, mut run: Run) -> Run {
        run.source = self.size - 1 - run.source;
        for level in &mut run.levels {
            level.source_step = -level.source_step;
        }
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Block, Halo, Map};
    use crate::unstructured::Unstructured;

    fn check(map: &Map, extent: u64, n_coordinates: u64, part: Part) {
        let bound = DimMap::new(map, 0, extent, n_coordinates).expect("a map");
        for stride in [-7_i64, -4, -3, -1, 1, 2, 3, 5, 6, 8, 30] {
            for offset in 0..extent {
                let room = if stride > 0 { extent - 1 - offset } else { offset };
                let longest = room / stride.unsigned_abs() + 1;
                for size in [0, 1, longest / 2, longest] {
                    let slice = Slice::new(offset, size, stride);
                    let mut n_found = 0;
                    for coordinate in 0..n_coordinates {
                        for run in slice.meet(&bound, coordinate, part).expect("inside") {
                            for (entry, local) in run.pairs() {
                                let index = bound.globalize(coordinate, local).expect("held");
                                assert_eq!(
                                    i128::from(index),
                                    slice.index(entry),
                                    "{map} {slice:?}"
                                );
                                n_found += 1;
                            }
                        }
                    }
                    if part == Part::Owned {
                        assert_eq!(n_found, size, "{map} {slice:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn strided_slices_meet_every_map() {
        let lists = Unstructured::new(&[vec![4, 9, 0, 1], vec![], vec![8, 7, 2, 3, 6, 5, 10]]);
        let halo = Block { halo: Halo::same(2, 1), ..Block::default() };
        let periodic = Block { halo: Halo::same(13, 4), periodic: true, ..Block::default() };
        check(&Map::block(), 23, 4, Part::Owned);
        check(&Map::Cyclic { block: 1 }, 23, 3, Part::Owned);
        check(&Map::Cyclic { block: 3 }, 31, 2, Part::Owned);
        check(&Map::Cyclic { block: 4 }, 47, 3, Part::Owned);
        check(&Map::Unstructured(lists.into()), 11, 3, Part::Owned);
        check(&Map::Block(halo), 23, 4, Part::Held);
        check(&Map::Block(periodic), 11, 3, Part::Held);
    }

    #[test]
    fn refuses_slices_that_leave_the_dimension() {
        let map = DimMap::new(&Map::block(), 0, 10, 2).expect("a map");
        let reason = |slice: Slice| slice.meet(&map, 0, Part::Owned).expect_err("wrong").reason();
        assert_eq!(reason(Slice::new(8, 3, 1)), "slice-outside");
        assert_eq!(reason(Slice::new(2, 4, -1)), "slice-outside");
        assert_eq!(reason(Slice::new(2, 2, 0)), "slice-stride-zero");
    }

    #[test]
    fn huge_slices_cost_no_more() {
        let extent = 1 << 62;
        let map = DimMap::new(&Map::Cyclic { block: 64 }, 0, extent, 1000).expect("a map");
        let slice = Slice::new(extent - 1, extent / 3, -3);
        let runs = slice.meet(&map, 7, Part::Owned).expect("inside");
        assert!(runs.len() < 400, "{}", runs.len());
    }
}
