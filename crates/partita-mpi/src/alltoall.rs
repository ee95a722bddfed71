//! Every rank sends something else to every rank.

use super::{
    Comm, Datatype, Element, MpiError, Result, Runs, chunks::by_count, datatype::handle_of,
    handle::HandleArray,
};
use std::ffi::{c_int, c_void};

/// What goes to or comes from one rank in [`Comm::alltoallw`].
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// How many elements of the type.
    pub count: usize,
    /// Where they begin, in bytes from the start of the buffer.
    pub offset_bytes: isize,
    /// Their type.
    pub datatype: &'a Datatype,
}

impl Comm {
    /// Exchanges the same number of elements between all ranks.
    ///
    /// # Errors
    /// [`MpiError::LengthMismatch`] if a length is not divisible by the number
    /// of ranks or the two differ; [`MpiError::CountTooLarge`] above 2³¹ per
    /// rank without large counts; what MPI reports.
    pub fn alltoall<T: Element>(&self, send: &[T], recv: &mut [T]) -> Result<()> {
        let call = "MPI_Alltoall";
        let count = send.len() / self.size();
        let needed = count * self.size();
        for (what, given) in [("the data", send.len()), ("the result", recv.len())] {
            if given != needed {
                return Err(MpiError::LengthMismatch { call, what, given, needed });
            }
        }
        self.library().countable(call, &[count])?;
        let (calls, comm, datatype) = (self.calls(), self.handle(), handle_of::<T>(self.library()));
        let (send, recv) = (send.as_ptr().cast(), recv.as_mut_ptr().cast());
        // SAFETY: both buffers have `count` elements for each rank (checked).
        unsafe {
            by_count!(count, n =>
                calls.alltoall(send, n, datatype, recv, n, datatype, comm),
                calls.alltoall_c(send, n, datatype, recv, n, datatype, comm))
        }
    }

    /// Exchanges runs of elements between all ranks.
    ///
    /// # Errors
    /// [`MpiError::LengthMismatch`], [`MpiError::OutsideBuffer`];
    /// [`MpiError::CountTooLarge`] if a count or offset is above 2³¹ without
    /// large counts; what MPI reports.
    pub fn alltoallv<T: Element>(
        &self,
        send: &[T],
        sends: Runs<'_>,
        recv: &mut [T],
        receives: Runs<'_>,
    ) -> Result<()> {
        let call = "MPI_Alltoallv";
        sends.check(call, self.size(), send.len())?;
        receives.check(call, self.size(), recv.len())?;
        let (calls, comm, kind) = (self.calls(), self.handle(), handle_of::<T>(self.library()));
        let both = sends.as_ints().zip(receives.as_ints());
        let (out, into) = (send.as_ptr().cast(), recv.as_mut_ptr().cast());
        // SAFETY: one run per rank, each inside its buffer (checked).
        unsafe {
            if let Some(((n, at), (m, to))) = both {
                let (n, at, m, to) = (n.as_ptr(), at.as_ptr(), m.as_ptr(), to.as_ptr());
                return calls.alltoallv(out, n, at, kind, into, m, to, kind, comm);
            }
            self.library().countable(call, &[send.len(), recv.len()])?;
            let ((n, at), (m, to)) = (sends.as_large(), receives.as_large());
            let (n, at, m, to) = (n.as_ptr(), at.as_ptr(), m.as_ptr(), to.as_ptr());
            calls.alltoallv_c(out, n, at, kind, into, m, to, kind, comm)
        }
    }

    /// Exchanges parts of any type between all ranks, without packing.
    ///
    /// # Safety
    /// Every part, from its offset on, lies inside its buffer; parts of `recv`
    /// overlap neither each other nor `send`.
    ///
    /// # Errors
    /// [`MpiError::LengthMismatch`] unless there is one part per rank;
    /// [`MpiError::CountTooLarge`] if a count or offset is above 2³¹ without
    /// large counts; what MPI reports.
    pub unsafe fn alltoallw(
        &self,
        send: *const c_void,
        sends: &[Part<'_>],
        recv: *mut c_void,
        receives: &[Part<'_>],
    ) -> Result<()> {
        let call = "MPI_Alltoallw";
        for (what, parts) in [("the parts to send", sends), ("the parts to receive", receives)] {
            let (given, needed) = (parts.len(), self.size());
            if given != needed {
                return Err(MpiError::LengthMismatch { call, what, given, needed });
            }
        }
        let (sent, received) = (self.types_of(sends), self.types_of(receives));
        let (sent, received) = (sent.as_ptr(), received.as_ptr());
        let (calls, comm) = (self.calls(), self.handle());
        // SAFETY: one entry per rank in each array (checked); the caller
        // vouches for the buffers.
        unsafe {
            if let Some(((n, at), (m, to))) = as_ints(sends).zip(as_ints(receives)) {
                let (n, at, m, to) = (n.as_ptr(), at.as_ptr(), m.as_ptr(), to.as_ptr());
                return calls.alltoallw(send, n, at, sent, recv, m, to, received, comm);
            }
            self.library().countable(call, &reach(sends.iter().chain(receives)))?;
            let ((n, at), (m, to)) = (as_large(sends), as_large(receives));
            let (n, at, m, to) = (n.as_ptr(), at.as_ptr(), m.as_ptr(), to.as_ptr());
            calls.alltoallw_c(send, n, at, sent, recv, m, to, received, comm)
        }
    }

    fn types_of(&self, parts: &[Part<'_>]) -> HandleArray {
        let handles = parts.iter().map(|part| part.datatype.handle());
        HandleArray::collect(self.library().width(), handles)
    }
}

/// Counts and offsets as C ints, or nothing if one is too large for that.
fn as_ints(parts: &[Part<'_>]) -> Option<(Vec<c_int>, Vec<c_int>)> {
    let int = |part: &Part<'_>| {
        Some((c_int::try_from(part.count).ok()?, c_int::try_from(part.offset_bytes).ok()?))
    };
    parts.iter().map(int).collect()
}

fn as_large(parts: &[Part<'_>]) -> (Vec<i64>, Vec<isize>) {
    parts.iter().map(|part| (part.count as i64, part.offset_bytes)).unzip()
}

/// All counts and offsets, as sizes.
fn reach<'a>(parts: impl Iterator<Item = &'a Part<'a>>) -> Vec<usize> {
    parts.flat_map(|part| [part.count, part.offset_bytes.unsigned_abs()]).collect()
}
