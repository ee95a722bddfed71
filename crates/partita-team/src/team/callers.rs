//! Callers: the threads that make calls for a rank.
//!
//! A rank that waits can do nothing else only if no other thread makes calls for it. A thread is
//! known from its first call to its end; one that only runs what another has started is none.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// The threads that make calls for one rank.
#[derive(Debug, Default)]
pub(crate) struct Callers {
    n_threads: AtomicUsize,
}

/// One thread's thread for one rank; given back when the thread ends.
struct CallerThread(Weak<Callers>);

impl Drop for CallerThread {
    fn drop(&mut self) {
        if let Some(callers) = self.0.upgrade() {
            callers.n_threads.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

thread_local! {
    static THREADS: RefCell<Vec<CallerThread>> = const { RefCell::new(Vec::new()) };
}

impl Callers {
    /// Says that this thread makes calls.
    pub(crate) fn enter(self: &Arc<Self>) {
        if self.has_this_thread() {
            return;
        }
        // A thread that is about to end makes no more calls worth counting.
        let _ = THREADS.try_with(|threads| {
            let mut threads = threads.borrow_mut();
            threads.retain(|thread| thread.0.strong_count() > 0);
            threads.push(CallerThread(Arc::downgrade(self)));
            self.n_threads.fetch_add(1, Ordering::AcqRel);
        });
    }

    /// Whether this thread makes calls.
    pub(crate) fn has_this_thread(self: &Arc<Self>) -> bool {
        let is_own = |thread: &CallerThread| Weak::as_ptr(&thread.0) == Arc::as_ptr(self);
        THREADS.try_with(|threads| threads.borrow().iter().any(is_own)).unwrap_or(false)
    }

    /// Whether there is no other thread than one.
    pub(crate) fn are_one(&self) -> bool {
        self.n_threads.load(Ordering::Acquire) == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_known_until_they_end() {
        let (callers, others) = (Arc::new(Callers::default()), Arc::new(Callers::default()));
        assert!(!callers.has_this_thread() && !callers.are_one());
        callers.enter();
        callers.enter();
        assert!(callers.has_this_thread() && callers.are_one() && !others.has_this_thread());
        std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                callers.enter();
                assert!(!callers.are_one());
            });
            second.join().expect("no panic");
        });
        assert!(callers.are_one());
    }
}
