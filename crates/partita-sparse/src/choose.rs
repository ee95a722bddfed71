//! Some rows, some columns, and the row of each entry.

use crate::Cores;
use crate::error::{Result, SparseError};
use crate::index::Index;
use crate::level::prefetch;
use crate::line::add_up;
use crate::matrix::{Matrix, Pattern, SHARE, expect_length};
use crate::memory::{Array, Csr, Memory};
use partita_numeric::Shared;

/// How many rows ahead of the one that is copied memory is asked for.
const AHEAD: usize = 12;

/// The rows at positions, in any order, repeated ones too.
///
/// # Errors
/// `pointers-fall`, `row-outside`, `too-many-entries`, `no-memory`.
pub fn taken_rows<M: Memory, I: Index, T: Copy + Send + Sync>(
    matrix: Matrix<'_, I, T>,
    rows: &[i64],
    cores: Cores,
) -> Result<Csr<M, I, T>> {
    let Matrix { pattern, data: values } = matrix;
    expect_length("values", values.len(), pattern.indices.len())?;
    let mut indptr = Array::<M, I>::new(rows.len() + 1)?;
    let n_entries = count_taken(pattern, rows, &mut indptr)?;
    let (mut indices, mut data) = (Array::<M, I>::new(n_entries)?, Array::<M, T>::new(n_entries)?);
    let starts = indptr.elements();
    let (to_columns, to_values) = (Shared::new(indices.room()), Shared::new(data.room()));
    let n_pieces = cores.n_pieces(n_entries, SHARE);
    cores.each(n_pieces, |piece| {
        for at in piece * rows.len() / n_pieces..(piece + 1) * rows.len() / n_pieces {
            if let Some(row) = rows.get(at + AHEAD) {
                let start = pattern.indptr[*row as usize].at();
                prefetch(pattern.indices.as_ptr().wrapping_add(start));
                prefetch(values.as_ptr().wrapping_add(start));
                prefetch(values.as_ptr().wrapping_add(start).wrapping_byte_add(64));
            }
            let entries = pattern.row(rows[at] as usize);
            let columns = &pattern.indices[entries.clone()];
            let place = starts[at].at();
            // SAFETY: each row has as much room as it has entries, counted before.
            unsafe {
                let n = columns.len();
                let columns_to = to_columns.at(place).cast();
                std::ptr::copy_nonoverlapping(columns.as_ptr(), columns_to, n);
                let values = values[entries].as_ptr();
                std::ptr::copy_nonoverlapping(values, to_values.at(place).cast(), n);
            }
        }
    });
    Ok(Csr { indptr, indices, data })
}

/// Writes where each row that is taken begins; how many entries all have.
fn count_taken<M: Memory, I: Index>(
    pattern: Pattern<'_, I>,
    rows: &[i64],
    indptr: &mut Array<M, I>,
) -> Result<usize> {
    let n_rows = pattern.n_rows();
    let (n_entries, room) = (pattern.n_entries(), indptr.room());
    room[0].write(I::from_position(0));
    let mut next = 0_usize;
    for (at, (row, place)) in rows.iter().zip(&mut room[1..]).enumerate() {
        let inside = usize::try_from(*row).ok().filter(|row| *row < n_rows);
        let Some(row) = inside else {
            return Err(SparseError::RowOutside { at, row: *row, n_rows });
        };
        if let Some(ahead) = rows.get(at + 2 * AHEAD) {
            prefetch(pattern.indptr.as_ptr().wrapping_add(*ahead as usize));
        }
        let entries = pattern.row(row);
        if entries.start > entries.end || entries.end > n_entries {
            return Err(pattern.falls(row));
        }
        next += entries.len();
        place.write(I::from_position(next));
    }
    I::from_count(next)?;
    Ok(next)
}

/// The columns with new numbers; those whose number is -1 are dropped. Entries keep their order.
///
/// # Errors
/// `pointers-fall`, `column-outside`, `column-number`, `no-memory`.
pub fn chosen_columns<M: Memory, I: Index, T: Copy + Send + Sync>(
    matrix: Matrix<'_, I, T>,
    new_columns: &[i64],
    cores: Cores,
) -> Result<Csr<M, I, T>> {
    let Matrix { pattern, data: values } = matrix;
    expect_length("values", values.len(), pattern.indices.len())?;
    pattern.check(new_columns.len(), cores)?;
    let fits = |number: &i64| *number >= -1 && *number <= I::LARGEST as i64;
    if let Some(column) = new_columns.iter().position(|number| !fits(number)) {
        return Err(SparseError::ColumnNumber { column, number: new_columns[column] });
    }
    let n_rows = pattern.n_rows();
    let mut indptr = Array::<M, I>::new(n_rows + 1)?;
    indptr.room()[0].write(I::from_position(0));
    let n_pieces = pattern.n_pieces(2, cores);
    let counts = Shared::new(indptr.room());
    cores.each(n_pieces, |piece| {
        for row in pattern.piece(n_pieces, piece) {
            let columns = &pattern.indices[pattern.row(row)];
            let n = columns.iter().filter(|column| new_columns[column.at()] >= 0).count();
            // SAFETY: every row belongs to one piece.
            unsafe { (*counts.at(row + 1)).write(I::from_position(n)) };
        }
    });
    // SAFETY: every row wrote its count.
    unsafe { add_up(indptr.elements_mut()) };
    let starts = indptr.elements();
    let n_entries = starts[n_rows].at();
    let (mut indices, mut data) = (Array::<M, I>::new(n_entries)?, Array::<M, T>::new(n_entries)?);
    let (to_columns, to_values) = (Shared::new(indices.room()), Shared::new(data.room()));
    cores.each(n_pieces, |piece| {
        for row in pattern.piece(n_pieces, piece) {
            let mut place = starts[row].at();
            for at in pattern.row(row) {
                let number = new_columns[pattern.indices[at].at()];
                if number >= 0 {
                    // SAFETY: as many entries were counted before.
                    unsafe {
                        (*to_columns.at(place)).write(I::from_position(number as usize));
                        (*to_values.at(place)).write(values[at]);
                    }
                    place += 1;
                }
            }
        }
    });
    Ok(Csr { indptr, indices, data })
}

/// The row of each entry.
///
/// # Errors
/// `pointers-empty`, `pointers-start`, `pointers-fall`, `no-memory`.
pub fn rows_of<M: Memory, I: Index>(indptr: &[I], cores: Cores) -> Result<Array<M, I>> {
    let [first, ..] = indptr else { return Err(SparseError::PointersEmpty) };
    if first.number() != 0 {
        return Err(SparseError::PointersStart { first: first.number() });
    }
    let pattern = Pattern { indptr, indices: &[] };
    pattern.check_rows(cores)?;
    I::from_count(pattern.n_rows())?;
    let mut rows = Array::<M, I>::new(pattern.n_entries())?;
    let to = Shared::new(rows.room());
    let n_pieces = pattern.n_pieces(1, cores);
    cores.each(n_pieces, |piece| {
        for row in pattern.piece(n_pieces, piece) {
            // SAFETY: rows that never fall do not overlap, and the last one ends where all do.
            let of_row = unsafe { to.slice(pattern.row(row)) };
            of_row.iter_mut().for_each(|to| _ = to.write(I::from_position(row)));
        }
    });
    Ok(rows)
}
