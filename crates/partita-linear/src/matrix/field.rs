//! What factorisations need of their elements.

use super::error::{MatrixError, Result};
use super::faer_view::{as_faer, made, scratch};
use super::product::{Multiply, Number};
use super::view::View;
use faer::diag::Diag;
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::traits::ComplexField;
use faer::{Mat, MatRef, Par};
use num_complex::Complex;
use rustfft::num_traits::{Float, One};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Real numbers of factorisations: float32 and float64.
pub trait Part: Float + Number + Send + Sync {
    /// The nearest number.
    #[must_use]
    fn nearest(value: f64) -> Self;

    /// As float64.
    #[must_use]
    fn wide(self) -> f64;
}

impl Part for f32 {
    fn nearest(value: f64) -> f32 {
        value as f32
    }
    fn wide(self) -> f64 {
        self.into()
    }
}

impl Part for f64 {
    fn nearest(value: f64) -> f64 {
        value
    }
    fn wide(self) -> f64 {
        self
    }
}

/// Eigenvalues, and the eigenvectors as columns where they were asked for.
pub type Eigen<R> = (Vec<Complex<R>>, Option<Mat<Complex<R>>>);

/// Elements of factorisations: float32, float64, complex64, complex128.
pub trait Field:
    Multiply
    + ComplexField<Real: Part>
    + One
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// A real number as an element.
    #[must_use]
    fn from_part(value: Self::Real) -> Self;

    /// The real part.
    #[must_use]
    fn part(self) -> Self::Real;

    /// The absolute value.
    #[must_use]
    fn modulus(self) -> Self::Real;

    /// Whether it is neither NaN nor infinite.
    #[must_use]
    fn finite(self) -> bool;

    /// Eigenvalues of a general matrix in the order of faer; vectors of any length.
    #[doc(hidden)]
    fn eigen(
        a: MatRef<'_, Self>,
        vectors: ComputeEigenvectors,
        par: Par,
    ) -> Result<Eigen<Self::Real>>;
}

macro_rules! fields {
    ($($type:ty)*) => {$(
        impl Field for $type {
            fn from_part(value: $type) -> $type {
                value
            }
            fn part(self) -> $type {
                self
            }
            fn modulus(self) -> $type {
                self.abs()
            }
            fn finite(self) -> bool {
                self.is_finite()
            }
            fn eigen(
                a: MatRef<'_, $type>,
                vectors: ComputeEigenvectors,
                par: Par,
            ) -> Result<Eigen<$type>> {
                let n = a.nrows();
                let (mut re, mut im) = (Diag::<$type>::zeros(n), Diag::<$type>::zeros(n));
                let mut columns = made([n, n], |_, _| <$type>::default());
                let wanted = vectors == ComputeEigenvectors::Yes;
                let right = wanted.then(|| columns.as_mut());
                let parameters = Default::default;
                let needs = evd::evd_scratch::<$type>(
                    n, ComputeEigenvectors::No, vectors, par, parameters(),
                );
                scratch(needs, |stack| {
                    evd::evd_real(
                        a, re.as_mut(), im.as_mut(), None, right, par, stack, parameters(),
                    )
                })
                .map_err(|_| MatrixError::NoConvergence { operation: "eig" })?;
                let value = |i: usize| Complex::new(re[i], im[i]);
                let values: Vec<_> = (0..n).map(value).collect();
                Ok(pairs_of_columns(values, wanted.then_some(&columns)))
            }
        }

        impl Field for Complex<$type> {
            fn from_part(value: $type) -> Self {
                Complex::new(value, 0.0)
            }
            fn part(self) -> $type {
                self.re
            }
            fn modulus(self) -> $type {
                self.norm()
            }
            fn finite(self) -> bool {
                self.re.is_finite() && self.im.is_finite()
            }
            fn eigen(
                a: MatRef<'_, Self>,
                vectors: ComputeEigenvectors,
                par: Par,
            ) -> Result<Eigen<$type>> {
                let n = a.nrows();
                let mut values = Diag::<Self>::zeros(n);
                let mut columns = made([n, n], |_, _| Self::ZERO);
                let wanted = vectors == ComputeEigenvectors::Yes;
                let right = wanted.then(|| columns.as_mut());
                let parameters = Default::default;
                let needs = evd::evd_scratch::<Self>(
                    n, ComputeEigenvectors::No, vectors, par, parameters(),
                );
                scratch(needs, |stack| {
                    evd::evd_cplx(a, values.as_mut(), None, right, par, stack, parameters())
                })
                .map_err(|_| MatrixError::NoConvergence { operation: "eig" })?;
                Ok(((0..n).map(|i| values[i]).collect(), wanted.then_some(columns)))
            }
        }
    )*};
}
fields!(f32 f64);

/// A real matrix has its complex vectors in pairs: real parts in one column, imaginary parts in the
/// next. The value with the positive imaginary part comes first, as in LAPACK.
fn pairs_of_columns<R: Part>(mut values: Vec<Complex<R>>, columns: Option<&Mat<R>>) -> Eigen<R> {
    let n = values.len();
    let mut vectors = columns.map(|_| made([n, n], |_, _| Complex::new(R::ZERO, R::ZERO)));
    let mut j = 0;
    while j < n {
        let pair = values[j].im != R::ZERO && j + 1 < n;
        if let (Some(vectors), Some(columns)) = (&mut vectors, columns) {
            for i in 0..n {
                let re = columns[(i, j)];
                let im = if pair { columns[(i, j + 1)] } else { R::ZERO };
                // The columns belong to the first of the pair, whatever the sign of its value.
                vectors[(i, j)] = Complex::new(re, im);
                if pair {
                    vectors[(i, j + 1)] = Complex::new(re, -im);
                }
            }
        }
        if pair && values[j].im < R::ZERO {
            values.swap(j, j + 1);
            if let Some(vectors) = &mut vectors {
                for i in 0..n {
                    (vectors[(i, j)], vectors[(i, j + 1)]) = (vectors[(i, j + 1)], vectors[(i, j)]);
                }
            }
        }
        j += if pair { 2 } else { 1 };
    }
    (values, vectors)
}

/// Makes the largest element about one if squares of elements could leave the numbers; gives what
/// the results must be multiplied with.
pub fn scale_down<T: Field>(a: &mut Mat<T>) -> T::Real {
    let mut largest = 0.0_f64;
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            largest = largest.max(a[(i, j)].part().wide().abs()).max(a[(i, j)].modulus().wide());
        }
    }
    let limit = <T::Real as Float>::max_value().wide().powf(0.25);
    // The sum of two squares may have left the numbers already.
    let largest = largest.min(<T::Real as Float>::max_value().wide());
    if largest == 0.0 || (1.0 / limit..limit).contains(&largest) {
        return <T::Real as Part>::nearest(1.0);
    }
    // A power of two changes no digit. In two steps, since its inverse may be no number.
    let half = 2.0_f64.powi((largest.log2() / 2.0).round() as i32);
    let down = T::from_part(<T::Real as Part>::nearest(1.0 / half));
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            a[(i, j)] = a[(i, j)] * down * down;
        }
    }
    <T::Real as Part>::nearest(half * half)
}

/// Refuses a matrix with an element that is NaN or infinite.
pub fn expect_finite<T: Field>(operation: &'static str, a: View<'_, T>) -> Result<()> {
    let (a, [m, n]) = (as_faer(a), a.shape());
    let finite = (0..m).all(|i| (0..n).all(|j| a[(i, j)].finite()));
    if finite { Ok(()) } else { Err(MatrixError::NotFinite { operation }) }
}

/// Refuses a matrix that is not square.
pub fn expect_square(operation: &'static str, shape: [usize; 2]) -> Result<usize> {
    if shape[0] == shape[1] {
        Ok(shape[0])
    } else {
        Err(MatrixError::NotSquare { operation, shape })
    }
}
