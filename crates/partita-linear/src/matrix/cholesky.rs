//! Cholesky factors of matrices that are their own adjoint.

use super::error::{MatrixError, Result};
use super::faer_view::{made, scratch};
use super::field::{Field, expect_square};
use super::pool::{with_threads, worth};
use super::product::expect_output;
use super::view::{View, ViewMut};
use faer::Mat;
use faer::linalg::cholesky::llt::factor::{self, LltError};

/// Which half of a square matrix, with its diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Triangle {
    /// Below.
    Lower,
    /// Above.
    Upper,
}

/// A copy of one triangle as the lower one of a matrix; the upper one becomes its adjoint.
pub fn adjoint_halves<T: Field>(a: View<'_, T>, triangle: Triangle) -> Mat<T> {
    let n = a.shape()[0];
    let lower = |i: usize, j: usize| match triangle {
        Triangle::Lower => a.at(i, j),
        Triangle::Upper => a.at(j, i).conjugate(),
    };
    // The diagonal of a matrix that is its own adjoint is real.
    made([n, n], |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Greater => lower(i, j),
        std::cmp::Ordering::Equal => T::from_part(lower(i, j).part()),
        std::cmp::Ordering::Less => T::ZERO,
    })
}

/// The triangle whose product with its adjoint is `a`; the other half of `out` becomes zero.
///
/// Only that triangle of `a` is read. For the upper one, the adjoint comes first in the product.
///
/// ```
/// use partita_linear::matrix::{Triangle, View, ViewMut, cholesky};
/// let mut out = [0.0; 4];
/// let a = [4.0, 9.9, 2.0, 5.0];
/// cholesky(ViewMut::new(&mut out, 2, 2), View::new(&a, 2, 2), Triangle::Lower, 1)?;
/// assert_eq!(out, [2.0, 0.0, 1.0, 2.0]);
/// # Ok::<(), partita_linear::matrix::MatrixError>(())
/// ```
///
/// # Errors
/// `not-square`, `output-shape`, and `not-positive-definite`, also for NaN; `out` is not written.
pub fn cholesky<T: Field>(
    mut out: ViewMut<'_, T>,
    a: View<'_, T>,
    triangle: Triangle,
    n_threads: usize,
) -> Result<()> {
    let n = expect_square("cholesky", a.shape())?;
    expect_output("cholesky", out.shape(), a.shape())?;
    let mut factor = adjoint_halves(a, triangle);
    with_threads(worth(n_threads, a.shape()), |par| {
        let needs = factor::cholesky_in_place_scratch::<T>(n, par, Default::default());
        scratch(needs, |stack| {
            let (a, rules) = (factor.as_mut(), Default::default());
            factor::cholesky_in_place(a, rules, par, stack, Default::default())
        })
    })
    .map_err(|LltError::NonPositivePivot { index }| MatrixError::NotPositiveDefinite {
        minor: index + 1,
    })?;
    out.fill_with(|i, j| match triangle {
        Triangle::Lower if i >= j => factor[(i, j)],
        Triangle::Upper if i <= j => factor[(j, i)].conjugate(),
        _ => T::ZERO,
    });
    Ok(())
}
