//! Some rows, some columns, and the row of each entry.

use crate::Cores;
use crate::error::{Result, SparseError};
use crate::index::Index;
use crate::line::add_up;
use crate::matrix::{Matrix, Pattern, expect_length};
use crate::memory::{Array, Csr, Memory};
use crate::several::{Wanted, taken_from};
use partita_numeric::Shared;

/// The rows at positions, in any order, repeated ones too.
///
/// # Errors
/// `pointers-fall`, `row-outside`, `too-many-entries`, `no-memory`.
pub fn taken_rows<M: Memory, I: Index, T: Copy + Send + Sync>(
    matrix: Matrix<'_, I, T>,
    rows: &[i64],
    cores: Cores,
) -> Result<Csr<M, I, T>> {
    let wanted = Wanted { owners: None, places: rows };
    taken_from(&[Some(matrix)], wanted, cores).map(|taken| taken.rows)
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
