//! Cuts: where the blocks of a block map begin, in closed form.

use std::sync::Arc;

use crate::divide::Divider;
use crate::map::BlockRule;

/// The starts of `n_coordinates` neighbouring blocks of one dimension.
#[derive(Debug, Clone)]
pub(crate) enum Cuts {
    /// The first `n_larger` blocks have `size + 1` indices, the others `size`.
    First { size: u64, n_larger: u64, by_larger: Divider, by_size: Divider },
    /// The last `n_larger` blocks have `size + 1` indices, the others `size`.
    Last { size: u64, n_smaller: u64, by_larger: Divider, by_size: Divider },
    /// Every block has `size` indices until none are left.
    Ceil { size: u64, extent: u64, by_size: Divider },
    /// Prefix sums of the given sizes.
    Given { starts: Arc<[u64]> },
}

impl Cuts {
    /// The cuts of a rule; the sizes of a given rule have been checked.
    pub(crate) fn new(rule: &BlockRule, extent: u64, n_coordinates: u64) -> Self {
        let size = extent / n_coordinates;
        let n_larger = extent % n_coordinates;
        let by_larger = Divider::new(size + 1);
        let by_size = Divider::new(size.max(1));
        match rule {
            BlockRule::First => Self::First { size, n_larger, by_larger, by_size },
            BlockRule::Last => {
                Self::Last { size, n_smaller: n_coordinates - n_larger, by_larger, by_size }
            }
            BlockRule::Ceil => {
                let size = extent.div_ceil(n_coordinates).max(1);
                Self::Ceil { size, extent, by_size: Divider::new(size) }
            }
            BlockRule::Sizes(sizes) => {
                let mut starts = vec![0];
                starts.extend(sizes.iter().scan(0, |at, size| {
                    *at += size;
                    Some(*at)
                }));
                Self::Given { starts: starts.into() }
            }
        }
    }

    /// First index of block `coordinate`; the extent for one past the last.
    pub(crate) fn start(&self, coordinate: u64) -> u64 {
        match self {
            Self::First { size, n_larger, .. } => coordinate * size + coordinate.min(*n_larger),
            Self::Last { size, n_smaller, .. } => {
                coordinate * size + coordinate.saturating_sub(*n_smaller)
            }
            Self::Ceil { size, extent, .. } => coordinate.saturating_mul(*size).min(*extent),
            Self::Given { starts } => starts[coordinate as usize],
        }
    }

    /// Block that an index inside the extent falls into.
    #[inline(always)]
    pub(crate) fn find(&self, index: u64) -> u64 {
        match self {
            // Each division is right on its side of the boundary and too small on the other, so no
            // branch asks for the side: random indices would have it guessed wrong.
            Self::First { n_larger, by_larger, by_size, .. } => {
                by_larger.divide(index).max(by_size.divide(index.saturating_sub(*n_larger)))
            }
            Self::Last { size, n_smaller, by_larger, by_size } => {
                let boundary = n_smaller * size;
                if index < boundary {
                    by_size.divide(index)
                } else {
                    n_smaller + by_larger.divide(index - boundary)
                }
            }
            Self::Ceil { by_size, .. } => by_size.divide(index),
            Self::Given { starts } => starts.partition_point(|start| *start <= index) as u64 - 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(rule: &BlockRule, extent: u64, n_coordinates: u64) -> Vec<u64> {
        let cuts = Cuts::new(rule, extent, n_coordinates);
        (0..n_coordinates).map(|k| cuts.start(k + 1) - cuts.start(k)).collect()
    }

    #[test]
    fn rules_cut_as_their_models_do() {
        assert_eq!(sizes(&BlockRule::First, 8, 3), [3, 3, 2]);
        assert_eq!(sizes(&BlockRule::Last, 8, 3), [2, 3, 3]);
        assert_eq!(sizes(&BlockRule::Ceil, 10, 4), [3, 3, 3, 1]);
        assert_eq!(sizes(&BlockRule::Ceil, 5, 4), [2, 2, 1, 0]);
        assert_eq!(sizes(&BlockRule::First, 2, 4), [1, 1, 0, 0]);
        assert_eq!(sizes(&BlockRule::Last, 2, 4), [0, 0, 1, 1]);
        assert_eq!(sizes(&BlockRule::Sizes([3, 0, 4].into()), 7, 3), [3, 0, 4]);
    }

    #[test]
    fn find_inverts_start() {
        let given = BlockRule::Sizes([0, 3, 0, 0, 4, 0].into());
        for rule in [BlockRule::First, BlockRule::Last, BlockRule::Ceil, given] {
            for extent in [0, 1, 5, 6, 7, 23] {
                if matches!(rule, BlockRule::Sizes(_)) && extent != 7 {
                    continue;
                }
                let cuts = Cuts::new(&rule, extent, 6);
                for index in 0..extent {
                    let found = cuts.find(index);
                    assert!((cuts.start(found)..cuts.start(found + 1)).contains(&index));
                }
            }
        }
    }
}
