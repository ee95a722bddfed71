//! Communicators: what all ranks do together, handles, freeing.

use super::{Outcome, same};
use partita_mpi::{Comm, Predefined};

pub fn gather(comm: &Comm) -> Outcome {
    let mut all = vec![0; 2 * comm.size()];
    comm.allgather(&[comm.rank() as u64, u64::MAX], &mut all)?;
    let expected: Vec<u64> = (0..comm.size() as u64).flat_map(|rank| [rank, u64::MAX]).collect();
    same("allgather", all, expected)?;
    comm.allgather(&[], &mut []).map_err(Into::into)
}

pub fn raw(comm: &Comm) -> Outcome {
    let library = comm.library();
    // SAFETY: `comm` is a live communicator of this library and outlives this.
    let again = unsafe { Comm::from_raw(library, comm.raw())? };
    same("again", (again.rank(), again.size()), (comm.rank(), comm.size()))?;
    drop(again);
    comm.barrier()?;
    let null = library.handle(Predefined::CommNull).0;
    // SAFETY: refused before MPI sees it.
    let refused = unsafe { Comm::from_raw(library, null) };
    same("null", refused.map(|_| ()).map_err(|error| error.reason()), Err("mpi-comm-null"))
}

/// A communicator that was released is null to all who still have it.
pub fn released(comm: &Comm) -> Outcome {
    let own = comm.dup()?;
    own.release()?;
    own.release()?;
    same("null", own.raw(), comm.library().handle(Predefined::CommNull).0)
}
