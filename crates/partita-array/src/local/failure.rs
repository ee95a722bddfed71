//! What becomes of pending work that could not be run.
//!
//! Work that is *refused* before any of it was done, since memory would not suffice or a limit
//! forbids it, waits: whoever frees memory, drops what needs it or raises the limit computes it
//! later. Work that has *failed* may be half done, and is given up: arrays that it was to write
//! say so whenever somebody uses them, and nobody sees memory that was never written.

use std::rc::Rc;

use super::array::Array;
use super::engine::Engine;
use super::segment::Segment;
use crate::error::{LocalError, Result};

/// Why a segment has not run.
#[derive(Debug)]
pub(super) enum Failure {
    /// Nothing of it was done.
    Refused(LocalError),
    /// Part of it may have been done.
    Failed(LocalError),
}

impl From<LocalError> for Failure {
    fn from(error: LocalError) -> Self {
        Self::Failed(error)
    }
}

impl Engine {
    /// Keeps what was refused, or gives up what has failed; `segments` have not run, in order.
    pub(super) fn after(&self, failure: Failure, mut segments: Vec<Segment>) -> LocalError {
        match failure {
            Failure::Refused(error) => {
                let is_alone = self.0.ranks.is_none();
                if is_alone {
                    self.end_all();
                }
                // Nothing was made ready meanwhile but what stands behind.
                segments.append(&mut self.0.ready.borrow_mut());
                if is_alone {
                    // Of one segment, what nobody wants any more is seen to be that, also where
                    // later work reads it. Ranks must stay alike, and keep theirs.
                    let turn = self.0.joined_turn.get();
                    self.0.joined_turn.set(turn - 1);
                    segments = vec![Segment::joined(segments, turn)];
                }
                self.0.ready.replace(segments);
                error
            }
            Failure::Failed(error) => {
                // What was recorded since may read what is lost.
                self.end_all();
                segments.append(&mut self.0.ready.borrow_mut());
                let why: Rc<str> = error.to_string().into();
                segments.iter().for_each(|segment| give_up(segment, &why));
                error
            }
        }
    }
}

/// Marks what a segment was to write.
fn give_up(segment: &Segment, why: &Rc<str>) {
    for node in &segment.work.nodes {
        segment.bases[node.target.base].lost.replace(Some(Rc::clone(why)));
    }
}

impl Array {
    /// Refuses where elements were lost.
    pub(super) fn check_kept(&self) -> Result<()> {
        match &*self.base.lost.borrow() {
            None => Ok(()),
            Some(why) => {
                let (shape, why) = (self.shape().to_vec(), why.to_string());
                Err(LocalError::Lost { shape, why })
            }
        }
    }

    /// Before it is written: what covers all of its base makes lost elements good.
    pub(super) fn mend(&self) -> Result<()> {
        let n_elements: usize = self.base.shape().iter().product();
        if self.base.lost.borrow().is_some() && self.window.covers(n_elements) {
            self.base.lost.replace(None);
        }
        self.check_kept()
    }
}
