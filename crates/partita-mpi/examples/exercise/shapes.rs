//! Groups, handles, subarrays and shared memory.

use super::{Outcome, same};
use partita_mpi::{Color, Comm, Comparison, Datatype, Kind, Part, Predefined, Subarray, Window};

pub fn groups(comm: &Comm) -> Outcome {
    let (rank, size) = (comm.rank(), comm.size());
    same("dup", comm.dup()?.compare(comm)?, Comparison::Congruent)?;
    same("itself", comm.compare(comm)?, Comparison::Identical)?;
    let turned = comm.split(Color::Group(0), -(rank as i32))?.ok_or("no member")?;
    same("turned", turned.rank(), size - 1 - rank)?;
    let likeness = if size == 1 { Comparison::Congruent } else { Comparison::Similar };
    same("turned", turned.compare(comm)?, likeness)?;
    let all: Vec<_> = (0..size).collect();
    let expected: Vec<_> = all.iter().map(|rank| Some(size - 1 - rank)).collect();
    same("translated", comm.translate_ranks(&all, &turned)?, expected)?;
    let color = if rank == 0 { Color::Group(3) } else { Color::Nobody };
    same("left out", comm.split(color, 0)?.is_some(), rank == 0)?;
    even_ranks(comm)
}

/// Only the even ranks make a communicator, in reverse order.
fn even_ranks(comm: &Comm) -> Outcome {
    let even: Vec<_> = (0..comm.size()).step_by(2).rev().collect();
    let made = comm.create_group(&even, 4)?;
    same("member", made.is_some(), comm.rank().is_multiple_of(2))?;
    let Some(made) = made else { return Ok(()) };
    same("rank", even[made.rank()], comm.rank())?;
    let odd_rank = comm.translate_ranks(&[comm.size() - 1], &made)?[0];
    same("unknown there", odd_rank.is_some(), comm.size() % 2 == 1)?;
    Ok(made.free()?)
}

pub fn raw(comm: &Comm) -> Outcome {
    let library = comm.library();
    // SAFETY: `comm` is a live communicator of this library and outlives this.
    let again = unsafe { Comm::from_raw(library, comm.raw())? };
    same("again", again.compare(comm)?, Comparison::Identical)?;
    drop(again);
    comm.barrier()?;
    let null = library.handle(Predefined::CommNull).0;
    // SAFETY: refused before MPI sees it.
    let refused = unsafe { Comm::from_raw(library, null) };
    same("null", refused.map(|_| ()).map_err(|error| error.reason()), Err("mpi-comm-null"))
}

fn cut(length: usize, rank: usize, size: usize) -> usize {
    length * rank / size
}

/// Row blocks to column blocks of a small array: some ranks get nothing.
pub fn rows_to_columns(comm: &Comm) -> Outcome {
    for shape in [[13, 9], [2, 3], [1, 1], [0, 4]] {
        redistribute(comm, shape)?;
    }
    Ok(())
}

fn redistribute(comm: &Comm, [n, m]: [usize; 2]) -> Outcome {
    let size = comm.size();
    let rows = |r| (cut(n, r, size), cut(n, r + 1, size) - cut(n, r, size));
    let columns = |r| (cut(m, r, size), cut(m, r + 1, size) - cut(m, r, size));
    let ((row, n_rows), (column, n_columns)) = (rows(comm.rank()), columns(comm.rank()));
    let source: Vec<_> = (row * m..(row + n_rows) * m).map(|i| i as f64).collect();
    let mut target = vec![f64::NAN; n * n_columns];
    let double = Datatype::new(comm.library(), Kind::F64);
    let piece = |shape: [usize; 2], starts: [usize; 2], lengths: [usize; 2]| {
        double.subarray(Subarray { shape: &shape, starts: &starts, lengths: &lengths })
    };
    let sent = (0..size).map(|r| piece([n_rows, m], [0, columns(r).0], [n_rows, columns(r).1]));
    let sent = sent.collect::<Result<Vec<_>, _>>()?;
    let got = (0..size).map(|r| piece([n, n_columns], [rows(r).0, 0], [rows(r).1, n_columns]));
    let got = got.collect::<Result<Vec<_>, _>>()?;
    let parts = |types: &'_ [Datatype]| -> Vec<(usize, isize)> { vec![(1, 0); types.len()] };
    let with = |types| parts(types).into_iter().zip(types);
    let part = |((count, offset_bytes), datatype)| Part { count, offset_bytes, datatype };
    let (sends, receives): (Vec<_>, Vec<_>) =
        (with(&sent).map(part).collect(), with(&got).map(part).collect());
    // SAFETY: each type is a box inside its buffer, and the boxes are disjoint.
    unsafe {
        let into = target.as_mut_ptr().cast();
        comm.alltoallw(source.as_ptr().cast(), &sends, into, &receives)?;
    }
    let expected: Vec<_> = (0..n)
        .flat_map(|i| (column..column + n_columns).map(move |j| (i * m + j) as f64))
        .collect();
    same("columns", target, expected)
}

pub fn shared_window(comm: &Comm) -> Outcome {
    let node = comm.split_shared()?;
    same("all on one node", node.size(), comm.size())?;
    let window = Window::allocate(&node, 64 * (node.rank() + 1))?;
    let mine = window.mine();
    same("my length", mine.n_bytes, 64 * (node.rank() + 1))?;
    window.lock_all()?;
    // SAFETY: the segment is ours and has 64 bytes at least.
    unsafe { mine.pointer.cast::<u64>().write(1000 + node.rank() as u64) };
    window.sync()?;
    node.barrier()?;
    window.sync()?;
    let next = (node.rank() + 1) % node.size();
    let theirs = window.segment(next)?;
    // SAFETY: the neighbour wrote it before the barrier and writes no more.
    let found = unsafe { theirs.pointer.cast::<u64>().read() };
    window.unlock_all()?;
    same("neighbour's value", found, 1000 + next as u64)?;
    same("neighbour's length", theirs.n_bytes, 64 * (next + 1))?;
    same("no such rank", window.segment(99).is_err(), true)?;
    // SAFETY: no pointer is used after this.
    unsafe { window.free()? };
    // A window that is only dropped stays, and does not stop the others.
    if node.rank() == 0 {
        drop(Window::allocate(&node.library().self_comm()?, 8)?);
    }
    Ok(())
}
