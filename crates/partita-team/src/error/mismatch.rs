//! Two ranks that made different calls.

use std::fmt;

use crate::error::rank::Rank;

/// How two ranks' calls differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The first rank of the team.
    pub rank: Rank,
    /// The first that differs from it.
    pub other: Rank,
    /// What of the calls differs.
    pub what: Differing,
    /// What the first has.
    pub mine: String,
    /// What the other has.
    pub theirs: String,
}

/// What of two calls differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Differing {
    /// Which call it is.
    Call,
    /// The plan that is run.
    Plan,
    /// Another argument.
    Argument,
}

impl Mismatch {
    /// Stable code of the error.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self.what {
            Differing::Call => "calls-differ",
            Differing::Plan => "plans-differ",
            Differing::Argument => "arguments-differ",
        }
    }
}

impl fmt::Display for Differing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Call => "call",
            Self::Plan => "plan",
            Self::Argument => "argument",
        })
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rank, other, what, mine, theirs } = self;
        write!(
            f,
            "the {what}s differ: {rank} has {mine}, {other} has {theirs}; make the same {what} on \
             every rank"
        )
    }
}

impl std::error::Error for Mismatch {}
