//! Turns: how ranks that are threads come back to what only one of them can have.
//!
//! In Python that is the interpreter's lock. Whoever waits for it sleeps, and every call of every
//! rank ends with such a wait: a wake-up each, one after the other. Ranks with cores of their own
//! wait here instead, awake, until the one before them has gone into its next call. The lock is
//! then free when they ask for it.
//!
//! It is a courtesy and no lock: whoever has the turn may do anything before its next call, so
//! nobody waits longer than a moment, and then takes the turn all the same.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a rank waits for its turn: what sleeping would cost a few times over.
const LONGEST: Duration = Duration::from_micros(30);
/// Asking for the time takes as long as many looks.
const LOOKS_PER_CLOCK: u32 = 32;
/// Has the turn where no thread has.
const NOBODY: u64 = 0;

/// Who comes next.
#[derive(Debug)]
pub struct Turn {
    holder: AtomicU64,
}

impl Default for Turn {
    fn default() -> Self {
        Self::new()
    }
}

impl Turn {
    /// A turn that nobody has.
    #[must_use]
    pub const fn new() -> Self {
        Self { holder: AtomicU64::new(NOBODY) }
    }

    /// Makes a call for which the turn is passed on, and comes back in turn.
    pub fn meanwhile<T>(&self, call: impl FnOnce() -> T) -> T {
        let own = own_name();
        self.pass_on(own);
        let outcome = call();
        self.take(own);
        outcome
    }

    /// Lets the next one come, if this one has the turn.
    fn pass_on(&self, own: u64) {
        let (passed, failed) = (Ordering::Release, Ordering::Relaxed);
        let _ = self.holder.compare_exchange(own, NOBODY, passed, failed);
    }

    /// Waits until nobody else has the turn, for a moment.
    fn take(&self, own: u64) {
        let (taken, failed) = (Ordering::Acquire, Ordering::Relaxed);
        let mut began = None;
        loop {
            for _ in 0..LOOKS_PER_CLOCK {
                if self.holder.load(Ordering::Relaxed) == NOBODY
                    && self.holder.compare_exchange(NOBODY, own, taken, failed).is_ok()
                {
                    return;
                }
                std::hint::spin_loop();
            }
            if began.get_or_insert_with(Instant::now).elapsed() > LONGEST {
                // Whoever had it does something else, or has ended.
                return self.holder.store(own, Ordering::Release);
            }
        }
    }
}

/// A number that no other thread has.
fn own_name() -> u64 {
    static N_THREADS: AtomicU64 = AtomicU64::new(NOBODY);
    thread_local! {
        static NAME: Cell<u64> = const { Cell::new(NOBODY) };
    }
    NAME.with(|name| {
        if name.get() == NOBODY {
            name.set(N_THREADS.fetch_add(1, Ordering::Relaxed) + 1);
        }
        name.get()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_ever_for_one_that_does_not_pass_on() {
        let turn = Turn::new();
        let holder = || turn.holder.load(Ordering::Relaxed);
        turn.take(1);
        turn.take(2);
        assert_eq!(holder(), 2);
        // It has lost its turn, and must not pass on another's.
        turn.pass_on(1);
        assert_eq!(holder(), 2);
        turn.pass_on(2);
        assert_eq!(holder(), NOBODY);
    }

    #[test]
    fn others_come_while_a_call_lasts() {
        let turn = Turn::new();
        turn.meanwhile(|| ());
        assert_eq!(turn.holder.load(Ordering::Relaxed), own_name());
        turn.meanwhile(|| assert_eq!(turn.holder.load(Ordering::Relaxed), NOBODY));
        let other = std::thread::scope(|scope| scope.spawn(own_name).join());
        assert_ne!(other.expect("no panic"), own_name());
    }
}
