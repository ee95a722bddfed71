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

    /// Rows for each rank, extra ones to the last; without dimensions every rank has all.
    #[must_use]
    pub fn by_rows(shape: &[usize], n_ranks: u64) -> Rc<Self> {
        if shape.is_empty() {
            return Rc::new(Self::Whole);
        }
        let all = everything(shape);
        let boxes = (0..n_ranks).map(|rank| {
            let mut part = all.clone();
            let rows = default_partition(n_ranks, rank, &all.shape[..1]);
            if let Ok([rows]) = rows.as_deref() {
                (part.start[0], part.shape[0]) = (rows.offset, rows.size);
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
