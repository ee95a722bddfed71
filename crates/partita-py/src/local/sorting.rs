//! Sorting, merging and searching.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use partita_numeric::Scratch;
use partita_numeric::sort::{self, Order, Side};
use partita_plan::Dtype;
use pyo3::prelude::*;

use super::block::{Block, refused, with_sortable};
use super::{cores, detached};

/// Sorts every line along the last axis, where it is.
#[pyfunction]
fn local_sort(py: Python<'_>, block: &Bound<'_, PyAny>, n_threads: usize) -> PyResult<()> {
    let mut block = Block::new(block)?;
    let length = block.extents.last().copied().unwrap_or(1);
    with_sortable!(block.dtype, T => {
        let row = block.row_mut::<T>()?;
        detached(py, || match row.len() == length {
            true => sort::sort(row, &mut Scratch::default(), cores(n_threads)),
            false => sort::sort_rows(row, length, cores(n_threads)),
        })?;
    });
    Ok(())
}

/// Writes the positions that sort every line along the last axis.
#[pyfunction]
fn local_positions(
    py: Python<'_>,
    block: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    descending: bool,
    n_threads: usize,
) -> PyResult<()> {
    let (block, mut out) = (Block::new(block)?, Block::of(out, Dtype::I64)?);
    let length = block.extents.last().copied().unwrap_or(1);
    let order = if descending { Order::Descending } else { Order::Ascending };
    if out.n_elements() != block.n_elements() {
        return Err(refused("there is not one position per element"));
    }
    with_sortable!(block.dtype, T => {
        let (row, out) = (block.row::<T>()?, out.row_mut::<i64>()?);
        detached(py, || match row.len() == length {
            true => sort::positions(row, out, order, &mut Scratch::default(), cores(n_threads)),
            false => sort::positions_of_rows(row, length, out, order, cores(n_threads)),
        })?;
    });
    Ok(())
}

/// Merges sorted rows of one type into one.
#[pyfunction]
fn local_merge(
    py: Python<'_>,
    runs: Vec<Bound<'_, PyAny>>,
    out: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<()> {
    let mut out = Block::new(out)?;
    let runs = runs.iter().map(|run| Block::of(run, out.dtype)).collect::<PyResult<Vec<_>>>()?;
    if runs.iter().map(Block::n_elements).sum::<usize>() != out.n_elements() {
        return Err(refused("the result has not room for just the runs"));
    }
    with_sortable!(out.dtype, T => {
        let runs = runs.iter().map(Block::row::<T>).collect::<PyResult<Vec<_>>>()?;
        let out = out.new_row::<T>()?;
        detached(py, || sort::merge(&runs, out, &mut Scratch::default(), cores(n_threads)))?;
    });
    Ok(())
}

/// Writes where values belong in a sorted row of their type.
#[pyfunction]
fn local_search(
    py: Python<'_>,
    ordered: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    right: bool,
    n_threads: usize,
) -> PyResult<()> {
    let ordered = Block::new(ordered)?;
    let (values, mut out) = (Block::of(values, ordered.dtype)?, Block::of(out, Dtype::I64)?);
    if out.n_elements() != values.n_elements() {
        return Err(refused("there is not one place per value"));
    }
    let side = if right { Side::Right } else { Side::Left };
    with_sortable!(ordered.dtype, T => {
        let (ordered, values) = (ordered.row::<T>()?, values.row::<T>()?);
        let out = out.row_mut::<i64>()?;
        py.detach(|| sort::search(ordered, values, side, out, cores(n_threads)));
    });
    Ok(())
}

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(local_sort, module)?)?;
    module.add_function(wrap_pyfunction!(local_positions, module)?)?;
    module.add_function(wrap_pyfunction!(local_merge, module)?)?;
    module.add_function(wrap_pyfunction!(local_search, module)?)
}
