//! Entries in any order, brought into buckets of neighbouring rows.
//!
//! Entries that are written wherever their rows begin miss the caches and the translation of
//! addresses one by one. A few hundred buckets can be written at once, and a bucket fits into the
//! cache where its entries then find their rows. Entries of a row keep their order.

use crate::Cores;
use crate::error::Result;
use crate::index::Index;
use crate::matrix::SHARE;
use crate::memory::{Array, Memory};
use partita_numeric::Shared;
use std::ops::Range;

/// Entries that a bucket should have.
const FULL: usize = 1 << 14;
const MOST_BUCKETS: usize = 1 << 10;

/// Entries of a matrix, which can be told in their order, each once.
pub(crate) trait Entries<I, T>: Sync {
    /// How many there are.
    fn n_entries(&self) -> usize;
    /// Calls `tell` with the row of each of these entries; all are inside.
    fn each_row(&self, entries: Range<usize>, tell: impl FnMut(usize));
    /// Calls `tell` with row, column and value of each of these entries.
    fn each(&self, entries: Range<usize>, tell: impl FnMut(usize, I, T));
}

/// An entry in its bucket.
#[derive(Clone, Copy)]
pub(crate) struct Entry<I, T> {
    /// Counted from the bucket's first row.
    pub row: u32,
    pub column: I,
    pub value: T,
}

/// Entries by buckets of `2^shift` rows.
pub(crate) struct Buckets<M, I, T> {
    entries: Array<M, Entry<I, T>>,
    starts: Vec<usize>,
    shift: u32,
    n_rows: usize,
}

impl<M: Memory, I: Index, T: Copy + Send + Sync> Buckets<M, I, T> {
    /// Brings entries into buckets.
    pub(crate) fn new<E: Entries<I, T>>(from: &E, n_rows: usize, cores: Cores) -> Result<Self> {
        let n = from.n_entries();
        let wanted = (n / FULL).next_power_of_two().min(MOST_BUCKETS);
        let last_row = n_rows.saturating_sub(1);
        let shift = (usize::BITS - last_row.leading_zeros())
            .saturating_sub(wanted.trailing_zeros())
            .min(u32::BITS);
        let n_buckets = (last_row >> shift) + 1;

        let n_pieces = cores.n_pieces(n, SHARE);
        let cut = |piece: usize| (n as u128 * piece as u128 / n_pieces as u128) as usize;
        let mut places = vec![0_usize; n_pieces * n_buckets];
        let shared = Shared::new(&mut places);
        // SAFETY: every piece has places of its own.
        let of_piece =
            |piece: usize| unsafe { shared.slice(piece * n_buckets..(piece + 1) * n_buckets) };
        cores.each(n_pieces, |piece| {
            let counts = of_piece(piece);
            from.each_row(cut(piece)..cut(piece + 1), |row| counts[row >> shift] += 1);
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

        // Hundreds of places that are written in turns need huge pages.
        let mut entries = Array::<M, Entry<I, T>>::scratch(n)?;
        let room = Shared::new(entries.room());
        let mask = (1_usize << shift) - 1;
        cores.each(n_pieces, |piece| {
            let places = of_piece(piece);
            from.each(cut(piece)..cut(piece + 1), |row, column, value| {
                let place = &mut places[row >> shift];
                let entry = Entry { row: (row & mask) as u32, column, value };
                // SAFETY: the same rows were counted before, so that each place is inside and
                // belongs to one entry.
                unsafe { (*room.at(*place)).write(entry) };
                *place += 1;
            });
        });
        Ok(Self { entries, starts, shift, n_rows })
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

    /// The rows of a bucket.
    pub(crate) fn rows(&self, bucket: usize) -> Range<usize> {
        let start = bucket << self.shift;
        start..(start + (1 << self.shift)).min(self.n_rows)
    }

    /// Calls `work` with stretches of buckets that cover all.
    pub(crate) fn each(&self, cores: Cores, work: impl Fn(Range<usize>) + Sync) {
        let n = self.n_buckets();
        let n_groups = cores.n_pieces(self.entries.elements().len(), SHARE).min(n);
        cores.each(n_groups, |group| work(group * n / n_groups..(group + 1) * n / n_groups));
    }

    /// Where each row of a bucket begins among the bucket's entries, and where the last one ends.
    pub(crate) fn count_rows(&self, bucket: usize, starts: &mut Vec<usize>) {
        starts.clear();
        starts.resize(self.rows(bucket).len() + 1, 0);
        for entry in self.entries(bucket) {
            starts[entry.row as usize + 1] += 1;
        }
        let mut next = 0;
        for start in starts {
            next += *start;
            *start = next;
        }
    }
}
