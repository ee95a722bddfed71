//! How long a process has waited, without the time in which it was stopped.
//!
//! A process that was stopped and goes on finds its deadline passed, although the others may have
//! come long ago: their messages are there and have not been read. So a turn of the waiting loop
//! counts for what it lasts, but never for more than [`LONGEST_TURN`].

use std::time::{Duration, Instant};

/// What one turn of a waiting loop counts for at most; it is usually done in a millisecond.
const LONGEST_TURN: Duration = Duration::from_millis(100);

/// Time spent waiting, turn by turn.
#[derive(Debug, Clone, Copy)]
pub struct Waited {
    last_turn: Instant,
    so_far: Duration,
}

impl Waited {
    /// Begins to wait.
    #[must_use]
    pub fn since(now: Instant) -> Self {
        Self { last_turn: now, so_far: Duration::ZERO }
    }

    /// Ends a turn, and says how long it has been so far.
    pub fn turn(&mut self, now: Instant) -> Duration {
        self.so_far += (now - self.last_turn).min(LONGEST_TURN);
        self.last_turn = now;
        self.so_far
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_was_stopped_has_not_waited() {
        let start = Instant::now();
        let mut waited = Waited::since(start);
        let at = |ms: u64| start + Duration::from_millis(ms);
        assert_eq!(waited.turn(at(30)), Duration::from_millis(30));
        assert_eq!(waited.turn(at(5030)), Duration::from_millis(130));
        assert_eq!(waited.turn(at(5040)), Duration::from_millis(140));
    }
}
