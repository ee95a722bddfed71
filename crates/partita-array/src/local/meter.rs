//! How much memory the arrays of an engine have, and how much they may have.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use partita_team::Memory;

/// Counts bytes.
#[derive(Debug, Default)]
pub(super) struct Meter {
    in_use: Cell<usize>,
    /// The most that they have had since somebody asked.
    most: Cell<usize>,
    /// Of arrays that were made elsewhere; any thread may let one go.
    held: Arc<AtomicUsize>,
    limit: Cell<Option<usize>>,
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.set_limit(None);
    }
}

impl Meter {
    pub fn add(&self, n_bytes: usize) {
        self.in_use.set(self.in_use.get().saturating_add(n_bytes));
        self.most.set(self.most.get().max(self.in_use()));
    }

    pub fn remove(&self, n_bytes: usize) {
        self.in_use.set(self.in_use.get().saturating_sub(n_bytes));
    }

    pub fn in_use(&self) -> usize {
        self.in_use.get().saturating_add(self.held.load(Ordering::Relaxed))
    }

    /// Notes that so many bytes are needed for a moment.
    pub fn pass(&self, n_bytes: usize) {
        self.most.set(self.most.get().max(self.in_use().saturating_add(n_bytes)));
    }

    /// The most that there was since this was asked last.
    pub fn take_most(&self) -> usize {
        self.most.replace(self.in_use()).max(self.in_use())
    }

    /// Where those are counted whose memory is not an engine's.
    pub fn held(&self) -> &Arc<AtomicUsize> {
        &self.held
    }

    pub fn limit(&self) -> Option<usize> {
        self.limit.get()
    }

    pub fn set_limit(&self, limit: Option<usize>) {
        Memory::change_limit(self.limit.replace(limit), limit);
    }

    /// What work needs and may have, if that is less.
    pub fn excess(&self, n_more: usize) -> Option<(usize, usize)> {
        let limit = self.limit.get()?;
        let n_bytes = self.in_use().saturating_add(n_more);
        (n_bytes > limit).then_some((n_bytes, limit))
    }
}
