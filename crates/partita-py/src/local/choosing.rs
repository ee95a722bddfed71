//! Choosing elements and rows: by masks, by positions.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use partita_numeric::{NumericError, choose};
use partita_plan::Dtype;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

use super::block::{Block, refused, with_bytes};
use super::{cores, detached};

/// How many elements of a mask are true.
#[pyfunction]
fn local_count(py: Python<'_>, mask: &Bound<'_, PyAny>, n_threads: usize) -> PyResult<usize> {
    let mask = Block::of(mask, Dtype::Bool)?;
    let mask = mask.row::<bool>()?;
    Ok(py.detach(|| choose::count(mask, cores(n_threads))))
}

/// Writes the values where a mask is true; there is room for all of them.
#[pyfunction]
fn local_pack(
    py: Python<'_>,
    mask: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<usize> {
    let (mask, values) = (Block::of(mask, Dtype::Bool)?, Block::new(values)?);
    let mut out = Block::of(out, values.dtype)?;
    let mask = mask.row::<bool>()?;
    if mask.len() != values.n_elements() {
        return Err(refused("there is not one element of the mask per value"));
    }
    expect_room(py, mask, out.n_elements(), n_threads)?;
    with_bytes!(values.dtype.n_bytes(), T => {
        let (values, out) = (values.row::<T>()?, out.new_row::<T>()?);
        Ok(py.detach(|| choose::pack(mask, values, out, cores(n_threads))))
    })
}

/// Writes the positions, counted in C order, where a mask is true.
#[pyfunction]
fn local_where_true(
    py: Python<'_>,
    mask: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<usize> {
    let (mask, mut out) = (Block::of(mask, Dtype::Bool)?, Block::of(out, Dtype::I64)?);
    let mask = mask.row::<bool>()?;
    expect_room(py, mask, out.n_elements(), n_threads)?;
    let out = out.new_row::<i64>()?;
    Ok(py.detach(|| choose::pack_positions(mask, out, cores(n_threads))))
}

fn expect_room(py: Python<'_>, mask: &[bool], room: usize, n_threads: usize) -> PyResult<()> {
    let n_true = py.detach(|| choose::count(mask, cores(n_threads)));
    match n_true <= room {
        true => Ok(()),
        false => Err(refused("the result has no room for all that is true")),
    }
}

/// Writes the rows at positions, or the elements where a row is one.
#[pyfunction]
fn local_gather(
    py: Python<'_>,
    rows: &Bound<'_, PyAny>,
    positions: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<()> {
    let (rows, positions) = (Block::new(rows)?, Block::of(positions, Dtype::I64)?);
    let mut out = Block::of(out, rows.dtype)?;
    let length = row_length(&rows);
    let positions = positions.row::<i64>()?;
    if out.n_elements() != positions.len() * length {
        return Err(refused("there is not one row of the result per position"));
    }
    let outcome = with_bytes!(rows.dtype.n_bytes(), T => {
        let (rows, out) = (rows.row::<T>()?, out.new_row::<T>()?);
        py.detach(|| choose::gather_rows(rows, length, positions, out, cores(n_threads)))
    });
    outcome.map_err(numeric_error)
}

/// Writes rows at positions; of repeated ones the last counts.
#[pyfunction]
fn local_scatter(
    py: Python<'_>,
    rows: &Bound<'_, PyAny>,
    positions: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<()> {
    let mut rows = Block::new(rows)?;
    let (positions, values) = (Block::of(positions, Dtype::I64)?, Block::of(values, rows.dtype)?);
    let length = row_length(&rows);
    let positions = positions.row::<i64>()?;
    if values.n_elements() != positions.len() * length {
        return Err(refused("there is not one row of values per position"));
    }
    let outcome = with_bytes!(rows.dtype.n_bytes(), T => {
        let (values, rows) = (values.row::<T>()?, rows.row_mut::<T>()?);
        py.detach(|| choose::scatter_rows(rows, length, positions, values, cores(n_threads)))
    });
    outcome.map_err(numeric_error)
}

/// Adds rows at positions, repeated ones too.
#[pyfunction]
fn local_scatter_add(
    py: Python<'_>,
    rows: &Bound<'_, PyAny>,
    positions: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<()> {
    let mut rows = Block::new(rows)?;
    let (positions, values) = (Block::of(positions, Dtype::I64)?, Block::of(values, rows.dtype)?);
    let length = row_length(&rows);
    let positions = positions.row::<i64>()?;
    if values.n_elements() != positions.len() * length {
        return Err(refused("there is not one row of values per position"));
    }
    macro_rules! added {
        ($T:ty) => {{
            let (values, rows) = (values.row::<$T>()?, rows.row_mut::<$T>()?);
            py.detach(|| {
                choose::scatter_add_rows(rows, length, positions, values, cores(n_threads))
            })
        }};
    }
    let outcome = match rows.dtype {
        Dtype::Bool => added!(bool),
        Dtype::I8 => added!(i8),
        Dtype::I16 => added!(i16),
        Dtype::I32 => added!(i32),
        Dtype::I64 => added!(i64),
        Dtype::U8 => added!(u8),
        Dtype::U16 => added!(u16),
        Dtype::U32 => added!(u32),
        Dtype::U64 => added!(u64),
        Dtype::F32 => added!(f32),
        Dtype::F64 => added!(f64),
        Dtype::C64 => added!([f32; 2]),
        Dtype::C128 => added!([f64; 2]),
        Dtype::F16 | Dtype::Bf16 => {
            return Err(refused("numbers of 16 bits cannot be added here; use float32"));
        }
    };
    outcome.map_err(numeric_error)
}

/// Counts how often each number from 0 on occurs.
#[pyfunction]
fn local_count_values(
    py: Python<'_>,
    values: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<()> {
    let (values, mut out) = (Block::of(values, Dtype::I64)?, Block::of(out, Dtype::I64)?);
    let (values, out) = (values.row::<i64>()?, out.row_mut::<i64>()?);
    detached(py, || choose::bincount(values, out, cores(n_threads)))?.map_err(numeric_error)
}

/// Elements per entry of the first dimension.
pub(super) fn row_length(rows: &Block) -> usize {
    rows.extents.iter().skip(1).product()
}

/// What arguments were refused for, as NumPy's users expect it.
pub(super) fn numeric_error(error: NumericError) -> PyErr {
    match error {
        NumericError::IndexOutOfRange { .. } => PyIndexError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(local_count, module)?)?;
    module.add_function(wrap_pyfunction!(local_pack, module)?)?;
    module.add_function(wrap_pyfunction!(local_where_true, module)?)?;
    module.add_function(wrap_pyfunction!(local_gather, module)?)?;
    module.add_function(wrap_pyfunction!(local_scatter, module)?)?;
    module.add_function(wrap_pyfunction!(local_scatter_add, module)?)?;
    module.add_function(wrap_pyfunction!(local_count_values, module)?)
}
