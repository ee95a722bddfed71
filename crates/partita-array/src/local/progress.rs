//! A bar for computations that take long.

use std::cell::Cell;
use std::io::Write;
use std::time::{Duration, Instant};

/// Shorter computations show nothing.
const SHOW_FROM: Duration = Duration::from_millis(300);
const SHOW_EVERY: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;

/// Writes a bar to the standard error stream while loops run.
#[derive(Debug)]
pub(super) struct Progress {
    since: Cell<Instant>,
    shown: Cell<Option<Instant>>,
}

impl Progress {
    pub fn new() -> Self {
        Self { since: Cell::new(Instant::now()), shown: Cell::new(None) }
    }

    /// A computation begins.
    pub fn begin(&self) {
        self.since.set(Instant::now());
        self.shown.set(None);
    }

    /// So many of its loops are done.
    pub fn show(&self, n_done: usize, n_all: usize) {
        let now = Instant::now();
        let is_due = match self.shown.get() {
            None => now - self.since.get() >= SHOW_FROM,
            Some(shown) => now - shown >= SHOW_EVERY || n_done == n_all,
        };
        if is_due {
            self.shown.set(Some(now));
            let seconds = (now - self.since.get()).as_secs_f64();
            let _ = write!(std::io::stderr(), "{}", bar(n_done, n_all, seconds));
        }
    }

    /// The computation is over.
    pub fn end(&self) {
        if self.shown.take().is_some() {
            let _ = writeln!(std::io::stderr());
        }
    }
}

fn bar(n_done: usize, n_all: usize, seconds: f64) -> String {
    let n_full = WIDTH * n_done / n_all.max(1);
    let (full, empty) = ("#".repeat(n_full), ".".repeat(WIDTH - n_full));
    format!("\r[{full}{empty}] {n_done} of {n_all} loops, {seconds:.1} s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_full_as_the_work_is_done() {
        assert!(bar(1, 2, 1.0).contains("[###############...............] 1 of 2 loops, 1.0 s"));
        assert!(bar(0, 0, 0.0).contains("[.............................."));
    }
}
