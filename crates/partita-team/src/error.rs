//! What can go wrong in a team, the same on every rank.

use std::fmt;
use std::time::Duration;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, TeamError>;

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

/// What one rank reports to the others of its team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Where it began.
    pub rank: Rank,
    /// What kind of failure.
    pub kind: FailureKind,
    /// The message of that rank's own error.
    pub message: String,
}

/// Kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// It raised an error, in the call or in the user's code.
    Raised,
    /// It has left: its function returned or its process ended.
    Left,
    /// It did not come before the deadline.
    Late,
}

/// Bytes of a message that others are told, at its beginning and at its end.
const HEAD_BYTES: usize = 3000;
const TAIL_BYTES: usize = 1000;

impl Failure {
    /// A failure with its message as others are told it: long ones are cut.
    #[must_use]
    pub fn new(rank: Rank, kind: FailureKind, message: &str) -> Self {
        Self { rank, kind, message: cut(message) }
    }
}

/// A message that is short enough to be told to everybody, and says how much of it is missing.
///
/// Every rank tells every other: a message of megabytes would keep all of them busy for seconds.
pub(crate) fn cut(message: &str) -> String {
    if message.len() <= HEAD_BYTES + TAIL_BYTES {
        return message.to_string();
    }
    let between = |at: &usize| message.is_char_boundary(*at);
    let head = &message[..(0..=HEAD_BYTES).rev().find(between).unwrap_or_default()];
    let rest = message.len() - TAIL_BYTES..=message.len();
    let tail = &message[rest.into_iter().find(between).unwrap_or_default()..];
    let n_cut = message.len() - head.len() - tail.len();
    format!("{head} [... {n_cut} bytes left out ...] {tail}")
}

/// Why a call on a team failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the values named in the message")]
pub enum TeamError {
    Remote { failure: Failure },
    Mismatch { rank: Rank, other: Rank, what: &'static str, mine: String, theirs: String },
    Deadline { missing: Vec<Rank>, call: String, limit: Duration },
    BufferCount { n_given: usize, n_wanted: usize, side: &'static str },
    BufferShape { side: &'static str, buffer: usize, given: Vec<u64>, wanted: Vec<u64> },
    BufferReadOnly { buffer: usize },
    BufferRepeats { buffer: usize, dim: usize },
    BufferOverlap { rank: Rank, other: Rank },
    TargetsOverlap { rank: Rank, other: Rank },
    NotAMember { rank: u64, n_ranks: u64 },
    MemberTwice { rank: u64 },
    MemberUnknown { rank: u64, size: u64 },
    TeamTooSmall { rank: u64, size: u64 },
    Busy,
    Forked { engine: &'static str },
    CommFreed,
    Interrupted,
    NotInPlace,
    Engine { message: String },
}

impl TeamError {
    /// Stable code of the error.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Remote { failure } => match failure.kind {
                FailureKind::Raised => "rank-raised",
                FailureKind::Left => "rank-left",
                FailureKind::Late => "rank-late",
            },
            Self::Mismatch { what, .. } => match *what {
                "call" => "calls-differ",
                "plan" => "plans-differ",
                _ => "arguments-differ",
            },
            Self::Deadline { .. } => "deadline",
            Self::BufferCount { .. } => "buffer-count",
            Self::BufferShape { .. } => "buffer-shape",
            Self::BufferReadOnly { .. } => "buffer-read-only",
            Self::BufferRepeats { .. } => "buffer-repeats",
            Self::BufferOverlap { .. } | Self::TargetsOverlap { .. } => "buffer-overlap",
            Self::NotAMember { .. } => "not-a-member",
            Self::MemberTwice { .. } => "member-twice",
            Self::MemberUnknown { .. } => "member-unknown",
            Self::TeamTooSmall { .. } => "team-too-small",
            Self::Busy => "team-busy",
            Self::Forked { .. } => "forked",
            Self::CommFreed => "comm-freed",
            Self::Interrupted => "interrupted",
            Self::NotInPlace => "not-in-place",
            Self::Engine { .. } => "engine",
        }
    }

    /// What the other ranks are told.
    #[must_use]
    pub fn failure(&self, rank: Rank) -> Failure {
        match self {
            Self::Remote { failure } => failure.clone(),
            Self::Deadline { missing, limit, .. } if !missing.is_empty() => {
                let message = format!("{rank} waited {limit:?} for it");
                Failure { rank: missing[0], kind: FailureKind::Late, message }
            }
            other => Failure::new(rank, FailureKind::Raised, &other.to_string()),
        }
    }
}

/// A buffer of the plan is missing, or its owner's memory cannot be reached.
pub(crate) fn out_of_reach() -> TeamError {
    TeamError::Engine { message: "a buffer of another rank could not be mapped".to_string() }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rank, message, .. } = self;
        match self.kind {
            FailureKind::Raised => write!(f, "{rank} failed: {message}"),
            FailureKind::Left => write!(f, "{rank} has left the team: {message}"),
            FailureKind::Late => write!(f, "{rank} came too late: {message}"),
        }
    }
}

/// Ranks in words; many are counted.
fn listed(ranks: &[Rank]) -> String {
    const MOST: usize = 8;
    let named: Vec<String> = ranks.iter().take(MOST).map(Rank::to_string).collect();
    let rest = ranks.len().saturating_sub(MOST);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    named.join(", ") + &more
}

impl fmt::Display for TeamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remote { failure } => write!(f, "{failure}"),
            Self::Mismatch { rank, other, what, mine, theirs } => write!(
                f,
                "the {what}s differ: {rank} has {mine}, {other} has {theirs}; make the same {what} \
                 on every rank"
            ),
            Self::Deadline { missing, call, limit } => write!(
                f,
                "{call}: {} did not come within {limit:?}; look what they do, or set a longer \
                 deadline",
                listed(missing)
            ),
            Self::BufferCount { n_given, n_wanted, side } => write!(
                f,
                "{n_given} {side} buffers where the layout has {n_wanted} on this rank; give {n_wanted}"
            ),
            Self::BufferShape { side, buffer, given, wanted } => write!(
                f,
                "{side} buffer {buffer} has the shape {given:?}, the layout says {wanted:?}; use that"
            ),
            Self::BufferReadOnly { buffer } => {
                write!(f, "target buffer {buffer} is read-only; give one that can be written")
            }
            Self::BufferRepeats { buffer, dim } => write!(
                f,
                "elements of target buffer {buffer} along dimension {dim} share memory; give one \
                 where each has its own"
            ),
            Self::BufferOverlap { rank, other } => write!(
                f,
                "the target of {rank} shares memory with the source of {other}; use separate memory"
            ),
            Self::TargetsOverlap { rank, other } => {
                write!(f, "targets of {rank} and of {other} share memory; use separate memory")
            }
            Self::NotAMember { rank, n_ranks } => write!(
                f,
                "rank {rank} of the world is no member of this team of {n_ranks}; call it on members only"
            ),
            Self::MemberTwice { rank } => write!(f, "rank {rank} is named twice; name it once"),
            Self::MemberUnknown { rank, size } => {
                write!(f, "rank {rank} of a team of {size}; use a rank below {size}")
            }
            Self::TeamTooSmall { rank, size } => write!(
                f,
                "the plan names rank {rank} but the team has {size} members; use a larger team"
            ),
            Self::Engine { message } => {
                write!(f, "the engine reports: {message}; see `partita doctor`")
            }
            Self::NotInPlace => write!(
                f,
                "only a plan from a layout to the same layout runs in place, and its adjoint where \
                 no rank has copies of its own elements; give a separate target"
            ),
            Self::Forked { engine } => write!(
                f,
                "this process was forked and is no rank of the team, whose {} are with its parent; \
                 make calls there, or a team of its own here (partita.spmd)",
                if *engine == "mpi" { "place in the job" } else { "threads" }
            ),
            Self::CommFreed => write!(
                f,
                "the communicator that the team was made of has been freed; free it after the last \
                 call, or make a team of another"
            ),
            Self::Interrupted => write!(f, "it was interrupted while it waited for other ranks"),
            Self::Busy => write!(
                f,
                "another call of this rank on this team is under way; make one call at a time"
            ),
        }
    }
}

impl std::error::Error for TeamError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_is_cut_between_characters_and_says_so() {
        assert_eq!(cut("short"), "short");
        let long = "é".repeat(1 << 20);
        let short = cut(&long);
        assert!(short.len() < 4100, "{}", short.len());
        let n_kept = short.matches('é').count() * 2;
        assert!(short.contains(&format!("{} bytes left out", long.len() - n_kept)), "{short}");
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
}
