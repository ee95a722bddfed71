//! Entries in any order, brought into buckets of neighbouring rows.
//!
//! Entries that are written wherever their rows begin miss the caches and the translation of
//! addresses one by one. A few hundred buckets can be written at once, and a bucket fits into the
//! cache where its entries then find their rows. Entries of a row keep their order.

use crate::Cores;
use crate::cutting::Cutting;
use crate::error::Result;
use crate::index::Index;
use crate::matrix::SHARE;
use crate::memory::{Array, Memory, refill};
use partita_numeric::Shared;
use std::ops::Range;

/// Entries of a matrix, which can be told in their order, each once.
pub(crate) trait Entries<I, T>: Sync {
    /// How many there are.
    fn n_entries(&self) -> usize;
    /// Calls `tell` with the row of each of these entries; all are inside.
    fn each_row(&self, entries: Range<usize>, tell: impl FnMut(usize));
    /// Calls `tell` with row, column and value of each of these entries.
    fn each(&self, entries: Range<usize>, tell: impl FnMut(usize, I, T));
}

/// An entry in its bucket. It may travel as bytes, all of which are its own.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub struct Entry<I, T> {
    /// Counted from the first row of the bucket's block.
    pub(crate) row: u32,
    pub(crate) column: I,
    pub(crate) value: T,
}

impl<I, T> std::fmt::Debug for Entry<I, T> {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Entry").field("row", &{ self.row }).finish_non_exhaustive()
    }
}

/// Entries by buckets.
pub(crate) struct Buckets<M, I, T> {
    entries: Array<M, Entry<I, T>>,
    starts: Vec<usize>,
    cutting: Cutting,
}

impl<M: Memory, I: Index, T: Copy + Send + Sync> Buckets<M, I, T> {
    /// Brings entries into buckets, in memory for the time of a call.
    pub(crate) fn new<E: Entries<I, T>>(from: &E, n_rows: usize, cores: Cores) -> Result<Self> {
        let cutting = Cutting::new(n_rows, from.n_entries(), &[]);
        // Hundreds of places that are written in turns need huge pages.
        let entries = Array::scratch(from.n_entries())?;
        Ok(Self::filled(from, cutting, entries, cores))
    }

    /// The same in buckets and memory of the caller's choice: as much as there are entries.
    pub(crate) fn filled<E: Entries<I, T>>(
        from: &E,
        cutting: Cutting,
        mut entries: Array<M, Entry<I, T>>,
        cores: Cores,
    ) -> Self {
        let (n, n_buckets) = (from.n_entries(), cutting.n_buckets());
        let n_pieces = cores.n_pieces(n, SHARE);
        let cut = |piece: usize| (n as u128 * piece as u128 / n_pieces as u128) as usize;
        let mut places = vec![0_usize; n_pieces * n_buckets];
        let shared = Shared::new(&mut places);
        // SAFETY: every piece has places of its own.
        let of_piece =
            |piece: usize| unsafe { shared.slice(piece * n_buckets..(piece + 1) * n_buckets) };
        cores.each(n_pieces, |piece| {
            let counts = of_piece(piece);
            from.each_row(cut(piece)..cut(piece + 1), |row| counts[cutting.bucket(row)] += 1);
        });
        let mut starts = Vec::with_capacity(n_buckets + 1);
        let mut next = 0;
        for bucket in 0..n_buckets {
            starts.push(next);
            for piece in 0..n_pieces {
                let count = std::mem::replace(&mut of_piece(piece)[bucket], next);
                next += count;
            }
        }
        starts.push(next);

        let room = Shared::new(entries.room());
        cores.each(n_pieces, |piece| {
            let places = of_piece(piece);
            from.each(cut(piece)..cut(piece + 1), |row, column, value| {
                let place = &mut places[cutting.bucket(row)];
                let entry = Entry { row: cutting.in_block(row), column, value };
                // SAFETY: the same rows were counted before, so that each place is inside and
                // belongs to one entry.
                unsafe { (*room.at(*place)).write(entry) };
                *place += 1;
            });
        });
        Self { entries, starts, cutting }
    }

    pub(crate) fn n_buckets(&self) -> usize {
        self.starts.len() - 1
    }

    /// Where the entries of a bucket lie among all.
    pub(crate) fn range(&self, bucket: usize) -> Range<usize> {
        self.starts[bucket]..self.starts[bucket + 1]
    }

    pub(crate) fn entries(&self, bucket: usize) -> &[Entry<I, T>] {
        &self.entries.elements()[self.range(bucket)]
    }

    /// All entries, and how many each bucket has.
    pub(crate) fn into_entries(self) -> (Array<M, Entry<I, T>>, Vec<usize>) {
        (self.entries, self.starts.windows(2).map(|two| two[1] - two[0]).collect())
    }

    /// The rows of a bucket, where there is one stretch.
    pub(crate) fn rows(&self, bucket: usize) -> Range<usize> {
        self.cutting.rows(bucket, 0)
    }

    /// Calls `work` with stretches of buckets that cover all.
    pub(crate) fn each(&self, cores: Cores, work: impl Fn(Range<usize>) + Sync) {
        each_group(self.n_buckets(), self.entries.elements().len(), cores, work);
    }

    /// Where each row of a bucket begins among the bucket's entries, and where the last one ends.
    pub(crate) fn count_rows(&self, bucket: usize, starts: &mut Vec<usize>) -> Result<()> {
        refill(starts, self.rows(bucket).len() + 1, 0)?;
        for entry in self.entries(bucket) {
            starts[entry.row as usize + 1] += 1;
        }
        let mut next = 0;
        for start in starts {
            next += *start;
            *start = next;
        }
        Ok(())
    }
}

/// Calls `work` with stretches of buckets that cover all, as many as so many entries are worth.
pub(crate) fn each_group(
    n_buckets: usize,
    n_entries: usize,
    cores: Cores,
    work: impl Fn(Range<usize>) + Sync,
) {
    let n_groups = cores.n_pieces(n_entries, SHARE).min(n_buckets);
    cores.each(n_groups, |group| {
        work(group * n_buckets / n_groups..(group + 1) * n_buckets / n_groups);
    });
}
