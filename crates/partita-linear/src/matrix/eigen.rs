//! Eigenvalues and eigenvectors.

use super::cholesky::{Triangle, adjoint_halves};
use super::error::{MatrixError, Result};
use super::faer_view::{copy, made, scratch, write};
use super::field::{Field, Part, expect_square, scale_down};
use super::pool::{with_threads, worth};
use super::product::expect_output;
use super::view::{View, ViewMut};
use faer::diag::Diag;
use faer::linalg::evd::{self, ComputeEigenvectors};
use num_complex::Complex;
use rustfft::num_traits::Float;

/// Eigenvalues, ascending, of a matrix that is its own adjoint; eigenvectors become the columns of
/// `vectors`.
///
/// Only one triangle is read.
///
/// ```
/// use partita_linear::matrix::{Triangle, View, eigh};
/// let values = eigh(View::new(&[2.0_f64, 9.9, 1.0, 2.0], 2, 2), Triangle::Lower, None, 1)?;
/// assert!((values[0] - 1.0).abs() < 1e-15 && (values[1] - 3.0).abs() < 1e-15);
/// # Ok::<(), partita_linear::matrix::MatrixError>(())
/// ```
///
/// # Errors
/// `not-square`, `output-shape`, `not-finite`, `no-convergence`; nothing is written then.
pub fn eigh<T: Field>(
    a: View<'_, T>,
    triangle: Triangle,
    vectors: Option<ViewMut<'_, T>>,
    n_threads: usize,
) -> Result<Vec<T::Real>> {
    let n = expect_square("eigh", a.shape())?;
    if let Some(vectors) = &vectors {
        expect_output("eigh", vectors.shape(), [n, n])?;
    }
    if n == 0 {
        return Ok(Vec::new());
    }
    let mut half = adjoint_halves(a, triangle);
    if !(0..n).all(|j| (0..n).all(|i| half[(i, j)].finite())) {
        return Err(MatrixError::NotFinite { operation: "eigh" });
    }
    let scale = scale_down(&mut half);
    let mut values = Diag::<T>::zeros(n);
    let mut columns = made([n, n], |_, _| T::ZERO);
    let compute =
        if vectors.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    with_threads(worth(n_threads, [n, n]), |par| {
        let parameters = Default::default;
        let needs = evd::self_adjoint_evd_scratch::<T>(n, compute, par, parameters());
        let u = (compute == ComputeEigenvectors::Yes).then(|| columns.as_mut());
        scratch(needs, |stack| {
            evd::self_adjoint_evd(half.as_ref(), values.as_mut(), u, par, stack, parameters())
        })
    })
    .map_err(|_| MatrixError::NoConvergence { operation: "eigh" })?;
    if let Some(mut vectors) = vectors {
        write(&mut vectors, columns.as_ref());
    }
    Ok((0..n).map(|i| values[i].part() * scale).collect())
}

/// Eigenvalues of any square matrix; eigenvectors become the columns of `vectors`.
///
/// Vectors have length one and their largest element is real, as LAPACK's. Conjugate pairs of a
/// real matrix stand side by side, the positive imaginary part first; otherwise no order is kept.
///
/// # Errors
/// `not-square`, `output-shape`, `not-finite`, `no-convergence`; nothing is written then.
pub fn eig<T: Field>(
    a: View<'_, T>,
    vectors: Option<ViewMut<'_, Complex<T::Real>>>,
    n_threads: usize,
) -> Result<Vec<Complex<T::Real>>> {
    let n = expect_square("eig", a.shape())?;
    if let Some(vectors) = &vectors {
        expect_output("eig", vectors.shape(), [n, n])?;
    }
    super::field::expect_finite("eig", a)?;
    if n == 0 {
        return Ok(Vec::new());
    }
    let mut a = copy(a);
    let scale = scale_down(&mut a);
    let compute =
        if vectors.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let (values, columns) =
        with_threads(worth(n_threads, [n, n]), |par| T::eigen(a.as_ref(), compute, par))?;
    if let (Some(mut vectors), Some(mut columns)) = (vectors, columns) {
        for (j, value) in values.iter().enumerate() {
            normalise(columns.col_as_slice_mut(j), *value);
        }
        vectors.fill_with(|i, j| columns[(i, j)]);
    }
    Ok(values.iter().map(|value| Complex::new(value.re * scale, value.im * scale)).collect())
}

/// Makes a vector one long; that of a complex value is turned until its largest element is real.
fn normalise<R: Part>(vector: &mut [Complex<R>], value: Complex<R>) {
    let length = vector.iter().map(|z| z.re.wide().powi(2) + z.im.wide().powi(2)).sum::<f64>();
    let length = <R as Part>::nearest(length.sqrt());
    let largest = vector.iter().copied().fold(Complex::new(R::ZERO, R::ZERO), |best, z| {
        if z.re.hypot(z.im) > best.re.hypot(best.im) { z } else { best }
    });
    let is_complex = value.im != R::ZERO || vector.iter().any(|z| z.im != R::ZERO);
    let one = <R as Part>::nearest(1.0);
    let size = largest.re.hypot(largest.im);
    let turn = if is_complex && size > R::ZERO {
        Complex::new(largest.re / size, -(largest.im / size))
    } else {
        Complex::new(one, R::ZERO)
    };
    for z in vector {
        let turned = z.times(turn);
        let at_largest = is_complex && *z == largest;
        let im = if at_largest { R::ZERO } else { turned.im / length };
        *z = Complex::new(turned.re / length, im);
    }
}

/// Products of complex numbers without bounds on their parts.
trait Times {
    fn times(self, other: Self) -> Self;
}

impl<R: Float> Times for Complex<R> {
    fn times(self, other: Self) -> Self {
        let re = self.re * other.re - self.im * other.im;
        Complex::new(re, self.re * other.im + self.im * other.re)
    }
}
