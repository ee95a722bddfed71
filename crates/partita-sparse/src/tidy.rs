//! Columns of every row in order, each once.

use crate::Cores;
use crate::error::Result;
use crate::index::Index;
use crate::line::{Pair, Target, add_up, close_up, sort};
use crate::matrix::{Matrix, Pattern, expect_length};
use crate::memory::{Array, Csr, Memory};
use crate::number::Number;
use partita_numeric::Shared;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the columns of every row rise.
///
/// # Errors
/// `pointers-fall`.
pub fn is_tidy<I: Index>(pattern: Pattern<'_, I>, cores: Cores) -> Result<bool> {
    pattern.check_rows(cores)?;
    let n_pieces = pattern.n_pieces(1, cores);
    let all = AtomicBool::new(true);
    cores.each(n_pieces, |piece| {
        let rises = |row: usize| {
            let columns = &pattern.indices[pattern.row(row)];
            columns.windows(2).all(|two| two[0] < two[1])
        };
        if !pattern.piece(n_pieces, piece).all(rises) {
            all.store(false, Ordering::Relaxed);
        }
    });
    Ok(all.into_inner())
}

/// The matrix with columns sorted and duplicates added, in their order.
///
/// # Errors
/// `pointers-fall`, `no-memory`.
pub fn tidy<M: Memory, I: Index, T: Number>(
    matrix: Matrix<'_, I, T>,
    cores: Cores,
) -> Result<Csr<M, I, T>> {
    let Matrix { pattern, data: values } = matrix;
    expect_length("values", values.len(), pattern.indices.len())?;
    pattern.check_rows(cores)?;
    let (n_rows, n_entries) = (pattern.n_rows(), pattern.n_entries());
    let mut indptr = Array::<M, I>::new(n_rows + 1)?;
    let (mut indices, mut data) = (Array::<M, I>::new(n_entries)?, Array::<M, T>::new(n_entries)?);
    indptr.room()[0].write(I::from_position(0));
    let n_pieces = pattern.n_pieces(4, cores);
    let mut kept = vec![(0, 0); n_pieces];
    {
        let target = Target::new(&mut indices, &mut data);
        let (counts, kept) = (Shared::new(indptr.room()), Shared::new(&mut kept));
        cores.each(n_pieces, |piece| {
            let rows = pattern.piece(n_pieces, piece);
            let start = pattern.indptr[rows.start].at();
            let mut line = Vec::new();
            let mut next = start;
            for row in rows {
                let entries = pattern.row(row);
                let (columns, values) = (&pattern.indices[entries.clone()], &values[entries]);
                line.clear();
                let pairs = columns.iter().zip(values);
                line.extend(pairs.map(|(column, value)| Pair { column: *column, value: *value }));
                sort(&mut line);
                // SAFETY: rows keep at most the entries that they have, so that they stay inside
                // the stretch of the piece; rows and pieces are the piece's own.
                unsafe {
                    let n = target.write(&line, next);
                    next += n;
                    (*counts.at(row + 1)).write(I::from_position(n));
                }
            }
            // SAFETY: as above.
            unsafe { *kept.at(piece) = (start, next - start) };
        });
    }
    let n_kept = kept.iter().map(|(_, n)| n).sum();
    // SAFETY: every row wrote its count, and every piece what it kept.
    unsafe {
        add_up(indptr.elements_mut());
        close_up(&mut indices, &kept);
        close_up(&mut data, &kept);
    }
    Ok(Csr { indptr, indices: indices.cut(n_kept)?, data: data.cut(n_kept)? })
}
