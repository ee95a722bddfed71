//! Messages around a ring: each rank sends to the next one.

use super::{Outcome, never, patience, same};
use partita_mpi::{Comm, Datatype, Kind, MpiError, Request, RequestSet, Source, Status, Tag};

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
    let byte = Datatype::new(comm.library(), Kind::Byte);
    // SAFETY: the caller keeps the buffer.
    unsafe { comm.isend(data.as_ptr().cast(), data.len(), &byte, next(comm), tag) }
}

/// # Safety
/// `data` outlives the request.
unsafe fn irecv(comm: &Comm, data: &mut [u8], tag: i32) -> Result<Request, MpiError> {
    let byte = Datatype::new(comm.library(), Kind::Byte);
    // SAFETY: the caller keeps the buffer.
    unsafe { comm.irecv(data.as_mut_ptr().cast(), data.len(), &byte, previous(comm), tag) }
}

/// Sends `n_bytes` around and checks what came and what the status says.
fn around(comm: &Comm, n_bytes: usize, tag: i32) -> Outcome {
    let data = content(comm.rank(), n_bytes);
    let mut found = vec![0; n_bytes];
    // SAFETY: both buffers live until both requests have been waited for.
    let (mut receive, mut send) =
        unsafe { (irecv(comm, &mut found, tag)?, isend(comm, &data, tag)?) };
    let status = receive.wait(&patience(), never)?;
    send.wait(&patience(), never)?;
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
    // Elements are not cut: 64-byte elements, 15 to a message.
    let byte = Datatype::new(small.library(), Kind::Byte);
    let line = byte.contiguous(64)?;
    let (data, mut found) = (content(small.rank(), 6400), vec![0u8; 6400]);
    // SAFETY: both buffers live until both requests have been waited for.
    let (mut receive, mut send) = unsafe {
        let receive = small.irecv(found.as_mut_ptr().cast(), 100, &line, previous(&small), 1)?;
        (receive, small.isend(data.as_ptr().cast(), 100, &line, next(&small), 1)?)
    };
    same("bytes", receive.wait(&patience(), never)?.n_bytes, 6400)?;
    send.wait(&patience(), never)?;
    same("content", is_content(previous(&small), &found), true)
}

/// More than 2^31 bytes in one call; not part of every run.
pub fn huge(comm: &Comm) -> Outcome {
    around(comm, (1 << 31) + 12_345, 8)
}

pub fn blocking(comm: &Comm) -> Outcome {
    let mut small = comm.dup()?;
    small.set_max_message_bytes(64);
    let data: Vec<f64> = (0..20).map(|i| (comm.rank() * 100 + i) as f64).collect();
    let mut found = vec![0.0; 20];
    // MPICH blocks in a send to oneself until it is received, however small.
    let double = Datatype::new(small.library(), Kind::F64);
    // SAFETY: the buffer lives until the request has been waited for.
    let to_myself = || unsafe { small.isend(data.as_ptr().cast(), 20, &double, 0, 3) };
    let mut started = if small.size() == 1 { Some(to_myself()?) } else { None };
    if started.is_none() {
        small.send(&data, next(comm), 3)?;
    }
    let status = small.recv(&mut found, Source::Any, Tag::Any)?;
    same("source", status.source as usize, previous(comm))?;
    same("tag and bytes", (status.tag, status.n_bytes), (3, 160))?;
    started.as_mut().map(|send| send.wait(&patience(), never)).transpose()?;
    same("content", found[19], (previous(comm) * 100 + 19) as f64)
}

pub fn probes(comm: &Comm) -> Outcome {
    let data = content(comm.rank(), 77);
    // SAFETY: the buffer lives until the request has been waited for.
    let mut send = unsafe { isend(comm, &data, 9)? };
    let poll = || comm.iprobe(Source::Any, Tag::Any);
    let seen = patience().until("a probe", poll, never)?;
    same("iprobe", (seen.source as usize, seen.tag, seen.n_bytes), (previous(comm), 9, 77))?;
    same("probe", comm.probe(previous(comm), 9)?, seen)?;
    let message = comm.improbe(previous(comm), 9)?.ok_or("no message to match")?;
    same("another probe finds nothing", comm.iprobe(Source::Any, 9)?, None)?;
    let mut found = vec![0u8; 80];
    let status = message.recv(&mut found)?;
    same("status", status.n_bytes, 77)?;
    same("content", &found[..77], &content(previous(comm), 77)[..])?;
    send.wait(&patience(), never)?;
    Ok(())
}

/// Five messages of different lengths, some of them in chunks.
pub fn sets(comm: &Comm) -> Outcome {
    let mut small = comm.dup()?;
    small.set_max_message_bytes(500);
    let lengths = [10, 2000, 0, 500, 501];
    let data = lengths.map(|n_bytes| content(small.rank(), n_bytes));
    let mut found = lengths.map(|n_bytes| vec![0; n_bytes]);
    let mut set = RequestSet::new(small.library());
    for (tag, (data, found)) in data.iter().zip(&mut found).enumerate() {
        // SAFETY: the buffers live until the set has been waited for.
        unsafe {
            set.push(irecv(&small, found, tag as i32)?)?;
            set.push(isend(&small, data, tag as i32)?)?;
        }
    }
    // One that has finished before it joins the set.
    let mut barrier = small.ibarrier()?;
    barrier.wait(&patience(), never)?;
    same("number", set.push(barrier)?, 10)?;
    let statuses = set.wait_all(&patience(), never)?;
    same("unfinished", set.n_unfinished(), 0)?;
    for (tag, n_bytes) in lengths.into_iter().enumerate() {
        same("length", statuses[2 * tag].n_bytes, n_bytes)?;
        same("content", &found[tag], &content(previous(&small), n_bytes))?;
    }
    Ok(())
}
