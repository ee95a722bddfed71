//! A bar for computations that take long.
//!
//! A thread draws it while a computation runs, so that it moves also during one long loop. It ends
//! with the computation: that is a flush, with the segments that ran before it since the last one.

use std::cell::RefCell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Shorter computations show nothing.
const SHOW_FROM: Duration = Duration::from_millis(300);
const SHOW_EVERY: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;

/// Writes a bar to the standard error stream while loops run.
#[derive(Debug, Default)]
pub(super) struct Progress {
    running: RefCell<Option<Drawing>>,
}

/// Loops of a computation.
#[derive(Debug, Default)]
struct Counted {
    n_done: AtomicUsize,
    n_all: AtomicUsize,
    /// Whether loops run now.
    is_busy: AtomicBool,
    is_over: Mutex<bool>,
    ends: Condvar,
}

/// The thread that draws one computation.
#[derive(Debug)]
struct Drawing {
    counted: Arc<Counted>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// So many loops are about to run, until what this gives is dropped. They belong to the
    /// computation that is being drawn, if there is one.
    pub fn run(&self, n_loops: usize) -> impl Drop + use<'_> {
        let mut running = self.running.borrow_mut();
        let counted = &running.get_or_insert_with(Drawing::new).counted;
        counted.n_all.fetch_add(n_loops, Ordering::Relaxed);
        counted.is_busy.store(true, Ordering::Relaxed);
        Pause(self)
    }

    /// One more loop is done.
    pub fn step(&self) {
        if let Some(running) = &*self.running.borrow() {
            running.counted.n_done.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The computation is over.
    pub fn end(&self) {
        self.running.take();
    }
}

/// Loops have run; more may follow.
struct Pause<'a>(&'a Progress);

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        if let Some(running) = &*self.0.running.borrow() {
            running.counted.is_busy.store(false, Ordering::Relaxed);
        }
    }
}

impl Drawing {
    fn new() -> Self {
        let counted = Arc::new(Counted::default());
        let shown = Arc::clone(&counted);
        let draw = std::thread::Builder::new().name("partita-progress".into());
        // A system without another thread shows nothing.
        let thread = draw.spawn(move || shown.draw(Instant::now())).ok();
        Self { counted, thread }
    }
}

impl Drop for Drawing {
    fn drop(&mut self) {
        *self.counted.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.counted.ends.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Counted {
    /// Draws until the computation is over; what was drawn ends with a line of its own.
    fn draw(&self, since: Instant) {
        let (mut wait, mut is_shown) = (SHOW_FROM, false);
        let mut is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_over {
            let waited = self.ends.wait_timeout(is_over, wait);
            is_over = waited.unwrap_or_else(PoisonError::into_inner).0;
            let is_due = since.elapsed() >= SHOW_FROM && self.is_busy.load(Ordering::Relaxed);
            if is_due || is_shown && *is_over {
                is_shown = true;
                let _ = write!(std::io::stderr(), "{}", self.bar(since.elapsed().as_secs_f64()));
            }
            wait = SHOW_EVERY;
        }
        if is_shown {
            let _ = writeln!(std::io::stderr());
        }
    }

    fn bar(&self, seconds: f64) -> String {
        let n_done = self.n_done.load(Ordering::Relaxed);
        bar(n_done, self.n_all.load(Ordering::Relaxed).max(n_done), seconds)
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

    #[test]
    fn segments_are_counted_together_until_the_computation_ends() {
        let progress = Progress::default();
        for n_loops in [2, 3] {
            let running = progress.run(n_loops);
            progress.step();
            drop(running);
        }
        let shown = || progress.running.borrow().as_ref().map(|one| one.counted.bar(1.0));
        assert!(shown().is_some_and(|bar| bar.contains("2 of 5 loops")));
        progress.end();
        assert_eq!(shown(), None);
    }
}
