//! Rows cut into buckets: blocks of `2^shift` rows, and at the cuts between stretches too.
//!
//! Ranks that know the cuts and the number of all entries have the same buckets.

use std::ops::Range;

/// Entries that a bucket should have.
const FULL: usize = 1 << 14;
const MOST_BUCKETS: usize = 1 << 10;
/// So many cuts are told apart by comparisons, which cost less than branches; more by halving.
const FEW: usize = 8;

/// The buckets of rows `0..n_rows`.
#[derive(Debug, Clone)]
pub(crate) struct Cutting {
    shift: u32,
    n_rows: usize,
    /// Where a stretch ends and the next one begins; several at one place where some are empty.
    inner: Vec<usize>,
}

impl Cutting {
    /// For so many entries; `inner` cuts rise and lie in `0..=n_rows`.
    pub(crate) fn new(n_rows: usize, n_entries: usize, inner: &[usize]) -> Cutting {
        let wanted = (n_entries / FULL).next_power_of_two().min(MOST_BUCKETS);
        let last_row = n_rows.saturating_sub(1);
        let shift = (usize::BITS - last_row.leading_zeros())
            .saturating_sub(wanted.trailing_zeros())
            .min(u32::BITS);
        Cutting { shift, n_rows, inner: inner.to_vec() }
    }

    /// How many buckets there are; some may have no rows.
    pub(crate) fn n_buckets(&self) -> usize {
        (self.n_rows.saturating_sub(1) >> self.shift) + 1 + self.inner.len()
    }

    /// The bucket of a row. Each lies in one block and in one stretch, as both numbers only rise.
    #[inline(always)]
    pub(crate) fn bucket(&self, row: usize) -> usize {
        let stretch = match self.inner.len() <= FEW {
            true => self.inner.iter().map(|cut| usize::from(row >= *cut)).sum(),
            false => self.inner.partition_point(|cut| *cut <= row),
        };
        (row >> self.shift) + stretch
    }

    /// The place of a row in its block.
    #[inline(always)]
    pub(crate) fn in_block(&self, row: usize) -> u32 {
        (row & ((1 << self.shift) - 1)) as u32
    }

    /// The buckets of a stretch; none if it has no rows.
    pub(crate) fn of_stretch(&self, stretch: usize) -> Range<usize> {
        let rows = self.stretch(stretch);
        match rows.is_empty() {
            true => 0..0,
            false => {
                (rows.start >> self.shift) + stretch..((rows.end - 1) >> self.shift) + stretch + 1
            }
        }
    }

    /// The rows of a stretch.
    pub(crate) fn stretch(&self, stretch: usize) -> Range<usize> {
        let start = if stretch == 0 { 0 } else { self.inner[stretch - 1] };
        start..self.inner.get(stretch).copied().unwrap_or(self.n_rows)
    }

    /// How many stretches there are.
    pub(crate) fn n_stretches(&self) -> usize {
        self.inner.len() + 1
    }

    /// The rows of a bucket of a stretch.
    pub(crate) fn rows(&self, bucket: usize, stretch: usize) -> Range<usize> {
        let (start, own) = ((bucket - stretch) << self.shift, self.stretch(stretch));
        start.max(own.start)..(start + (1 << self.shift)).min(own.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_the_bucket_that_has_it() {
        for (n_rows, n_entries) in [(1, 0), (100, 1 << 17), (1000, 1 << 20), (77, 1 << 15)] {
            let some = [vec![], vec![n_rows / 3], vec![0, n_rows / 2, n_rows / 2, n_rows]];
            let many = (0..12).map(|at| n_rows * at / 12).collect();
            for inner in some.into_iter().chain([many]) {
                let cutting = Cutting::new(n_rows, n_entries, &inner);
                let mut next = 0;
                for stretch in 0..cutting.n_stretches() {
                    for bucket in cutting.of_stretch(stretch) {
                        let rows = cutting.rows(bucket, stretch);
                        assert_eq!(rows.start, next);
                        next = rows.end;
                        for row in rows {
                            assert_eq!(cutting.bucket(row), bucket);
                        }
                        assert!(bucket < cutting.n_buckets());
                    }
                }
                assert_eq!(next, n_rows);
            }
        }
    }
}
