//! Products with dense vectors and matrices.
//!
//! - `vector`: one number per row, four sums at once.
//! - `rows`: rows of several numbers, as many at once as registers hold.
//! - `store`: how results are written, past the caches where they are large.
//! - `transposed`: the adjoint, which adds to the rows that a product reads.
//! - `sampled`: products of dense rows, at the entries of a pattern alone.

mod rows;
mod sampled;
mod store;
mod transposed;
mod vector;

use crate::Cores;
use crate::error::Result;
use crate::index::Index;
use crate::matrix::{Matrix, expect_length};
use crate::number::Number;
use crate::stacked::Rows;

pub use sampled::sampled;
pub use transposed::{Values, times_transposed};

/// Whether a product replaces what is in the result, or is added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Into {
    /// The product replaces it.
    Replace,
    /// The product is added.
    Add,
}

/// Writes, or adds, the product of a matrix and dense rows.
///
/// # Errors
/// `lengths-differ`, `pointers-fall`, `column-outside`; the result then has no meaning.
pub fn times<I: Index, T: Number>(
    matrix: Matrix<'_, I, T>,
    right: Rows<'_, T>,
    out: &mut [T],
    into: Into,
    cores: Cores,
) -> Result<()> {
    let pattern = matrix.pattern;
    expect_length("values", matrix.data.len(), pattern.indices.len())?;
    let n_numbers = pattern.n_rows().saturating_mul(right.width());
    expect_length("numbers of the result", out.len(), n_numbers)?;
    match right.width() {
        0 => Ok(()),
        1 => vector::times(matrix, right, out, into, cores),
        _ => rows::times(matrix, right, out, into, cores),
    }
}
