//! Norms of matrices.

use super::error::{MatrixError, Result};
use super::field::{Field, Part};
use super::svd::{Svd, Vectors};
use super::view::View;

/// Norms that NumPy has for matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norm {
    /// The root of the sum of squares: "fro".
    Frobenius,
    /// The sum of the singular values: "nuc".
    Nuclear,
    /// The largest sum of a column: 1.
    One,
    /// The smallest sum of a column: -1.
    MinusOne,
    /// The largest singular value: 2.
    Two,
    /// The smallest singular value: -2.
    MinusTwo,
    /// The largest sum of a row: inf.
    Infinity,
    /// The smallest sum of a row: -inf.
    MinusInfinity,
}

/// A norm. Sums are made in float64.
///
/// ```
/// use partita_linear::matrix::{Norm, View, norm};
/// let a = View::new(&[1.0_f64, -2.0, 3.0, 4.0], 2, 2);
/// assert_eq!(norm(a, Norm::One, 1)?, 6.0);
/// # Ok::<(), partita_linear::matrix::MatrixError>(())
/// ```
///
/// # Errors
/// `no-elements` for a smallest of nothing; `not-finite` and `no-convergence` of singular values.
pub fn norm<T: Field>(a: View<'_, T>, norm: Norm, n_threads: usize) -> Result<T::Real> {
    let nearest = <T::Real as Part>::nearest;
    let values = || Svd::new(a, Vectors::None, n_threads);
    let wide = |values: &[T::Real]| values.iter().map(|value| value.wide()).collect::<Vec<f64>>();
    let value = match norm {
        Norm::Frobenius => sums(a, |x| x * x).iter().sum::<f64>().sqrt(),
        Norm::Nuclear => wide(values()?.values()).iter().sum(),
        Norm::One => largest(&sums(a.transposed(), |x| x)),
        Norm::MinusOne => smallest(&sums(a.transposed(), |x| x), a.shape())?,
        Norm::Two => largest(&wide(values()?.values())),
        Norm::MinusTwo => smallest(&wide(values()?.values()), a.shape())?,
        Norm::Infinity => largest(&sums(a, |x| x)),
        Norm::MinusInfinity => smallest(&sums(a, |x| x), a.shape())?,
    };
    Ok(nearest(value))
}

/// The sum of the changed moduli of every row.
fn sums<T: Field>(a: View<'_, T>, change: impl Fn(f64) -> f64) -> Vec<f64> {
    let [m, n] = a.shape();
    let row = |i: usize| (0..n).map(|j| change(a.at(i, j).modulus().wide())).sum();
    (0..m).map(row).collect()
}

/// The largest value, zero if there is none; NaN if one is.
fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |best, &x| if x > best || x.is_nan() { x } else { best })
}

fn smallest(values: &[f64], shape: [usize; 2]) -> Result<f64> {
    let least = |best: f64, x: f64| if x < best || x.is_nan() { x } else { best };
    let found = values.iter().copied().reduce(least);
    found.ok_or(MatrixError::NoElements { operation: "norm", shape })
}
