//! Operations of all ranks that wait inside MPI.
//!
//! Every rank calls them in the same order with matching arguments, or MPI
//! hangs or mixes up data: the layer above compares before it calls.

use super::{
    Comm, Element, MpiError, Op, Result,
    chunks::{as_ints, as_large, by_count, chunks},
    datatype::handle_of,
};
use std::ffi::c_int;

/// Where the elements of each rank lie in a buffer.
#[derive(Debug, Clone, Copy)]
pub struct Runs<'a> {
    /// How many elements each rank has.
    pub counts: &'a [usize],
    /// Where they begin.
    pub offsets: &'a [usize],
}

impl Runs<'_> {
    /// Checks that there is one run per rank and that each is in the buffer.
    pub(super) fn check(&self, call: &'static str, n_ranks: usize, length: usize) -> Result<()> {
        for (what, given) in [("counts", self.counts.len()), ("offsets", self.offsets.len())] {
            if given != n_ranks {
                return Err(MpiError::LengthMismatch { call, what, given, needed: n_ranks });
            }
        }
        for (rank, (&count, &start)) in self.counts.iter().zip(self.offsets).enumerate() {
            let end = start.saturating_add(count);
            if end > length {
                return Err(MpiError::OutsideBuffer { call, rank, start, end, length });
            }
        }
        Ok(())
    }

    /// Both arrays as C ints, or nothing if one value is too large for that.
    pub(super) fn as_ints(&self) -> Option<(Vec<c_int>, Vec<c_int>)> {
        Some((as_ints(self.counts)?, as_ints(self.offsets)?))
    }

    pub(super) fn as_large(&self) -> (Vec<i64>, Vec<isize>) {
        (as_large(self.counts), self.offsets.iter().map(|offset| *offset as isize).collect())
    }
}

impl Comm {
    /// Waits until every rank has come here.
    ///
    /// # Errors
    /// What MPI reports.
    pub fn barrier(&self) -> Result<()> {
        // SAFETY: `self` is live.
        unsafe { self.calls().barrier(self.handle()) }
    }

    /// Gives every rank the root's elements.
    ///
    /// # Errors
    /// If the root does not exist, or MPI reports an error.
    pub fn bcast<T: Element>(&self, data: &mut [T], root: usize) -> Result<()> {
        let root = self.to_rank("MPI_Bcast", root)?;
        let (calls, comm, datatype) = (self.calls(), self.handle(), handle_of::<T>(self.library()));
        for (start, count) in chunks(data.len(), size_of::<T>(), self.max_message_bytes()) {
            let buf = data[start..].as_mut_ptr().cast();
            // SAFETY: `count` elements from `start` on lie inside `data`.
            unsafe {
                by_count!(count, n =>
                    calls.bcast(buf, n, datatype, root, comm),
                    calls.bcast_c(buf, n, datatype, root, comm))?;
            }
        }
        Ok(())
    }

    /// Combines the elements of all ranks, in place, on every rank.
    ///
    /// # Errors
    /// If the operation does not suit the type, or MPI reports an error.
    pub fn allreduce<T: Element>(&self, data: &mut [T], op: Op) -> Result<()> {
        let (calls, comm, datatype) = (self.calls(), self.handle(), handle_of::<T>(self.library()));
        let (send, op) = (self.library().in_place(), op.handle(self.library()));
        for (start, count) in chunks(data.len(), size_of::<T>(), self.max_message_bytes()) {
            let recv = data[start..].as_mut_ptr().cast();
            // SAFETY: `count` elements from `start` on lie inside `data`.
            unsafe {
                by_count!(count, n =>
                    calls.allreduce(send, recv, n, datatype, op, comm),
                    calls.allreduce_c(send, recv, n, datatype, op, comm))?;
            }
        }
        Ok(())
    }

    /// Combines the elements of all ranks into the root's; others keep theirs.
    ///
    /// # Errors
    /// If the root does not exist, the operation does not suit the type, or
    /// MPI reports an error.
    pub fn reduce<T: Element>(&self, data: &mut [T], op: Op, root: usize) -> Result<()> {
        let to = self.to_rank("MPI_Reduce", root)?;
        let (calls, comm, datatype) = (self.calls(), self.handle(), handle_of::<T>(self.library()));
        let op = op.handle(self.library());
        for (start, count) in chunks(data.len(), size_of::<T>(), self.max_message_bytes()) {
            let (send, recv) = self.reduce_buffers(data[start..].as_mut_ptr().cast(), root);
            // SAFETY: `count` elements from `start` on lie inside `data`.
            unsafe {
                by_count!(count, n =>
                    calls.reduce(send, recv, n, datatype, op, to, comm),
                    calls.reduce_c(send, recv, n, datatype, op, to, comm))?;
            }
        }
        Ok(())
    }

    /// Collects the same number of elements from each rank, in rank order.
    ///
    /// # Errors
    /// [`MpiError::LengthMismatch`]; [`MpiError::CountTooLarge`] above 2³¹
    /// without large counts; what MPI reports.
    pub fn allgather<T: Element>(&self, data: &[T], all: &mut [T]) -> Result<()> {
        let call = "MPI_Allgather";
        let (count, given, needed) = (data.len(), all.len(), data.len() * self.size());
        if given != needed {
            return Err(MpiError::LengthMismatch { call, what: "the result", given, needed });
        }
        self.library().countable(call, &[count])?;
        let (calls, comm, datatype) = (self.calls(), self.handle(), handle_of::<T>(self.library()));
        let (send, recv) = (data.as_ptr().cast(), all.as_mut_ptr().cast());
        // SAFETY: `data` has `count` elements and `all` has them for each rank.
        unsafe {
            by_count!(count, n =>
                calls.allgather(send, n, datatype, recv, n, datatype, comm),
                calls.allgather_c(send, n, datatype, recv, n, datatype, comm))
        }
    }

    /// Collects elements from each rank to where `runs` says.
    ///
    /// # Errors
    /// [`MpiError::LengthMismatch`], [`MpiError::OutsideBuffer`]; what MPI
    /// reports; [`MpiError::CountTooLarge`] as for [`allgather`](Self::allgather).
    pub fn allgatherv<T: Element>(&self, data: &[T], all: &mut [T], runs: Runs<'_>) -> Result<()> {
        let call = "MPI_Allgatherv";
        runs.check(call, self.size(), all.len())?;
        let (given, needed) = (data.len(), runs.counts[self.rank()]);
        if given != needed {
            return Err(MpiError::LengthMismatch {
                call,
                what: "the part of this rank",
                given,
                needed,
            });
        }
        let (calls, comm, datatype) = (self.calls(), self.handle(), handle_of::<T>(self.library()));
        let (send, recv) = (data.as_ptr().cast(), all.as_mut_ptr().cast());
        // SAFETY: one run per rank, each inside `all` (checked); `data` is ours.
        unsafe {
            if let Some((counts, offsets)) = runs.as_ints() {
                let (n, counts, offsets) = (given as c_int, counts.as_ptr(), offsets.as_ptr());
                return calls.allgatherv(send, n, datatype, recv, counts, offsets, datatype, comm);
            }
            self.library().countable(call, &[all.len()])?;
            let (counts, offsets) = runs.as_large();
            let (n, counts, offsets) = (given as i64, counts.as_ptr(), offsets.as_ptr());
            calls.allgatherv_c(send, n, datatype, recv, counts, offsets, datatype, comm)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_checked_against_the_buffer() {
        let check = |counts: &[usize], offsets: &[usize]| {
            Runs { counts, offsets }.check("MPI_Allgatherv", 2, 10).map_err(|e| e.reason())
        };
        assert_eq!(check(&[4, 6], &[0, 4]), Ok(()));
        assert_eq!(check(&[4, 7], &[0, 4]), Err("mpi-outside-buffer"));
        assert_eq!(check(&[4, usize::MAX], &[0, 4]), Err("mpi-outside-buffer"));
        assert_eq!(check(&[4], &[0, 4]), Err("mpi-length-mismatch"));
    }
}
