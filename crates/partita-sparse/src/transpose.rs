//! A matrix turned: columns become rows.

use crate::Cores;
use crate::buckets::{Buckets, Entries};
use crate::error::Result;
use crate::first_error::FirstError;
use crate::index::Index;
use crate::matrix::{Matrix, Pattern, expect_length};
use crate::memory::{Array, Csr, Memory};
use partita_numeric::Shared;
use std::ops::Range;

/// Entries of a checked pattern, each with what `value` says of its number.
struct Turned<'a, I, F> {
    pattern: Pattern<'a, I>,
    value: F,
}

impl<I: Index, T, F: Fn(usize) -> T + Sync> Entries<I, T> for Turned<'_, I, F> {
    fn n_entries(&self) -> usize {
        self.pattern.n_entries()
    }

    #[inline(always)]
    fn each_row(&self, entries: Range<usize>, mut tell: impl FnMut(usize)) {
        self.pattern.indices[entries].iter().for_each(|column| tell(column.at()));
    }

    #[inline(always)]
    fn each(&self, entries: Range<usize>, mut tell: impl FnMut(usize, I, T)) {
        let indptr = self.pattern.indptr;
        // The last row that begins at or before the first entry.
        let mut row = indptr.partition_point(|start| start.at() <= entries.start).max(1) - 1;
        let mut at = entries.start;
        while at < entries.end {
            let end = indptr[row + 1].at().min(entries.end);
            let number = I::from_position(row);
            for at in at..end {
                tell(self.pattern.indices[at].at(), number, (self.value)(at));
            }
            (at, row) = (end, row + 1);
        }
    }
}

/// The matrix with rows and columns exchanged; columns of each row are sorted.
///
/// # Errors
/// `pointers-fall`, `column-outside`, `too-many-entries`, `no-memory`.
pub fn transposed<M: Memory, I: Index, T: Copy + Send + Sync>(
    matrix: Matrix<'_, I, T>,
    n_columns: usize,
    cores: Cores,
) -> Result<Csr<M, I, T>> {
    let Matrix { pattern, data } = matrix;
    expect_length("values", data.len(), pattern.indices.len())?;
    turned(pattern, n_columns, |at| data[at], cores)
}

/// The same, with the position of each entry instead of its value.
///
/// # Errors
/// As [`transposed`].
pub fn transposed_order<M: Memory, I: Index>(
    pattern: Pattern<'_, I>,
    n_columns: usize,
    cores: Cores,
) -> Result<Csr<M, I, i64>> {
    turned(pattern, n_columns, |at| at as i64, cores)
}

fn turned<M: Memory, I: Index, T: Copy + Send + Sync>(
    pattern: Pattern<'_, I>,
    n_columns: usize,
    value: impl Fn(usize) -> T + Sync,
    cores: Cores,
) -> Result<Csr<M, I, T>> {
    pattern.check(n_columns, cores)?;
    // Rows become columns.
    I::from_count(pattern.n_rows())?;
    let n_entries = pattern.n_entries();
    let mut indptr = Array::<M, I>::new(n_columns + 1)?;
    let (mut indices, mut data) = (Array::<M, I>::new(n_entries)?, Array::<M, T>::new(n_entries)?);
    indptr.room()[0].write(I::from_position(0));
    let buckets = Buckets::<M, I, T>::new(&Turned { pattern, value }, n_columns, cores)?;
    let ends = Shared::new(indptr.room());
    let (columns, values) = (Shared::new(indices.room()), Shared::new(data.room()));
    let errors = FirstError::default();
    buckets.each(cores, |group| {
        let mut starts = Vec::new();
        for bucket in group {
            if let Err(error) = buckets.count_rows(bucket, &mut starts) {
                return errors.note(bucket, Err(error));
            }
            let first = buckets.range(bucket).start;
            for entry in buckets.entries(bucket) {
                let place = &mut starts[entry.row as usize];
                // SAFETY: rows were counted, so that places are inside the bucket's own stretch.
                unsafe {
                    (*columns.at(first + *place)).write(entry.column);
                    (*values.at(first + *place)).write(entry.value);
                }
                *place += 1;
            }
            for (row, end) in buckets.rows(bucket).zip(&starts) {
                // SAFETY: every bucket has its own rows.
                unsafe { (*ends.at(row + 1)).write(I::from_position(first + end)) };
            }
        }
    });
    errors.outcome()?;
    Ok(Csr { indptr, indices, data })
}
