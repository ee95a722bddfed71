//! Dividing work among threads that wait for it.
//!
//! One job runs at a time. A caller that finds the helpers busy (another rank of the same
//! process) does its work alone: the cores are in use anyway.
//!
//! ```text
//! caller: posts the job under the lock, wakes helpers, works, takes the job back under the lock,
//!         waits until no helper is inside
//! helper: under the lock sees the job and counts itself in; works; counts itself out
//! ```
//! A helper touches the job only while it is counted, so the job may live on the caller's stack.

use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long helpers and callers look before they sleep.
const SPIN: Duration = Duration::from_micros(30);

/// The work of one job: pieces by number.
struct Job<'a> {
    work: &'a (dyn Fn(usize) + Sync),
    next: AtomicUsize,
    n_pieces: usize,
    /// Why a helper unwound.
    failure: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Job<'_> {
    fn run(&self) {
        loop {
            let piece = self.next.fetch_add(1, Ordering::Relaxed);
            if piece >= self.n_pieces {
                return;
            }
            (self.work)(piece);
        }
    }
}

#[derive(Clone, Copy)]
struct JobPointer(*const Job<'static>);

// SAFETY: the job is Sync, and the protocol keeps it alive while a helper is counted.
unsafe impl Send for JobPointer {}

#[derive(Default)]
struct State {
    job: Option<JobPointer>,
    /// How many helpers may still join.
    wanted: usize,
    inside: usize,
    n_helpers: usize,
}

#[derive(Default)]
struct Helpers {
    busy: Mutex<()>,
    state: Mutex<State>,
    /// Counts jobs, so that helpers can look without the lock.
    posted: AtomicUsize,
    inside: AtomicUsize,
    work: Condvar,
    done: Condvar,
}

fn helpers() -> &'static Helpers {
    static HELPERS: OnceLock<Helpers> = OnceLock::new();
    HELPERS.get_or_init(Helpers::default)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `work` with every number below `n_pieces`, on at most `n_threads` threads.
///
/// # Panics
/// If `work` does.
pub fn divide(n_threads: usize, n_pieces: usize, work: &(dyn Fn(usize) + Sync)) {
    let n_helpers = n_threads.min(n_pieces).saturating_sub(1);
    let helpers = helpers();
    let free = if n_helpers > 0 { helpers.busy.try_lock().ok() } else { None };
    if free.is_none() {
        return (0..n_pieces).for_each(work);
    }
    let next = AtomicUsize::new(0);
    let job = Job { work, next, n_pieces, failure: Mutex::default() };
    post(helpers, &job, n_helpers);
    let takes_back = TakesBack(helpers);
    job.run();
    drop(takes_back);
    let failure = lock(&job.failure).take();
    if let Some(payload) = failure {
        // As if it had been the caller's own piece.
        std::panic::resume_unwind(payload);
    }
}

fn post(helpers: &'static Helpers, job: &Job<'_>, n_helpers: usize) {
    let mut state = lock(&helpers.state);
    while state.n_helpers < n_helpers {
        let name = "partita-kernel".to_owned();
        let started = std::thread::Builder::new().name(name).spawn(move || help(helpers));
        if started.is_err() {
            break;
        }
        state.n_helpers += 1;
    }
    state.job = Some(JobPointer(std::ptr::from_ref(job).cast()));
    state.wanted = n_helpers;
    helpers.posted.fetch_add(1, Ordering::Release);
    drop(state);
    helpers.work.notify_all();
}

/// Takes the job back, also when the caller's own piece panics.
struct TakesBack(&'static Helpers);

impl Drop for TakesBack {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.job = None;
        let start = Instant::now();
        while state.inside > 0 {
            drop(state);
            while self.0.inside.load(Ordering::Acquire) > 0 && start.elapsed() < SPIN {
                std::hint::spin_loop();
            }
            state = lock(&self.0.state);
            if state.inside > 0 {
                state = self.0.done.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

fn help(helpers: &'static Helpers) {
    let mut seen = 0;
    loop {
        let start = Instant::now();
        while helpers.posted.load(Ordering::Acquire) == seen && start.elapsed() < SPIN {
            std::hint::spin_loop();
        }
        let pointer = join(helpers, &mut seen);
        // SAFETY: this helper is counted, so the caller has not left.
        let job = unsafe { &*pointer.0 };
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job.run()));
        if let Err(payload) = outcome {
            *lock(&job.failure) = Some(payload);
        }
        let mut state = lock(&helpers.state);
        state.inside -= 1;
        helpers.inside.store(state.inside, Ordering::Release);
        drop(state);
        helpers.done.notify_all();
    }
}

/// Waits for a job that wants one helper more, and is counted in.
fn join(helpers: &Helpers, seen: &mut usize) -> JobPointer {
    let mut state = lock(&helpers.state);
    loop {
        *seen = helpers.posted.load(Ordering::Acquire);
        if let Some(job) = state.job.filter(|_| state.wanted > 0) {
            state.wanted -= 1;
            state.inside += 1;
            helpers.inside.store(state.inside, Ordering::Release);
            return job;
        }
        state = helpers.work.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_once() {
        for n_threads in [1, 2, 5] {
            for n_pieces in [0, 1, 2, 100] {
                let counts: Vec<_> = (0..n_pieces).map(|_| AtomicUsize::new(0)).collect();
                divide(n_threads, n_pieces, &|piece| {
                    counts[piece].fetch_add(1, Ordering::Relaxed);
                });
                assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    fn callers_at_once_and_within_each_other() {
        let total = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        divide(3, 4, &|_| {
                            divide(3, 2, &|_| {
                                total.fetch_add(1, Ordering::Relaxed);
                            });
                        });
                    }
                });
            }
        });
        assert_eq!(total.load(Ordering::Relaxed), 4 * 200 * 4 * 2);
    }

    #[test]
    fn a_panic_reaches_the_caller_and_leaves_the_helpers_usable() {
        let outcome = std::panic::catch_unwind(|| {
            divide(3, 8, &|piece| assert!(piece != 5, "piece five"));
        });
        assert!(outcome.is_err());
        divide(3, 8, &|_| {});
    }
}
