//! Products with dense and with sparse operands; matrices combined.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use partita_sparse::{Into as Kept, Operation, Rows, RowsMut, Values};
use pyo3::prelude::*;

use super::given::{
    GivenMatrix, GivenPattern, Three, apart, one_width, row, row_mut, rows_and_width, same_type,
    sparse_error, with_index, with_number, with_ordered,
};
use super::made::{Made, made};
use crate::local::block::{Block, refused};
use crate::local::cores;

/// Writes or adds the product with a vector or matrix, whose rows lie in two places.
#[pyfunction]
fn local_sparse_times(
    py: Python<'_>,
    matrix: Three<'_>,
    right: (Bound<'_, PyAny>, Bound<'_, PyAny>),
    out: &Bound<'_, PyAny>,
    add: bool,
    n_threads: usize,
) -> PyResult<()> {
    let given = GivenMatrix::new(&matrix)?;
    let (own, ghosts, mut out) = (Block::new(&right.0)?, Block::new(&right.1)?, Block::new(out)?);
    let extents = stacked(&own, &ghosts, &out)?;
    for block in [&own, &ghosts, &out] {
        same_type(block, given.data.dtype)?;
    }
    let pattern = &given.pattern;
    apart(&out, &[&own, &ghosts, &given.data, &pattern.indptr, &pattern.indices])?;
    let into = if add { Kept::Add } else { Kept::Replace };
    with_index!(pattern.index(), I => with_number!(given.data.dtype, T => {
        let matrix = given.matrix::<I, T>()?;
        let right = Rows::new(row::<T>(&own)?, row::<T>(&ghosts)?, extents);
        let (right, out) = (right.map_err(sparse_error)?, row_mut::<T>(&mut out)?);
        py.detach(|| partita_sparse::times(matrix, right, out, into, cores(n_threads)))
            .map_err(sparse_error)
    }))
}

/// Adds to rows in two places what their columns are in the product.
#[pyfunction]
fn local_sparse_times_transposed(
    py: Python<'_>,
    matrix: Three<'_>,
    right: &Bound<'_, PyAny>,
    to: (Bound<'_, PyAny>, Bound<'_, PyAny>),
    conjugate: bool,
    n_threads: usize,
) -> PyResult<()> {
    let (given, right) = (GivenMatrix::new(&matrix)?, Block::new(right)?);
    let (mut own, mut ghosts) = (Block::new(&to.0)?, Block::new(&to.1)?);
    let extents = stacked(&own, &ghosts, &right)?;
    for block in [&own, &ghosts, &right] {
        same_type(block, given.data.dtype)?;
    }
    let pattern = &given.pattern;
    let operands = [&right, &given.data, &pattern.indptr, &pattern.indices];
    apart(&own, &operands)?;
    apart(&ghosts, &operands)?;
    apart(&own, &[&ghosts])?;
    let values = if conjugate { Values::Conjugate } else { Values::Plain };
    with_index!(pattern.index(), I => with_number!(given.data.dtype, T => {
        let (matrix, right) = (given.matrix::<I, T>()?, row::<T>(&right)?);
        let to = RowsMut::new(row_mut::<T>(&mut own)?, row_mut::<T>(&mut ghosts)?, extents);
        let to = to.map_err(sparse_error)?;
        py.detach(|| partita_sparse::times_transposed(matrix, right, to, values, cores(n_threads)))
            .map_err(sparse_error)
    }))
}

/// Writes products of dense rows at the entries of a pattern.
#[pyfunction]
fn local_sparse_sampled(
    py: Python<'_>,
    pattern: (Bound<'_, PyAny>, Bound<'_, PyAny>),
    left: &Bound<'_, PyAny>,
    right: (Bound<'_, PyAny>, Bound<'_, PyAny>),
    out: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<()> {
    let (given, left) = (GivenPattern::new(&pattern.0, &pattern.1)?, Block::new(left)?);
    let (own, ghosts, mut out) = (Block::new(&right.0)?, Block::new(&right.1)?, Block::new(out)?);
    let extents = stacked(&own, &ghosts, &left)?;
    for block in [&own, &ghosts, &left] {
        same_type(block, out.dtype)?;
    }
    apart(&out, &[&own, &ghosts, &left, &given.indptr, &given.indices])?;
    with_index!(given.index(), I => with_number!(out.dtype, T => {
        let (pattern, left) = (given.pattern::<I>()?, row::<T>(&left)?);
        let right = Rows::new(row::<T>(&own)?, row::<T>(&ghosts)?, extents);
        let (right, out) = (right.map_err(sparse_error)?, row_mut::<T>(&mut out)?);
        py.detach(|| partita_sparse::sampled(pattern, left, right, out, cores(n_threads)))
            .map_err(sparse_error)
    }))
}

/// Extents of rows in two places: how many in each, and numbers per row, as another operand has.
fn stacked(own: &Block, ghosts: &Block, other: &Block) -> PyResult<[usize; 3]> {
    let width = one_width(&[own, ghosts, other])?;
    Ok([rows_and_width(own)?[0], rows_and_width(ghosts)?[0], width])
}

/// The product with a sparse matrix whose rows lie in two places.
#[pyfunction]
fn local_sparse_product(
    py: Python<'_>,
    a: Three<'_>,
    own: Three<'_>,
    ghosts: Three<'_>,
    n_columns: usize,
    n_threads: usize,
) -> PyResult<Made> {
    let (a, own) = (GivenMatrix::new(&a)?, GivenMatrix::new(&own)?);
    let ghosts = GivenMatrix::new(&ghosts)?;
    own.like(&a)?;
    ghosts.like(&a)?;
    with_index!(a.pattern.index(), I => with_number!(a.data.dtype, T => {
        let (a, own, ghosts) = (a.matrix::<I, T>()?, own.matrix()?, ghosts.matrix()?);
        made(py.detach(|| partita_sparse::product(a, own, ghosts, n_columns, cores(n_threads))))
    }))
}

/// Two tidy matrices of one shape, element by element.
#[pyfunction]
fn local_sparse_combined(
    py: Python<'_>,
    a: Three<'_>,
    b: Three<'_>,
    operation: &str,
    n_columns: usize,
    n_threads: usize,
) -> PyResult<Made> {
    let (a, b) = (GivenMatrix::new(&a)?, GivenMatrix::new(&b)?);
    b.like(&a)?;
    let operation = match operation {
        "add" => Operation::Add,
        "subtract" => Operation::Subtract,
        "multiply" => Operation::Multiply,
        "maximum" => Operation::Maximum,
        "minimum" => Operation::Minimum,
        other => {
            let known = "add, subtract, multiply, maximum or minimum";
            return Err(refused(&format!("there is no operation {other:?}; use {known}")));
        }
    };
    with_index!(a.pattern.index(), I => with_ordered!(a.data.dtype, T => {
        let (a, b) = (a.matrix::<I, T>()?, b.matrix()?);
        made(py.detach(|| partita_sparse::combined(a, b, operation, n_columns, cores(n_threads))))
    }))
}

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(local_sparse_times, module)?)?;
    module.add_function(wrap_pyfunction!(local_sparse_times_transposed, module)?)?;
    module.add_function(wrap_pyfunction!(local_sparse_sampled, module)?)?;
    module.add_function(wrap_pyfunction!(local_sparse_product, module)?)?;
    module.add_function(wrap_pyfunction!(local_sparse_combined, module)?)
}
