//! Operations that are started here and finish later.
//!
//! All are `unsafe` where MPI keeps a pointer: nothing ties the buffer to the
//! request, so the caller promises that it stays.

use super::{
    Comm, Datatype, Element, MpiError, Op, Request, RequestKind, Result, Source, Tag,
    chunks::{by_count, chunks},
    datatype::handle_of,
    message::check_tag,
};
use std::ffi::c_void;

impl Comm {
    /// Starts a send of `count` elements.
    ///
    /// # Safety
    /// `data` has `count` elements of the type, readable and unchanged until
    /// the request has finished, even if it is dropped before.
    ///
    /// # Errors
    /// If the rank or tag is wrong, or MPI reports an error.
    pub unsafe fn isend(
        &self,
        data: *const c_void,
        count: usize,
        datatype: &Datatype,
        target: usize,
        tag: i32,
    ) -> Result<Request> {
        let target = self.to_rank("MPI_Isend", target)?;
        let tag = check_tag(tag)?;
        let (calls, comm, extent) = (self.calls(), self.handle(), datatype.extent_bytes());
        let parts = chunks(count, extent, self.max_message_bytes());
        let datatype = datatype.handle();
        Request::start(self.library(), RequestKind::Send, parts, |(start, count), request| {
            let buf = data.wrapping_byte_add(start * extent);
            // SAFETY: the caller vouches for the buffer, `request` is a slot.
            unsafe {
                by_count!(count, n =>
                    calls.isend(buf, n, datatype, target, tag, comm, request),
                    calls.isend_c(buf, n, datatype, target, tag, comm, request))
            }
        })
    }

    /// Starts a receive of up to `count` elements.
    ///
    /// A shorter message is fine, unless the buffer is longer than
    /// [`max_message_bytes`](Self::max_message_bytes): then it must fill it.
    ///
    /// # Safety
    /// `data` has room for `count` elements of the type, and nobody else
    /// touches it until the request has finished, even if it is dropped before.
    ///
    /// # Errors
    /// If the rank or tag is wrong, or MPI reports an error;
    /// [`MpiError::AnySourceChunked`] for a long message from any source.
    pub unsafe fn irecv(
        &self,
        data: *mut c_void,
        count: usize,
        datatype: &Datatype,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Request> {
        let (source, tag) = (source.into(), tag.into());
        let (calls, comm, extent) = (self.calls(), self.handle(), datatype.extent_bytes());
        self.check_wildcards(count.saturating_mul(extent), source, tag)?;
        let (source, tag) = (self.to_source("MPI_Irecv", source)?, self.to_tag(tag)?);
        let parts = chunks(count, extent, self.max_message_bytes());
        let datatype = datatype.handle();
        Request::start(self.library(), RequestKind::Receive, parts, |(start, count), request| {
            let buf = data.wrapping_byte_add(start * extent);
            // SAFETY: the caller vouches for the buffer, `request` is a slot.
            unsafe {
                by_count!(count, n =>
                    calls.irecv(buf, n, datatype, source, tag, comm, request),
                    calls.irecv_c(buf, n, datatype, source, tag, comm, request))
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

    /// Starts a barrier: it finishes when every rank has started it.
    ///
    /// # Errors
    /// What MPI reports.
    pub fn ibarrier(&self) -> Result<Request> {
        let (kind, once) = (RequestKind::Collective, std::iter::once(()));
        // SAFETY: `request` is a slot.
        Request::start(self.library(), kind, once, |(), request| unsafe {
            self.calls().ibarrier(self.handle(), request)
        })
    }

    /// Starts sending the root's elements to every rank.
    ///
    /// # Safety
    /// `data` has `count` elements, and nobody else touches it until the
    /// request has finished, even if it is dropped before.
    ///
    /// # Errors
    /// If the root does not exist, or MPI reports an error.
    pub unsafe fn ibcast<T: Element>(
        &self,
        data: *mut T,
        count: usize,
        root: usize,
    ) -> Result<Request> {
        let root = self.to_rank("MPI_Ibcast", root)?;
        let (calls, comm, datatype) = (self.calls(), self.handle(), handle_of::<T>(self.library()));
        self.collective::<T>(count, |start, count, request| {
            let buf = data.wrapping_add(start).cast();
            // SAFETY: the caller vouches for the buffer, `request` is a slot.
            unsafe {
                by_count!(count, n =>
                    calls.ibcast(buf, n, datatype, root, comm, request),
                    calls.ibcast_c(buf, n, datatype, root, comm, request))
            }
        })
    }

    /// Starts combining elements of all ranks, in place, on every rank.
    ///
    /// # Safety
    /// As for [`ibcast`](Self::ibcast).
    ///
    /// # Errors
    /// If the operation does not suit the type, or MPI reports an error.
    pub unsafe fn iallreduce<T: Element>(
        &self,
        data: *mut T,
        count: usize,
        op: Op,
    ) -> Result<Request> {
        let (calls, comm, datatype) = (self.calls(), self.handle(), handle_of::<T>(self.library()));
        let (send, op) = (self.library().in_place(), op.handle(self.library()));
        self.collective::<T>(count, |start, count, request| {
            let recv = data.wrapping_add(start).cast();
            // SAFETY: the caller vouches for the buffer, `request` is a slot.
            unsafe {
                by_count!(count, n =>
                    calls.iallreduce(send, recv, n, datatype, op, comm, request),
                    calls.iallreduce_c(send, recv, n, datatype, op, comm, request))
            }
        })
    }

    /// Starts combining elements of all ranks into the root's, in place.
    ///
    /// # Safety
    /// As for [`ibcast`](Self::ibcast).
    ///
    /// # Errors
    /// If the root does not exist, the operation does not suit the type, or
    /// MPI reports an error.
    pub unsafe fn ireduce<T: Element>(
        &self,
        data: *mut T,
        count: usize,
        op: Op,
        root: usize,
    ) -> Result<Request> {
        let to = self.to_rank("MPI_Ireduce", root)?;
        let (calls, comm, datatype) = (self.calls(), self.handle(), handle_of::<T>(self.library()));
        let op = op.handle(self.library());
        self.collective::<T>(count, |start, count, request| {
            let (send, recv) = self.reduce_buffers(data.wrapping_add(start).cast(), root);
            // SAFETY: the caller vouches for the buffer, `request` is a slot.
            unsafe {
                by_count!(count, n =>
                    calls.ireduce(send, recv, n, datatype, op, to, comm, request),
                    calls.ireduce_c(send, recv, n, datatype, op, to, comm, request))
            }
        })
    }

    /// What a reduction in place gives to MPI: only the root receives.
    pub(super) fn reduce_buffers(
        &self,
        data: *mut c_void,
        root: usize,
    ) -> (*const c_void, *mut c_void) {
        match self.rank() == root {
            true => (self.library().in_place(), data),
            false => (data.cast_const(), std::ptr::null_mut()),
        }
    }

    fn collective<T: Element>(
        &self,
        count: usize,
        mut start: impl FnMut(usize, usize, *mut c_void) -> Result<()>,
    ) -> Result<Request> {
        let parts = chunks(count, size_of::<T>(), self.max_message_bytes());
        let kind = RequestKind::Collective;
        Request::start(self.library(), kind, parts, |(at, count), request| {
            start(at, count, request)
        })
    }
}
