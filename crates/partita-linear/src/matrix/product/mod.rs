//! Products of matrices.
//!
//! - [`matmul`] multiplies two matrices; matrix times vector runs at the speed of memory
//!   (`vector.rs`).
//! - [`matmul_stack`] multiplies many.
//! - [`vecdot`] gives dot products of rows.
//!
//! Floating point is multiplied by faer on one thread per piece of the result, and by a loop where
//! real matrices are small; integers wrap and
//! truth values are or-ed by a loop of our own (`blocked.rs`), whose level is that of
//! `PARTITA_SIMD`. faer always takes the best the processor has.

mod blocked;
mod dot;
mod level;
mod number;
mod vector;

pub use dot::{Conjugate, Dot};
pub use number::{Number, Truth};

use super::error::{MatrixError, Result};
use super::faer_view::{as_faer, as_faer_mut, expect_workspace};
use super::stack::{Stack, StackMut, each_matrix};
use super::view::{View, ViewMut};
use faer::{Accum, Par};
use num_complex::Complex;
use partita_kernel::math::Level;
use partita_kernel::threads;
use vector::How;

/// What becomes of the numbers that an output holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Into {
    /// They are replaced and never read.
    Overwrite,
    /// They are added to.
    Add,
}

/// Elements that matrices can be multiplied of.
pub trait Multiply: Dot {
    /// `out` becomes `a` times `b` on the caller's thread; no extent is zero.
    #[doc(hidden)]
    fn multiply(
        level: Level,
        out: &mut ViewMut<'_, Self>,
        a: View<'_, Self>,
        b: View<'_, Self>,
        into: Into,
    );
}

macro_rules! by_loops {
    ($($type:ty)*) => {$(
        impl Multiply for $type {
            fn multiply(
                level: Level,
                out: &mut ViewMut<'_, $type>,
                a: View<'_, $type>,
                b: View<'_, $type>,
                into: Into,
            ) {
                blocked::multiply(level, out, a, b, into);
            }
        }
    )*};
}
by_loops!(i8 i16 i32 i64 u8 u16 u32 u64 Truth);

macro_rules! by_faer {
    ($($type:ty, $loops_below:expr;)*) => {$(
        impl Multiply for $type {
            fn multiply(
                level: Level,
                out: &mut ViewMut<'_, $type>,
                a: View<'_, $type>,
                b: View<'_, $type>,
                into: Into,
            ) {
                let ([m, k], n) = (a.shape(), b.shape()[1]);
                if m.max(k).max(n) <= $loops_below {
                    return blocked::multiply_small(level, out, a, b, into);
                }
                let accumulate = match into {
                    Into::Overwrite => Accum::Replace,
                    Into::Add => Accum::Add,
                };
                let one = <$type as num_complex::ComplexFloat>::recip(1.0.into());
                let (a, b) = (as_faer(a), as_faer(b));
                expect_workspace();
                faer::linalg::matmul::matmul(as_faer_mut(out), accumulate, a, b, one, Par::Seq);
            }
        }
    )*};
}
by_faer! {
    f32, blocked::SMALL; f64, blocked::SMALL; Complex<f32>, 0; Complex<f64>, 0;
}

/// Multiplications from which a second thread pays.
const WORTH: usize = 1 << 19;

/// `out` becomes `a` times `b`, or is added to, on at most `n_threads` threads.
///
/// ```
/// use partita_linear::matrix::{Into, View, ViewMut, matmul};
/// let a = [1.0, 2.0, 3.0, 4.0];
/// let mut out = [0.0; 4];
/// let transposed = View::new(&a, 2, 2).transposed();
/// matmul(ViewMut::new(&mut out, 2, 2), View::new(&a, 2, 2), transposed, Into::Overwrite, 1)?;
/// assert_eq!(out, [5.0, 11.0, 11.0, 25.0]);
/// # Ok::<(), partita_linear::matrix::MatrixError>(())
/// ```
///
/// # Errors
/// `shapes-differ` and `output-shape`; nothing is written then.
pub fn matmul<T: Multiply>(
    out: ViewMut<'_, T>,
    a: View<'_, T>,
    b: View<'_, T>,
    into: Into,
    n_threads: usize,
) -> Result<()> {
    check(a.shape(), b.shape(), out.shape())?;
    multiply_at(Level::best(), out, a, b, into, n_threads);
    Ok(())
}

/// Each matrix of `out` becomes a product; otherwise as [`matmul`].
///
/// # Errors
/// As [`matmul`], and `stacks-differ`: operands are broadcast by strides of zero.
pub fn matmul_stack<T: Multiply>(
    out: &mut StackMut<'_, T>,
    a: Stack<'_, T>,
    b: Stack<'_, T>,
    into: Into,
    n_threads: usize,
) -> Result<()> {
    check(a.shape(), b.shape(), out.shape())?;
    for other in [a.extents(), b.extents()] {
        if other != out.extents() {
            let (first, second) = (out.extents().to_vec(), other.to_vec());
            return Err(MatrixError::StacksDiffer { operation: "matmul", first, second });
        }
    }
    let level = Level::best();
    let [m, n] = out.shape();
    let total = m.saturating_mul(n).saturating_mul(a.shape()[1]).saturating_mul(out.len());
    let n_threads = n_threads.min(total / WORTH + 1);
    each_matrix(out.len(), n_threads, |position, n_threads| {
        // SAFETY: each position is given out once.
        let out = unsafe { out.matrix(position) };
        multiply_at(level, out, a.matrix(position), b.matrix(position), into, n_threads);
        Ok(())
    })
}

/// Each row of `out`, a column, becomes the dot product of rows of `a`, conjugated, and `b`.
///
/// ```
/// use partita_linear::matrix::{View, ViewMut, vecdot};
/// let mut out = [0; 2];
/// let (a, b) = ([1, 2, 3, 4], [10, 1, 10, 1]);
/// vecdot(ViewMut::new(&mut out, 2, 1), View::new(&a, 2, 2), View::new(&b, 2, 2), 1)?;
/// assert_eq!(out, [12, 34]);
/// # Ok::<(), partita_linear::matrix::MatrixError>(())
/// ```
///
/// # Errors
/// `shapes-differ` and `output-shape`.
pub fn vecdot<T: Multiply>(
    out: ViewMut<'_, T>,
    a: View<'_, T>,
    b: View<'_, T>,
    n_threads: usize,
) -> Result<()> {
    let (operation, first, second) = ("vecdot", a.shape(), b.shape());
    if first != second {
        return Err(MatrixError::ShapesDiffer { operation, first, second });
    }
    expect_output(operation, out.shape(), [first[0], 1])?;
    let how = How { level: Level::best(), into: Into::Overwrite, n_threads };
    vector::row_by_row(out, a, b, Conjugate::First, how);
    Ok(())
}

pub(super) fn expect_output(
    operation: &'static str,
    given: [usize; 2],
    wanted: [usize; 2],
) -> Result<()> {
    if given == wanted {
        return Ok(());
    }
    Err(MatrixError::OutputShape { operation, given, wanted })
}

fn check(first: [usize; 2], second: [usize; 2], out: [usize; 2]) -> Result<()> {
    if first[1] != second[0] {
        return Err(MatrixError::ShapesDiffer { operation: "matmul", first, second });
    }
    expect_output("matmul", out, [first[0], second[1]])
}

/// The product of shapes that fit.
fn multiply_at<T: Multiply>(
    level: Level,
    mut out: ViewMut<'_, T>,
    a: View<'_, T>,
    b: View<'_, T>,
    into: Into,
    n_threads: usize,
) {
    let ([m, k], n) = (a.shape(), b.shape()[1]);
    if m == 0 || n == 0 {
        return;
    }
    if k == 0 {
        if into == Into::Overwrite {
            out.fill_with(|_, _| T::ZERO);
        }
        return;
    }
    let work = m.saturating_mul(n).saturating_mul(k);
    let n_threads = n_threads.clamp(1, work / WORTH + 1);
    let how = How { level, into, n_threads: n_threads.max(1) };
    if n == 1 {
        vector::times_vector(out, a, b, how);
    } else if m == 1 {
        vector::times_vector(out.transposed(), b.transposed(), a.transposed(), how);
    } else if n_threads == 1 {
        T::multiply(level, &mut out, a, b, into);
    } else if m * n <= DEEP_RESULT && k > 8 * m.max(n) {
        multiply_deep(out, a, b, how);
    } else {
        multiply_pieces(&out, a, b, how);
    }
}

/// Elements of a result so small that its threads divide the sums instead.
const DEEP_RESULT: usize = 1 << 16;

/// Threads sum parts of the columns of `a`; the parts are then added one after another.
fn multiply_deep<T: Multiply>(mut out: ViewMut<'_, T>, a: View<'_, T>, b: View<'_, T>, how: How) {
    let ([m, k], n) = (a.shape(), b.shape()[1]);
    let parts = how.n_threads;
    let mut partial = vec![T::ZERO; parts * m * n];
    let places: Vec<_> = partial.chunks_exact_mut(m * n).map(std::sync::Mutex::new).collect();
    threads::divide(parts, parts, &|part| {
        let depth = part * k / parts..(part + 1) * k / parts;
        let (a, b) = (a.part(0..m, depth.clone()), b.part(depth, 0..n));
        let mut place = places[part].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        T::multiply(how.level, &mut ViewMut::new(&mut place, m, n), a, b, Into::Overwrite);
    });
    drop(places);
    for i in 0..m {
        for j in 0..n {
            let parts = (0..parts).map(|part| partial[part * m * n + i * n + j]);
            let sum = parts.reduce(T::plus).unwrap_or(T::ZERO);
            let value = match how.into {
                Into::Overwrite => sum,
                Into::Add => out.as_view().at(i, j).plus(sum),
            };
            out.put(i, j, value);
        }
    }
}

/// Threads multiply pieces of the result.
fn multiply_pieces<T: Multiply>(out: &ViewMut<'_, T>, a: View<'_, T>, b: View<'_, T>, how: How) {
    let ([m, k], n) = (a.shape(), b.shape()[1]);
    let [down, across] = divide_result(m, n, how.n_threads);
    let (data, strides) = (Place(out.data()), out.strides());
    threads::divide(how.n_threads, down * across, &|piece| {
        let (i, j) = (piece / across, piece % across);
        let rows = i * m / down..(i + 1) * m / down;
        let columns = j * n / across..(j + 1) * n / across;
        // SAFETY: the whole output is ours, and every piece of it has one thread.
        let out = unsafe { ViewMut::from_raw(data.get(), [m, n], strides) };
        let mut out = out.part(rows.clone(), columns.clone());
        T::multiply(how.level, &mut out, a.part(rows, 0..k), b.part(0..k, columns), how.into);
    });
}

struct Place<T>(*mut T);
// SAFETY: threads write different pieces behind it.
unsafe impl<T: Send> Sync for Place<T> {}
impl<T> Place<T> {
    fn get(&self) -> *mut T {
        self.0
    }
}

/// Into how many rows and columns of pieces a result is cut: nearly square ones, two per thread if
/// they stay large, so that a thread that is held up does not hold up the others.
fn divide_result(m: usize, n: usize, n_threads: usize) -> [usize; 2] {
    let n_pieces = if m * n >= n_threads << 21 { 2 * n_threads } else { n_threads };
    let sides = |down: usize| m.div_ceil(down) + n.div_ceil(n_pieces / down);
    let down = (1..=n_pieces).filter(|down| n_pieces % down == 0).min_by_key(|&down| sides(down));
    let down = down.unwrap_or(1);
    [down.min(m), (n_pieces / down).min(n)]
}

#[cfg(test)]
mod tests;
