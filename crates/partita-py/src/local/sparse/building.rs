//! Matrices from triplets, tidy, turned, in parts.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use partita_plan::Dtype;
use partita_sparse::{Divided, Group, Grouped, Triplets};
use pyo3::prelude::*;

use super::given::{
    GivenMatrix, GivenPattern, GivenTriplets, Three, row, same_type, sparse_error, vector,
    with_index, with_number,
};
use super::made::{Made, Warm, made, made_row};
use crate::buffers::WarmMemory;
use crate::local::block::{refused, with_bytes};
use crate::local::cores;

/// The matrix of triplets in any order, in one list or several.
#[pyfunction]
fn local_sparse_compressed(
    py: Python<'_>,
    lists: Vec<Three<'_>>,
    shape: [usize; 2],
    n_threads: usize,
) -> PyResult<Made> {
    let given = lists.iter().map(GivenTriplets::new).collect::<PyResult<Vec<_>>>()?;
    let Some(first) = given.first() else {
        return Err(refused("no list of entries; give one at least"));
    };
    for other in &given {
        same_type(&other.rows, first.rows.dtype)?;
        same_type(&other.values, first.values.dtype)?;
    }
    with_index!(first.rows.dtype, I => with_number!(first.values.dtype, T => {
        let lists = given.iter().map(GivenTriplets::lists).collect::<PyResult<Vec<_>>>()?;
        made(py.detach(|| {
            partita_sparse::compressed_parts::<Warm, I, T>(&lists, shape, cores(n_threads))
        }))
    }))
}

/// Memory of rows, columns and values, and how many entries each stretch has.
type MadeLists = (WarmMemory, WarmMemory, WarmMemory, Vec<usize>);

/// Triplets grouped by stretches of rows.
#[pyfunction]
fn local_sparse_divided(
    py: Python<'_>,
    triplets: Three<'_>,
    cuts: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<MadeLists> {
    let (given, cuts) = (GivenTriplets::new(&triplets)?, vector(cuts)?);
    same_type(&cuts, given.rows.dtype)?;
    with_index!(cuts.dtype, I => with_bytes!(given.values.dtype.n_bytes(), T => {
        let (rows, columns) = (row::<I>(&given.rows)?, row::<I>(&given.columns)?);
        let (values, cuts) = (row::<T>(&given.values)?, row::<I>(&cuts)?);
        let found = py.detach(|| {
            partita_sparse::divided::<Warm, I, T>(rows, columns, values, cuts, cores(n_threads))
        });
        let Divided { rows, columns, values, counts } = found.map_err(sparse_error)?;
        Ok((made_row(rows).0, made_row(columns).0, made_row(values).0, counts))
    }))
}

/// Triplets brought into buckets of stretches of rows: their memory, and how many each has.
#[pyfunction]
fn local_sparse_grouped(
    py: Python<'_>,
    triplets: Three<'_>,
    cuts: Vec<usize>,
    n_entries: usize,
    n_threads: usize,
) -> PyResult<(WarmMemory, Vec<Vec<usize>>)> {
    let given = GivenTriplets::new(&triplets)?;
    with_index!(given.rows.dtype, I => with_bytes!(given.values.dtype.n_bytes(), T => {
        let (rows, columns) = (row::<I>(&given.rows)?, row::<I>(&given.columns)?);
        let triplets = Triplets { rows, columns, values: row::<T>(&given.values)? };
        let found = py.detach(|| {
            partita_sparse::grouped::<Warm, I, T>(triplets, &cuts, n_entries, cores(n_threads))
        });
        let Grouped { entries, counts } = found.map_err(sparse_error)?;
        Ok((made_row(entries).0, counts))
    }))
}

/// The matrix of a stretch of rows, of what all have for it: bytes of entries, and how many of
/// them each bucket has. Types are told by their names.
#[pyfunction]
fn local_sparse_compressed_groups(
    py: Python<'_>,
    groups: Vec<(Bound<'_, PyAny>, Vec<usize>)>,
    kinds: (String, String),
    stretch: (Vec<usize>, usize),
    extents: (usize, usize),
    n_threads: usize,
) -> PyResult<Made> {
    let parsed = |name: &str| Dtype::parse(name).map_err(|error| refused(&error.to_string()));
    let (index, value) = (parsed(&kinds.0)?, parsed(&kinds.1)?);
    let ((cuts, stretch), (n_entries, n_columns)) = (stretch, extents);
    let bytes = groups.iter().map(|(one, _)| vector(one)).collect::<PyResult<Vec<_>>>()?;
    for one in &bytes {
        same_type(one, Dtype::U8)?;
    }
    with_index!(index, I => with_number!(value, T => {
        let mut lists = Vec::new();
        for (one, (_, counts)) in bytes.iter().zip(&groups) {
            lists.push(Group::<I, T>::from_bytes(row(one)?, counts).map_err(sparse_error)?);
        }
        made(py.detach(|| {
            let (stretch, cores) = ((&cuts[..], stretch), cores(n_threads));
            partita_sparse::compressed_groups::<Warm, I, T>(
                &lists, stretch, n_entries, n_columns, cores,
            )
        }))
    }))
}

/// The matrix with sorted columns and without duplicates; none if it is so already.
#[pyfunction]
fn local_sparse_tidy(
    py: Python<'_>,
    matrix: Three<'_>,
    n_threads: usize,
) -> PyResult<Option<Made>> {
    let given = GivenMatrix::new(&matrix)?;
    with_index!(given.pattern.index(), I => with_number!(given.data.dtype, T => {
        let matrix = given.matrix::<I, T>()?;
        let cores = cores(n_threads);
        let is_tidy = py.detach(|| partita_sparse::is_tidy(matrix.pattern, cores));
        match is_tidy.map_err(sparse_error)? {
            true => Ok(None),
            false => made(py.detach(|| partita_sparse::tidy(matrix, cores))).map(Some),
        }
    }))
}

/// Whether the columns of every row rise.
#[pyfunction]
fn local_sparse_is_tidy(
    py: Python<'_>,
    indptr: &Bound<'_, PyAny>,
    indices: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<bool> {
    let given = GivenPattern::new(indptr, indices)?;
    with_index!(given.index(), I => {
        let pattern = given.pattern::<I>()?;
        py.detach(|| partita_sparse::is_tidy(pattern, cores(n_threads))).map_err(sparse_error)
    })
}

/// The matrix turned.
#[pyfunction]
fn local_sparse_transposed(
    py: Python<'_>,
    matrix: Three<'_>,
    n_columns: usize,
    n_threads: usize,
) -> PyResult<Made> {
    let given = GivenMatrix::new(&matrix)?;
    with_index!(given.pattern.index(), I => with_bytes!(given.data.dtype.n_bytes(), T => {
        let matrix = given.matrix::<I, T>()?;
        made(py.detach(|| partita_sparse::transposed(matrix, n_columns, cores(n_threads))))
    }))
}

/// The pattern turned, with the positions of its entries.
#[pyfunction]
fn local_sparse_transposed_order(
    py: Python<'_>,
    indptr: &Bound<'_, PyAny>,
    indices: &Bound<'_, PyAny>,
    n_columns: usize,
    n_threads: usize,
) -> PyResult<Made> {
    let given = GivenPattern::new(indptr, indices)?;
    with_index!(given.index(), I => {
        let pattern = given.pattern::<I>()?;
        made(py.detach(|| partita_sparse::transposed_order(pattern, n_columns, cores(n_threads))))
    })
}

/// The row of each entry.
#[pyfunction]
fn local_sparse_rows_of(
    py: Python<'_>,
    indptr: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<(WarmMemory, usize)> {
    let indptr = vector(indptr)?;
    with_index!(indptr.dtype, I => {
        let indptr = row::<I>(&indptr)?;
        let rows = py.detach(|| partita_sparse::rows_of::<Warm, I>(indptr, cores(n_threads)));
        Ok(made_row(rows.map_err(sparse_error)?))
    })
}

/// Rows at positions, in any order.
#[pyfunction]
fn local_sparse_taken_rows(
    py: Python<'_>,
    matrix: Three<'_>,
    rows: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<Made> {
    let (given, rows) = (GivenMatrix::new(&matrix)?, vector(rows)?);
    same_type(&rows, Dtype::I64)?;
    let rows = row::<i64>(&rows)?;
    with_index!(given.pattern.index(), I => with_bytes!(given.data.dtype.n_bytes(), T => {
        let matrix = given.matrix::<I, T>()?;
        made(py.detach(|| partita_sparse::taken_rows(matrix, rows, cores(n_threads))))
    }))
}

/// Columns under new numbers.
#[pyfunction]
fn local_sparse_chosen_columns(
    py: Python<'_>,
    matrix: Three<'_>,
    new_columns: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<Made> {
    let (given, new_columns) = (GivenMatrix::new(&matrix)?, vector(new_columns)?);
    same_type(&new_columns, Dtype::I64)?;
    let new_columns = row::<i64>(&new_columns)?;
    with_index!(given.pattern.index(), I => with_bytes!(given.data.dtype.n_bytes(), T => {
        let matrix = given.matrix::<I, T>()?;
        made(py.detach(|| partita_sparse::chosen_columns(matrix, new_columns, cores(n_threads))))
    }))
}

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(local_sparse_compressed, module)?)?;
    module.add_function(wrap_pyfunction!(local_sparse_divided, module)?)?;
    module.add_function(wrap_pyfunction!(local_sparse_grouped, module)?)?;
    module.add_function(wrap_pyfunction!(local_sparse_compressed_groups, module)?)?;
    module.add_function(wrap_pyfunction!(local_sparse_tidy, module)?)?;
    module.add_function(wrap_pyfunction!(local_sparse_is_tidy, module)?)?;
    module.add_function(wrap_pyfunction!(local_sparse_transposed, module)?)?;
    module.add_function(wrap_pyfunction!(local_sparse_transposed_order, module)?)?;
    module.add_function(wrap_pyfunction!(local_sparse_rows_of, module)?)?;
    module.add_function(wrap_pyfunction!(local_sparse_taken_rows, module)?)?;
    module.add_function(wrap_pyfunction!(local_sparse_chosen_columns, module)?)
}
