//! Messages around a ring: each rank sends to the next one.

use super::{Outcome, finish, never, polling, same};
use partita_mpi::{Comm, MpiError, Request, Source, Status, Tag};

fn next(comm: &Comm) -> usize {
    (comm.rank() + 1) % comm.size()
}

fn previous(comm: &Comm) -> usize {
    (comm.rank() + comm.size() - 1) % comm.size()
}

/// A byte that tells its sender and position.
fn byte(rank: usize, i: usize) -> u8 {
    (rank * 31 + i * 7 + i / 251) as u8
}

fn content(rank: usize, n_bytes: usize) -> Vec<u8> {
    (0..n_bytes).map(|i| byte(rank, i)).collect()
}

/// Whether this came from that rank, in full and in order.
fn is_content(rank: usize, found: &[u8]) -> bool {
    found.iter().enumerate().all(|(i, found)| *found == byte(rank, i))
}

/// # Safety
/// `data` outlives the request.
unsafe fn isend(comm: &Comm, data: &[u8], tag: i32) -> Result<Request, MpiError> {
    // SAFETY: the caller keeps the buffer.
    unsafe { comm.isend(data.as_ptr().cast(), data.len(), next(comm), tag) }
}

/// # Safety
/// `data` outlives the request.
unsafe fn irecv(comm: &Comm, data: &mut [u8], tag: i32) -> Result<Request, MpiError> {
    // SAFETY: the caller keeps the buffer.
    unsafe { comm.irecv(data.as_mut_ptr().cast(), data.len(), previous(comm), tag) }
}

/// Sends `n_bytes` around and checks what came and what the status says.
fn around(comm: &Comm, n_bytes: usize, tag: i32) -> Outcome {
    let data = content(comm.rank(), n_bytes);
    let mut found = vec![0; n_bytes];
    // SAFETY: both buffers live until both requests have been waited for.
    let (mut receive, mut send) =
        unsafe { (irecv(comm, &mut found, tag)?, isend(comm, &data, tag)?) };
    let status = finish(&mut receive)?;
    finish(&mut send)?;
    let source = previous(comm) as i32;
    same("status", status, Status { source, tag, n_bytes, cancelled: false })?;
    same("content", is_content(previous(comm), &found), true)
}

pub fn ring(comm: &Comm) -> Outcome {
    for n_bytes in [0, 1, 1000, 1 << 20] {
        around(comm, n_bytes, 5)?;
    }
    Ok(())
}

pub fn chunked(comm: &Comm) -> Outcome {
    let mut small = comm.dup()?;
    small.set_max_message_bytes(1000);
    for n_bytes in [0, 999, 1000, 1001, 100_003] {
        around(&small, n_bytes, 6)?;
    }
    Ok(())
}

/// More than 2^31 bytes in one call; not part of every run.
pub fn huge(comm: &Comm) -> Outcome {
    around(comm, (1 << 31) + 12_345, 8)
}

pub fn probes(comm: &Comm) -> Outcome {
    let data = content(comm.rank(), 77);
    // SAFETY: the buffer lives until the request has been waited for.
    let mut send = unsafe { isend(comm, &data, 9)? };
    let poll = || comm.improbe(Source::Any, Tag::Any);
    let message = polling().until("a probe", poll, never)?;
    let seen = message.status();
    same("improbe", (seen.source as usize, seen.tag, seen.n_bytes), (previous(comm), 9, 77))?;
    same("another probe finds nothing", comm.improbe(previous(comm), 9)?.is_none(), true)?;
    let mut found = vec![0; 80];
    let status = message.recv(&mut found)?;
    same("status", status.n_bytes, 77)?;
    same("content", &found[..77], &content(previous(comm), 77)[..])?;
    finish(&mut send)?;
    Ok(())
}
