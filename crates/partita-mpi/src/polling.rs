//! Waiting by asking again and again, never inside MPI.
//!
//! A blocked `MPI_Wait` cannot be interrupted: not by Ctrl-C, not by the news
//! that the other rank has failed, not by a deadline. [`Polling::until`] asks
//! (`MPI_Test`), looks around (the caller's `check`), and asks again: at first
//! at once, then after letting others run, then after short sleeps.

use super::{MpiError, Waited, pace::Pace};
use std::time::{Duration, Instant};

/// How to wait, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Polling {
    /// How often to ask without a pause; worth it if ranks have their own cores.
    pub n_spins: u32,
    /// How long to yield between polls, after the spins, while nothing moves.
    pub yield_for: Duration,
    /// The longest sleep after that; sleeps begin at 10 µs and double.
    pub longest_sleep: Duration,
    /// When to give up after the last [`Step::Moved`]; `None` is never.
    pub limit: Option<Duration>,
}

/// What a poll found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<T> {
    /// All is done.
    Done(T),
    /// Part of it is done: the wait starts anew.
    Moved,
    /// Nothing is known to have happened.
    Idle,
}

impl<T> From<Option<T>> for Step<T> {
    fn from(found: Option<T>) -> Self {
        found.map_or(Self::Idle, Self::Done)
    }
}

impl Default for Polling {
    fn default() -> Self {
        Self {
            n_spins: Self::USUAL_SPINS,
            yield_for: Duration::from_millis(10),
            longest_sleep: Duration::from_millis(1),
            limit: Some(Self::USUAL_LIMIT),
        }
    }
}

impl Polling {
    /// Turns of a spinning loop that end about when a rank on its own core answers.
    pub const USUAL_SPINS: u32 = 200;

    /// How long a rank waits for another unless told otherwise.
    pub const USUAL_LIMIT: Duration = Duration::from_secs(60);

    /// The default with another limit; zero is no limit.
    ///
    /// ```
    /// use partita_mpi::Polling;
    /// use std::time::Duration;
    /// assert_eq!(Polling::within(Duration::ZERO).limit, None);
    /// ```
    pub fn within(limit: Duration) -> Self {
        Self { limit: (!limit.is_zero()).then_some(limit), ..Self::default() }
    }

    /// Asks `poll` until it has a value.
    ///
    /// `poll` returns an `Option` or a [`Step`]. `check` runs between two
    /// polls, after the spins; an error of either is returned at once.
    /// Something that is done counts, even if late.
    ///
    /// # Errors
    /// Those of `poll` and `check`; [`MpiError::Deadline`] after the limit.
    ///
    /// ```
    /// use partita_mpi::{MpiError, Polling};
    /// let mut n_polls = 0;
    /// let poll = || { n_polls += 1; Ok((n_polls == 300).then_some("done")) };
    /// let value = Polling::default().until("a doc test", poll, || Ok(()))?;
    /// assert_eq!(value, "done");
    /// # Ok::<(), MpiError>(())
    /// ```
    pub fn until<T, S: Into<Step<T>>, E: From<MpiError>>(
        &self,
        waiting_for: &'static str,
        mut poll: impl FnMut() -> Result<S, E>,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<T, E> {
        for _ in 0..self.n_spins {
            if let Step::Done(value) = poll()?.into() {
                return Ok(value);
            }
            std::hint::spin_loop();
        }
        // The clock starts here: the spins last microseconds.
        let mut start = Instant::now();
        let mut waited = Waited::since(start);
        let mut pace = Pace::new(*self, start);
        loop {
            let step = poll()?.into();
            let end = Instant::now();
            match step {
                Step::Done(value) => return Ok(value),
                Step::Moved => {
                    waited = Waited::since(end);
                    pace.moved(end);
                }
                Step::Idle => {}
            }
            check()?;
            let so_far = waited.turn(end);
            if let Some(limit) = self.limit.filter(|limit| so_far >= *limit) {
                return Err(MpiError::Deadline { waiting_for, limit }.into());
            }
            pace.next(start, end).take();
            start = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    enum Stop {
        Mpi(&'static str),
        Interrupted,
    }

    impl From<MpiError> for Stop {
        fn from(error: MpiError) -> Self {
            Self::Mpi(error.reason())
        }
    }

    #[test]
    fn a_deadline_ends_the_wait() {
        let start = Instant::now();
        let polling = Polling::within(Duration::from_millis(30));
        let found: Result<(), _> = polling.until("nothing", || Ok(None), || Ok(()));
        assert_eq!(found, Err(Stop::Mpi("mpi-deadline")));
        assert!(start.elapsed() >= Duration::from_millis(30));
    }

    #[test]
    fn a_check_ends_the_wait_between_two_polls() {
        let mut n_checks = 0;
        let check = || {
            n_checks += 1;
            if n_checks == 5 { Err(Stop::Interrupted) } else { Ok(()) }
        };
        let found: Result<(), _> = Polling::default().until("nothing", || Ok(None), check);
        assert_eq!(found, Err(Stop::Interrupted));
    }

    #[test]
    fn what_is_done_counts_even_past_the_limit() {
        let polling = Polling { n_spins: 0, ..Polling::within(Duration::from_nanos(1)) };
        let found: Result<_, Stop> = polling.until("x", || Ok(Some(7)), || Err(Stop::Interrupted));
        assert_eq!(found, Ok(7));
    }

    #[test]
    fn what_moves_is_given_more_time() {
        let start = Instant::now();
        let polling = Polling::within(Duration::from_millis(40));
        let poll = || {
            let elapsed = start.elapsed();
            if elapsed > Duration::from_millis(120) {
                return Ok(Step::Done(()));
            }
            std::thread::sleep(Duration::from_millis(1));
            Ok(Step::Moved)
        };
        let found: Result<(), Stop> = polling.until("movement", poll, || Ok(()));
        assert_eq!(found, Ok(()));
    }
}
