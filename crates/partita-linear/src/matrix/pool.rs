//! Threads for faer, which divides its work by rayon.
//!
//! A call takes a pool of its size, or makes one, and gives it back: calls of several ranks at once
//! never wait for each other, and rayon's pool of the process is not touched. A process that was
//! forked has none of its parent's threads, so pools belong to a process.

use super::faer_view::expect_workspace;
use faer::Par;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Pools that wait for work at most; more are made when needed, and dropped afterwards.
const MOST: usize = 16;

struct Waiting {
    process: u32,
    n_threads: usize,
    pool: ThreadPool,
}

fn waiting() -> MutexGuard<'static, Vec<Waiting>> {
    static WAITING: Mutex<Vec<Waiting>> = Mutex::new(Vec::new());
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `work` where faer may use `n_threads` threads.
pub fn with_threads<R: Send>(n_threads: usize, work: impl FnOnce(Par) -> R + Send) -> R {
    if n_threads <= 1 {
        return work(Par::Seq);
    }
    let process = std::process::id();
    let found = {
        let mut waiting = waiting();
        // A parent's pools cannot be ended by a child, whose threads never existed.
        while let Some(at) = waiting.iter().position(|w| w.process != process) {
            std::mem::forget(waiting.swap_remove(at));
        }
        let fits = waiting.iter().position(|w| w.n_threads == n_threads);
        fits.map(|at| waiting.swap_remove(at).pool)
    };
    let name = |_| "partita-linear".to_owned();
    let made = || {
        let made =
            ThreadPoolBuilder::new().num_threads(n_threads).thread_name(name).build().ok()?;
        // What products need is taken now, where the caller can be told that it is missing.
        made.broadcast(|_| expect_workspace());
        Some(made)
    };
    let Some(pool) = found.or_else(made) else { return work(Par::Seq) };
    let result = pool.install(|| work(Par::rayon(n_threads)));
    let mut waiting = waiting();
    if waiting.len() < MOST {
        waiting.push(Waiting { process, n_threads, pool });
    }
    result
}

/// The threads that a matrix of this size is worth; a factorisation of a small one runs on one.
pub fn worth(n_threads: usize, [m, n]: [usize; 2]) -> usize {
    if m.min(n) < 128 { 1 } else { n_threads }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_its_threads_and_others_at_once_have_theirs() {
        let degree = |n_threads| {
            with_threads(n_threads, |par| match par {
                Par::Seq => 1,
                Par::Rayon(n) => {
                    assert_eq!(rayon::current_num_threads(), n.get());
                    n.get()
                }
            })
        };
        assert_eq!((degree(0), degree(1)), (1, 1));
        std::thread::scope(|scope| {
            for n_threads in [2, 3, 2, 3] {
                scope.spawn(move || assert_eq!(degree(n_threads), n_threads));
            }
        });
        let _ = degree;
    }
}
