//! Rows of several matrices, in the order in which they are asked for.
//!
//! The matrices may lie in memory to which others write at the same time: what is read of it is
//! read once, and checked before memory is touched by it. Whether it is of use, the caller knows.

use crate::Cores;
use crate::error::{Result, SparseError};
use crate::index::Index;
use crate::level::prefetch;
use crate::matrix::{Matrix, Pattern, SHARE, expect_length};
use crate::memory::{Array, Csr, Memory};
use partita_numeric::Shared;

/// How many rows ahead of the one that is copied memory is asked for.
const AHEAD: usize = 12;
const LINE_BYTES: usize = 64;
/// Of longer rows the processor fetches the rest on its own.
const MOST_LINES: usize = 4;

/// Rows by their matrices and places there.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The number of each row's matrix; none if there is one only.
    pub owners: Option<&'a [i64]>,
    /// Where each row is in its matrix.
    pub places: &'a [i64],
}

/// Rows that were taken, and where the entries of each begin in its matrix.
#[derive(Debug)]
pub struct Taken<M, I, T> {
    /// The rows.
    pub rows: Csr<M, I, T>,
    /// For [`values_from`].
    pub starts: Array<M, i64>,
}

impl Wanted<'_> {
    #[inline(always)]
    fn owner(&self, at: usize) -> usize {
        self.owners.map_or(0, |owners| owners[at] as usize)
    }

    fn check(&self) -> Result<()> {
        let n = self.places.len();
        self.owners.map_or(Ok(()), |owners| expect_length("owners", owners.len(), n))
    }
}

/// The rows asked for, of matrices of which some may be absent.
///
/// # Errors
/// `lengths-differ`, `source-absent`, `row-outside`, `pointers-fall`, `too-many-entries`,
/// `no-memory`.
pub fn taken_from<M: Memory, I: Index, T: Copy + Send + Sync>(
    sources: &[Option<Matrix<'_, I, T>>],
    wanted: Wanted<'_>,
    cores: Cores,
) -> Result<Taken<M, I, T>> {
    wanted.check()?;
    for source in sources.iter().flatten() {
        expect_length("values", source.data.len(), source.pattern.indices.len())?;
    }
    let n = wanted.places.len();
    let (mut indptr, mut starts) = (Array::<M, I>::new(n + 1)?, Array::<M, i64>::new(n)?);
    let n_entries = found_rows(sources, wanted, &mut indptr, &mut starts)?;
    let (mut indices, mut data) = (Array::<M, I>::new(n_entries)?, Array::<M, T>::new(n_entries)?);
    let columns = by_owner(sources, |source| source.pattern.indices);
    let values = by_owner(sources, |source| source.data);
    let (ends, begins) = (indptr.elements(), starts.elements());
    let (to_columns, to_values) = (Shared::new(indices.room()), Shared::new(data.room()));
    let n_pieces = cores.n_pieces(n_entries, SHARE);
    cores.each(n_pieces, |piece| {
        for at in piece * n / n_pieces..(piece + 1) * n / n_pieces {
            if at + AHEAD < n {
                let (owner, start) = (wanted.owner(at + AHEAD), begins[at + AHEAD] as usize);
                let length = ends[at + AHEAD + 1].at() - ends[at + AHEAD].at();
                ask(columns[owner], start, length);
                ask(values[owner], start, length);
            }
            let (owner, start, to) = (wanted.owner(at), begins[at] as usize, ends[at].at());
            let entries = start..start + (ends[at + 1].at() - to);
            // SAFETY: each row has as much room as it has entries, counted before.
            unsafe {
                copy(&columns[owner][entries.clone()], to_columns.at(to).cast());
                copy(&values[owner][entries], to_values.at(to).cast());
            }
        }
    });
    Ok(Taken { rows: Csr { indptr, indices, data }, starts })
}

/// The values alone of rows that were taken before, of matrices of the same patterns.
///
/// # Errors
/// `lengths-differ`, `source-absent`, `pointers-fall`, `pointers-end`, `no-memory`.
pub fn values_from<M: Memory, I: Index, T: Copy + Send + Sync>(
    sources: &[Option<&[T]>],
    owners: &[i64],
    starts: &[i64],
    indptr: &[I],
    cores: Cores,
) -> Result<Array<M, T>> {
    let n = starts.len();
    let wanted = Wanted { owners: Some(owners), places: starts };
    wanted.check()?;
    expect_length("row pointers", indptr.len(), n + 1)?;
    let values: Vec<&[T]> = sources.iter().map(|source| source.unwrap_or(&[])).collect();
    let ends = Pattern { indptr, indices: &[] };
    let mut last = 0;
    for at in 0..n {
        let (from, to) = (indptr[at].at(), indptr[at + 1].at());
        let Some(there) = usize::try_from(owners[at]).ok().and_then(|owner| values.get(owner))
        else {
            return Err(SparseError::SourceAbsent { at, owner: owners[at] });
        };
        if from != last || to < from {
            return Err(ends.falls(at));
        }
        last = to;
        let end = (starts[at] as usize).checked_add(to - from);
        if end.is_none_or(|end| end > there.len()) {
            let end = starts[at].saturating_add((to - from) as i64);
            return Err(SparseError::PointersEnd { end, n_entries: there.len() });
        }
    }
    let mut data = Array::<M, T>::new(last)?;
    let to_values = Shared::new(data.room());
    let n_pieces = cores.n_pieces(last, SHARE);
    cores.each(n_pieces, |piece| {
        for at in piece * n / n_pieces..(piece + 1) * n / n_pieces {
            if at + AHEAD < n {
                let length = indptr[at + AHEAD + 1].at() - indptr[at + AHEAD].at();
                ask(values[wanted.owner(at + AHEAD)], starts[at + AHEAD] as usize, length);
            }
            let (start, to) = (starts[at] as usize, indptr[at].at());
            let entries = start..start + (indptr[at + 1].at() - to);
            // SAFETY: rows lie one behind the other, and the last ends where the room does.
            unsafe { copy(&values[wanted.owner(at)][entries], to_values.at(to).cast()) };
        }
    });
    Ok(data)
}

/// Writes where each row begins, here and in its matrix; how many entries all have.
fn found_rows<M: Memory, I: Index, T>(
    sources: &[Option<Matrix<'_, I, T>>],
    wanted: Wanted<'_>,
    indptr: &mut Array<M, I>,
    starts: &mut Array<M, i64>,
) -> Result<usize> {
    let pointers = by_owner(sources, |source| source.pattern.indptr);
    let lengths: Vec<usize> =
        by_owner(sources, |source| source.data).iter().map(|v| v.len()).collect();
    let (room, begins) = (indptr.room(), starts.room());
    room[0].write(I::from_position(0));
    let (n, mut next) = (wanted.places.len(), 0_usize);
    for at in 0..n {
        if at + 2 * AHEAD < n
            && let Some(there) = pointers.get(wanted.owner(at + 2 * AHEAD))
        {
            prefetch(there.as_ptr().wrapping_add(wanted.places[at + 2 * AHEAD] as usize));
        }
        let owner = wanted.owner(at);
        let Some(there) = pointers.get(owner).filter(|there| !there.is_empty()) else {
            return Err(SparseError::SourceAbsent { at, owner: owner as i64 });
        };
        let n_rows = there.len() - 1;
        let place = wanted.places[at];
        let Some(row) = usize::try_from(place).ok().filter(|row| *row < n_rows) else {
            return Err(SparseError::RowOutside { at, row: place, n_rows });
        };
        // SAFETY: both lie inside. Whoever writes there meanwhile changes numbers, which are
        // looked at once they are here.
        let (start, end) = unsafe {
            let row = there.as_ptr().add(row);
            (row.read_volatile(), row.add(1).read_volatile())
        };
        if start.at() > end.at() || end.at() > lengths[owner] {
            let (start, end) = (start.number(), end.number());
            return Err(SparseError::PointersFall { row, start, end });
        }
        next += end.at() - start.at();
        // What does not fit is found below; nothing is read before.
        room[at + 1].write(I::from_position(next));
        begins[at].write(start.number());
    }
    I::from_count(next)?;
    Ok(next)
}

/// Something of each matrix; nothing of those that are absent.
fn by_owner<'a, I, T, E>(
    sources: &[Option<Matrix<'a, I, T>>],
    get: impl Fn(&Matrix<'a, I, T>) -> &'a [E],
) -> Vec<&'a [E]> {
    sources.iter().map(|source| source.as_ref().map_or(&[][..], &get)).collect()
}

/// Asks for the memory of a row.
#[inline(always)]
fn ask<E>(elements: &[E], start: usize, length: usize) {
    let first = elements.as_ptr().wrapping_add(start);
    // A row may begin in the middle of a line.
    let n_lines = (length * size_of::<E>() / LINE_BYTES + 1).min(MOST_LINES);
    for line in 0..n_lines {
        prefetch(first.wrapping_byte_add(line * LINE_BYTES));
    }
}

/// Copies elements.
///
/// # Safety
/// The target has room for them, which nobody else uses.
#[inline(always)]
unsafe fn copy<E: Copy>(from: &[E], to: *mut E) {
    // SAFETY: the caller's.
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
}
