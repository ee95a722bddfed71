//! One message under way: a send or a receive.

use super::{
    Handle, Library, MpiError, Predefined, Result, Status,
    chunks::as_int,
    handle::{HandleArray, Slot},
    status::StatusArray,
};
use std::time::{Duration, Instant};

/// What a request is for; decides what may be done with an unfinished one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// A send: may go on in the background.
    Send,
    /// A receive: may be cancelled.
    Receive,
}

/// An operation under way.
///
/// Dropping an unfinished request lets a send go on and cancels a receive;
/// the buffers must outlive both, which is what the caller of the `unsafe`
/// call that made it promised. After
/// `MPI_Finalize` dropping does nothing.
#[derive(Debug)]
#[must_use = "an operation has to be waited for"]
pub struct Request {
    library: Library,
    // Several, if a long message was cut.
    handles: HandleArray,
    statuses: StatusArray,
    kind: RequestKind,
    outcome: Option<Result<Status>>,
    is_cancelled: bool,
}

impl Request {
    /// Starts operations that count as one: `start` is given the address for
    /// the request of each chunk in turn.
    pub(super) fn start<C>(
        library: &Library,
        kind: RequestKind,
        chunks: impl Iterator<Item = C>,
        mut start: impl FnMut(C, *mut std::ffi::c_void) -> Result<()>,
    ) -> Result<Self> {
        let null = library.handle(Predefined::RequestNull);
        let handles = HandleArray::new(library.width());
        let statuses = StatusArray::new(library.abi(), 0);
        let library = library.clone();
        let mut request =
            Self { library, handles, statuses, kind, outcome: None, is_cancelled: false };
        for chunk in chunks {
            let mut slot = Slot::new(request.library.width(), null);
            // On an error the requests so far are abandoned by the drop.
            start(chunk, slot.as_mut_ptr())?;
            request.handles.push(slot.get());
        }
        request.statuses = StatusArray::new(request.library.abi(), request.handles.len());
        Ok(request)
    }

    /// Whether it has finished; never blocks, and lets MPI make progress.
    ///
    /// # Errors
    /// What MPI reports of the operation; the same again when asked again.
    pub fn test(&mut self) -> Result<Option<Status>> {
        if let Some(outcome) = &self.outcome {
            return outcome.clone().map(Some);
        }
        let mut flag = 0;
        let calls = self.library.calls();
        let (requests, statuses) = (self.handles.as_mut_ptr(), self.statuses.as_mut_ptr());
        // SAFETY: the arrays have `n` entries each and live in `self`.
        let result = unsafe {
            match self.handles.len() {
                1 => calls.test(requests, &mut flag, statuses),
                n => calls.testall(as_int("MPI_Testall", n)?, requests, &mut flag, statuses),
            }
        };
        self.conclude(result, flag != 0)
    }

    fn conclude(&mut self, result: Result<()>, done: bool) -> Result<Option<Status>> {
        let n = self.handles.len();
        let result = result.map_err(|error| self.library.culprit(error, &self.statuses, n));
        if let Err(error) = result {
            self.outcome = Some(Err(error.clone()));
            return Err(error);
        }
        if !done {
            return Ok(None);
        }
        let parts = (0..n).map(|i| self.library.read_status(&self.statuses, i, self.kind));
        let whole =
            parts.reduce(|whole, part| Ok(whole?.merge(part?))).unwrap_or(Ok(Status::default()));
        self.outcome = Some(whole.clone());
        whole.map(Some)
    }
}

impl Request {
    /// Asks for a receive to end without a message; whether it has, `test` tells later: what has
    /// begun to arrive cannot be stopped. A send goes on.
    ///
    /// Dropping it does not wait any more: its memory has to stay until it has ended.
    pub fn cancel(&mut self) {
        let is_cancelled = std::mem::replace(&mut self.is_cancelled, true);
        let is_receive = self.kind == RequestKind::Receive;
        if is_cancelled || !is_receive || self.outcome.is_some() || !self.library.is_active() {
            return;
        }
        for handle in self.handles.iter().filter(|handle| !self.library.is_null_request(*handle)) {
            let mut slot = Slot::new(self.library.width(), handle);
            // SAFETY: the request is a live receive. One that cannot be cancelled goes on.
            drop(unsafe { self.library.calls().cancel(slot.as_mut_ptr()) });
        }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        // A receive that was cancelled goes on like a send: its memory stays.
        let kind = if self.is_cancelled { RequestKind::Send } else { self.kind };
        for handle in self.handles.iter() {
            self.library.abandon(handle, kind);
        }
    }
}

/// How long a dropped receive is given to confirm that it is cancelled.
const CANCEL_LIMIT: Duration = Duration::from_secs(1);

impl Library {
    fn is_null_request(&self, request: Handle) -> bool {
        request == self.handle(Predefined::RequestNull)
    }

    /// Lets go of an unfinished request in the way its kind allows.
    pub(super) fn abandon(&self, request: Handle, kind: RequestKind) {
        if self.is_null_request(request) || !self.is_active() {
            return;
        }
        let mut slot = Slot::new(self.width(), request);
        match kind {
            // SAFETY: a send under way may be freed; it goes on by itself.
            RequestKind::Send => drop(unsafe { self.calls().request_free(slot.as_mut_ptr()) }),
            RequestKind::Receive => self.give_up_receive(slot),
        }
    }

    fn give_up_receive(&self, mut slot: Slot) {
        let request = slot.as_mut_ptr();
        // SAFETY: the request is a live receive.
        if unsafe { self.calls().cancel(request) }.is_err() {
            return;
        }
        let mut status = StatusArray::new(self.abi(), 1);
        let start = Instant::now();
        let mut flag = 0;
        while flag == 0 && start.elapsed() < CANCEL_LIMIT {
            // SAFETY: the request is live until it is tested as done.
            if unsafe { self.calls().test(request, &mut flag, status.as_mut_ptr()) }.is_err() {
                return;
            }
            std::thread::yield_now();
        }
    }

    /// Reads a status; a send's has no source and length.
    pub(super) fn read_status(
        &self,
        statuses: &StatusArray,
        index: usize,
        kind: RequestKind,
    ) -> Result<Status> {
        let mut status = Status::default();
        if kind != RequestKind::Receive {
            return Ok(status);
        }
        let (mut cancelled, mut n_bytes) = (0, 0);
        let (raw, byte) = (statuses.at(index), self.handle(Predefined::Byte));
        // SAFETY: MPI wrote the status at `index`; both results are live.
        unsafe { self.calls().test_cancelled(raw, &mut cancelled)? };
        status.cancelled = cancelled != 0;
        if status.cancelled {
            return Ok(status);
        }
        // SAFETY: as above; every library counts a message in bytes.
        unsafe { self.calls().get_elements_x(raw, byte, &mut n_bytes)? };
        status.n_bytes = usize::try_from(n_bytes).unwrap_or(0);
        status.source = statuses.source(index);
        status.tag = statuses.tag(index);
        Ok(status)
    }

    /// The error of the request that failed, where MPI says "in the status".
    pub(super) fn culprit(&self, error: MpiError, statuses: &StatusArray, n: usize) -> MpiError {
        use super::ErrorClass::{InStatus, Pending};
        let MpiError::Call { call, class: InStatus, .. } = error else { return error };
        let codes = (0..n).map(|index| statuses.error(index));
        let failed = |code: &i32| *code != 0 && self.calls().class(*code) != Pending;
        match codes.into_iter().find(failed) {
            Some(code) => self.calls().check(call, code).err().unwrap_or(error),
            None => error,
        }
    }
}
