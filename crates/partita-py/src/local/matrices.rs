//! Products and factorisations of matrices, one or many: leading dimensions count them.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use partita_linear::matrix::{
    Diagonal, Factorised, Into, MatrixError, Multiplied, Triangle, Truth, each_matrix,
};
use partita_linear::{Complex32, Complex64};
use partita_plan::Dtype;
use pyo3::prelude::*;

use super::block::{Block, refused, with_field};
use super::detached;

/// Multiplications from which a second thread pays.
const WORTH: usize = 1 << 19;

/// Writes the products of matrices, or adds them.
#[pyfunction]
fn local_matmul(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    add: bool,
    n_threads: usize,
) -> PyResult<()> {
    let a = Block::new(a)?;
    let (b, out) = (Block::of(b, a.dtype)?, Block::of(out, a.dtype)?);
    expect_stacks(&out, &[&a, &b])?;
    let into = if add { Into::Add } else { Into::Overwrite };
    let [m, k] = a.shape();
    let total = m.saturating_mul(k).saturating_mul(b.shape()[1]).saturating_mul(out.n_matrices());
    let n_threads = n_threads.min(total / WORTH + 1);
    macro_rules! multiplied {
        ($T:ty) => {
            detached(py, || {
                each_matrix(out.n_matrices(), n_threads, |at, n_threads| {
                    // SAFETY: each matrix is given out once.
                    let out = unsafe { out.matrix_mut::<$T>(at) };
                    <$T>::matmul(out, a.matrix(at), b.matrix(at), into, n_threads)
                })
            })?
        };
    }
    let outcome = match a.dtype {
        Dtype::Bool => multiplied!(Truth),
        Dtype::I8 => multiplied!(i8),
        Dtype::I16 => multiplied!(i16),
        Dtype::I32 => multiplied!(i32),
        Dtype::I64 => multiplied!(i64),
        Dtype::U8 => multiplied!(u8),
        Dtype::U16 => multiplied!(u16),
        Dtype::U32 => multiplied!(u32),
        Dtype::U64 => multiplied!(u64),
        Dtype::F32 => multiplied!(f32),
        Dtype::F64 => multiplied!(f64),
        Dtype::C64 => multiplied!(Complex32),
        Dtype::C128 => multiplied!(Complex64),
        Dtype::F16 | Dtype::Bf16 => {
            return Err(refused("numbers of 16 bits are not multiplied here; use float32"));
        }
    };
    outcome.map_err(|error| matrix_error(py, &error))
}

/// Writes the triangles of Cholesky.
#[pyfunction]
fn local_cholesky(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    upper: bool,
    n_threads: usize,
) -> PyResult<()> {
    let a = Block::new(a)?;
    let out = Block::of(out, a.dtype)?;
    expect_stacks(&out, &[&a])?;
    let triangle = if upper { Triangle::Upper } else { Triangle::Lower };
    with_field!(a.dtype, T => each(py, &a, n_threads, |at, n_threads| {
        // SAFETY: each matrix is given out once.
        T::cholesky(unsafe { out.matrix_mut(at) }, a.matrix(at), triangle, n_threads)
    }))
}

/// Writes the packed triangles of LU and the rows in their new order.
#[pyfunction]
fn local_lu(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    packed: &Bound<'_, PyAny>,
    order: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<()> {
    let a = Block::new(a)?;
    let (packed, mut order) = (Block::of(packed, a.dtype)?, Block::of(order, Dtype::I64)?);
    expect_stacks(&packed, &[&a])?;
    let order = order.row_mut::<i64>()?;
    if order.len() != a.shape()[0] || a.n_matrices() != 1 {
        return Err(refused("LU takes one matrix and a place per row"));
    }
    with_field!(a.dtype, T => {
        let outcome = detached(py, || {
            // SAFETY: this is its only user.
            let mut packed = unsafe { packed.matrix_mut(0) };
            T::lu(&mut packed, a.matrix(0), n_threads)
        })?;
        let found = outcome.map_err(|error| matrix_error(py, &error))?;
        order.iter_mut().zip(found).for_each(|(to, from)| *to = from as i64);
        Ok(())
    })
}

/// Replaces right-hand sides by solutions.
#[pyfunction]
fn local_solve(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<()> {
    let a = Block::new(a)?;
    let b = Block::of(b, a.dtype)?;
    expect_stacks(&b, &[&a])?;
    with_field!(a.dtype, T => each(py, &a, n_threads, |at, n_threads| {
        // SAFETY: each matrix is given out once.
        T::solve(a.matrix(at), &mut unsafe { b.matrix_mut(at) }, n_threads)
    }))
}

/// Replaces the right-hand sides of one triangle by their solutions.
#[pyfunction]
fn local_solve_triangular(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    lower: bool,
    unit: bool,
    n_threads: usize,
) -> PyResult<()> {
    let a = Block::new(a)?;
    let b = Block::of(b, a.dtype)?;
    expect_stacks(&b, &[&a])?;
    let triangle = if lower { Triangle::Lower } else { Triangle::Upper };
    let diagonal = if unit { Diagonal::Ones } else { Diagonal::Given };
    with_field!(a.dtype, T => each(py, &a, n_threads, |at, n_threads| {
        // SAFETY: each matrix is given out once.
        let mut b = unsafe { b.matrix_mut(at) };
        T::solve_triangular(a.matrix(at), triangle, diagonal, &mut b, n_threads)
    }))
}

/// Writes inverses.
#[pyfunction]
fn local_inv(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<()> {
    let a = Block::new(a)?;
    let out = Block::of(out, a.dtype)?;
    expect_stacks(&out, &[&a])?;
    with_field!(a.dtype, T => each(py, &a, n_threads, |at, n_threads| {
        // SAFETY: each matrix is given out once.
        T::inverse(&mut unsafe { out.matrix_mut(at) }, a.matrix(at), n_threads)
    }))
}

/// Writes signs of determinants and the logarithms of their sizes: matrices of one element.
#[pyfunction]
fn local_slogdet(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    sign: &Bound<'_, PyAny>,
    log: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<()> {
    let a = Block::new(a)?;
    let (sign, log) = (Block::of(sign, a.dtype)?, Block::of(log, Dtype::F64)?);
    expect_stacks(&sign, &[&a, &log])?;
    with_field!(a.dtype, T => each(py, &a, n_threads, |at, n_threads| {
        let (found, size) = T::sign_and_log(a.matrix(at), n_threads)?;
        // SAFETY: each matrix is given out once.
        unsafe {
            sign.matrix_mut(at).put(0, 0, found);
            log.matrix_mut(at).put(0, 0, size);
        }
        Ok(())
    }))
}

/// Writes orthonormal columns and upper triangles.
#[pyfunction]
fn local_qr(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    q: &Bound<'_, PyAny>,
    r: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<()> {
    let a = Block::new(a)?;
    let (q, r) = (Block::of(q, a.dtype)?, Block::of(r, a.dtype)?);
    expect_stacks(&q, &[&a, &r])?;
    with_field!(a.dtype, T => each(py, &a, n_threads, |at, n_threads| {
        // SAFETY: each matrix is given out once.
        let (mut q, mut r) = unsafe { (q.matrix_mut(at), r.matrix_mut(at)) };
        T::qr(&mut q, &mut r, a.matrix(at), n_threads)
    }))
}

/// Writes singular values, a column, and vectors where there is room for them: (u, vh).
#[pyfunction]
fn local_svd(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    vectors: Option<(Bound<'_, PyAny>, Bound<'_, PyAny>)>,
    n_threads: usize,
) -> PyResult<()> {
    let a = Block::new(a)?;
    let values = Block::of(values, Dtype::F64)?;
    expect_stacks(&values, &[&a])?;
    let vectors = match vectors {
        Some((u, vh)) => Some((Block::of(&u, a.dtype)?, Block::of(&vh, a.dtype)?)),
        None => None,
    };
    let [m, n] = a.shape();
    if let Some((u, vh)) = &vectors {
        expect_stacks(u, &[vh, &a])?;
    }
    expect_column(&values, m.min(n))?;
    with_field!(a.dtype, T => each(py, &a, n_threads, |at, n_threads| {
        // SAFETY: each matrix is given out once.
        unsafe {
            let pair = vectors.as_ref().map(|(u, vh)| (u.matrix_mut(at), vh.matrix_mut(at)));
            let found = T::svd(a.matrix(at), pair, n_threads)?;
            values.matrix_mut(at).fill_with(|row, _| found[row]);
        }
        Ok(())
    }))
}

/// Writes eigenvalues of self-adjoint matrices, a column, and vectors where there is room.
#[pyfunction]
fn local_eigh(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    vectors: Option<Bound<'_, PyAny>>,
    lower: bool,
    n_threads: usize,
) -> PyResult<()> {
    let a = Block::new(a)?;
    let values = Block::of(values, Dtype::F64)?;
    let vectors = vectors.map(|one| Block::of(&one, a.dtype)).transpose()?;
    expect_stacks(&values, &[&a, vectors.as_ref().unwrap_or(&a)])?;
    expect_column(&values, a.shape()[0])?;
    let triangle = if lower { Triangle::Lower } else { Triangle::Upper };
    with_field!(a.dtype, T => each(py, &a, n_threads, |at, n_threads| {
        // SAFETY: each matrix is given out once.
        unsafe {
            let columns = vectors.as_ref().map(|one| one.matrix_mut(at));
            let found = T::eigh(a.matrix(at), triangle, columns, n_threads)?;
            values.matrix_mut(at).fill_with(|row, _| found[row]);
        }
        Ok(())
    }))
}

/// Writes complex eigenvalues, a column, and vectors where there is room.
#[pyfunction]
fn local_eig(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    vectors: Option<Bound<'_, PyAny>>,
    n_threads: usize,
) -> PyResult<()> {
    let a = Block::new(a)?;
    let values = Block::of(values, Dtype::C128)?;
    let vectors = vectors.map(|one| Block::of(&one, Dtype::C128)).transpose()?;
    expect_stacks(&values, &[&a, vectors.as_ref().unwrap_or(&a)])?;
    expect_column(&values, a.shape()[0])?;
    with_field!(a.dtype, T => each(py, &a, n_threads, |at, n_threads| {
        // SAFETY: each matrix is given out once.
        unsafe {
            let columns = vectors.as_ref().map(|one| one.matrix_mut(at));
            let found = T::eig(a.matrix(at), columns, n_threads)?;
            values.matrix_mut(at).fill_with(|row, _| found[row]);
        }
        Ok(())
    }))
}

/// Calls `work` with every matrix's position and the threads it may use.
fn each(
    py: Python<'_>,
    a: &Block,
    n_threads: usize,
    work: impl Fn(usize, usize) -> Result<(), MatrixError> + Sync + Send,
) -> PyResult<()> {
    let outcome = detached(py, || each_matrix(a.n_matrices(), n_threads, work))?;
    outcome.map_err(|error| matrix_error(py, &error))
}

/// All have matrices, and as many as the first.
fn expect_stacks(first: &Block, others: &[&Block]) -> PyResult<()> {
    let all = || std::iter::once(&first).chain(others);
    if all().any(|block| block.extents.len() < 2) {
        return Err(refused("an array of fewer than two dimensions is no matrix"));
    }
    let leading = |block: &Block| block.extents[..block.extents.len() - 2].to_vec();
    match all().all(|block| leading(block) == leading(first)) {
        true => Ok(()),
        false => Err(refused("stacks have different numbers of matrices; broadcast them")),
    }
}

fn expect_column(values: &Block, length: usize) -> PyResult<()> {
    match values.shape() == [length, 1] {
        true => Ok(()),
        false => Err(refused("there is not one place per value")),
    }
}

/// What users of NumPy expect: `LinAlgError` for matrices without a result.
fn matrix_error(py: Python<'_>, error: &MatrixError) -> PyErr {
    let is_matrix = matches!(
        error,
        MatrixError::Singular { .. }
            | MatrixError::NotPositiveDefinite { .. }
            | MatrixError::NoConvergence { .. }
            | MatrixError::NotFinite { .. }
            | MatrixError::NotSquare { .. }
    );
    if !is_matrix {
        return refused(&error.to_string());
    }
    let make = || -> PyResult<PyErr> {
        let class = py.import("numpy.linalg")?.getattr("LinAlgError")?;
        Ok(PyErr::from_value(class.call1((error.to_string(),))?))
    };
    make().unwrap_or_else(|error| error)
}

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(local_matmul, module)?)?;
    module.add_function(wrap_pyfunction!(local_cholesky, module)?)?;
    module.add_function(wrap_pyfunction!(local_lu, module)?)?;
    module.add_function(wrap_pyfunction!(local_solve, module)?)?;
    module.add_function(wrap_pyfunction!(local_solve_triangular, module)?)?;
    module.add_function(wrap_pyfunction!(local_inv, module)?)?;
    module.add_function(wrap_pyfunction!(local_slogdet, module)?)?;
    module.add_function(wrap_pyfunction!(local_qr, module)?)?;
    module.add_function(wrap_pyfunction!(local_svd, module)?)?;
    module.add_function(wrap_pyfunction!(local_eigh, module)?)?;
    module.add_function(wrap_pyfunction!(local_eig, module)?)
}
