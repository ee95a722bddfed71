//! The right operand: own rows first, those of others behind them.

use crate::Cores;
use crate::error::Result;
use crate::index::Index;
use crate::level::prefetch;
use crate::matrix::{Matrix, Pattern};
use crate::memory::zeros;
use partita_numeric::Shared;

#[derive(Clone, Copy)]
pub(super) struct Right<'a, I, T> {
    pub own: Matrix<'a, I, T>,
    pub ghosts: Matrix<'a, I, T>,
}

impl<'a, I: Index, T> Right<'a, I, T> {
    pub(super) fn n_rows(&self) -> usize {
        self.own.pattern.n_rows() + self.ghosts.pattern.n_rows()
    }

    fn place(&self, row: usize) -> (&Matrix<'a, I, T>, usize) {
        match row.checked_sub(self.own.pattern.n_rows()) {
            None => (&self.own, row),
            Some(row) => (&self.ghosts, row),
        }
    }

    /// Columns and values of a row.
    #[inline(always)]
    pub(super) fn row(&self, row: usize) -> (&'a [I], &'a [T]) {
        let (matrix, row) = self.place(row);
        let entries = matrix.pattern.row(row);
        (&matrix.pattern.indices[entries.clone()], &matrix.data[entries])
    }

    /// How many entries a row has.
    #[inline(always)]
    pub(super) fn length(&self, row: usize) -> usize {
        let (matrix, row) = self.place(row);
        matrix.pattern.row(row).len()
    }

    /// Asks for a row that will be needed soon.
    #[inline(always)]
    pub(super) fn ask(&self, row: usize) {
        let (matrix, row) = self.place(row);
        let start = matrix.pattern.indptr[row].at();
        prefetch(matrix.pattern.indices.as_ptr().wrapping_add(start));
        prefetch(matrix.data.as_ptr().wrapping_add(start));
    }

    /// How many terms the rows before each row of a product have, and how many all have.
    pub(super) fn terms_before(&self, a: Pattern<'_, I>, cores: Cores) -> Result<Vec<usize>>
    where
        T: Sync,
    {
        let n_rows = a.n_rows();
        let mut terms = zeros(n_rows + 1)?;
        let n_pieces = a.n_pieces(1, cores);
        let shared = Shared::new(&mut terms);
        cores.each(n_pieces, |piece| {
            for row in a.piece(n_pieces, piece) {
                let columns = a.indices[a.row(row)].iter();
                let n: usize = columns.map(|column| self.length(column.at())).sum();
                // SAFETY: every row belongs to one piece.
                unsafe { *shared.at(row + 1) = n };
            }
        });
        for row in 0..n_rows {
            terms[row + 1] += terms[row];
        }
        Ok(terms)
    }
}
