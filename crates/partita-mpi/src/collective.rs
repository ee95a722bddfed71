//! Operations of all ranks that wait inside MPI.
//!
//! Every rank calls them in the same order with matching arguments, or MPI
//! hangs or mixes up data: the layer above compares before it calls.

use super::{Comm, MpiError, Predefined, Result, chunks::by_count};

impl Comm {
    /// Waits until every rank has come here.
    ///
    /// # Errors
    /// What MPI reports.
    pub fn barrier(&self) -> Result<()> {
        // SAFETY: `self` is live.
        unsafe { self.calls().barrier(self.handle()) }
    }

    /// Collects the same number of words from each rank, in rank order.
    ///
    /// They travel as bytes: the ranks run on machines of one kind.
    ///
    /// # Errors
    /// [`MpiError::LengthMismatch`]; [`MpiError::CountTooLarge`] above 2³¹ bytes
    /// without large counts; what MPI reports.
    pub fn allgather(&self, data: &[u64], all: &mut [u64]) -> Result<()> {
        let call = "MPI_Allgather";
        let (given, needed) = (all.len(), data.len() * self.size());
        if given != needed {
            return Err(MpiError::LengthMismatch { call, what: "the result", given, needed });
        }
        let n_bytes = size_of_val(data);
        self.library().countable(call, n_bytes)?;
        let (calls, comm, byte) =
            (self.calls(), self.handle(), self.library().handle(Predefined::Byte));
        let (send, recv) = (data.as_ptr().cast(), all.as_mut_ptr().cast());
        // SAFETY: `data` has `n_bytes` bytes and `all` has them for each rank.
        unsafe {
            by_count!(n_bytes, n =>
                calls.allgather(send, n, byte, recv, n, byte, comm),
                calls.allgather_c(send, n, byte, recv, n, byte, comm))
        }
    }
}
