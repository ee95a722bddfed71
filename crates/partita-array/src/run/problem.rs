//! What can go wrong while a program runs.

use partita_team::TeamError;

partita_error::errors! {
    /// Why a program did not run to its end.
    pub enum RunError {
        Operation { operation: String, line: u32, column: u32, problem: String } "operation" =>
            "line {line}, column {column}: {operation}: {problem}";
        FunctionUnknown { name: String, known: String } "function-unknown" =>
            "there is no function `{name}` with a body; the functions are {}",
            if known.is_empty() { "none: write one" } else { known };
        ArgumentCount { name: String, n_given: usize, n_wanted: usize } "argument-count" =>
            "{n_given} arguments for `{name}`, which takes {n_wanted}; give {n_wanted}";
        Argument { number: usize, problem: String } "argument" => "argument {number} {problem}";
        ResultsDiffer { number: usize, first: String, rank: usize, other: String }
            "results-differ" =>
            "result {number} is {first} on rank 0 and {other} on rank {rank}; compute the same on all \
             ranks, or ask for what each rank has (--local)";
        Whole { operation: String, problem: String } "run" => "{operation}: {problem}";
        NotAMember "not-a-member" => "this rank is no member of the team; run it on members only";
    }
    passing on Team(TeamError)
}

/// What stops an operation, before it is known which one.
#[derive(Debug, Clone)]
pub(super) enum Problem {
    /// Of this rank.
    Own(String),
    /// Of the team: all ranks know of it.
    Team(TeamError),
    /// Of an operation inside, already named.
    Named(RunError),
}

pub(super) type Outcome<T> = Result<T, Problem>;

pub(super) fn problem(text: impl Into<String>) -> Problem {
    Problem::Own(text.into())
}

impl From<TeamError> for Problem {
    fn from(error: TeamError) -> Self {
        Self::Team(error)
    }
}

macro_rules! own {
    ($($error:ty),*) => {$(
        impl From<$error> for Problem {
            fn from(error: $error) -> Self {
                Self::Own(error.to_string())
            }
        }
    )*};
}

own!(
    crate::error::LocalError,
    crate::sparse::SparseError,
    partita_layout::LayoutError,
    partita_plan::PlanError
);
