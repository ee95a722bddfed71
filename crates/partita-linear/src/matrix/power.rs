//! Powers of matrices.

use super::error::Result;
use super::field::expect_square;
use super::product::{Into, Multiply, expect_output, matmul};
use super::view::{View, ViewMut};

/// The product of `a` with itself, `exponent` times; the unit matrix for zero.
///
/// For negative powers the caller inverts first.
///
/// ```
/// use partita_linear::matrix::{View, ViewMut, matrix_power};
/// let mut out = [0_i64; 4];
/// matrix_power(&mut ViewMut::new(&mut out, 2, 2), View::new(&[1, 1, 1, 0], 2, 2), 10, 1)?;
/// assert_eq!(out, [89, 55, 55, 34]);
/// # Ok::<(), partita_linear::matrix::MatrixError>(())
/// ```
///
/// # Errors
/// `not-square` and `output-shape`.
pub fn matrix_power<T: Multiply>(
    out: &mut ViewMut<'_, T>,
    a: View<'_, T>,
    exponent: u64,
    n_threads: usize,
) -> Result<()> {
    let n = expect_square("matrix_power", a.shape())?;
    expect_output("matrix_power", out.shape(), [n, n])?;
    let times = |x: &[T], y: &[T]| -> Result<Vec<T>> {
        let mut product = vec![T::ZERO; n * n];
        let (x, y) = (View::new(x, n, n), View::new(y, n, n));
        matmul(ViewMut::new(&mut product, n, n), x, y, Into::Overwrite, n_threads)?;
        Ok(product)
    };
    let mut square: Vec<T> =
        (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| a.at(i, j)).collect();
    let mut power: Option<Vec<T>> = None;
    let mut rest = exponent;
    while rest > 0 {
        if rest % 2 == 1 {
            power = Some(match &power {
                Some(power) => times(power, &square)?,
                None => square.clone(),
            });
        }
        rest /= 2;
        if rest > 0 {
            square = times(&square, &square)?;
        }
    }
    out.fill_with(|i, j| match &power {
        Some(power) => power[i * n + j],
        None if i == j => T::ONE,
        None => T::ZERO,
    });
    Ok(())
}
