//! What can go wrong in a team, the same on every rank.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::circle::Circle;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, TeamError>;

/// What one rank reports to the others of its team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Rank of the team where it began.
    pub rank: u64,
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
    /// It waits on another team, in a circle.
    Circle,
}

/// Why a call on a team failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the values named in the message")]
pub enum TeamError {
    Remote { failure: Failure },
    Mismatch { rank: u64, other: u64, what: &'static str, mine: String, theirs: String },
    TeamsDiffer { circle: Arc<Circle> },
    Deadline { missing: Vec<u64>, call: String, limit: Duration },
    BufferCount { n_given: usize, n_wanted: usize, side: &'static str },
    BufferShape { side: &'static str, buffer: usize, given: Vec<u64>, wanted: Vec<u64> },
    BufferReadOnly { buffer: usize },
    BufferRepeats { buffer: usize, dim: usize },
    BufferOverlap { rank: u64, other: u64 },
    TargetsOverlap { rank: u64, other: u64 },
    BufferOutside { rank: u64, side: &'static str, buffer: usize },
    LoanNote { problem: String },
    LoanBook { process: u64 },
    NotAMember { rank: u64, n_ranks: u64 },
    MemberTwice { rank: u64 },
    MemberUnknown { rank: u64, size: u64 },
    TeamTooSmall { rank: u64, size: u64 },
    Busy,
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
                FailureKind::Circle => "teams-differ",
            },
            Self::Mismatch { what, .. } => match *what {
                "call" => "calls-differ",
                "plan" => "plans-differ",
                _ => "arguments-differ",
            },
            Self::TeamsDiffer { .. } => "teams-differ",
            Self::Deadline { .. } => "deadline",
            Self::BufferCount { .. } => "buffer-count",
            Self::BufferShape { .. } => "buffer-shape",
            Self::BufferReadOnly { .. } => "buffer-read-only",
            Self::BufferRepeats { .. } => "buffer-repeats",
            Self::BufferOverlap { .. } | Self::TargetsOverlap { .. } => "buffer-overlap",
            Self::BufferOutside { .. } => "buffer-outside",
            Self::LoanNote { .. } => "loan-note",
            Self::LoanBook { .. } => "loan-book",
            Self::NotAMember { .. } => "not-a-member",
            Self::MemberTwice { .. } => "member-twice",
            Self::MemberUnknown { .. } => "member-unknown",
            Self::TeamTooSmall { .. } => "team-too-small",
            Self::Busy => "team-busy",
            Self::Interrupted => "interrupted",
            Self::NotInPlace => "not-in-place",
            Self::Engine { .. } => "engine",
        }
    }

    /// What the other ranks are told.
    #[must_use]
    pub fn failure(&self, rank: u64) -> Failure {
        match self {
            Self::Remote { failure } => failure.clone(),
            Self::Deadline { missing, limit, .. } if !missing.is_empty() => {
                let message = format!("rank {rank} waited {limit:?} for it");
                Failure { rank: missing[0], kind: FailureKind::Late, message }
            }
            other => Failure { rank, kind: FailureKind::Raised, message: other.to_string() },
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
            FailureKind::Raised => write!(f, "rank {rank} failed: {message}"),
            FailureKind::Left => write!(f, "rank {rank} has left the team: {message}"),
            FailureKind::Late => write!(f, "rank {rank} came too late: {message}"),
            FailureKind::Circle => write!(f, "rank {rank} is on another team: {message}"),
        }
    }
}

impl fmt::Display for TeamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remote { failure } => write!(f, "{failure}"),
            Self::Mismatch { rank, other, what, mine, theirs } => write!(
                f,
                "the {what}s differ: rank {rank} has {mine}, rank {other} has {theirs}; make the same \
                 {what} on every rank"
            ),
            Self::TeamsDiffer { circle } => write!(
                f,
                "the teams differ: {circle}; make calls on teams that share ranks in the same order \
                 on every rank (ranks are those of the world)"
            ),
            Self::Deadline { missing, call, limit } => write!(
                f,
                "{call}: ranks {missing:?} did not come within {limit:?}; look what they do, or set a \
                 longer deadline"
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
                "the target of rank {rank} shares memory with the source of rank {other}; use separate \
                 memory"
            ),
            Self::BufferOutside { rank, side, buffer } => write!(
                f,
                "rank {rank} describes its {side} buffer {buffer} as no memory of its own, or with \
                 another shape than the layout says; use the same partita on every rank"
            ),
            Self::LoanNote { problem } => write!(
                f,
                "the note of lent bytes {problem}; send notes as they are, within one version of \
                 partita"
            ),
            Self::LoanBook { process } => write!(
                f,
                "the book of process {process} tells of lent bytes where it has none; lend them again"
            ),
            Self::TargetsOverlap { rank, other } => write!(
                f,
                "targets of rank {rank} and of rank {other} share memory; use separate memory"
            ),
            Self::NotAMember { rank, n_ranks } => write!(
                f,
                "rank {rank} is no member of this team of {n_ranks}; call it on members only"
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
            Self::Interrupted => write!(f, "it was interrupted while it waited for other ranks"),
            Self::Busy => write!(
                f,
                "another call of this rank on this team is under way; make one call at a time"
            ),
        }
    }
}

impl std::error::Error for TeamError {}
