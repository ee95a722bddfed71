//! LU factors with partial pivoting, and what follows from them: equations, inverses, determinants.

use super::cholesky::Triangle;
use super::error::{MatrixError, Result};
use super::faer_view::{copy, made, scratch, write};
use super::field::{Field, Part, expect_square};
use super::pool::{with_threads, worth};
use super::product::expect_output;
use super::stack::{Stack, StackMut, each_matrix};
use super::triangular::{Diagonal, solve_copies};
use super::view::{View, ViewMut};
use faer::Mat;
use faer::linalg::lu::partial_pivoting::factor;
use rustfft::num_traits::Float;

/// A matrix as P L U: rows in another order, a unit lower and an upper triangle.
///
/// ```
/// use partita_linear::matrix::{Lu, View};
/// let lu = Lu::new(View::new(&[1.0, 2.0, 4.0, 4.0], 2, 2), 1);
/// assert_eq!(lu.permutation(), [1, 0]);
/// assert_eq!(lu.determinant()?, -4.0);
/// # Ok::<(), partita_linear::matrix::MatrixError>(())
/// ```
#[derive(Debug)]
pub struct Lu<T: Field> {
    packed: Mat<T>,
    permutation: Vec<usize>,
    n_swaps: usize,
    n_threads: usize,
}

impl<T: Field> Lu<T> {
    /// The factors of a matrix of any shape; a singular one has a zero in U.
    #[must_use]
    pub fn new(a: View<'_, T>, n_threads: usize) -> Lu<T> {
        let [m, n] = a.shape();
        if m.min(n) == 0 {
            return column_by_column(a);
        }
        let n_threads = worth(n_threads, a.shape());
        let mut packed = copy(a);
        let (mut permutation, mut inverse) = (vec![0; m], vec![0; m]);
        let n_swaps = with_threads(n_threads, |par| {
            let needs = factor::lu_in_place_scratch::<usize, T>(m, n, par, Default::default());
            scratch(needs, |stack| {
                let (rows, back) = (&mut permutation[..], &mut inverse[..]);
                let parameters = Default::default();
                factor::lu_in_place(packed.as_mut(), rows, back, par, stack, parameters).0
            })
            .transposition_count
        });
        let lu = Lu { packed, permutation, n_swaps, n_threads };
        // faer divides by a zero pivot.
        if lu.zero_pivot().is_some() { column_by_column(a) } else { lu }
    }

    /// L below the diagonal, where its ones are left out, and U.
    ///
    /// # Errors
    /// `output-shape`.
    pub fn packed(&self, out: &mut ViewMut<'_, T>) -> Result<()> {
        expect_output("lu", out.shape(), [self.packed.nrows(), self.packed.ncols()])?;
        write(out, self.packed.as_ref());
        Ok(())
    }

    /// Row `i` of L U is row `permutation[i]` of the matrix.
    #[must_use]
    pub fn permutation(&self) -> &[usize] {
        &self.permutation
    }

    /// The unit lower triangle, with as many columns as there are pivots.
    ///
    /// # Errors
    /// `output-shape`.
    pub fn lower(&self, out: &mut ViewMut<'_, T>) -> Result<()> {
        expect_output("lu", out.shape(), [self.packed.nrows(), self.n_pivots()])?;
        out.fill_with(|i, j| match i.cmp(&j) {
            std::cmp::Ordering::Greater => self.packed[(i, j)],
            std::cmp::Ordering::Equal => T::one(),
            std::cmp::Ordering::Less => T::ZERO,
        });
        Ok(())
    }

    /// The upper triangle, with as many rows as there are pivots.
    ///
    /// # Errors
    /// `output-shape`.
    pub fn upper(&self, out: &mut ViewMut<'_, T>) -> Result<()> {
        expect_output("lu", out.shape(), [self.n_pivots(), self.packed.ncols()])?;
        out.fill_with(|i, j| if i <= j { self.packed[(i, j)] } else { T::ZERO });
        Ok(())
    }

    fn n_pivots(&self) -> usize {
        self.packed.nrows().min(self.packed.ncols())
    }

    /// The first pivot that is zero.
    #[must_use]
    pub fn zero_pivot(&self) -> Option<usize> {
        (0..self.n_pivots()).find(|&i| self.packed[(i, i)] == T::ZERO)
    }

    /// Replaces `b` by the solution of A X = B.
    ///
    /// # Errors
    /// `not-square`, `shapes-differ`, `singular`; nothing is written then.
    pub fn solve(&self, b: &mut ViewMut<'_, T>) -> Result<()> {
        let shape = [self.packed.nrows(), self.packed.ncols()];
        let n = expect_square("solve", shape)?;
        if b.shape()[0] != n {
            let second = b.shape();
            return Err(MatrixError::ShapesDiffer { operation: "solve", first: shape, second });
        }
        if let Some(pivot) = self.zero_pivot() {
            return Err(MatrixError::Singular { pivot });
        }
        let given = b.as_view();
        let mut unknown = made([n, b.shape()[1]], |i, j| given.at(self.permutation[i], j));
        with_threads(self.n_threads, |par| {
            let (lower, upper) = (Triangle::Lower, Triangle::Upper);
            let packed = self.packed.as_ref();
            solve_copies(packed, unknown.as_mut(), lower, Diagonal::Ones, par);
            solve_copies(packed, unknown.as_mut(), upper, Diagonal::Given, par);
        });
        write(b, unknown.as_ref());
        Ok(())
    }

    /// The inverse.
    ///
    /// # Errors
    /// `not-square`, `output-shape`, `singular`.
    pub fn inverse(&self, out: &mut ViewMut<'_, T>) -> Result<()> {
        expect_square("inverse", [self.packed.nrows(), self.packed.ncols()])?;
        expect_output("inverse", out.shape(), [self.packed.nrows(); 2])?;
        if let Some(pivot) = self.zero_pivot() {
            return Err(MatrixError::Singular { pivot });
        }
        out.fill_with(|i, j| if i == j { T::one() } else { T::ZERO });
        self.solve(out)
    }

    /// The determinant; that of no rows is one.
    ///
    /// # Errors
    /// `not-square`.
    pub fn determinant(&self) -> Result<T> {
        let n = expect_square("determinant", [self.packed.nrows(), self.packed.ncols()])?;
        if self.zero_pivot().is_some() {
            return Ok(T::ZERO);
        }
        Ok((0..n).fold(self.sign_of_swaps(), |product, i| product * self.packed[(i, i)]))
    }

    /// The determinant as a number of modulus one, or zero, and the logarithm of its modulus.
    ///
    /// # Errors
    /// `not-square`.
    pub fn sign_and_log(&self) -> Result<(T, T::Real)> {
        let n = expect_square("determinant", [self.packed.nrows(), self.packed.ncols()])?;
        if self.zero_pivot().is_some() {
            return Ok((T::ZERO, T::Real::neg_infinity()));
        }
        let (mut sign, mut log) = (self.sign_of_swaps(), <T::Real as Part>::nearest(0.0));
        for i in 0..n {
            let pivot = self.packed[(i, i)];
            sign *= pivot / T::from_part(pivot.modulus());
            log += pivot.modulus().ln();
        }
        Ok((sign, log))
    }

    fn sign_of_swaps(&self) -> T {
        if self.n_swaps.is_multiple_of(2) { T::one() } else { -T::one() }
    }
}

/// The factors of a singular matrix, slowly: a column without a pivot is left as it is.
fn column_by_column<T: Field>(a: View<'_, T>) -> Lu<T> {
    let [m, n] = a.shape();
    let mut packed = copy(a);
    let mut permutation: Vec<usize> = (0..m).collect();
    let mut n_swaps = 0;
    for k in 0..m.min(n) {
        let size = |i: usize| packed[(i, k)].modulus();
        let pivot = (k + 1..m).fold(k, |best, i| if size(i) > size(best) { i } else { best });
        if packed[(pivot, k)] == T::ZERO {
            continue;
        }
        if pivot != k {
            n_swaps += 1;
            permutation.swap(pivot, k);
            for j in 0..n {
                (packed[(k, j)], packed[(pivot, j)]) = (packed[(pivot, j)], packed[(k, j)]);
            }
        }
        for i in k + 1..m {
            packed[(i, k)] = packed[(i, k)] / packed[(k, k)];
        }
        for j in k + 1..n {
            let factor = packed[(k, j)];
            for i in k + 1..m {
                packed[(i, j)] = packed[(i, j)] - packed[(i, k)] * factor;
            }
        }
    }
    Lu { packed, permutation, n_swaps, n_threads: 1 }
}

/// Replaces `b` by the solution of A X = B, one or many right-hand sides.
///
/// # Errors
/// `not-square`, `shapes-differ`, `singular`; nothing is written then.
pub fn solve<T: Field>(a: View<'_, T>, b: &mut ViewMut<'_, T>, n_threads: usize) -> Result<()> {
    expect_square("solve", a.shape())?;
    Lu::new(a, n_threads).solve(b)
}

/// The same for every matrix of a stack.
///
/// # Errors
/// As [`solve`], of the first matrix that has one, and `stacks-differ`.
pub fn solve_stack<T: Field>(a: Stack<'_, T>, b: &StackMut<'_, T>, n_threads: usize) -> Result<()> {
    if a.extents() != b.extents() {
        let (first, second) = (a.extents().to_vec(), b.extents().to_vec());
        return Err(MatrixError::StacksDiffer { operation: "solve", first, second });
    }
    each_matrix(a.len(), n_threads, |position, n_threads| {
        // SAFETY: each position is given out once.
        let mut b = unsafe { b.matrix(position) };
        solve(a.matrix(position), &mut b, n_threads)
    })
}

/// The inverse of a matrix.
///
/// # Errors
/// `not-square`, `output-shape`, `singular`; nothing is written then.
pub fn inverse<T: Field>(out: &mut ViewMut<'_, T>, a: View<'_, T>, n_threads: usize) -> Result<()> {
    expect_square("inverse", a.shape())?;
    Lu::new(a, n_threads).inverse(out)
}
