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
struct Lists<'a, I, T> {
    lists: &'a [Triplets<'a, I, T>],
    /// How many entries lie before each list, and in all.
    starts: Vec<usize>,
}

impl<'a, I: Index, T: Number> Lists<'a, I, T> {
    fn new(lists: &'a [Triplets<'a, I, T>]) -> Self {
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

impl<I: Index, T: Number> Entries<I, T> for Lists<'_, I, T> {
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
        check_inside(columns, n_columns, cores, |at| SparseError::ColumnOutside {
            at,
            column: columns[at].number(),
            n_columns,
        })?;
    }
    let buckets = Buckets::<M, I, T>::new(&all, n_rows, cores)?;
    tidied(&buckets, n_rows, all.n_entries(), cores)
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
