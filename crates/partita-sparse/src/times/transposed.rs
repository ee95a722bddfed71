//! The adjoint of a product: every entry adds to the row that the product reads.
//!
//! Every thread goes through all entries and adds to its own stretch of rows, so that sums are
//! always made in the order of entries.

use crate::Cores;
use crate::error::Result;
use crate::first_error::FirstError;
use crate::index::Index;
use crate::level::{Loop, at_level};
use crate::matrix::{Matrix, SHARE, expect_length};
use crate::number::Number;
use crate::stacked::RowsMut;
use std::ops::Range;

/// More threads than this would mostly read.
const MOST_THREADS: usize = 8;

/// Which values of a matrix are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// As they are.
    Plain,
    /// Their conjugates.
    Conjugate,
}

/// Adds, for every entry, its value times row i of `right` to the row of its column.
///
/// # Errors
/// `lengths-differ`, `pointers-fall`, `column-outside`; rows may have been added to.
#[allow(clippy::needless_pass_by_value, reason = "what is added to is given away for the call")]
pub fn times_transposed<I: Index, T: Number>(
    matrix: Matrix<'_, I, T>,
    right: &[T],
    to: RowsMut<'_, T>,
    values: Values,
    cores: Cores,
) -> Result<()> {
    let pattern = matrix.pattern;
    expect_length("values", matrix.data.len(), pattern.indices.len())?;
    let n_numbers = pattern.n_rows().saturating_mul(to.width());
    expect_length("numbers of the right operand", right.len(), n_numbers)?;
    if to.width() == 0 {
        return Ok(());
    }
    let is_worth = pattern.n_entries().saturating_mul(to.width()) >= SHARE;
    let n_pieces = if is_worth { cores.n_threads.clamp(1, MOST_THREADS) } else { 1 };
    let errors = FirstError::default();
    cores.each(n_pieces, |piece| {
        let cut = |piece: usize| to.n_rows() * piece / n_pieces;
        let own = cut(piece)..cut(piece + 1);
        let work = Piece { matrix, right, to: &to, values, own };
        errors.note(piece, at_level(cores.level, work));
    });
    errors.outcome()
}

struct Piece<'a, I, T> {
    matrix: Matrix<'a, I, T>,
    right: &'a [T],
    to: &'a RowsMut<'a, T>,
    values: Values,
    /// Rows that this piece adds to.
    own: Range<usize>,
}

impl<I: Index, T: Number> Loop for Piece<'_, I, T> {
    type Result = Result<()>;

    #[inline(always)]
    fn run(self) -> Result<()> {
        let Piece { matrix: Matrix { pattern, data }, right, to, values, own } = self;
        let (width, n_rows, n_entries) = (to.width(), to.n_rows(), pattern.n_entries());
        for (row, right) in right.chunks_exact(width).enumerate() {
            let entries = pattern.row(row);
            if entries.start > entries.end || entries.end > n_entries {
                return Err(pattern.falls(row));
            }
            let pairs = pattern.indices[entries.clone()].iter().zip(&data[entries.clone()]);
            for (column, value) in pairs {
                let at = column.at();
                if at >= n_rows {
                    return Err(pattern.outside(entries, n_rows));
                }
                if !own.contains(&at) {
                    continue;
                }
                let value = if values == Values::Plain { *value } else { value.conjugate() };
                // SAFETY: the row is inside, and no other piece adds to it.
                let to = unsafe { std::slice::from_raw_parts_mut(to.address(at), width) };
                for (to, right) in to.iter_mut().zip(right) {
                    *to = to.plus(value.times(*right));
                }
            }
        }
        Ok(())
    }
}
