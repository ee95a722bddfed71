//! Entries for several stretches of rows, each of which is wanted elsewhere.
//!
//! Whoever knows entries brings them into buckets; whoever wants a stretch gets its buckets of
//! everybody, and has nothing more to move than the entries of each bucket into their rows.

use crate::Cores;
use crate::buckets::{Buckets, Entry};
use crate::compress::{Lists, Triplets};
use crate::cutting::Cutting;
use crate::error::{Result, SparseError};
use crate::index::Index;
use crate::matrix::expect_length;
use crate::memory::{Array, Csr, Memory};
use crate::number::Number;
use crate::placed::{Bucketed, placed};
use std::ops::Range;

/// Entries one stretch behind the other, by buckets; those of a row keep their order.
#[derive(Debug)]
pub struct Grouped<M, I, T> {
    /// All of them.
    pub entries: Array<M, Entry<I, T>>,
    /// For each stretch, how many entries each of its buckets has.
    pub counts: Vec<Vec<usize>>,
}

/// What somebody has for a stretch.
#[derive(Debug, Clone, Copy)]
pub struct Group<'a, I, T> {
    /// As [`grouped`] has them.
    pub entries: &'a [Entry<I, T>],
    /// Of each bucket of the stretch.
    pub counts: &'a [usize],
}

impl<'a, I: Index, T: Number> Group<'a, I, T> {
    /// Entries that have travelled as bytes.
    ///
    /// # Errors
    /// `lengths-differ`.
    pub fn from_bytes(bytes: &'a [u8], counts: &'a [usize]) -> Result<Self> {
        let width = size_of::<Entry<I, T>>();
        let n = bytes.len() / width;
        expect_length("bytes", bytes.len(), n * width)?;
        // SAFETY: an entry may lie at any address, and its index and number may be any bytes.
        let entries = unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), n) };
        Ok(Group { entries, counts })
    }
}

/// Brings entries into the buckets of stretches: `cuts` says where each begins, and where the last
/// one ends. `n_entries` are those that all who take part have, by which they agree on buckets.
///
/// # Errors
/// `lengths-differ`, `pointers-empty`, `pointers-start`, `pointers-fall`, `row-outside`,
/// `no-memory`.
pub fn grouped<M: Memory, I: Index, T: Copy + Send + Sync>(
    triplets: Triplets<'_, I, T>,
    cuts: &[usize],
    n_entries: usize,
    cores: Cores,
) -> Result<Grouped<M, I, T>> {
    let Triplets { rows, columns, values } = triplets;
    let n = rows.len();
    expect_length("columns", columns.len(), n)?;
    expect_length("values", values.len(), n)?;
    let cutting = cutting(cuts, n_entries)?;
    let n_rows = cuts[cuts.len() - 1];
    // Without an early end the loop is vectorised.
    let is_inside = |row: &I| row.at() < n_rows;
    if !rows.iter().fold(true, |all, row| all & is_inside(row)) {
        let at = rows.iter().position(|row| !is_inside(row)).unwrap_or(0);
        return Err(SparseError::RowOutside { at, row: rows[at].number(), n_rows });
    }
    let lists = [triplets];
    let room = Array::<M, Entry<I, T>>::new(n)?;
    let filled = Buckets::filled(&Lists::new(&lists), cutting.clone(), room, cores);
    let (entries, all) = filled.into_entries();
    let stretches = 0..cutting.n_stretches();
    let counts = stretches.map(|stretch| all[cutting.of_stretch(stretch)].to_vec()).collect();
    Ok(Grouped { entries, counts })
}

/// The matrix of a stretch, of what everybody has for it, as if that lay one behind the other:
/// columns sorted, duplicates added. Cuts and `n_entries` are those of [`grouped`].
///
/// # Errors
/// `lengths-differ`, `pointers-empty`, `pointers-start`, `pointers-fall`, `too-many-entries`,
/// `entry-outside`, `no-memory`.
pub fn compressed_groups<M: Memory, I: Index, T: Number>(
    groups: &[Group<'_, I, T>],
    (cuts, stretch): (&[usize], usize),
    n_entries: usize,
    n_columns: usize,
    cores: Cores,
) -> Result<Csr<M, I, T>> {
    let cutting = cutting(cuts, n_entries)?;
    expect_length("stretches", cutting.n_stretches().max(stretch + 1), cutting.n_stretches())?;
    let n_buckets = cutting.of_stretch(stretch).len();
    let mut n_before = vec![0; n_buckets + 1];
    let mut starts = Vec::new();
    for Group { entries, counts } in groups {
        expect_length("buckets", counts.len(), n_buckets)?;
        let mut own = vec![0_usize; n_buckets + 1];
        for (bucket, count) in counts.iter().enumerate() {
            own[bucket + 1] = own[bucket].saturating_add(*count);
            n_before[bucket + 1] = count.saturating_add(n_before[bucket + 1]);
        }
        expect_length("entries", entries.len(), own[n_buckets])?;
        starts.push(own);
    }
    for bucket in 0..n_buckets {
        n_before[bucket + 1] += n_before[bucket];
    }
    I::from_count(n_before[n_buckets])?;
    let n_rows = cutting.stretch(stretch).len();
    let gathered = Gathered { groups, starts, n_before, cutting, stretch };
    let found = placed(&gathered, [n_rows, n_columns], gathered.n_before[n_buckets], cores)?;
    found.ok_or(SparseError::EntryOutside { n_rows, n_columns })
}

fn cutting(cuts: &[usize], n_entries: usize) -> Result<Cutting> {
    let [first, inner @ .., end] = cuts else { return Err(SparseError::PointersEmpty) };
    if *first != 0 {
        return Err(SparseError::PointersStart { first: *first as i64 });
    }
    if let Some(row) = cuts.windows(2).position(|two| two[0] > two[1]) {
        let (start, end) = (cuts[row] as i64, cuts[row + 1] as i64);
        return Err(SparseError::PointersFall { row, start, end });
    }
    Ok(Cutting::new(*end, n_entries, inner))
}

/// The buckets of a stretch, each in as many parts as there are groups.
struct Gathered<'a, I, T> {
    groups: &'a [Group<'a, I, T>],
    /// For each group, where its buckets begin, and where the last one ends.
    starts: Vec<Vec<usize>>,
    /// How many entries of all groups lie before each bucket, and in all.
    n_before: Vec<usize>,
    cutting: Cutting,
    stretch: usize,
}

impl<I, T> Gathered<'_, I, T> {
    /// The rows of a bucket among those of all stretches.
    fn all_rows(&self, bucket: usize) -> Range<usize> {
        let first = self.cutting.of_stretch(self.stretch).start;
        self.cutting.rows(first + bucket, self.stretch)
    }
}

impl<I: Index, T: Number> Bucketed<I, T> for Gathered<'_, I, T> {
    fn n_buckets(&self) -> usize {
        self.n_before.len() - 1
    }

    fn range(&self, bucket: usize) -> Range<usize> {
        self.n_before[bucket]..self.n_before[bucket + 1]
    }

    fn rows(&self, bucket: usize) -> Range<usize> {
        let (rows, start) = (self.all_rows(bucket), self.cutting.stretch(self.stretch).start);
        rows.start - start..rows.end - start
    }

    fn n_skipped(&self, bucket: usize) -> usize {
        self.cutting.in_block(self.all_rows(bucket).start) as usize
    }

    fn parts<'a>(&'a self, bucket: usize) -> impl Iterator<Item = &'a [Entry<I, T>]>
    where
        Entry<I, T>: 'a,
    {
        self.groups
            .iter()
            .zip(&self.starts)
            .map(move |(group, starts)| &group.entries[starts[bucket]..starts[bucket + 1]])
    }
}
