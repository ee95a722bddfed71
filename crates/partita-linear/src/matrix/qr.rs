//! QR factors by Householder reflections.

use super::error::{MatrixError, Result};
use super::faer_view::{copy, made, scratch, write};
use super::field::Field;
use super::pool::{with_threads, worth};
use super::product::expect_output;
use super::view::{View, ViewMut};
use faer::linalg::householder;
use faer::linalg::qr::no_pivoting::factor;
use faer::{Conj, Mat};
use rustfft::num_traits::Float;

/// A matrix as Q R: orthonormal columns, kept as reflections, and an upper triangle.
///
/// The diagonal of R is real, with the signs of LAPACK where the matrix is real.
///
/// ```
/// use partita_linear::matrix::{Qr, View, ViewMut};
/// let qr = Qr::new(View::new(&[3.0, 4.0], 2, 1), 1);
/// let mut r = [0.0];
/// qr.upper(&mut ViewMut::new(&mut r, 1, 1))?;
/// assert_eq!(r, [-5.0]);
/// # Ok::<(), partita_linear::matrix::MatrixError>(())
/// ```
#[derive(Debug)]
pub struct Qr<T: Field> {
    /// Reflections below the diagonal, R on and above it.
    packed: Mat<T>,
    factors: Mat<T>,
    /// By what the columns of the reflections' Q are multiplied, so that R has a real diagonal.
    phases: Vec<T>,
    n_threads: usize,
}

impl<T: Field> Qr<T> {
    /// The factors of a matrix of any shape.
    #[must_use]
    pub fn new(a: View<'_, T>, n_threads: usize) -> Qr<T> {
        let [m, n] = a.shape();
        let size = m.min(n);
        let n_threads =
            if m.saturating_mul(n) >= 1 << 16 { n_threads } else { worth(n_threads, [m, n]) };
        let mut packed = copy(a);
        let block = factor::recommended_block_size::<T>(m, n).max(1);
        let mut factors = made([block, size], |_, _| T::ZERO);
        if size > 0 {
            with_threads(n_threads, |par| {
                let needs = factor::qr_in_place_scratch::<T>(m, n, block, par, Default::default());
                scratch(needs, |stack| {
                    let (a, q, parameters) =
                        (packed.as_mut(), factors.as_mut(), Default::default());
                    factor::qr_in_place(a, q, par, stack, parameters);
                });
            });
        }
        let phases = (0..size).map(|i| phase(packed[(i, i)])).collect();
        Qr { packed, factors, phases, n_threads }
    }

    fn n_rows(&self) -> usize {
        self.packed.nrows()
    }

    fn size(&self) -> usize {
        self.phases.len()
    }

    /// R, with as many rows as the smaller extent of the matrix, or as the matrix.
    ///
    /// # Errors
    /// `output-shape`.
    pub fn upper(&self, out: &mut ViewMut<'_, T>) -> Result<()> {
        let n = self.packed.ncols();
        let given = out.shape();
        if given != [self.n_rows(), n] {
            expect_output("qr", given, [self.size(), n])?;
        }
        let conjugates: Vec<T> = self.phases.iter().map(|phase| phase.conjugate()).collect();
        out.fill_with(|i, j| match i.cmp(&j) {
            std::cmp::Ordering::Greater => T::ZERO,
            std::cmp::Ordering::Equal => T::from_part((conjugates[i] * self.packed[(i, j)]).part()),
            std::cmp::Ordering::Less => conjugates[i] * self.packed[(i, j)],
        });
        Ok(())
    }

    /// Q, with as many columns as the smaller extent of the matrix (reduced), or square (complete).
    ///
    /// # Errors
    /// `output-shape`.
    pub fn orthonormal(&self, out: &mut ViewMut<'_, T>) -> Result<()> {
        let m = self.n_rows();
        let given = out.shape();
        if given != [m, m] {
            expect_output("qr", given, [m, self.size()])?;
        }
        out.fill_with(|i, j| if i == j { T::one() } else { T::ZERO });
        self.apply(out)
    }

    /// Replaces `b` by Q B, where Q is square.
    ///
    /// # Errors
    /// `shapes-differ`.
    pub fn apply(&self, b: &mut ViewMut<'_, T>) -> Result<()> {
        self.expect_rows(b.shape())?;
        let mut product = copy(b.as_view());
        for j in 0..product.ncols() {
            for (i, &phase) in self.phases.iter().enumerate() {
                product[(i, j)] = phase * product[(i, j)];
            }
        }
        if self.size() > 0 && product.ncols() > 0 {
            with_threads(self.n_threads, |par| {
                use householder as by;
                let needs = by::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(
                    self.n_rows(),
                    self.factors.nrows(),
                    product.ncols(),
                );
                scratch(needs, |stack| {
                    by::apply_block_householder_sequence_on_the_left_in_place_with_conj(
                        self.packed.as_ref().subcols(0, self.size()),
                        self.factors.as_ref(),
                        Conj::No,
                        product.as_mut(),
                        par,
                        stack,
                    );
                });
            });
        }
        write(b, product.as_ref());
        Ok(())
    }

    /// Replaces `b` by the adjoint of Q times B, where Q is square.
    ///
    /// # Errors
    /// `shapes-differ`.
    pub fn apply_adjoint(&self, b: &mut ViewMut<'_, T>) -> Result<()> {
        self.expect_rows(b.shape())?;
        let mut product = copy(b.as_view());
        if self.size() > 0 && product.ncols() > 0 {
            with_threads(self.n_threads, |par| {
                use householder as by;
                let needs =
                    by::apply_block_householder_sequence_transpose_on_the_left_in_place_scratch::<T>(
                        self.n_rows(),
                        self.factors.nrows(),
                        product.ncols(),
                    );
                scratch(needs, |stack| {
                    by::apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj(
                        self.packed.as_ref().subcols(0, self.size()),
                        self.factors.as_ref(),
                        Conj::Yes,
                        product.as_mut(),
                        par,
                        stack,
                    );
                });
            });
        }
        for j in 0..product.ncols() {
            for (i, phase) in self.phases.iter().enumerate() {
                product[(i, j)] = phase.conjugate() * product[(i, j)];
            }
        }
        write(b, product.as_ref());
        Ok(())
    }

    fn expect_rows(&self, second: [usize; 2]) -> Result<()> {
        let first = [self.n_rows(), self.n_rows()];
        if first[1] == second[0] {
            return Ok(());
        }
        Err(MatrixError::ShapesDiffer { operation: "qr", first, second })
    }
}

/// A number of modulus one by which a real number is multiplied to give `value`.
fn phase<T: Field>(value: T) -> T {
    let real = T::from_part(value.part());
    if value == real || !value.finite() {
        return T::one();
    }
    let phase = value / T::from_part(value.modulus());
    if phase.part().is_sign_negative() { -phase } else { phase }
}
