//! What can go wrong in a team, the same on every rank.
//!
//! - `rank`: ranks as messages name them, `host`: where they run; `engine`: what a team runs on.
//! - `failure`: what one rank reports to the others; `mismatch`: ranks that made different calls.
//! - `circle`: ranks that wait for each other on different teams.

use std::sync::Arc;
use std::time::Duration;

use crate::error::circle::Circle;

pub(crate) mod circle;
mod engine;
mod failure;
mod host;
mod mismatch;
mod rank;

pub use engine::Engine;
pub(crate) use failure::cut;
pub use failure::{Failure, FailureKind};
pub use host::Host;
pub use mismatch::{Differing, Mismatch};
pub use rank::Rank;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, TeamError>;

partita_error::errors! {
    /// Why a call on a team failed.
    pub enum TeamError {
        TeamsDiffer { circle: Arc<Circle> } "teams-differ" =>
            "the teams differ: {circle}; make calls on teams that share ranks in the same order on \
             every rank (ranks are those of the world)";
        Deadline { missing: Vec<Rank>, call: String, limit: Duration } "deadline" =>
            "{call}: {} did not come within {limit:?}; look what they do, or set a longer deadline",
            rank::listed(missing);
        BufferCount { n_given: usize, n_wanted: usize, side: &'static str } "buffer-count" =>
            "{n_given} {side} buffers where the layout has {n_wanted} on this rank; give {n_wanted}";
        BufferShape { side: &'static str, buffer: usize, given: Vec<u64>, wanted: Vec<u64> }
            "buffer-shape" =>
            "{side} buffer {buffer} has the shape {given:?}, the layout says {wanted:?}; use that";
        BufferReadOnly { buffer: usize } "buffer-read-only" =>
            "target buffer {buffer} is read-only; give one that can be written";
        BufferRepeats { buffer: usize, dim: usize } "buffer-repeats" =>
            "elements of target buffer {buffer} along dimension {dim} share memory; give one where \
             each has its own";
        BufferOverlap { rank: Rank, other: Rank } "buffer-overlap" =>
            "the target of {rank} shares memory with the source of {other}; use separate memory";
        TargetsOverlap { rank: Rank, other: Rank } "buffer-overlap" =>
            "targets of {rank} and of {other} share memory; use separate memory";
        BufferOutside { rank: Rank, side: &'static str, buffer: usize } "buffer-outside" =>
            "{rank} describes its {side} buffer {buffer} as no memory of its own, or with another \
             shape than the layout says; use the same partita on every rank";
        LoanNote { problem: String } "loan-note" =>
            "the note of lent bytes {problem}; send notes as they are, within one version of partita";
        LoanBook { process: u64 } "loan-book" =>
            "the loan table of process {process} tells of lent bytes where it has none; lend them again";
        NotAMember { rank: u64, n_ranks: u64 } "not-a-member" =>
            "rank {rank} of the world is no member of this team of {n_ranks}; call it on members only";
        MemberTwice { rank: u64 } "member-twice" =>
            "rank {rank} is named twice; name it once";
        MemberUnknown { rank: u64, size: u64 } "member-unknown" =>
            "rank {rank} of a team of {size}; use a rank below {size}";
        TeamTooSmall { rank: u64, size: u64 } "team-too-small" =>
            "the plan names rank {rank} but the team has {size} members; use a larger team";
        Busy "team-busy" =>
            "another call of this rank on this team is under way; make one call at a time";
        Forked { engine: Engine } "forked" =>
            "this process was forked and is no rank of the team, whose {} its parent; make \
             calls there, or a team of its own here (partita.spmd)", engine.stays_with_parent();
        CommFreed "comm-freed" =>
            "the communicator that the team was made of has been freed; free it after the last call, \
             or make a team of another";
        Interrupted "interrupted" =>
            "it was interrupted while it waited for other ranks";
        NotInPlace "not-in-place" =>
            "only a plan from a layout to the same layout runs in place, and its adjoint where no \
             rank has copies of its own elements; give a separate target";
        Engine { message: String } "engine" =>
            "the engine reports: {message}; see `partita doctor`";
    }
    passing on Remote(Failure)
    passing on Mismatch(Mismatch)
}

impl TeamError {
    /// What the other ranks are told.
    #[must_use]
    pub fn failure(&self, rank: Rank) -> Failure {
        match self {
            Self::Remote(failure) => failure.clone(),
            Self::Deadline { missing, limit, .. } if !missing.is_empty() => {
                let message = format!("{rank} waited {limit:?} for it");
                Failure { rank: missing[0], kind: FailureKind::Late, message }
            }
            other => Failure::new(rank, FailureKind::Raised, &other.to_string()),
        }
    }
}

impl TeamError {
    /// The same, with the hosts of the ranks that it names.
    #[must_use]
    pub(crate) fn placed(mut self, host_of: impl Fn(u64) -> Option<Host>) -> Self {
        let place = |rank: &mut Rank| rank.host = rank.host.or_else(|| host_of(rank.world));
        match &mut self {
            Self::Remote(failure) => place(&mut failure.rank),
            Self::Mismatch(Mismatch { rank, other, .. })
            | Self::BufferOverlap { rank, other }
            | Self::TargetsOverlap { rank, other } => {
                place(rank);
                place(other);
            }
            Self::Deadline { missing, .. } => missing.iter_mut().for_each(place),
            Self::BufferOutside { rank, .. } => place(rank),
            _ => {}
        }
        self
    }
}

/// A buffer of the plan is missing, or its owner's memory cannot be reached.
pub(crate) fn out_of_reach() -> TeamError {
    TeamError::Engine { message: "a buffer of another rank could not be mapped".to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_its_variant_and_every_message_has_a_cure() {
        let shared = [("TargetsOverlap", "buffer-overlap"), ("Busy", "team-busy")];
        // Whoever has interrupted a call knows what to do.
        let known =
            ["Interrupted names no cure: it was interrupted while it waited for other ranks"];
        assert_eq!(partita_error::judge(TeamError::TABLE, "", &shared), known);
    }

    #[test]
    fn a_rank_has_both_numbers_where_they_differ() {
        let members = [4, 1];
        let missing = vec![Rank::of(&members, 0), Rank::of(&members, 1)];
        let limit = Duration::from_secs(1);
        let error = TeamError::Deadline { missing, call: "barrier".to_string(), limit };
        let words = "barrier: rank 0 of this team (rank 4 of the world), rank 1 did not come";
        assert!(error.to_string().starts_with(words), "{error}");
    }

    #[test]
    fn a_rank_has_its_host_where_there_are_several() {
        let host_of = |rank: u64| Some(Host::new(if rank < 2 { "alpha" } else { "beta" }));
        let failure = Failure::new(Rank::new(2, 2), FailureKind::Left, "its program has ended");
        let error = TeamError::Remote(failure).placed(host_of);
        let words = "rank 2 on host beta has left the team: its program has ended";
        assert_eq!(error.to_string(), words);
        let missing = vec![Rank::of(&[4, 1], 0), Rank::of(&[4, 1], 1)];
        let call = "barrier".to_string();
        let error = TeamError::Deadline { missing, call, limit: Duration::from_secs(1) };
        let words = "barrier: rank 0 of this team (rank 4 of the world) on host beta, rank 1 on \
                     host alpha did not come";
        assert!(error.placed(host_of).to_string().starts_with(words));
    }
}
