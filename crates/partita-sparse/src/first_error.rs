//! The error that one thread alone would have met first.

use crate::error::{Result, SparseError};
use std::sync::{Mutex, PoisonError};

/// Errors of pieces; that of the first piece is told.
#[derive(Default)]
pub(crate) struct FirstError(Mutex<Option<(usize, SparseError)>>);

impl FirstError {
    /// Notes what a piece met.
    pub(crate) fn note(&self, piece: usize, outcome: Result<()>) {
        let Err(error) = outcome else { return };
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(before, _)| piece < *before) {
            *first = Some((piece, error));
        }
    }

    /// What the first piece met, if any met something.
    pub(crate) fn outcome(self) -> Result<()> {
        let first = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        first.map_or(Ok(()), |(_, error)| Err(error))
    }
}
