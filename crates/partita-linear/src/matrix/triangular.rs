//! Equations with triangular matrices, from either side.

use super::cholesky::Triangle;
use super::error::{MatrixError, Result};
use super::faer_view::{copy, write};
use super::field::{Field, expect_square};
use super::pool::{with_threads, worth};
use super::view::{View, ViewMut};
use faer::linalg::triangular_solve as solvers;
use faer::{MatMut, MatRef, Par};

/// What stands on the diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Diagonal {
    /// The elements that are there.
    Given,
    /// Ones, whatever is there.
    Ones,
}

/// On which side of the unknown the triangular matrix stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// T X = B.
    Left,
    /// X T = B.
    Right,
}

/// A triangular matrix: one half of a square one; the other half is not read.
#[derive(Debug, Clone, Copy)]
pub struct Triangular<'a, T> {
    /// The square matrix.
    pub matrix: View<'a, T>,
    /// The half that counts.
    pub triangle: Triangle,
    /// What stands on its diagonal.
    pub diagonal: Diagonal,
}

impl<'a, T> Triangular<'a, T> {
    /// The same memory with rows as columns.
    #[must_use]
    pub fn transposed(self) -> Triangular<'a, T> {
        let triangle = match self.triangle {
            Triangle::Lower => Triangle::Upper,
            Triangle::Upper => Triangle::Lower,
        };
        Triangular { matrix: self.matrix.transposed(), triangle, ..self }
    }
}

/// Replaces `b` by the solution of T X = B, or of X T = B.
///
/// ```
/// use partita_linear::matrix::{Diagonal, Side, Triangle, Triangular, View, ViewMut};
/// use partita_linear::matrix::solve_triangular;
/// let lower = [2.0, 9.9, 1.0, 4.0];
/// let (triangle, diagonal) = (Triangle::Lower, Diagonal::Given);
/// let t = Triangular { matrix: View::new(&lower, 2, 2), triangle, diagonal };
/// let mut b = [2.0, 9.0];
/// solve_triangular(t, Side::Left, &mut ViewMut::new(&mut b, 2, 1), 1)?;
/// assert_eq!(b, [1.0, 2.0]);
/// # Ok::<(), partita_linear::matrix::MatrixError>(())
/// ```
///
/// # Errors
/// `not-square`, `shapes-differ`, and `singular` where a given diagonal has a zero; nothing is
/// written then.
pub fn solve_triangular<T: Field>(
    t: Triangular<'_, T>,
    side: Side,
    b: &mut ViewMut<'_, T>,
    n_threads: usize,
) -> Result<()> {
    if side == Side::Right {
        return solve_triangular(t.transposed(), Side::Left, &mut b.lend().transposed(), n_threads);
    }
    let operation = "solve_triangular";
    let n = expect_square(operation, t.matrix.shape())?;
    if b.shape()[0] != n {
        return Err(MatrixError::ShapesDiffer { operation, first: [n, n], second: b.shape() });
    }
    let zero = |&i: &usize| t.diagonal == Diagonal::Given && t.matrix.at(i, i) == T::ZERO;
    if let Some(pivot) = (0..n).find(zero) {
        return Err(MatrixError::Singular { pivot });
    }
    let (matrix, mut unknown) = (copy(t.matrix), copy(b.as_view()));
    with_threads(worth(n_threads, b.shape()), |par| {
        solve_copies(matrix.as_ref(), unknown.as_mut(), t.triangle, t.diagonal, par);
    });
    write(b, unknown.as_ref());
    Ok(())
}

/// The same for matrices in faer's order.
pub fn solve_copies<T: Field>(
    matrix: MatRef<'_, T>,
    unknown: MatMut<'_, T>,
    triangle: Triangle,
    diagonal: Diagonal,
    par: Par,
) {
    match (triangle, diagonal) {
        (Triangle::Lower, Diagonal::Given) => {
            solvers::solve_lower_triangular_in_place(matrix, unknown, par);
        }
        (Triangle::Lower, Diagonal::Ones) => {
            solvers::solve_unit_lower_triangular_in_place(matrix, unknown, par);
        }
        (Triangle::Upper, Diagonal::Given) => {
            solvers::solve_upper_triangular_in_place(matrix, unknown, par);
        }
        (Triangle::Upper, Diagonal::Ones) => {
            solvers::solve_unit_upper_triangular_in_place(matrix, unknown, par);
        }
    }
}
