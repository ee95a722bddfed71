//! Claims: one call of a rank on a team at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Result, TeamError};
use crate::team::meeting::Meeting;

/// Whether a call of this rank has the team.
#[derive(Debug, Default)]
pub(crate) struct ClaimState {
    /// A second call from another thread would mix up the rounds.
    busy: AtomicBool,
    /// Whether whoever started the call does nothing but wait for it.
    awaited: AtomicBool,
    /// Whether the call has been made: the team is kept until its result is asked for.
    over: AtomicBool,
}

impl ClaimState {
    /// Takes the team for one call; false if another call has it.
    fn take(&self) -> bool {
        let is_taken = self.busy.swap(true, Ordering::Acquire);
        if !is_taken {
            self.awaited.store(false, Ordering::Release);
            self.over.store(false, Ordering::Release);
        }
        !is_taken
    }

    fn release(&self) {
        self.busy.store(false, Ordering::Release);
    }

    /// Whether a call has the team, and is not over.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire) && !self.over.load(Ordering::Acquire)
    }

    /// Whether whoever started the call does nothing but wait for it.
    pub(crate) fn is_awaited(&self) -> bool {
        self.awaited.load(Ordering::Acquire)
    }

    pub(crate) fn set_awaited(&self) {
        self.awaited.store(true, Ordering::Release);
    }
}

/// Holds a team for one call of this rank.
#[derive(Debug)]
pub struct Claim(Arc<dyn Meeting>);

impl Claim {
    pub(crate) fn new(meeting: &Arc<dyn Meeting>) -> Result<Self> {
        meeting.check()?;
        let is_free = meeting.cache().claim.take();
        if is_free { Ok(Self(Arc::clone(meeting))) } else { Err(TeamError::Busy) }
    }

    /// Says that the call has been made: nothing more comes of it.
    pub(crate) fn set_over(&self) {
        self.0.cache().claim.over.store(true, Ordering::Release);
    }

    pub(crate) fn is_of(&self, meeting: &Arc<dyn Meeting>) -> bool {
        std::ptr::eq(self.0.cache(), meeting.cache())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.0.cache().claim.release();
    }
}
