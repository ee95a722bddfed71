//! Collectives, blocking, started and cut into chunks.

use super::{Outcome, never, patience, same};
use partita_mpi::{Comm, Op, Runs};

pub fn blocking(comm: &Comm) -> Outcome {
    let (rank, size) = (comm.rank(), comm.size());
    reductions(comm)?;
    let mut root = [if rank == size - 1 { 42u16 } else { 0 }; 3];
    comm.bcast(&mut root, size - 1)?;
    same("bcast", root, [42; 3])?;
    let mut all = vec![0u32; 2 * size];
    comm.allgather(&[rank as u32, 7], &mut all)?;
    let expected: Vec<u32> = (0..size as u32).flat_map(|rank| [rank, 7]).collect();
    same("allgather", all, expected)?;
    gather_runs(comm)?;
    exchange(comm)
}

fn reductions(comm: &Comm) -> Outcome {
    let (rank, size) = (comm.rank(), comm.size());
    let ranks = (size * (size - 1) / 2) as f64;
    let mut sum = [rank as f64, 1.0];
    comm.allreduce(&mut sum, Op::Sum)?;
    same("sum", sum, [ranks, size as f64])?;
    let mut complex = [[rank as f32, 1.0]];
    comm.allreduce(&mut complex, Op::Sum)?;
    same("complex sum", complex, [[ranks as f32, size as f32]])?;
    let mut largest = [rank as i64, -(rank as i64)];
    comm.allreduce(&mut largest, Op::Max)?;
    same("max", largest, [size as i64 - 1, 0])?;
    let mut bits = [1u8 << rank];
    comm.allreduce(&mut bits, Op::Bor)?;
    same("bor", bits, [((1u16 << size) - 1) as u8])?;
    let mut product = [2i16];
    comm.reduce(&mut product, Op::Prod, 0)?;
    same("reduce", product, [if rank == 0 { 1 << size } else { 2 }])
}

/// Rank r brings r + 1 elements; they are put in reverse rank order.
fn gather_runs(comm: &Comm) -> Outcome {
    let (rank, size) = (comm.rank(), comm.size());
    let counts: Vec<_> = (1..=size).collect();
    let offsets: Vec<_> = (0..size).map(|r| counts[r + 1..].iter().sum()).collect();
    let mut all = vec![-1i32; counts.iter().sum()];
    let data = vec![rank as i32; rank + 1];
    comm.allgatherv(&data, &mut all, Runs { counts: &counts, offsets: &offsets })?;
    let expected: Vec<_> = (0..size).rev().flat_map(|r| vec![r as i32; r + 1]).collect();
    same("allgatherv", all, expected)
}

fn exchange(comm: &Comm) -> Outcome {
    let (rank, size) = (comm.rank(), comm.size());
    let send: Vec<_> = (0..size).map(|to| (rank * 100 + to) as u64).collect();
    let expected: Vec<_> = (0..size).map(|from| (from * 100 + rank) as u64).collect();
    let mut recv = vec![0; size];
    comm.alltoall(&send, &mut recv)?;
    same("alltoall", &recv, &expected)?;
    recv.fill(0);
    let (counts, offsets) = (vec![1; size], (0..size).collect::<Vec<_>>());
    let runs = Runs { counts: &counts, offsets: &offsets };
    comm.alltoallv(&send, runs, &mut recv, runs)?;
    same("alltoallv", recv, expected)
}

pub fn nonblocking(comm: &Comm) -> Outcome {
    let (rank, size) = (comm.rank(), comm.size());
    comm.ibarrier()?.wait(&patience(), never)?;
    let mut sum = vec![1i32; 10];
    let mut root = vec![rank as f32; 5];
    let mut product = vec![2u64; 3];
    // SAFETY: the buffers live until the requests have been waited for.
    let requests = unsafe {
        [
            comm.iallreduce(sum.as_mut_ptr(), sum.len(), Op::Sum)?,
            comm.ibcast(root.as_mut_ptr(), root.len(), size - 1)?,
            comm.ireduce(product.as_mut_ptr(), product.len(), Op::Prod, 0)?,
        ]
    };
    for mut request in requests {
        request.wait(&patience(), never)?;
    }
    same("iallreduce", sum, vec![size as i32; 10])?;
    same("ibcast", root, vec![(size - 1) as f32; 5])?;
    same("ireduce", product, vec![if rank == 0 { 1 << size } else { 2 }; 3])
}

pub fn chunked(comm: &Comm) -> Outcome {
    let mut small = comm.dup()?;
    small.set_max_message_bytes(100);
    blocking(&small)?;
    nonblocking(&small)?;
    let mut sum: Vec<_> = (0..1001).map(f64::from).collect();
    small.allreduce(&mut sum, Op::Sum)?;
    let expected: Vec<_> = (0..1001).map(|i| f64::from(i) * small.size() as f64).collect();
    same("allreduce in chunks", &sum, &expected)?;
    // SAFETY: the buffer lives until the request has been waited for.
    let mut request = unsafe { small.ibcast(sum.as_mut_ptr(), sum.len(), 0)? };
    request.wait(&patience(), never)?;
    same("ibcast in chunks", sum, expected)
}
