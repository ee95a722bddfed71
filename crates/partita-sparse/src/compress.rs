//! Triplets in any order become a matrix.

use crate::Cores;
use crate::buckets::{Buckets, Entries};
use crate::error::{Result, SparseError};
use crate::index::Index;
use crate::matrix::{check_inside, expect_length};
use crate::memory::{Csr, Memory};
use crate::number::Number;
use crate::placed::placed;
use std::ops::Range;

/// Entries in any order; as many of each.
#[derive(Debug, Clone, Copy)]
pub struct Triplets<'a, I, T> {
    /// Their rows.
    pub rows: &'a [I],
    /// Their columns.
    pub columns: &'a [I],
    /// Their values.
    pub values: &'a [T],
}

/// Several lists of entries, one behind the other.
pub(crate) struct Lists<'a, I, T> {
    lists: &'a [Triplets<'a, I, T>],
    /// How many entries lie before each list, and in all.
    starts: Vec<usize>,
}

impl<'a, I: Index, T: Copy> Lists<'a, I, T> {
    pub(crate) fn new(lists: &'a [Triplets<'a, I, T>]) -> Self {
        let mut starts = vec![0];
        starts.extend(lists.iter().scan(0, |n, list| {
            *n += list.rows.len();
            Some(*n)
        }));
        Self { lists, starts }
    }

    /// The parts of lists that make up a stretch of all entries.
    fn parts(
        &self,
        entries: Range<usize>,
    ) -> impl Iterator<Item = (Triplets<'a, I, T>, Range<usize>)> {
        self.lists.iter().zip(self.starts.windows(2)).filter_map(move |(list, ends)| {
            let (start, end) = (entries.start.max(ends[0]), entries.end.min(ends[1]));
            (start < end).then(|| (*list, start - ends[0]..end - ends[0]))
        })
    }
}

impl<I: Index, T: Copy + Sync> Entries<I, T> for Lists<'_, I, T> {
    fn n_entries(&self) -> usize {
        self.starts[self.lists.len()]
    }

    #[inline(always)]
    fn each_row(&self, entries: Range<usize>, mut tell: impl FnMut(usize)) {
        for (list, part) in self.parts(entries) {
            list.rows[part].iter().for_each(|row| tell(row.at()));
        }
    }

    #[inline(always)]
    fn each(&self, entries: Range<usize>, mut tell: impl FnMut(usize, I, T)) {
        for (list, part) in self.parts(entries) {
            let rows = &list.rows[part.clone()];
            let (columns, values) = (&list.columns[part.clone()], &list.values[part]);
            for ((row, column), value) in rows.iter().zip(columns).zip(values) {
                tell(row.at(), *column, *value);
            }
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
    shape: [usize; 2],
    cores: Cores,
) -> Result<Csr<M, I, T>> {
    compressed_parts(&[Triplets { rows, columns, values }], shape, cores)
}

/// The same of several lists of triplets, as if they lay one behind the other.
///
/// # Errors
/// As [`compressed`]; an entry is counted in its own list.
pub fn compressed_parts<M: Memory, I: Index, T: Number>(
    lists: &[Triplets<'_, I, T>],
    [n_rows, n_columns]: [usize; 2],
    cores: Cores,
) -> Result<Csr<M, I, T>> {
    let all = Lists::new(lists);
    I::from_count(all.n_entries())?;
    for Triplets { rows, columns, values } in lists {
        expect_length("columns", columns.len(), rows.len())?;
        expect_length("values", values.len(), rows.len())?;
        check_inside(rows, n_rows, cores, |at| SparseError::RowOutside {
            at,
            row: rows[at].number(),
            n_rows,
        })?;
    }
    let buckets = Buckets::<M, I, T>::new(&all, n_rows, cores)?;
    if let Some(found) = placed(&buckets, [n_rows, n_columns], all.n_entries(), cores)? {
        return Ok(found);
    }
    for Triplets { columns, .. } in lists {
        check_inside(columns, n_columns, cores, |at| SparseError::ColumnOutside {
            at,
            column: columns[at].number(),
            n_columns,
        })?;
    }
    // Somebody else has written there meanwhile.
    let (at, column) = (0, n_columns as i64);
    Err(SparseError::ColumnOutside { at, column, n_columns })
}
