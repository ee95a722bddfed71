//! Messages that are there already, matched and then received.
//!
//! Nothing here blocks: what has yet to come is asked for again and again, or
//! received by [`Comm::irecv`], with a [`Polling`](super::Polling).

use super::{
    Comm, Handle, Library, MpiError, Number, Predefined, RequestKind, Result, Status,
    chunks::by_count, handle::Slot, status::StatusArray,
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
    pub fn recv(self, data: &mut [u8]) -> Result<Status> {
        let call = "MPI_Mrecv";
        let (given, needed) = (data.len(), self.status.n_bytes);
        if given < needed {
            return Err(MpiError::LengthMismatch { call, what: "the buffer", given, needed });
        }
        let byte = self.library.handle(Predefined::Byte);
        let mut slot = Slot::new(self.library.width(), self.handle);
        let mut raw = StatusArray::new(self.library.abi(), 1);
        let (calls, buf) = (self.library.calls(), data.as_mut_ptr().cast());
        self.library.countable(call, given)?;
        let (message, status) = (slot.as_mut_ptr(), raw.as_mut_ptr());
        // SAFETY: `data` has `given` bytes; the message is received once.
        unsafe {
            by_count!(given, n =>
                calls.mrecv(buf, n, byte, message, status),
                calls.mrecv_c(buf, n, byte, message, status))?;
        }
        self.library.read_status(&raw, 0, RequestKind::Receive)
    }
}
