//! Circles of waits: ranks that wait for each other on different teams, and can never go on.
//!
//! Rank 0 calls `barrier` on the team of ranks 0 to 3, rank 1 on that of ranks 0 and 1: each waits
//! for the other. Every engine finds such circles in its own way; what they are and how they are
//! told is here. `mpi/README.md` and `threads/README.md` say when a rank counts as waiting.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Failure, FailureKind, Rank};

/// How long a rank waits before it looks whether it does so in a circle.
pub(crate) const PATIENT_FOR: Duration = Duration::from_millis(40);

/// Members that a message lists of a long team, at its start.
const MOST_LISTED: usize = 12;

/// A rank that waits in a round of a team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// Rank of the world.
    pub rank: u64,
    /// The members of the team, as ranks of the world.
    pub members: Arc<[u64]>,
    /// The number of the round.
    pub round: u64,
    /// The call in words.
    pub call: String,
}

/// Waits of which each is for the rank of the next, and the last for the rank of the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circle {
    /// The lowest rank comes first.
    pub waits: Vec<Wait>,
}

/// The circles that were found, by the rounds that they ended.
#[derive(Debug, Default)]
pub(crate) struct Circles(HashMap<(Arc<[u64]>, u64), Arc<Circle>>);

impl Circle {
    /// The circle of these waits, whichever comes first.
    pub(crate) fn new(mut waits: Vec<Wait>) -> Self {
        let lowest = waits.iter().enumerate().min_by_key(|(_, wait)| wait.rank);
        let first = lowest.map_or(0, |(at, _)| at);
        waits.rotate_left(first);
        Self { waits }
    }

    /// What a round is told that ends because of it, at the place of a rank of its team.
    pub(crate) fn failure(&self, rank: Rank) -> Failure {
        Failure::new(rank, FailureKind::Circle, &self.to_string())
    }

    /// The rounds that it ends: teams and their rounds, each once.
    pub(crate) fn rounds(&self) -> impl Iterator<Item = (&Arc<[u64]>, u64)> {
        let is_first = |at: &usize| {
            let (wait, before) = (&self.waits[*at], &self.waits[..*at]);
            !before.iter().any(|w| w.members == wait.members && w.round == wait.round)
        };
        (0..self.waits.len())
            .filter(is_first)
            .map(|at| (&self.waits[at].members, self.waits[at].round))
    }
}

impl Circles {
    /// Keeps a circle; the first that ended a round is the one that is told of.
    pub(crate) fn keep(&mut self, circle: &Arc<Circle>) {
        for (members, round) in circle.rounds() {
            let place = self.0.entry((Arc::clone(members), round));
            place.or_insert_with(|| Arc::clone(circle));
        }
    }

    /// The circle that ended a round.
    pub(crate) fn of(&self, members: &Arc<[u64]>, round: u64) -> Option<&Arc<Circle>> {
        self.0.get(&(Arc::clone(members), round))
    }
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Wait { rank, members, call, .. }) in self.waits.iter().enumerate() {
            let next = self.waits[(at + 1) % self.waits.len()].rank;
            let comma = if at == 0 { "" } else { ", " };
            let team = listed(members);
            write!(f, "{comma}rank {rank} waits in {call} on the team {team} for rank {next}")?;
        }
        Ok(())
    }
}

/// The members of a team, shortened if there are many.
fn listed(members: &[u64]) -> String {
    match members {
        [.., last] if members.len() > MOST_LISTED => {
            let first: Vec<String> =
                members[..MOST_LISTED - 2].iter().map(u64::to_string).collect();
            format!("[{}, ..., {last}] of {}", first.join(", "), members.len())
        }
        _ => format!("{members:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(rank: u64, members: &[u64], call: &str) -> Wait {
        Wait { rank, members: members.into(), round: 3, call: call.to_string() }
    }

    #[test]
    fn the_lowest_rank_is_told_first() {
        let circle = Circle::new(vec![wait(2, &[1, 2], "run ab"), wait(1, &[2, 1], "barrier")]);
        let wanted = "rank 1 waits in barrier on the team [2, 1] for rank 2, \
                      rank 2 waits in run ab on the team [1, 2] for rank 1";
        assert_eq!(circle.to_string(), wanted);
    }

    #[test]
    fn a_round_ends_once() {
        let circle = Circle::new(vec![wait(0, &[0, 1], "a"), wait(1, &[1, 2], "b")]);
        let mut circles = Circles::default();
        circles.keep(&Arc::new(circle.clone()));
        circles.keep(&Arc::new(Circle::new(vec![wait(1, &[1, 2], "c"), wait(5, &[5, 1], "d")])));
        assert_eq!(circles.of(&Arc::from([1, 2]), 3).map(|found| &**found), Some(&circle));
        assert!(circles.of(&Arc::from([1, 2]), 4).is_none());
    }

    #[test]
    fn long_teams_are_shortened() {
        let many: Vec<u64> = (0..100).collect();
        assert_eq!(listed(&many), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ..., 99] of 100");
        assert_eq!(listed(&[4, 2]), "[4, 2]");
    }
}
