//! A matrix compressed by rows, as it is given: nothing about it is known before it is checked.

use crate::Cores;
use crate::error::{Result, SparseError};
use crate::first_error::FirstError;
use crate::index::Index;
use std::ops::Range;

/// Fewer entries are not worth a second thread.
pub(crate) const SHARE: usize = 1 << 14;

/// Where rows begin, and the column of each entry.
#[derive(Debug, Clone, Copy)]
pub struct Pattern<'a, I> {
    /// One more than there are rows.
    pub indptr: &'a [I],
    /// At least as many as the last of `indptr` says.
    pub indices: &'a [I],
}

/// A pattern with the value of each entry.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a, I, T> {
    /// Where entries are.
    pub pattern: Pattern<'a, I>,
    /// As many as there are indices.
    pub data: &'a [T],
}

impl<'a, I: Index> Pattern<'a, I> {
    /// Checks the ends of `indptr` alone.
    ///
    /// # Errors
    /// `pointers-empty`, `pointers-start`, `pointers-end`.
    pub fn new(indptr: &'a [I], indices: &'a [I]) -> Result<Self> {
        let [first, ..] = indptr else { return Err(SparseError::PointersEmpty) };
        if first.number() != 0 {
            return Err(SparseError::PointersStart { first: first.number() });
        }
        let end = indptr[indptr.len() - 1];
        if end.at() > indices.len() {
            let n_entries = indices.len();
            return Err(SparseError::PointersEnd { end: end.number(), n_entries });
        }
        Ok(Self { indptr, indices })
    }

    /// How many rows there are.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// How many entries the rows have.
    #[must_use]
    pub fn n_entries(&self) -> usize {
        self.indptr[self.n_rows()].at()
    }

    /// The entries of a row of a pattern that was checked.
    #[inline(always)]
    pub(crate) fn row(&self, row: usize) -> Range<usize> {
        self.indptr[row].at()..self.indptr[row + 1].at()
    }

    /// The error of a row that falls.
    #[cold]
    pub(crate) fn falls(&self, row: usize) -> SparseError {
        let (start, end) = (self.indptr[row].number(), self.indptr[row + 1].number());
        SparseError::PointersFall { row, start, end }
    }

    /// The error of the first entry of a stretch whose column is outside.
    #[cold]
    pub(crate) fn outside(&self, entries: Range<usize>, n_columns: usize) -> SparseError {
        let wrong = entries.clone().find(|at| self.indices[*at].at() >= n_columns);
        let at = wrong.unwrap_or(entries.start);
        SparseError::ColumnOutside { at, column: self.indices[at].number(), n_columns }
    }

    /// Checks that no row falls.
    ///
    /// # Errors
    /// `pointers-fall`.
    pub(crate) fn check_rows(&self, cores: Cores) -> Result<()> {
        let n = self.n_rows();
        let n_pieces = cores.n_pieces(n, SHARE);
        let errors = FirstError::default();
        cores.each(n_pieces, |piece| {
            let rows = piece * n / n_pieces..(piece + 1) * n / n_pieces;
            let pointers = &self.indptr[rows.start..rows.end + 1];
            // Without an early end the loop is vectorised.
            let rises = pointers.windows(2).fold(true, |rises, two| rises & (two[0] <= two[1]));
            if !rises {
                let wrong = rows.clone().find(|row| self.indptr[*row] > self.indptr[row + 1]);
                errors.note(piece, Err(self.falls(wrong.unwrap_or(rows.start))));
            }
        });
        // Pointers that start at 0 and never fall are not negative; their end was checked.
        errors.outcome()
    }

    /// Checks rows and columns: from here on all entries may be trusted.
    ///
    /// # Errors
    /// `pointers-fall`, `column-outside`.
    pub(crate) fn check(&self, n_columns: usize, cores: Cores) -> Result<()> {
        self.check_rows(cores)?;
        check_inside(&self.indices[..self.n_entries()], n_columns, cores, |at| {
            self.outside(at..at + 1, n_columns)
        })
    }

    /// The first row of the piece-th of `n_pieces` pieces with about as many entries.
    pub(crate) fn cut(&self, n_pieces: usize, piece: usize) -> usize {
        if piece == n_pieces {
            return self.n_rows();
        }
        // Rows count too: there may be many without entries.
        let (n_rows, n_entries) = (self.n_rows() as u128, self.n_entries() as u128);
        let target = ((n_rows + n_entries) * piece as u128 / n_pieces as u128) as usize;
        let (mut low, mut high) = (0, self.n_rows());
        while low < high {
            let middle = low.midpoint(high);
            match self.indptr[middle].at().saturating_add(middle) < target {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    /// Rows of the piece-th piece; of whatever pattern, pieces cover all rows once.
    pub(crate) fn piece(&self, n_pieces: usize, piece: usize) -> Range<usize> {
        // A pattern that falls may have its cuts in any order.
        let start = (0..=piece).map(|piece| self.cut(n_pieces, piece)).max().unwrap_or(0);
        let end = self.cut(n_pieces, piece + 1).max(start);
        start..end
    }

    /// Into how many pieces work on all entries is cut, if each costs as much as `cost` copies.
    pub(crate) fn n_pieces(&self, cost: usize, cores: Cores) -> usize {
        let work = (self.n_rows() + self.n_entries()).saturating_mul(cost.max(1));
        cores.n_pieces(work, SHARE).min(self.n_rows().max(1))
    }
}

impl<'a, I: Index, T> Matrix<'a, I, T> {
    /// Checks the ends of `indptr` and the number of values.
    ///
    /// # Errors
    /// As [`Pattern::new`], and `lengths-differ`.
    pub fn new(indptr: &'a [I], indices: &'a [I], data: &'a [T]) -> Result<Self> {
        let pattern = Pattern::new(indptr, indices)?;
        expect_length("values", data.len(), indices.len())?;
        Ok(Self { pattern, data })
    }
}

/// Checks that all indices are below an extent; `error` tells of the first that is not.
pub(crate) fn check_inside<I: Index>(
    indices: &[I],
    extent: usize,
    cores: Cores,
    error: impl Fn(usize) -> SparseError + Sync,
) -> Result<()> {
    let n_pieces = cores.n_pieces(indices.len(), SHARE);
    let errors = FirstError::default();
    cores.each(n_pieces, |piece| {
        let start = piece * indices.len() / n_pieces;
        let indices = &indices[start..(piece + 1) * indices.len() / n_pieces];
        let (least, most) = indices
            .iter()
            .fold((I::from_position(0), I::from_position(0)), |(least, most), one| {
                (least.min(*one), most.max(*one))
            });
        let is_inside = indices.is_empty() || (least.number() == 0 && most.at() < extent);
        if !is_inside {
            let at = indices.iter().position(|index| index.at() >= extent).unwrap_or(0);
            errors.note(piece, Err(error(start + at)));
        }
    });
    errors.outcome()
}

/// Checks how many of something are given.
pub(crate) fn expect_length(what: &'static str, n: usize, wanted: usize) -> Result<()> {
    if n == wanted { Ok(()) } else { Err(SparseError::LengthsDiffer { what, n, wanted }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_all_rows_once_even_if_pointers_fall() {
        for indptr in [vec![0, 3, 3, 10, 10, 12], vec![0, 9, 2, 11, 1, 12], vec![0; 40], vec![0]] {
            let indices = [0; 12];
            let pattern = Pattern::<i32>::new(&indptr, &indices).expect("right ends");
            for n_pieces in 1..6 {
                let mut next = 0;
                for piece in 0..n_pieces {
                    let rows = pattern.piece(n_pieces, piece);
                    assert_eq!(rows.start, next);
                    next = rows.end;
                }
                assert_eq!(next, pattern.n_rows());
            }
        }
    }
}
