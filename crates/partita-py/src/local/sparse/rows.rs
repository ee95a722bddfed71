//! Rows of several matrices, in the order in which they are asked for.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use partita_plan::Dtype;
use partita_sparse::{Matrix, Stretches, Taken, Wanted};
use pyo3::prelude::*;

use super::given::{GivenMatrix, Three, row, row_mut, same_type, sparse_error, vector, with_index};
use super::made::{Made, Warm, made, made_row};
use crate::buffers::WarmMemory;
use crate::local::block::{Block, refused, with_bytes};
use crate::local::cores;

/// Positions, and numbers of matrices.
fn positions(object: &Bound<'_, PyAny>) -> PyResult<Block> {
    let found = vector(object)?;
    same_type(&found, Dtype::I64)?;
    Ok(found)
}

/// Writes who has each row, and where; which stretches were asked for, or none if an index is
/// outside.
#[pyfunction]
fn local_sparse_located(
    indices: &Bound<'_, PyAny>,
    n_rows: i64,
    stretches: (Bound<'_, PyAny>, Bound<'_, PyAny>),
    to: (Bound<'_, PyAny>, Bound<'_, PyAny>),
) -> PyResult<Option<Vec<bool>>> {
    let (starts, owners) = (positions(&stretches.0)?, positions(&stretches.1)?);
    let (starts, owners) = (row::<i64>(&starts)?, row::<i64>(&owners)?);
    let indices = positions(indices)?;
    let indices = row::<i64>(&indices)?;
    let (mut to_owners, mut places) = (positions(&to.0)?, positions(&to.1)?);
    let (to_owners, places) = (row_mut::<i64>(&mut to_owners)?, row_mut::<i64>(&mut places)?);
    let is_alike = starts.len() == owners.len()
        && to_owners.len() == indices.len()
        && places.len() == indices.len();
    if !is_alike || starts.first() != Some(&0) {
        return Err(refused("rows of no stretches, or lists of different lengths"));
    }
    let stretches = Stretches { starts, owners, n_rows };
    Ok(partita_sparse::located(indices, stretches, to_owners, places))
}

/// Rows of matrices, some of which may be absent; and where each begins in its matrix.
#[pyfunction]
fn local_sparse_taken_from(
    py: Python<'_>,
    sources: Vec<Option<Three<'_>>>,
    owners: &Bound<'_, PyAny>,
    places: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<(Made, WarmMemory)> {
    let given = sources.iter().map(|one| one.as_ref().map(GivenMatrix::new).transpose());
    let given = given.collect::<PyResult<Vec<_>>>()?;
    let Some(first) = given.iter().flatten().next() else {
        return Err(refused("all matrices are absent; give one at least"));
    };
    for other in given.iter().flatten() {
        other.like(first)?;
    }
    let (owners, places) = (positions(owners)?, positions(places)?);
    let wanted = Wanted { owners: Some(row(&owners)?), places: row(&places)? };
    with_index!(first.pattern.index(), I => with_bytes!(first.data.dtype.n_bytes(), T => {
        let sources = given.iter().map(|one| one.as_ref().map(GivenMatrix::matrix).transpose());
        let sources = sources.collect::<PyResult<Vec<Option<Matrix<'_, I, T>>>>>()?;
        let taken = py.detach(|| {
            partita_sparse::taken_from::<Warm, I, T>(&sources, wanted, cores(n_threads))
        });
        let Taken { rows, starts } = taken.map_err(sparse_error)?;
        Ok((made(Ok(rows))?, made_row(starts).0))
    }))
}

/// The values of rows that were taken before.
#[pyfunction]
fn local_sparse_values_from(
    py: Python<'_>,
    sources: Vec<Option<Bound<'_, PyAny>>>,
    owners: &Bound<'_, PyAny>,
    starts: &Bound<'_, PyAny>,
    indptr: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<WarmMemory> {
    let given = sources.iter().map(|one| one.as_ref().map(vector).transpose());
    let given = given.collect::<PyResult<Vec<_>>>()?;
    let Some(first) = given.iter().flatten().next() else {
        return Err(refused("all matrices are absent; give one at least"));
    };
    for other in given.iter().flatten() {
        same_type(other, first.dtype)?;
    }
    let (owners, starts, indptr) = (positions(owners)?, positions(starts)?, vector(indptr)?);
    let (owners, starts) = (row::<i64>(&owners)?, row::<i64>(&starts)?);
    with_index!(indptr.dtype, I => with_bytes!(first.dtype.n_bytes(), T => {
        let indptr = row::<I>(&indptr)?;
        let sources = given.iter().map(|one| one.as_ref().map(row::<T>).transpose());
        let sources = sources.collect::<PyResult<Vec<_>>>()?;
        let values = py.detach(|| {
            let cores = cores(n_threads);
            partita_sparse::values_from::<Warm, I, T>(&sources, owners, starts, indptr, cores)
        });
        Ok(made_row(values.map_err(sparse_error)?).0)
    }))
}

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(local_sparse_located, module)?)?;
    module.add_function(wrap_pyfunction!(local_sparse_taken_from, module)?)?;
    module.add_function(wrap_pyfunction!(local_sparse_values_from, module)?)
}
