//! Waiting for other ranks: spin briefly, then yield, then sleep.
//!
//! Spinning answers in a fraction of a microsecond when the others are about to come; with more
//! ranks than cores it would keep them from coming, so it is skipped then. Sleeping costs several
//! microseconds to wake and nothing while it lasts.

use std::time::{Duration, Instant};

/// How long to wait, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Give up after this long; never if none.
    pub limit: Option<Duration>,
    /// Turns of the spinning loop before yielding.
    pub n_spins: u32,
    /// Turns of the yielding loop before sleeping.
    pub n_yields: u32,
}

impl Patience {
    /// How long a rank waits for the others unless told otherwise.
    pub const USUAL_LIMIT: Duration = Duration::from_secs(60);

    /// What suits a team of this size on this machine.
    #[must_use]
    pub fn for_ranks(n_ranks: usize) -> Self {
        let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
        let n_spins = if n_ranks <= n_cores { 200 } else { 0 };
        Self { limit: Some(Self::USUAL_LIMIT), n_spins, n_yields: 400 }
    }

    /// The same with another limit.
    #[must_use]
    pub fn with_limit(self, limit: Option<Duration>) -> Self {
        Self { limit, ..self }
    }

    /// Polls without sleeping; true if it came true.
    pub(crate) fn poll(&self, mut is_done: impl FnMut() -> bool) -> bool {
        for _ in 0..self.n_spins {
            if is_done() {
                return true;
            }
            std::hint::spin_loop();
        }
        for _ in 0..self.n_yields {
            if is_done() {
                return true;
            }
            std::thread::yield_now();
        }
        is_done()
    }

    /// The moment to give up.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.limit.map(|limit| Instant::now() + limit)
    }
}
