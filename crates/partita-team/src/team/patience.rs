//! Waiting for other ranks: spin briefly, then yield, then sleep.
//!
//! Spinning answers in a fraction of a microsecond when the others are about to come; with more
//! ranks than cores it would keep them from coming, so it is skipped then. Sleeping costs several
//! microseconds to wake and nothing while it lasts.

use std::time::{Duration, Instant};

use partita_mpi::Polling;

/// How long a failure is held back so that ranks failing at once agree on the lowest.
pub(crate) const GRACE: Duration = Duration::from_millis(100);

/// How long ranks that wait in near calls have to come to the meeting that follows a deadline.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_millis(500);

/// How long to yield before sleeping.
const LONGEST_YIELDING: Duration = Duration::from_millis(2);

/// A poll takes locks, looking for news does not.
const SPINS_PER_POLL: u32 = 50;

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
    pub const USUAL_LIMIT: Duration = Polling::USUAL_LIMIT;

    /// What suits a team of this size on this machine.
    #[must_use]
    pub fn for_ranks(n_ranks: usize) -> Self {
        let (n_spins, n_yields) = match n_ranks <= n_cores() {
            true => (Polling::USUAL_SPINS, 400),
            // A few yields let those come that are about to; more of them keep the cores busy with
            // ranks that can do nothing.
            false => (0, 12),
        };
        Self { limit: Some(Self::USUAL_LIMIT), n_spins, n_yields }
    }

    /// The same with another limit.
    #[must_use]
    pub fn with_limit(self, limit: Option<Duration>) -> Self {
        Self { limit, ..self }
    }

    /// The same without spinning or yielding.
    #[must_use]
    pub fn asleep(self) -> Self {
        Self { n_spins: 0, n_yields: 0, ..self }
    }

    /// Polls without sleeping; true if it came true.
    pub(crate) fn poll(&self, mut is_done: impl FnMut() -> bool) -> bool {
        for _ in 0..self.n_spins {
            if is_done() {
                return true;
            }
            std::hint::spin_loop();
        }
        // On a busy machine a yield may last: the limit must not wait for hundreds of them.
        let start = Instant::now();
        for _ in 0..self.n_yields {
            if is_done() {
                return true;
            }
            std::thread::yield_now();
            if start.elapsed() > LONGEST_YIELDING {
                break;
            }
        }
        is_done()
    }

    /// What to do after so many polls: true to poll again, false to look around or sleep.
    pub(crate) fn pause(&self, n_polls: u32, has_news: impl Fn() -> bool) -> bool {
        if n_polls > self.n_spins + self.n_yields {
            return false;
        }
        if n_polls > self.n_spins {
            std::thread::yield_now();
            return true;
        }
        for _ in 0..SPINS_PER_POLL {
            if has_news() {
                break;
            }
            std::hint::spin_loop();
        }
        true
    }

    /// The moment to give up.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.limit.map(|limit| Instant::now() + limit)
    }
}

/// Cores of the machine; a rank that is bound to one of them must still see the others'.
fn n_cores() -> usize {
    #[cfg(unix)]
    {
        // SAFETY: asks for a number.
        let n_online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
        if let Ok(n_online) = usize::try_from(n_online) {
            return n_online.max(1);
        }
    }
    std::thread::available_parallelism().map_or(1, usize::from)
}
