//! Ranks by both their numbers, as messages name them.

use std::cmp::Ordering;
use std::fmt;

use crate::error::host::Host;

/// A rank by both its numbers, and where it runs.
#[derive(Debug, Clone, Copy)]
pub struct Rank {
    /// In the team that made the call.
    pub team: u64,
    /// In the world.
    pub world: u64,
    /// Its host, where the world has several.
    pub host: Option<Host>,
}

impl Rank {
    /// A rank by its numbers.
    pub(crate) fn new(team: u64, world: u64) -> Self {
        Self { team, world, host: None }
    }

    /// A rank of the team of these members.
    pub(crate) fn of(members: &[u64], rank: u64) -> Self {
        Self::new(rank, members.get(rank as usize).copied().unwrap_or(rank))
    }

    /// The same with its host.
    #[must_use]
    pub(crate) fn on(self, host: Option<Host>) -> Self {
        Self { host, ..self }
    }

    fn numbers(self) -> (u64, u64) {
        (self.team, self.world)
    }
}

/// Ranks are their numbers: where they run is told beside.
impl PartialEq for Rank {
    fn eq(&self, other: &Self) -> bool {
        self.numbers() == other.numbers()
    }
}

impl Eq for Rank {}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        self.numbers().cmp(&other.numbers())
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { team, world, host } = self;
        write!(f, "rank {team}")?;
        if team != world {
            write!(f, " of this team (rank {world} of the world)")?;
        }
        host.map_or(Ok(()), |host| write!(f, " on host {host}"))
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
