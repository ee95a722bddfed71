//! Messages that are started here and finish later.
//!
//! Both calls are `unsafe`, because MPI keeps a pointer: nothing ties the buffer to the
//! request, so the caller promises that it stays.

use super::{
    Comm, MpiError, Predefined, Request, RequestKind, Result, Source, Tag,
    chunks::{by_count, chunks},
    message::check_tag,
};
use std::ffi::c_void;

impl Comm {
    /// Starts a send of `n_bytes` bytes.
    ///
    /// # Safety
    /// `data` has `n_bytes` bytes, readable and unchanged until the request
    /// has finished, even if it is dropped before.
    ///
    /// # Errors
    /// If the rank or tag is wrong, or MPI reports an error.
    pub unsafe fn isend(
        &self,
        data: *const c_void,
        n_bytes: usize,
        target: usize,
        tag: i32,
    ) -> Result<Request> {
        let target = self.to_rank("MPI_Isend", target)?;
        let tag = check_tag(tag)?;
        let (calls, comm, byte) =
            (self.calls(), self.handle(), self.library().handle(Predefined::Byte));
        let parts = chunks(n_bytes, self.max_message_bytes());
        Request::start(self.library(), RequestKind::Send, parts, |(start, length), request| {
            let buf = data.wrapping_byte_add(start);
            // SAFETY: the caller vouches for the buffer, `request` is a slot.
            unsafe {
                by_count!(length, n =>
                    calls.isend(buf, n, byte, target, tag, comm, request),
                    calls.isend_c(buf, n, byte, target, tag, comm, request))
            }
        })
    }

    /// Starts a receive of up to `n_bytes` bytes.
    ///
    /// A shorter message is fine, unless the buffer is longer than
    /// [`max_message_bytes`](Self::max_message_bytes): then it must fill it.
    ///
    /// # Safety
    /// `data` has room for `n_bytes` bytes, and nobody else touches it until
    /// the request has finished, even if it is dropped before.
    ///
    /// # Errors
    /// If the rank or tag is wrong, or MPI reports an error;
    /// [`MpiError::AnySourceChunked`] for a long message from any source.
    pub unsafe fn irecv(
        &self,
        data: *mut c_void,
        n_bytes: usize,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Request> {
        let (source, tag) = (source.into(), tag.into());
        self.check_wildcards(n_bytes, source, tag)?;
        let (source, tag) = (self.to_source("MPI_Irecv", source)?, self.to_tag(tag)?);
        let (calls, comm, byte) =
            (self.calls(), self.handle(), self.library().handle(Predefined::Byte));
        let parts = chunks(n_bytes, self.max_message_bytes());
        Request::start(self.library(), RequestKind::Receive, parts, |(start, length), request| {
            let buf = data.wrapping_byte_add(start);
            // SAFETY: the caller vouches for the buffer, `request` is a slot.
            unsafe {
                by_count!(length, n =>
                    calls.irecv(buf, n, byte, source, tag, comm, request),
                    calls.irecv_c(buf, n, byte, source, tag, comm, request))
            }
        })
    }

    /// The parts of two long messages from anywhere could get mixed.
    fn check_wildcards(&self, n_bytes: usize, source: Source, tag: Tag) -> Result<()> {
        let limit_bytes = self.max_message_bytes();
        if n_bytes > limit_bytes && (source == Source::Any || tag == Tag::Any) {
            return Err(MpiError::AnySourceChunked { n_bytes, limit_bytes });
        }
        Ok(())
    }
}
