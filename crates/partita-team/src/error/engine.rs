//! Engines by name: what a team runs on.

/// What runs a team's plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Ranks are threads of one process.
    Threads,
    /// Ranks are processes.
    Mpi,
}

impl Engine {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Mpi => "mpi",
        }
    }

    /// Whether all ranks are in one process, and so have one address.
    #[must_use]
    pub fn is_one_process(self) -> bool {
        self == Self::Threads
    }

    /// What of a rank stays with its process when that forks.
    pub(crate) fn stays_with_parent(self) -> &'static str {
        match self {
            Self::Threads => "threads are with",
            Self::Mpi => "place in the job is with",
        }
    }
}
