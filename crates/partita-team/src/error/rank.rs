//! Ranks by both their numbers, as messages name them.

use std::fmt;

/// A rank by both its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// In the team that made the call.
    pub team: u64,
    /// In the world.
    pub world: u64,
}

impl Rank {
    /// A rank of the team of these members.
    pub(crate) fn of(members: &[u64], rank: u64) -> Self {
        Self { team: rank, world: members.get(rank as usize).copied().unwrap_or(rank) }
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { team, world } = self;
        if team == world {
            return write!(f, "rank {team}");
        }
        write!(f, "rank {team} of this team (rank {world} of the world)")
    }
}

/// Ranks in words; many are counted.
pub(super) fn listed(ranks: &[Rank]) -> String {
    const MOST: usize = 8;
    let named: Vec<String> = ranks.iter().take(MOST).map(Rank::to_string).collect();
    let rest = ranks.len().saturating_sub(MOST);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    named.join(", ") + &more
}
