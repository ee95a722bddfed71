//! Errors come back as values, and the communicator works afterwards.

use super::{Outcome, finish, never, polling, same};
use partita_mpi::{Comm, ErrorClass, MpiError, Polling, Request, Source};
use std::time::Duration;

fn reason<T>(result: Result<T, MpiError>) -> &'static str {
    result.map_or_else(|error| error.reason(), |_| "ok")
}

fn class<T>(result: Result<T, MpiError>) -> Option<ErrorClass> {
    result.err().and_then(|error| error.class())
}

/// # Safety
/// `data` outlives the request.
unsafe fn isend(comm: &Comm, data: &[u8], target: usize, tag: i32) -> Result<Request, MpiError> {
    // SAFETY: the caller keeps the buffer.
    unsafe { comm.isend(data.as_ptr().cast(), data.len(), target, tag) }
}

/// # Safety
/// `room` outlives the request.
unsafe fn irecv(
    comm: &Comm,
    room: &mut [u8],
    source: impl Into<Source>,
    tag: i32,
) -> Result<Request, MpiError> {
    // SAFETY: the caller keeps the buffer.
    unsafe { comm.irecv(room.as_mut_ptr().cast(), room.len(), source, tag) }
}

pub fn arguments(comm: &Comm) -> Outcome {
    let (size, data, mut room) = (comm.size(), [1u8; 8], [0u8; 8]);
    let mut small = comm.dup()?;
    small.set_max_message_bytes(4);
    // SAFETY: all are refused before MPI sees a buffer.
    unsafe {
        same("target", reason(isend(comm, &data, size, 0)), "mpi-rank-unknown")?;
        same("source", reason(irecv(comm, &mut room, size + 7, 0)), "mpi-rank-unknown")?;
        same("tag", reason(isend(comm, &data, 0, -1)), "mpi-tag-invalid")?;
        let mixed = irecv(&small, &mut room, Source::Any, 0);
        same("parts of any source", reason(mixed), "mpi-any-source-chunked")?;
    }
    same("lengths", reason(comm.allgather(&[1], &mut [])), "mpi-length-mismatch")?;
    same("largest tag", comm.max_tag()? >= 32767, true)
}

/// A message that is longer than its buffer: one, and in parts.
pub fn truncation(comm: &Comm) -> Outcome {
    let mut own = comm.dup()?;
    let me = own.rank();
    let (data, mut room) = ([7u8; 64], [0u8; 8]);
    let expected = Some(ErrorClass::Truncate);
    // SAFETY: both buffers outlive all requests: each is waited for.
    unsafe {
        let mut send = isend(&own, &data, me, 1)?;
        let mut receive = irecv(&own, &mut room, me, 1)?;
        same("one", class(finish(&mut receive)), expected)?;
        same("asked again", class(receive.test()), expected)?;
        let _ = finish(&mut send);
        own.set_max_message_bytes(32);
        let mut long = isend(&own, &data, me, 2)?;
        own.set_max_message_bytes(4);
        let mut parts = irecv(&own, &mut room, me, 2)?;
        same("in parts", class(finish(&mut parts)), expected)?;
        let _ = finish(&mut long);
    }
    Ok(())
}

/// A receive without a sender ends by deadline and by check.
pub fn deadline(comm: &Comm) -> Outcome {
    let mut room = [0u8; 8];
    // SAFETY: the buffer lives until the request is dropped, which cancels it.
    let mut receive = unsafe { irecv(comm, &mut room, Source::Any, 77)? };
    let short = Polling::within(Duration::from_millis(20));
    let late = short.until("a message", || receive.test(), never);
    same("deadline", reason(late), "mpi-deadline")?;
    let stop = || Err(MpiError::Finalized { call: "a check" });
    let stopped = polling().until("a message", || receive.test(), stop);
    same("check", reason(stopped), "mpi-finalized")
}

/// Requests that are dropped unfinished leave the communicator usable.
pub fn dropped(comm: &Comm) -> Outcome {
    let own = comm.dup()?;
    let (data, mut room) = ([3u8; 8], [0u8; 8]);
    // SAFETY: the receive is cancelled when dropped; the send is received.
    unsafe {
        drop(irecv(&own, &mut room, Source::Any, 1)?);
        drop(isend(&own, &data, own.rank(), 1)?);
        let mut receive = irecv(&own, &mut room, own.rank(), 1)?;
        same("bytes", finish(&mut receive)?.n_bytes, 8)?;
    }
    same("content", room, [3; 8])
}
