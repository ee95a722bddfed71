//! What one rank reports to the others of its team.

use std::fmt;

use crate::error::rank::Rank;

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
    /// It waits on another team, in a circle.
    Circle,
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

    /// Stable code of the error that the others raise.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.kind.reason()
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

impl FailureKind {
    /// Stable code of the error that the others raise.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Raised => "rank-raised",
            Self::Left => "rank-left",
            Self::Late => "rank-late",
            Self::Circle => "teams-differ",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rank, message, .. } = self;
        match self.kind {
            FailureKind::Raised => write!(f, "{rank} failed: {message}"),
            FailureKind::Left => write!(f, "{rank} has left the team: {message}"),
            FailureKind::Late => write!(f, "{rank} came too late: {message}"),
            FailureKind::Circle => write!(f, "{rank} is on another team: {message}"),
        }
    }
}

impl std::error::Error for Failure {}

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
}
