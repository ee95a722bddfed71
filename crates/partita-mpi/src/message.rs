//! Messages from one rank to another that wait inside MPI, and probes.
//!
//! [`Comm::send`] and [`Comm::recv`] block and cannot be interrupted; what has
//! to survive a failing peer uses [`Comm::isend`] and [`Comm::irecv`] with a
//! [`Patience`](super::Patience).

use super::{
    Comm, Element, Handle, Library, MpiError, Number, Predefined, RequestKind, Result, Status,
    chunks::{by_count, chunks},
    datatype::handle_of,
    handle::Slot,
    status::StatusArray,
};
use std::ffi::c_int;

/// Whom to receive from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// This rank.
    Rank(usize),
    /// Whoever sends.
    Any,
}

/// Which messages to receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// Those with this tag.
    Is(i32),
    /// All.
    Any,
}

impl From<usize> for Source {
    fn from(rank: usize) -> Self {
        Self::Rank(rank)
    }
}

impl From<i32> for Tag {
    fn from(tag: i32) -> Self {
        Self::Is(tag)
    }
}

/// A message that was matched by [`Comm::improbe`] and now waits for us alone.
///
/// Dropping it without [`recv`](Self::recv) loses the message.
#[derive(Debug)]
#[must_use = "a matched message can be received in no other way"]
pub struct Message {
    library: Library,
    handle: Handle,
    status: Status,
}

impl Comm {
    /// Sends and blocks until the buffer may be used again.
    ///
    /// # Errors
    /// If the rank or tag is wrong, or MPI reports an error.
    pub fn send<T: Element>(&self, data: &[T], target: usize, tag: i32) -> Result<()> {
        let target = self.to_rank("MPI_Send", target)?;
        let tag = check_tag(tag)?;
        let datatype = handle_of::<T>(self.library());
        let (calls, comm) = (self.calls(), self.handle());
        for (start, count) in chunks(data.len(), size_of::<T>(), self.max_message_bytes()) {
            let buf = data[start..].as_ptr().cast();
            // SAFETY: `count` elements from `start` on lie inside `data`.
            unsafe {
                by_count!(count, n =>
                    calls.send(buf, n, datatype, target, tag, comm),
                    calls.send_c(buf, n, datatype, target, tag, comm))?;
            }
        }
        Ok(())
    }

    /// Receives and blocks until the message is there.
    ///
    /// A shorter message is fine, unless the buffer is longer than
    /// [`max_message_bytes`](Self::max_message_bytes): then it must fill it.
    ///
    /// # Errors
    /// [`ErrorClass::Truncate`](super::ErrorClass) if it is longer; what MPI reports.
    pub fn recv<T: Element>(
        &self,
        data: &mut [T],
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Status> {
        let mut source = self.to_source("MPI_Recv", source.into())?;
        let mut tag = self.to_tag(tag.into())?;
        let datatype = handle_of::<T>(self.library());
        let (calls, comm) = (self.calls(), self.handle());
        let mut raw = StatusArray::new(self.library().abi(), 1);
        let mut whole: Option<Status> = None;
        for (start, count) in chunks(data.len(), size_of::<T>(), self.max_message_bytes()) {
            let (buf, status) = (data[start..].as_mut_ptr().cast(), raw.as_mut_ptr());
            // SAFETY: `count` elements from `start` on lie inside `data`.
            unsafe {
                by_count!(count, n =>
                    calls.recv(buf, n, datatype, source, tag, comm, status),
                    calls.recv_c(buf, n, datatype, source, tag, comm, status))?;
            }
            let part = self.library().read_status(&raw, 0, RequestKind::Receive)?;
            // What follows comes from where the first part came from.
            (source, tag) = (part.source, part.tag);
            whole = Some(whole.map_or(part, |whole| whole.merge(part)));
        }
        Ok(whole.unwrap_or_default())
    }

    /// Whether a message is there, and how long it is; does not receive it.
    ///
    /// # Errors
    /// If the rank or tag is wrong, or MPI reports an error.
    pub fn iprobe(&self, source: impl Into<Source>, tag: impl Into<Tag>) -> Result<Option<Status>> {
        let source = self.to_source("MPI_Iprobe", source.into())?;
        let tag = self.to_tag(tag.into())?;
        let mut raw = StatusArray::new(self.library().abi(), 1);
        let mut flag = 0;
        // SAFETY: flag and status are live.
        unsafe {
            self.calls().iprobe(source, tag, self.handle(), &mut flag, raw.as_mut_ptr())?;
        }
        let status = || self.library().read_status(&raw, 0, RequestKind::Receive);
        (flag != 0).then(status).transpose()
    }

    /// Blocks inside MPI until a message is there; does not receive it.
    ///
    /// # Errors
    /// If the rank or tag is wrong, or MPI reports an error.
    pub fn probe(&self, source: impl Into<Source>, tag: impl Into<Tag>) -> Result<Status> {
        let source = self.to_source("MPI_Probe", source.into())?;
        let tag = self.to_tag(tag.into())?;
        let mut raw = StatusArray::new(self.library().abi(), 1);
        // SAFETY: the status is live.
        unsafe { self.calls().probe(source, tag, self.handle(), raw.as_mut_ptr())? };
        self.library().read_status(&raw, 0, RequestKind::Receive)
    }

    /// Takes a message that is there, so that no other receive can match it.
    ///
    /// # Errors
    /// If the rank or tag is wrong, or MPI reports an error.
    pub fn improbe(
        &self,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Option<Message>> {
        let source = self.to_source("MPI_Improbe", source.into())?;
        let tag = self.to_tag(tag.into())?;
        let library = self.library();
        let mut raw = StatusArray::new(library.abi(), 1);
        let mut slot = Slot::new(library.width(), library.handle(Predefined::MessageNull));
        let mut flag = 0;
        // SAFETY: flag, message and status are live.
        unsafe {
            let (message, status) = (slot.as_mut_ptr(), raw.as_mut_ptr());
            self.calls().improbe(source, tag, self.handle(), &mut flag, message, status)?;
        }
        if flag == 0 {
            return Ok(None);
        }
        let status = library.read_status(&raw, 0, RequestKind::Receive)?;
        Ok(Some(Message { library: library.clone(), handle: slot.get(), status }))
    }

    pub(super) fn to_source(&self, call: &'static str, source: Source) -> Result<c_int> {
        match source {
            Source::Rank(rank) => self.to_rank(call, rank),
            Source::Any => Ok(self.library().number(Number::AnySource)),
        }
    }

    pub(super) fn to_tag(&self, tag: Tag) -> Result<c_int> {
        match tag {
            Tag::Is(tag) => check_tag(tag),
            Tag::Any => Ok(self.library().number(Number::AnyTag)),
        }
    }
}

/// Refuses negative tags, which some libraries take for wildcards.
pub(super) fn check_tag(tag: i32) -> Result<c_int> {
    if tag < 0 {
        return Err(MpiError::TagInvalid { tag, limit: c_int::MAX });
    }
    Ok(tag)
}

impl Message {
    /// Its source, tag and length.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Receives it; the data is on its way, so this takes no longer than that.
    ///
    /// # Errors
    /// [`MpiError::LengthMismatch`] if it does not fit; what MPI reports.
    pub fn recv<T: Element>(self, data: &mut [T]) -> Result<Status> {
        let call = "MPI_Mrecv";
        let (given, needed) = (size_of_val(data), self.status.n_bytes);
        if given < needed {
            return Err(MpiError::LengthMismatch { call, what: "the buffer", given, needed });
        }
        let datatype = handle_of::<T>(&self.library);
        let mut slot = Slot::new(self.library.width(), self.handle);
        let mut raw = StatusArray::new(self.library.abi(), 1);
        let (calls, count, buf) = (self.library.calls(), data.len(), data.as_mut_ptr().cast());
        self.library.countable(call, &[count])?;
        let (message, status) = (slot.as_mut_ptr(), raw.as_mut_ptr());
        // SAFETY: `data` has `count` elements; the message is received once.
        unsafe {
            by_count!(count, n =>
                calls.mrecv(buf, n, datatype, message, status),
                calls.mrecv_c(buf, n, datatype, message, status))?;
        }
        self.library.read_status(&raw, 0, RequestKind::Receive)
    }
}
