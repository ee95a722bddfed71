//! How much memory the arrays of an engine have, and how much they may have.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{LocalError, Result};

/// Counts bytes.
#[derive(Debug, Default)]
pub(super) struct Meter {
    in_use: Cell<usize>,
    /// Of arrays that were made elsewhere; any thread may let one go.
    held: Arc<AtomicUsize>,
    limit: Cell<Option<usize>>,
}

impl Meter {
    pub fn add(&self, n_bytes: usize) {
        self.in_use.set(self.in_use.get().saturating_add(n_bytes));
    }

    pub fn remove(&self, n_bytes: usize) {
        self.in_use.set(self.in_use.get().saturating_sub(n_bytes));
    }

    pub fn in_use(&self) -> usize {
        self.in_use.get().saturating_add(self.held.load(Ordering::Relaxed))
    }

    /// Where those are counted whose memory is not an engine's.
    pub fn held(&self) -> &Arc<AtomicUsize> {
        &self.held
    }

    pub fn limit(&self) -> Option<usize> {
        self.limit.get()
    }

    pub fn set_limit(&self, limit: Option<usize>) {
        self.limit.set(limit);
    }

    /// Refuses work that would need more than there may be.
    pub fn check(&self, n_more: usize) -> Result<()> {
        let n_bytes = self.in_use().saturating_add(n_more);
        match self.limit.get() {
            Some(limit) if n_bytes > limit => Err(LocalError::MemoryLimit { n_bytes, limit }),
            _ => Ok(()),
        }
    }
}
