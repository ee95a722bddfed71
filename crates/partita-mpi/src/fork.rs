//! Forks: a child has a copy of everything, and yet is no rank of the job.
//!
//! A forked process has its parent's handles and connections in its memory. If it called MPI it
//! would speak in its parent's name, so every call asks here first whether MPI was started before
//! the process was forked.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

static N_FORKS: AtomicU64 = AtomicU64::new(0);
static WATCH: Once = Once::new();

/// `N_FORKS` when MPI was first seen running; none yet.
static STARTED_AFTER: AtomicU64 = AtomicU64::new(NOT_STARTED);
const NOT_STARTED: u64 = u64::MAX;

extern "C" fn count() {
    N_FORKS.fetch_add(1, Ordering::Relaxed);
}

/// How often this process or an ancestor was forked since the first call of this.
///
/// What remembers the number and finds another one later is in a forked child.
///
/// ```
/// let before = partita_mpi::n_forks();
/// assert_eq!(partita_mpi::n_forks(), before);
/// ```
pub fn n_forks() -> u64 {
    WATCH.call_once(|| {
        // SAFETY: the handler only adds to an atomic number, which is allowed in a forked child.
        unsafe { libc::pthread_atfork(None, None, Some(count)) };
    });
    N_FORKS.load(Ordering::Relaxed)
}

/// Remembers that MPI runs in this process; the first time counts.
pub(super) fn mpi_runs() {
    let (now, relaxed) = (n_forks(), Ordering::Relaxed);
    let _ = STARTED_AFTER.compare_exchange(NOT_STARTED, now, relaxed, relaxed);
}

/// Whether MPI was started by a process that this one was forked from.
pub(super) fn is_child_of_a_rank() -> bool {
    let started = STARTED_AFTER.load(Ordering::Relaxed);
    started != NOT_STARTED && started != n_forks()
}
