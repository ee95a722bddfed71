//! Singular values, and what follows from them: pseudo-inverses, ranks, least squares.

use super::error::{MatrixError, Result};
use super::faer_view::{copy, made, scratch, write};
use super::field::{Field, Part, expect_finite, scale_down};
use super::pool::{with_threads, worth};
use super::product::{Into, expect_output, matmul};
use super::view::{View, ViewMut};
use faer::Mat;
use faer::diag::Diag;
use faer::linalg::svd::{self as by, ComputeSvdVectors};
use rustfft::num_traits::Float;

/// Singular vectors that are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vectors {
    /// None.
    None,
    /// As many as there are singular values.
    Reduced,
    /// Square matrices of them.
    Full,
}

/// A matrix as U S V*: S descending, U and V with orthonormal columns.
///
/// ```
/// use partita_linear::matrix::{Svd, Vectors, View};
/// let svd = Svd::new(View::new(&[0.0_f64, 2.0, 3.0, 0.0], 2, 2), Vectors::None, 1)?;
/// assert!((svd.values()[0] - 3.0).abs() < 1e-15 && (svd.values()[1] - 2.0).abs() < 1e-15);
/// # Ok::<(), partita_linear::matrix::MatrixError>(())
/// ```
#[derive(Debug)]
pub struct Svd<T: Field> {
    values: Vec<T::Real>,
    u: Mat<T>,
    v: Mat<T>,
    shape: [usize; 2],
    n_threads: usize,
}

impl<T: Field> Svd<T> {
    /// Singular values, with vectors on demand.
    ///
    /// # Errors
    /// `not-finite` and `no-convergence`.
    pub fn new(a: View<'_, T>, vectors: Vectors, n_threads: usize) -> Result<Svd<T>> {
        expect_finite("svd", a)?;
        let [m, n] = a.shape();
        let size = m.min(n);
        let n_threads = worth(n_threads, a.shape());
        let (columns, compute) = match vectors {
            Vectors::None => ([0, 0], ComputeSvdVectors::No),
            Vectors::Reduced => ([size, size], ComputeSvdVectors::Thin),
            Vectors::Full => ([m, n], ComputeSvdVectors::Full),
        };
        let unit = |i: usize, j: usize| if i == j { T::one() } else { T::ZERO };
        // Of a matrix without elements, these are the vectors.
        let (mut u, mut v) = (made([m, columns[0]], unit), made([n, columns[1]], unit));
        let mut s = Diag::<T>::zeros(size);
        if size > 0 {
            let mut a = copy(a);
            let scale = scale_down(&mut a);
            with_threads(n_threads, |par| {
                let parameters = Default::default;
                let needs = by::svd_scratch::<T>(m, n, compute, compute, par, parameters());
                let wanted = vectors != Vectors::None;
                let (u, v) = (wanted.then(|| u.as_mut()), wanted.then(|| v.as_mut()));
                scratch(needs, |stack| {
                    by::svd(a.as_ref(), s.as_mut(), u, v, par, stack, parameters())
                })
            })
            .map_err(|_| MatrixError::NoConvergence { operation: "svd" })?;
            (0..size).for_each(|i| s[i] *= T::from_part(scale));
        }
        let values = (0..size).map(|i| s[i].part()).collect();
        Ok(Svd { values, u, v, shape: [m, n], n_threads })
    }

    /// Singular values, the largest first.
    #[must_use]
    pub fn values(&self) -> &[T::Real] {
        &self.values
    }

    /// U, as many columns as were computed.
    ///
    /// # Errors
    /// `output-shape`.
    pub fn left(&self, out: &mut ViewMut<'_, T>) -> Result<()> {
        expect_output("svd", out.shape(), [self.u.nrows(), self.u.ncols()])?;
        write(out, self.u.as_ref());
        Ok(())
    }

    /// The adjoint of V, as many rows as were computed.
    ///
    /// # Errors
    /// `output-shape`.
    pub fn right_adjoint(&self, out: &mut ViewMut<'_, T>) -> Result<()> {
        expect_output("svd", out.shape(), [self.v.ncols(), self.v.nrows()])?;
        out.fill_with(|i, j| self.v[(j, i)].conjugate());
        Ok(())
    }

    /// How many singular values are above a bound.
    #[must_use]
    pub fn rank(&self, above: T::Real) -> usize {
        self.values.iter().filter(|&&value| value > above).count()
    }

    fn largest(&self) -> T::Real {
        self.values.first().copied().unwrap_or(<T::Real as Part>::nearest(0.0))
    }

    /// Replaces `b` by V S^-1 U* B without the values up to `rcond` times the largest.
    fn solve(&self, out: ViewMut<'_, T>, b: View<'_, T>, rcond: T::Real) -> Result<()> {
        let rank = self.rank(rcond * self.largest());
        let n_columns = b.shape()[1];
        let adjoint = row_major(rank, self.shape[0], |i, j| self.u[(j, i)].conjugate());
        let mut middle = vec![T::ZERO; rank * n_columns];
        let product = ViewMut::new(&mut middle, rank, n_columns);
        let adjoint = View::new(&adjoint, rank, self.shape[0]);
        matmul(product, adjoint, b, Into::Overwrite, self.n_threads)?;
        for (i, row) in middle.chunks_exact_mut(n_columns.max(1)).enumerate() {
            let value = T::from_part(self.values[i]);
            row.iter_mut().for_each(|z| *z /= value);
        }
        let v = row_major(self.shape[1], rank, |i, j| self.v[(i, j)]);
        let (v, middle) = (View::new(&v, self.shape[1], rank), View::new(&middle, rank, n_columns));
        matmul(out, v, middle, Into::Overwrite, self.n_threads)
    }
}

fn row_major<T>(m: usize, n: usize, element: impl Fn(usize, usize) -> T) -> Vec<T> {
    (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| element(i, j)).collect()
}

/// The pseudo-inverse, without singular values up to `rcond` times the largest.
///
/// # Errors
/// `output-shape`, `not-finite`, `no-convergence`; nothing is written then.
pub fn pinv<T: Field>(
    out: ViewMut<'_, T>,
    a: View<'_, T>,
    rcond: T::Real,
    n_threads: usize,
) -> Result<()> {
    let [m, n] = a.shape();
    expect_output("pinv", out.shape(), [n, m])?;
    let svd = Svd::new(a, Vectors::Reduced, n_threads)?;
    let unit = row_major(m, m, |i, j| if i == j { T::one() } else { T::ZERO });
    svd.solve(out, View::new(&unit, m, m), rcond)
}

/// How many singular values are above `tolerance`, or above NumPy's: the largest times the larger
/// extent times the distance from one to the next number.
///
/// # Errors
/// `not-finite` and `no-convergence`.
pub fn matrix_rank<T: Field>(
    a: View<'_, T>,
    tolerance: Option<T::Real>,
    n_threads: usize,
) -> Result<usize> {
    let svd = Svd::new(a, Vectors::None, n_threads)?;
    let [m, n] = a.shape();
    let relative = <T::Real as Part>::nearest(m.max(n) as f64) * T::Real::epsilon();
    Ok(svd.rank(tolerance.unwrap_or(svd.largest() * relative)))
}

/// What least squares gives beside the solution.
#[derive(Debug, Clone, PartialEq)]
pub struct LeastSquares<R> {
    /// Squared length of what is left of each right-hand side; nothing unless the matrix has more
    /// rows than columns and full rank.
    pub residuals: Vec<R>,
    /// Rank of the matrix.
    pub rank: usize,
    /// Its singular values, the largest first.
    pub values: Vec<R>,
}

/// The shortest X for which A X is nearest to B.
///
/// Singular values up to `rcond` times the largest count as zero.
///
/// # Errors
/// `shapes-differ`, `output-shape`, `not-finite`, `no-convergence`; nothing is written then.
pub fn lstsq<T: Field>(
    mut out: ViewMut<'_, T>,
    a: View<'_, T>,
    b: View<'_, T>,
    rcond: T::Real,
    n_threads: usize,
) -> Result<LeastSquares<T::Real>> {
    let ([m, n], n_columns) = (a.shape(), b.shape()[1]);
    if b.shape()[0] != m {
        let (first, second) = (a.shape(), b.shape());
        return Err(MatrixError::ShapesDiffer { operation: "lstsq", first, second });
    }
    expect_output("lstsq", out.shape(), [n, n_columns])?;
    let svd = Svd::new(a, Vectors::Reduced, n_threads)?;
    svd.solve(out.lend(), b, rcond)?;
    let rank = svd.rank(rcond * svd.largest());
    let mut residuals = Vec::new();
    if m > n && rank == n {
        let mut left = row_major(m, n_columns, |i, j| -b.at(i, j));
        let view = ViewMut::new(&mut left, m, n_columns);
        matmul(view, a, out.as_view(), Into::Add, n_threads)?;
        let square = |i: usize, j: usize| left[i * n_columns + j].modulus().wide().powi(2);
        let column = |j: usize| (0..m).map(|i| square(i, j)).sum::<f64>();
        residuals = (0..n_columns).map(|j| <T::Real as Part>::nearest(column(j))).collect();
    }
    Ok(LeastSquares { residuals, rank, values: svd.values })
}
