//! Buckets of entries become rows: columns sorted, duplicates added.

use crate::Cores;
use crate::buckets::{Buckets, Entry, each_group};
use crate::error::Result;
use crate::first_error::FirstError;
use crate::index::Index;
use crate::level::{Loop, at_level};
use crate::line::{Pair, Target, add_up, close_up, sort};
use crate::memory::{Array, Csr, Memory, refill};
use crate::number::Number;
use partita_numeric::Shared;
use std::ops::Range;

/// Rows up to this length are sorted by comparing each column with all others.
const WIDE: usize = 32;

/// Entries in buckets, which follow each other as their rows do.
pub(crate) trait Bucketed<I, T>: Sync {
    fn n_buckets(&self) -> usize;
    /// Where the entries of a bucket lie among all.
    fn range(&self, bucket: usize) -> Range<usize>;
    /// The rows of a bucket in the result.
    fn rows(&self, bucket: usize) -> Range<usize>;
    /// How many rows of the bucket's block lie before its first.
    fn n_skipped(&self, bucket: usize) -> usize;
    /// Its entries, in their order.
    fn parts<'a>(&'a self, bucket: usize) -> impl Iterator<Item = &'a [Entry<I, T>]>
    where
        Entry<I, T>: 'a;
}

impl<M: Memory, I: Index, T: Number> Bucketed<I, T> for Buckets<M, I, T> {
    fn n_buckets(&self) -> usize {
        self.n_buckets()
    }

    fn range(&self, bucket: usize) -> Range<usize> {
        self.range(bucket)
    }

    fn rows(&self, bucket: usize) -> Range<usize> {
        self.rows(bucket)
    }

    fn n_skipped(&self, _bucket: usize) -> usize {
        0
    }

    fn parts<'a>(&'a self, bucket: usize) -> impl Iterator<Item = &'a [Entry<I, T>]>
    where
        Entry<I, T>: 'a,
    {
        std::iter::once(self.entries(bucket))
    }
}

/// The matrix of entries in buckets; none if a row or a column of one is outside.
pub(crate) fn placed<M: Memory, I: Index, T: Number>(
    buckets: &impl Bucketed<I, T>,
    [n_rows, n_columns]: [usize; 2],
    n_entries: usize,
    cores: Cores,
) -> Result<Option<Csr<M, I, T>>> {
    let mut indptr = Array::<M, I>::new(n_rows + 1)?;
    let (mut indices, mut data) = (Array::<M, I>::new(n_entries)?, Array::<M, T>::new(n_entries)?);
    indptr.room()[0].write(I::from_position(0));
    // Where the entries of each bucket begin, how many are left, and whether they are inside.
    let mut kept = vec![(0, 0, false); buckets.n_buckets()];
    let errors = FirstError::default();
    {
        let target = Target::new(&mut indices, &mut data);
        let (counts, kept) = (Shared::new(indptr.room()), Shared::new(&mut kept));
        each_group(buckets.n_buckets(), n_entries, cores, |group| {
            let mut room = Room::default();
            for bucket in group {
                let (start, rows) = (buckets.range(bucket).start, buckets.rows(bucket));
                let is_inside = match room.take(buckets, bucket, n_columns) {
                    Ok(is_inside) => is_inside,
                    Err(error) => return errors.note(bucket, Err(error)),
                };
                let mut n_left = 0;
                if is_inside {
                    let to = Lines { room: &mut room, target: &target, place: start };
                    n_left = at_level(cores.level, to);
                }
                for (row, n) in rows.zip(&room.lengths) {
                    // SAFETY: every bucket has its own rows.
                    unsafe { (*counts.at(row + 1)).write(I::from_position(*n)) };
                }
                // SAFETY: every bucket has its own place among those kept.
                unsafe { *kept.at(bucket) = (start, n_left, is_inside) };
            }
        });
    }
    errors.outcome()?;
    if kept.iter().any(|(_, _, is_inside)| !is_inside) {
        return Ok(None);
    }
    let kept: Vec<(usize, usize)> = kept.iter().map(|(start, n, _)| (*start, *n)).collect();
    let n_kept = kept.iter().map(|(_, n)| n).sum();
    // SAFETY: every row wrote its count, and every bucket what it kept.
    unsafe {
        add_up(indptr.elements_mut());
        close_up(&mut indices, &kept);
        close_up(&mut data, &kept);
    }
    Ok(Some(Csr { indptr, indices: indices.cut(n_kept)?, data: data.cut(n_kept)? }))
}

/// The entries of one bucket by rows. Columns have room behind them, so that a row can be loaded
/// together with whatever follows.
struct Room<I, T> {
    /// Where each row ends.
    ends: Vec<usize>,
    columns: Vec<I>,
    values: Vec<T>,
    /// How many entries of each row are left.
    lengths: Vec<usize>,
    pairs: Vec<Pair<I, T>>,
}

impl<I, T> Default for Room<I, T> {
    fn default() -> Self {
        let (ends, lengths, pairs) = (Vec::new(), Vec::new(), Vec::new());
        Room { ends, columns: Vec::new(), values: Vec::new(), lengths, pairs }
    }
}

impl<I: Index, T: Number> Room<I, T> {
    /// Brings the entries of a bucket into their rows; false if one is outside.
    fn take(
        &mut self,
        from: &impl Bucketed<I, T>,
        bucket: usize,
        n_columns: usize,
    ) -> Result<bool> {
        let (n, n_rows) = (from.range(bucket).len(), from.rows(bucket).len());
        let n_skipped = from.n_skipped(bucket);
        refill(&mut self.lengths, n_rows, 0)?;
        // Behind the last row those are counted that are in none.
        refill(&mut self.ends, n_rows + 2, 0)?;
        let mut is_inside = true;
        for part in from.parts(bucket) {
            for entry in part {
                let (row, column) = ((entry.row as usize).wrapping_sub(n_skipped), entry.column);
                is_inside &= (row < n_rows) & (column.at() < n_columns);
                self.ends[row.min(n_rows) + 1] += 1;
            }
        }
        if !is_inside {
            return Ok(false);
        }
        let mut next = 0;
        for end in &mut self.ends {
            next += *end;
            *end = next;
        }
        if self.columns.len() < n + WIDE {
            refill(&mut self.columns, n + WIDE, I::from_position(0))?;
            refill(&mut self.values, n, T::ZERO)?;
        }
        let (columns, values) = (&mut self.columns[..n], &mut self.values[..n]);
        for part in from.parts(bucket) {
            for entry in part {
                // Each start moves on until it is where its row ends.
                let place = &mut self.ends[entry.row as usize - n_skipped];
                columns[*place] = entry.column;
                values[*place] = entry.value;
                *place += 1;
            }
        }
        Ok(true)
    }
}

/// Writes the rows of a bucket from a place on; how many entries are left.
struct Lines<'a, I, T> {
    room: &'a mut Room<I, T>,
    target: &'a Target<I, T>,
    place: usize,
}

impl<I: Index, T: Number> Loop for Lines<'_, I, T> {
    type Result = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let Room { ends, columns, values, lengths, pairs } = self.room;
        let (mut next, mut begin) = (self.place, 0);
        for (length, end) in lengths.iter_mut().zip(ends.iter()) {
            let (from, line) = (&columns[begin..], &values[begin..*end]);
            // SAFETY: rows keep at most the entries that the bucket has, and every bucket has its
            // own stretch of the target.
            let n = unsafe {
                let is_written = match line.len() {
                    0 => true,
                    1..=8 => self.target.write_distinct::<8>(from, line, next),
                    9..=16 => self.target.write_distinct::<16>(from, line, next),
                    17..=WIDE => self.target.write_distinct::<WIDE>(from, line, next),
                    _ => false,
                };
                if is_written {
                    line.len()
                } else {
                    let both = line.iter().zip(from);
                    pairs.clear();
                    pairs.extend(
                        both.map(|(value, column)| Pair { column: *column, value: *value }),
                    );
                    sort(pairs);
                    self.target.write(pairs, next)
                }
            };
            *length = n;
            (next, begin) = (next + n, *end);
        }
        next - self.place
    }
}
