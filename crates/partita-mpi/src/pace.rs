//! When to ask again at once, when to let others run, when to sleep.
//!
//! MPI moves data only while it is asked. Where two ranks of a node copy
//! through a queue of small cells (no `process_vm_readv`, as in most
//! containers), a millisecond between two polls moves 16 KiB per millisecond:
//! 8 MB/s were measured instead of 2500. So a wait sleeps only when nothing
//! moves, and a poll that moves data is known by how long it takes: over a
//! microsecond, where an idle one takes a tenth of that.

use super::Polling;
use std::{
    thread,
    time::{Duration, Instant},
};

const FIRST_SLEEP: Duration = Duration::from_micros(10);

/// A poll this long has copied something.
const BUSY: Duration = Duration::from_micros(1);

/// Polls are judged in batches: single ones are slow when interrupted.
const BATCH: u32 = 64;
const BATCH_AFTER_SLEEP: u32 = 32;
/// One in sixteen is more than interrupts explain, and less than copies need.
const BUSY_SHARE: u32 = 16;

/// The pauses between the polls of one wait.
#[derive(Debug)]
pub(super) struct Pace {
    polling: Polling,
    idle_since: Instant,
    sleep: Duration,
    fastest: Duration,
    batch: Batch,
}

#[derive(Debug)]
struct Batch {
    n_polls: u32,
    n_busy: u32,
    length: u32,
}

impl Batch {
    fn new(length: u32) -> Self {
        Self { n_polls: 0, n_busy: 0, length }
    }

    fn is_full(&self) -> bool {
        self.n_polls >= self.length
    }

    fn is_busy(&self) -> bool {
        self.n_busy * BUSY_SHARE >= self.length
    }
}

/// What to do before the next poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    Yield,
    Nothing,
    Sleep(Duration),
}

impl Pace {
    pub(super) fn new(polling: Polling, now: Instant) -> Self {
        let fastest = Duration::MAX;
        Self { polling, idle_since: now, sleep: FIRST_SLEEP, fastest, batch: Batch::new(BATCH) }
    }

    /// Something has visibly moved: no sleep for a while.
    pub(super) fn moved(&mut self, now: Instant) {
        self.idle_since = now;
        self.sleep = FIRST_SLEEP;
    }

    /// Decides after a poll that took from `start` to `end`.
    pub(super) fn next(&mut self, start: Instant, end: Instant) -> Pause {
        self.count(end - start);
        if self.batch.is_busy() {
            self.moved(end);
        }
        let sleepy = end - self.idle_since >= self.polling.yield_for;
        let full = self.batch.is_full();
        if full {
            self.batch = Batch::new(if sleepy { BATCH_AFTER_SLEEP } else { BATCH });
        }
        match (sleepy, full) {
            (false, _) => Pause::Yield,
            // Awake just now: look closely before the next sleep.
            (true, false) => Pause::Nothing,
            (true, true) => Pause::Sleep(self.longer_sleep()),
        }
    }

    fn count(&mut self, took: Duration) {
        self.fastest = self.fastest.min(took);
        // Where even idle polls are long, all count: better awake than slow.
        let usual = if self.fastest < BUSY { 4 * self.fastest } else { Duration::ZERO };
        self.batch.n_polls += 1;
        self.batch.n_busy += u32::from(took >= BUSY.max(usual));
    }

    fn longer_sleep(&mut self) -> Duration {
        let longest = self.polling.longest_sleep;
        let sleep = self.sleep.min(longest);
        self.sleep = (self.sleep * 2).min(longest);
        sleep
    }
}

impl Pause {
    pub(super) fn take(self) {
        match self {
            Self::Yield => thread::yield_now(),
            Self::Nothing => std::hint::spin_loop(),
            Self::Sleep(duration) => thread::sleep(duration),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_nanos(100);
    const COPY: Duration = Duration::from_micros(3);

    /// Polls of these lengths, 400 ns apart; how many sleeps, and their sum.
    fn simulate(polls: impl Iterator<Item = Duration>) -> (u32, Duration) {
        let mut now = Instant::now();
        let mut pace = Pace::new(Polling::default(), now);
        let mut slept = (0, Duration::ZERO);
        for took in polls {
            let pause = pace.next(now, now + took);
            now += took + Duration::from_nanos(400);
            if let Pause::Sleep(sleep) = pause {
                now += sleep;
                slept = (slept.0 + 1, slept.1 + sleep);
            }
        }
        slept
    }

    #[test]
    fn an_idle_wait_falls_asleep_and_sleeps_nearly_always() {
        // 10 ms of yields are 20 000 polls; interrupts make a few of them long.
        let polls = (0..100_000).map(|i| if i % 997 == 0 { COPY } else { IDLE });
        let (n_sleeps, slept) = simulate(polls);
        assert!(n_sleeps > 2000, "{n_sleeps} sleeps");
        assert!(slept > Duration::from_secs(2), "{slept:?}");
    }

    #[test]
    fn a_wait_that_copies_never_sleeps() {
        for every in [1, 2, 8] {
            let polls = (0..100_000).map(|i| if i % every == 0 { COPY } else { IDLE });
            assert_eq!(simulate(polls).0, 0, "every {every}th poll copies");
        }
    }

    #[test]
    fn copying_ends_the_sleeps() {
        let idle = std::iter::repeat_n(IDLE, 50_000);
        let (before, _) = simulate(idle.clone());
        let (after, _) = simulate(idle.chain(std::iter::repeat_n(COPY, 50_000)));
        assert!(before > 0 && after <= before + 1, "{before} sleeps, then {after}");
    }
}
