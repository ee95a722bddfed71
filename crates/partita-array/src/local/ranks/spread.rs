//! Where the elements of a base are.

use std::rc::Rc;

use partita_layout::IndexBox;
use partita_layout::dist::default_partition;

use super::product::{everything, lies_in};

/// Who has which elements of a base.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Spread {
    /// Every rank has all of them.
    Whole,
    /// Every rank has a box of its own, and may hold copies of what lies around it.
    Boxes {
        /// What each rank owns.
        owned: Vec<IndexBox>,
        /// What each rank has memory for.
        held: Vec<IndexBox>,
    },
}

impl Spread {
    /// Boxes, without copies of others.
    #[must_use]
    pub fn owned(boxes: Vec<IndexBox>) -> Rc<Self> {
        Rc::new(Self::Boxes { held: boxes.clone(), owned: boxes })
    }

    /// Where new arrays go: one dimension is cut, extra entries to the last rank; without
    /// dimensions every rank has all.
    #[must_use]
    pub fn of_new(shape: &[usize], n_ranks: u64) -> Rc<Self> {
        if shape.is_empty() {
            return Rc::new(Self::Whole);
        }
        let (all, dim) = (everything(shape), cut_dim(shape, n_ranks));
        let boxes = (0..n_ranks).map(|rank| {
            let mut part = all.clone();
            let own = default_partition(n_ranks, rank, &all.shape[dim..=dim]);
            if let Ok([own]) = own.as_deref() {
                (part.start[dim], part.shape[dim]) = (own.offset, own.size);
            }
            part
        });
        Self::owned(boxes.collect())
    }

    /// What a rank owns.
    #[must_use]
    pub fn own(&self, rank: u64, shape: &[usize]) -> IndexBox {
        match self {
            Self::Whole => everything(shape),
            Self::Boxes { owned, .. } => owned[rank as usize].clone(),
        }
    }

    /// What a rank has memory for.
    #[must_use]
    pub fn held(&self, rank: u64, shape: &[usize]) -> IndexBox {
        match self {
            Self::Whole => everything(shape),
            Self::Boxes { held, .. } => held[rank as usize].clone(),
        }
    }

    /// Whether every rank owns what it needs.
    pub(super) fn has(&self, needs: &[IndexBox]) -> bool {
        match self {
            Self::Whole => true,
            Self::Boxes { owned, .. } => {
                needs.iter().zip(owned).all(|(need, own)| lies_in(need, own))
            }
        }
    }
}

/// The dimension along which new arrays are cut: the first with an entry for every rank, or else
/// the largest, so that no rank is left without work where there is some.
#[must_use]
pub fn cut_dim(shape: &[usize], n_ranks: u64) -> usize {
    if shape.contains(&0) {
        return 0;
    }
    let for_all = shape.iter().position(|size| *size as u64 >= n_ranks);
    let largest = || (0..shape.len()).rev().max_by_key(|dim| shape[*dim]);
    for_all.or_else(largest).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_arrays_are_cut_where_every_rank_gets_something() {
        assert_eq!(cut_dim(&[100, 100], 4), 0);
        assert_eq!(cut_dim(&[2, 100, 100], 4), 1);
        assert_eq!(cut_dim(&[1, 10000], 4), 1);
        assert_eq!(cut_dim(&[2, 3, 3], 4), 1);
        assert_eq!(cut_dim(&[2, 2], 4), 0);
        assert_eq!(cut_dim(&[0, 9], 4), 0);
        assert_eq!(cut_dim(&[], 4), 0);
    }
}
