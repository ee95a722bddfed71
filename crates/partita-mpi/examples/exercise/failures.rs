//! Errors come back as values, and the communicator works afterwards.

use super::{Outcome, never, patience, same};
use partita_mpi::{Comm, Datatype, ErrorClass, Kind, MpiError, Op, Patience, RequestSet, Source};
use std::time::Duration;

fn reason<T>(result: Result<T, MpiError>) -> &'static str {
    result.map_or_else(|error| error.reason(), |_| "ok")
}

fn class<T>(result: Result<T, MpiError>) -> Option<ErrorClass> {
    result.err().and_then(|error| error.class())
}

pub fn arguments(comm: &Comm) -> Outcome {
    let (size, mut one) = (comm.size(), [1.0f64]);
    same("target", reason(comm.send(&one, size, 0)), "mpi-rank-unknown")?;
    same("root", reason(comm.bcast(&mut one, size + 7)), "mpi-rank-unknown")?;
    same("tag", reason(comm.send(&one, 0, -1)), "mpi-tag-invalid")?;
    same("lengths", reason(comm.allgather(&one, &mut [])), "mpi-length-mismatch")?;
    let barrier = comm.ibarrier()?;
    let mut barrier = barrier;
    same("cancel", reason(barrier.cancel()), "mpi-not-cancellable")?;
    barrier.wait(&patience(), never)?;
    same("largest tag", comm.max_tag()? >= 32767, true)?;
    // Only MPI knows that bits of floats are not combined.
    same("operation", class(comm.allreduce(&mut one, Op::Band)), Some(ErrorClass::Op))
}

/// A message that is longer than its buffer, seen in three ways.
pub fn truncation(comm: &Comm) -> Outcome {
    let own = comm.dup()?;
    let me = own.rank();
    let byte = Datatype::new(own.library(), Kind::Byte);
    let (data, mut room) = ([7u8; 64], [0u8; 8]);
    let expected = Some(ErrorClass::Truncate);
    // SAFETY: both buffers outlive all requests: each is waited for.
    unsafe {
        let mut send = own.isend(data.as_ptr().cast(), 64, &byte, me, 1)?;
        let mut receive = own.irecv(room.as_mut_ptr().cast(), 8, &byte, me, 1)?;
        same("one", class(receive.wait(&patience(), never)), expected)?;
        same("asked again", class(receive.test()), expected)?;
        let _ = send.wait(&patience(), never);
        let mut send = own.isend(data.as_ptr().cast(), 64, &byte, me, 2)?;
        let mut set = RequestSet::new(own.library());
        set.push(own.irecv(room.as_mut_ptr().cast(), 8, &byte, me, 2)?)?;
        set.push(own.ibarrier()?)?;
        same("in a set", class(set.wait_all(&patience(), never)), expected)?;
        let _ = send.wait(&patience(), never);
        same("the others go on", set.wait_all(&patience(), never)?.len(), 2)?;
        same("a failed one is refused", class(set.push(receive)), expected)?;
    }
    Ok(())
}

/// A receive without a sender ends by deadline, by check, and by cancel.
pub fn deadline(comm: &Comm) -> Outcome {
    let byte = Datatype::new(comm.library(), Kind::Byte);
    let mut room = [0u8; 8];
    // SAFETY: the buffer lives until the request is cancelled and finished.
    let mut receive = unsafe { comm.irecv(room.as_mut_ptr().cast(), 8, &byte, Source::Any, 77)? };
    let short = Patience::within(Duration::from_millis(20));
    same("deadline", reason(receive.wait(&short, never)), "mpi-deadline")?;
    let stop = || Err(MpiError::NotCancellable { call: "a check" });
    same("check", reason(receive.wait(&patience(), stop)), "mpi-not-cancellable")?;
    receive.cancel()?;
    same("cancelled", receive.wait(&patience(), never)?.cancelled, true)
}

/// Requests that are dropped unfinished leave the communicator usable.
pub fn dropped(comm: &Comm) -> Outcome {
    let own = comm.dup()?;
    let byte = Datatype::new(own.library(), Kind::Byte);
    let (data, mut room) = ([3u8; 8], [0u8; 8]);
    // SAFETY: the receives are cancelled when dropped; the send is received.
    unsafe {
        drop(own.irecv(room.as_mut_ptr().cast(), 8, &byte, Source::Any, 1)?);
        let mut set = RequestSet::new(own.library());
        set.push(own.irecv(room.as_mut_ptr().cast(), 8, &byte, Source::Any, 2)?)?;
        drop(set);
        drop(own.isend(data.as_ptr().cast(), 8, &byte, own.rank(), 1)?);
        let mut receive = own.irecv(room.as_mut_ptr().cast(), 8, &byte, own.rank(), 1)?;
        same("bytes", receive.wait(&patience(), never)?.n_bytes, 8)?;
    }
    same("content", room, [3; 8])
}
