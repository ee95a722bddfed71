//! Which rank sits at which place of a grid.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{LayoutError, Result};

/// Bulk translation gives ranks as signed 64-bit numbers.
const LARGEST: u64 = i64::MAX as u64;

/// Ranks in the order of the grid's places.
#[derive(Debug, Clone)]
pub enum Ranks {
    /// `first, first + 1, ...`
    Range {
        /// Rank of the first place.
        first: u64,
        /// Number of places.
        count: u64,
    },
    /// Any ranks, each once.
    List {
        /// Rank of each place.
        ranks: Arc<[u64]>,
        /// Place of each rank.
        places: Arc<HashMap<u64, u64>>,
    },
}

impl Ranks {
    /// Ranks `0..count`.
    #[must_use]
    pub fn first(count: u64) -> Self {
        Self::Range { first: 0, count }
    }

    /// Ranks `start..stop`.
    ///
    /// # Errors
    /// A rank that no signed 64-bit number holds.
    pub fn range(start: u64, stop: u64) -> Result<Self> {
        let count = stop.saturating_sub(start);
        if count > 0 && stop - 1 > LARGEST {
            return Err(LayoutError::RanksOverflow { rank: stop - 1 });
        }
        Ok(Self::Range { first: start, count })
    }

    /// The given ranks; a run of neighbours is kept as a range.
    ///
    /// # Errors
    /// A rank that is named twice, or that no signed 64-bit number holds.
    pub fn list(ranks: &[u64]) -> Result<Self> {
        if let Some(rank) = ranks.iter().copied().find(|rank| *rank > LARGEST) {
            return Err(LayoutError::RanksOverflow { rank });
        }
        let first = ranks.first().copied().unwrap_or(0);
        let is_range = ranks.iter().zip(first..).all(|(rank, next)| *rank == next);
        if is_range {
            return Ok(Self::Range { first, count: ranks.len() as u64 });
        }
        let mut places = HashMap::with_capacity(ranks.len());
        for (rank, place) in ranks.iter().zip(0..) {
            if places.insert(*rank, place).is_some() {
                return Err(LayoutError::RanksDuplicate { rank: *rank });
            }
        }
        Ok(Self::List { ranks: ranks.into(), places: places.into() })
    }

    /// Number of ranks.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Self::Range { count, .. } => *count,
            Self::List { ranks, .. } => ranks.len() as u64,
        }
    }

    /// Rank at a place.
    #[must_use]
    #[inline]
    pub fn rank_at(&self, place: u64) -> u64 {
        match self {
            Self::Range { first, .. } => first + place,
            Self::List { ranks, .. } => ranks[place as usize],
        }
    }

    /// Place of a rank.
    #[must_use]
    pub fn place_of(&self, rank: u64) -> Option<u64> {
        match self {
            Self::Range { first, count } => rank.checked_sub(*first).filter(|place| place < count),
            Self::List { places, .. } => places.get(&rank).copied(),
        }
    }

    /// All ranks in the order of their places.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.count()).map(|place| self.rank_at(place))
    }
}

impl PartialEq for Ranks {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Range { first, count }, Self::Range { first: f, count: c }) => {
                count == c && (first == f || *count == 0)
            }
            (Self::List { ranks, .. }, Self::List { ranks: other, .. }) => ranks == other,
            _ => false,
        }
    }
}

impl Eq for Ranks {}

impl std::hash::Hash for Ranks {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        match self {
            Self::Range { first, count } => (first, count).hash(state),
            Self::List { ranks, .. } => ranks.hash(state),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ranks;

    #[test]
    fn a_list_of_neighbours_is_a_range() {
        assert_eq!(Ranks::list(&[4, 5, 6]), Ok(Ranks::Range { first: 4, count: 3 }));
        assert_eq!(Ranks::list(&[]), Ok(Ranks::Range { first: 0, count: 0 }));
        assert!(matches!(Ranks::list(&[4, 6, 5]), Ok(Ranks::List { .. })));
        assert!(matches!(Ranks::list(&[1, 0]), Ok(Ranks::List { .. })));
    }
}
