//! Routes: who carries out a move.
//!
//! Copies are pushed where the target is open, since then every source line is read once; else
//! they are pulled where the source is open. Sums are pulled. What neither side can reach travels
//! by messages. Both ranks of a move come to the same verdict from what both have posted.

use partita_plan::{Combine, Move};

use crate::program::offer::{Offered, Openness, View};

/// Who carries out a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// The rank that has the source.
    Push,
    /// The rank that has the target.
    Pull,
    /// Both, by messages.
    Send,
}

impl View<'_> {
    /// Who carries out a move of this rank.
    pub(crate) fn route(&self, m: &Move, combine: Combine) -> Route {
        let is_open =
            |offered: Option<&Offered>| offered.is_some_and(|o| o.openness == Openness::Open);
        let other = if m.source_rank == self.rank { m.target_rank } else { m.source_rank };
        let is_own = other == self.rank;
        let shares = is_own || (self.shares)(other);
        let is_target_open = is_own || is_open(self.target(m.target_rank, m.target_buffer));
        let is_source_open = is_own || is_open(self.source(m.source_rank, m.source_buffer));
        match combine {
            Combine::Copy if shares && is_target_open => Route::Push,
            _ if shares && is_source_open => Route::Pull,
            _ => Route::Send,
        }
    }
}
