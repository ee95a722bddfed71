//! Many operations under way, waited for together.

use super::{
    ErrorClass, Library, MpiError, Number, Patience, Request, RequestKind, Result, Status, Step,
    chunks::as_int,
    handle::{HandleArray, Width},
    status::StatusArray,
};
use std::ffi::c_int;

/// Operations under way, numbered in the order they were pushed.
#[derive(Debug)]
pub struct RequestSet {
    library: Library,
    handles: HandleArray,
    // Which member each handle belongs to: a long message has several.
    members_of_handles: Vec<usize>,
    members: Vec<Member>,
    n_unfinished: usize,
    statuses: Option<StatusArray>,
    indices: Vec<c_int>,
    early: Vec<Finished>,
}

#[derive(Debug)]
struct Member {
    kind: RequestKind,
    n_left: usize,
    status: Option<Status>,
}

/// A member of a set that has finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finished {
    /// Its number in the set.
    pub index: usize,
    /// What it says.
    pub status: Status,
}

impl RequestSet {
    /// A set without members.
    pub fn new(library: &Library) -> Self {
        Self {
            library: library.clone(),
            handles: HandleArray::new(library.width()),
            members_of_handles: Vec::new(),
            members: Vec::new(),
            n_unfinished: 0,
            statuses: None,
            indices: Vec::new(),
            early: Vec::new(),
        }
    }

    /// Adds an operation and returns its number.
    ///
    /// # Errors
    /// If the operation has already failed.
    pub fn push(&mut self, request: Request) -> Result<usize> {
        let index = self.members.len();
        // Still whole here: a failed one lets go of what it has when dropped.
        request.failure()?;
        let (handles, kind, outcome) = request.into_parts();
        if let Some(status) = outcome {
            self.early.push(Finished { index, status });
            self.members.push(Member { kind, n_left: 0, status: outcome });
            return Ok(index);
        }
        for handle in handles.iter() {
            self.handles.push(handle);
            self.members_of_handles.push(index);
        }
        self.members.push(Member { kind, n_left: handles.len(), status: None });
        self.n_unfinished += 1;
        self.statuses = None;
        Ok(index)
    }

    /// How many operations were pushed.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether nothing was pushed.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// How many have not finished.
    pub fn n_unfinished(&self) -> usize {
        self.n_unfinished
    }

    /// Those that have finished since the last call; never blocks.
    ///
    /// # Errors
    /// What MPI reports of one of them, which is then out of the set; the
    /// others go on and can be waited for.
    pub fn test_some(&mut self) -> Result<Vec<Finished>> {
        let mut finished = std::mem::take(&mut self.early);
        if self.n_unfinished == 0 {
            return Ok(finished);
        }
        let n = self.handles.len();
        let abi = self.library.abi();
        let mut statuses = self.statuses.take().unwrap_or_else(|| StatusArray::new(abi, n));
        self.indices.resize(n, 0);
        let mut n_done = 0;
        let (requests, indices) = (self.handles.as_mut_ptr(), self.indices.as_mut_ptr());
        let n_handles = as_int("MPI_Testsome", n)?;
        // SAFETY: requests, indices and statuses have `n` entries each.
        let result = unsafe {
            let out = statuses.as_mut_ptr();
            self.library.calls().testsome(n_handles, requests, &mut n_done, indices, out)
        };
        let n_done = if n_done == self.library.number(Number::Undefined) { 0 } else { n_done };
        let n_done = usize::try_from(n_done).unwrap_or(0).min(n);
        let in_status =
            matches!(&result, Err(error) if error.class() == Some(ErrorClass::InStatus));
        if result.is_ok() || in_status {
            self.record(n_done, &statuses, in_status, &mut finished)?;
        }
        let result = result.map_err(|error| self.library.culprit(error, &statuses, n_done));
        self.statuses = Some(statuses);
        match result {
            Ok(()) => Ok(finished),
            Err(error) => {
                // Those that came well are told at the next call.
                self.early = finished;
                Err(error)
            }
        }
    }

    fn record(
        &mut self,
        n_done: usize,
        statuses: &StatusArray,
        some_failed: bool,
        finished: &mut Vec<Finished>,
    ) -> Result<()> {
        for position in 0..n_done {
            let index = self.members_of_handles[self.indices[position] as usize];
            let failed = some_failed && statuses.error(position) != 0;
            let part = match failed {
                true => Status::default(),
                false => self.library.read_status(statuses, position, self.members[index].kind)?,
            };
            let member = &mut self.members[index];
            let status = member.status.map_or(part, |whole| whole.merge(part));
            member.status = Some(status);
            member.n_left -= 1;
            if member.n_left == 0 {
                self.n_unfinished -= 1;
            }
            if member.n_left == 0 && !failed {
                finished.push(Finished { index, status });
            }
        }
        Ok(())
    }

    /// Waits for all without blocking inside MPI; see [`Patience::until`].
    ///
    /// Returns the statuses in the order of the pushes. On an error of `check`
    /// or a deadline the unfinished ones are still under way.
    ///
    /// # Errors
    /// Those of [`test_some`](Self::test_some), of `check`, and the deadline.
    pub fn wait_all<E: From<MpiError>>(
        &mut self,
        patience: &Patience,
        check: impl FnMut() -> std::result::Result<(), E>,
    ) -> std::result::Result<Vec<Status>, E> {
        let poll = || {
            let finished = self.test_some()?;
            Ok(match (self.n_unfinished, finished.len()) {
                (0, _) => Step::Done(()),
                (_, 0) => Step::Idle,
                _ => Step::Moved,
            })
        };
        patience.until("a set of operations", poll, check)?;
        Ok(self.members.iter().map(|member| member.status.unwrap_or_default()).collect())
    }

    /// Asks that unfinished receives be given up; wait for them afterwards.
    ///
    /// # Errors
    /// What MPI reports.
    pub fn cancel_receives(&mut self) -> Result<()> {
        let members = self.members_of_handles.iter().map(|index| self.members[*index].kind);
        let receives = members.zip(self.handles.iter());
        let receives = receives.filter(|(kind, _)| *kind == RequestKind::Receive);
        let width: Width = self.library.width();
        let handles = HandleArray::collect(width, receives.map(|(_, handle)| handle));
        self.library.cancel_all(&handles)
    }
}

impl Drop for RequestSet {
    fn drop(&mut self) {
        for (handle, index) in self.handles.iter().zip(&self.members_of_handles) {
            self.library.abandon(handle, self.members[*index].kind);
        }
    }
}
