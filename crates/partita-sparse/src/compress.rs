//! Triplets in any order become a matrix.

use crate::Cores;
use crate::buckets::{Buckets, Entries};
use crate::error::{Result, SparseError};
use crate::index::Index;
use crate::line::{Pair, Target, add_up, close_up, sort};
use crate::matrix::{check_inside, expect_length};
use crate::memory::{Array, Csr, Memory};
use crate::number::Number;
use partita_numeric::Shared;
use std::mem::MaybeUninit;
use std::ops::Range;

struct Triplets<'a, I, T> {
    rows: &'a [I],
    columns: &'a [I],
    values: &'a [T],
}

impl<I: Index, T: Number> Entries<I, T> for Triplets<'_, I, T> {
    fn n_entries(&self) -> usize {
        self.rows.len()
    }

    #[inline(always)]
    fn each_row(&self, entries: Range<usize>, mut tell: impl FnMut(usize)) {
        self.rows[entries].iter().for_each(|row| tell(row.at()));
    }

    #[inline(always)]
    fn each(&self, entries: Range<usize>, mut tell: impl FnMut(usize, I, T)) {
        let rows = &self.rows[entries.clone()];
        let (columns, values) = (&self.columns[entries.clone()], &self.values[entries]);
        for ((row, column), value) in rows.iter().zip(columns).zip(values) {
            tell(row.at(), *column, *value);
        }
    }
}

/// The matrix of triplets in any order: columns sorted, duplicates added in their order.
///
/// # Errors
/// `lengths-differ`, `row-outside`, `column-outside`, `too-many-entries`, `no-memory`.
pub fn compressed<M: Memory, I: Index, T: Number>(
    rows: &[I],
    columns: &[I],
    values: &[T],
    [n_rows, n_columns]: [usize; 2],
    cores: Cores,
) -> Result<Csr<M, I, T>> {
    expect_length("columns", columns.len(), rows.len())?;
    expect_length("values", values.len(), rows.len())?;
    I::from_count(rows.len())?;
    check_inside(rows, n_rows, cores, |at| SparseError::RowOutside {
        at,
        row: rows[at].number(),
        n_rows,
    })?;
    check_inside(columns, n_columns, cores, |at| SparseError::ColumnOutside {
        at,
        column: columns[at].number(),
        n_columns,
    })?;
    let buckets = Buckets::<M, I, T>::new(&Triplets { rows, columns, values }, n_rows, cores)?;
    tidied(&buckets, n_rows, rows.len(), cores)
}

fn tidied<M: Memory, I: Index, T: Number>(
    buckets: &Buckets<M, I, T>,
    n_rows: usize,
    n_entries: usize,
    cores: Cores,
) -> Result<Csr<M, I, T>> {
    let mut indptr = Array::<M, I>::new(n_rows + 1)?;
    let (mut indices, mut data) = (Array::<M, I>::new(n_entries)?, Array::<M, T>::new(n_entries)?);
    indptr.room()[0].write(I::from_position(0));
    let mut kept = vec![(0, 0); buckets.n_buckets()];
    {
        let target = Target::new(&mut indices, &mut data);
        let (counts, kept) = (Shared::new(indptr.room()), Shared::new(&mut kept));
        buckets.each(cores, |group| {
            let (mut starts, mut pairs) = (Vec::new(), Vec::new());
            for bucket in group {
                let range = buckets.range(bucket);
                let by_row = in_rows(buckets, bucket, &mut starts, &mut pairs);
                let (mut next, mut begin) = (range.start, 0);
                for (row, end) in buckets.rows(bucket).zip(&starts) {
                    let line = &mut by_row[begin..*end];
                    begin = *end;
                    sort(line);
                    // SAFETY: rows keep at most the entries that the bucket has, and every bucket
                    // has its own stretch, its own rows and its own place among those kept.
                    unsafe {
                        let n = target.write(line, next);
                        next += n;
                        (*counts.at(row + 1)).write(I::from_position(n));
                    }
                }
                // SAFETY: as above.
                unsafe { *kept.at(bucket) = (range.start, next - range.start) };
            }
        });
    }
    let n_kept = kept.iter().map(|(_, n)| n).sum();
    // SAFETY: every row wrote its count, and every bucket what it kept.
    unsafe {
        add_up(indptr.elements_mut());
        close_up(&mut indices, &kept);
        close_up(&mut data, &kept);
    }
    Ok(Csr { indptr, indices: indices.cut(n_kept)?, data: data.cut(n_kept)? })
}

/// A bucket's entries by rows; `starts` says where each row ends.
fn in_rows<'a, M: Memory, I: Index, T: Number>(
    buckets: &Buckets<M, I, T>,
    bucket: usize,
    starts: &mut Vec<usize>,
    pairs: &'a mut Vec<Pair<I, T>>,
) -> &'a mut [Pair<I, T>] {
    buckets.count_rows(bucket, starts);
    let entries = buckets.entries(bucket);
    pairs.clear();
    pairs.reserve(entries.len());
    let room: &mut [MaybeUninit<Pair<I, T>>] = &mut pairs.spare_capacity_mut()[..entries.len()];
    for entry in entries {
        // Each start moves on until it is where its row ends.
        let place = &mut starts[entry.row as usize];
        room[*place].write(Pair { column: entry.column, value: entry.value });
        *place += 1;
    }
    // SAFETY: the counts of rows sum up to the entries, so that every place was written.
    unsafe { pairs.set_len(entries.len()) };
    pairs
}
