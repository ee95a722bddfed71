//! Positions and rows grouped by who has them.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use partita_numeric::choose::Owners;
use partita_plan::Dtype;
use pyo3::prelude::*;

use super::block::{Block, refused, with_bytes};
use super::choosing::row_length;
use super::cores;

/// How many positions each owner has; owners have stretches with these cuts between them.
#[pyfunction]
fn local_count_owners(
    py: Python<'_>,
    positions: &Bound<'_, PyAny>,
    cuts: Vec<i64>,
    n_threads: usize,
) -> PyResult<Vec<usize>> {
    let positions = Block::of(positions, Dtype::I64)?;
    let positions = positions.row::<i64>()?;
    let owners = owners(&cuts)?;
    Ok(py.detach(|| owners.count(positions, cores(n_threads))))
}

/// Writes positions by owner, each counted from where its owner's stretch begins.
#[pyfunction]
fn local_group_positions(
    py: Python<'_>,
    positions: &Bound<'_, PyAny>,
    cuts: Vec<i64>,
    groups: Vec<Bound<'_, PyAny>>,
    n_threads: usize,
) -> PyResult<()> {
    let positions = Block::of(positions, Dtype::I64)?;
    let positions = positions.row::<i64>()?;
    let owners = owners(&cuts)?;
    let mut groups = held(&groups, Dtype::I64)?;
    expect_fit(owners, positions, &groups, 1)?;
    let mut rooms = groups.iter_mut().map(Block::new_row::<i64>).collect::<PyResult<Vec<_>>>()?;
    py.detach(|| owners.group_positions(positions, &mut rooms, cores(n_threads)));
    Ok(())
}

/// Writes rows, one per position, by the position's owner.
#[pyfunction]
fn local_group_rows(
    py: Python<'_>,
    positions: &Bound<'_, PyAny>,
    cuts: Vec<i64>,
    rows: &Bound<'_, PyAny>,
    groups: Vec<Bound<'_, PyAny>>,
    n_threads: usize,
) -> PyResult<()> {
    let (positions, rows) = (Block::of(positions, Dtype::I64)?, Block::new(rows)?);
    let positions = positions.row::<i64>()?;
    let length = row_length(&rows);
    let owners = owners(&cuts)?;
    let mut groups = held(&groups, rows.dtype)?;
    expect_fit(owners, positions, &groups, length)?;
    if rows.n_elements() != positions.len() * length {
        return Err(refused("there is not one row per position"));
    }
    with_bytes!(rows.dtype.n_bytes(), T => {
        let mut rooms = groups.iter_mut().map(Block::new_row::<T>).collect::<PyResult<Vec<_>>>()?;
        let rows = rows.row::<T>()?;
        py.detach(|| {
            owners.group_rows(positions, (rows, length), &mut rooms, cores(n_threads));
        });
    });
    Ok(())
}

/// Writes rows that lie in groups in the order of the positions.
#[pyfunction]
fn local_ungroup_rows(
    py: Python<'_>,
    positions: &Bound<'_, PyAny>,
    cuts: Vec<i64>,
    groups: Vec<Bound<'_, PyAny>>,
    out: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<()> {
    let (positions, mut out) = (Block::of(positions, Dtype::I64)?, Block::new(out)?);
    let positions = positions.row::<i64>()?;
    let length = row_length(&out);
    let owners = owners(&cuts)?;
    let groups = held(&groups, out.dtype)?;
    expect_fit(owners, positions, &groups, length)?;
    if out.n_elements() != positions.len() * length {
        return Err(refused("there is not one row of the result per position"));
    }
    with_bytes!(out.dtype.n_bytes(), T => {
        let rows = groups.iter().map(Block::row::<T>).collect::<PyResult<Vec<_>>>()?;
        let out = out.new_row::<T>()?;
        py.detach(|| owners.ungroup_rows(positions, (&rows, length), out, cores(n_threads)));
    });
    Ok(())
}

fn owners(cuts: &[i64]) -> PyResult<Owners<'_>> {
    match cuts.is_sorted() {
        true => Ok(Owners::new(cuts)),
        false => Err(refused("cuts do not ascend")),
    }
}

fn held(groups: &[Bound<'_, PyAny>], dtype: Dtype) -> PyResult<Vec<Block>> {
    groups.iter().map(|group| Block::of(group, dtype)).collect()
}

/// Whether groups have as many rows as there are positions; who has how many is counted by callers.
fn expect_fit(
    owners: Owners<'_>,
    positions: &[i64],
    groups: &[Block],
    length: usize,
) -> PyResult<()> {
    let n_elements: usize = groups.iter().map(Block::n_elements).sum();
    let are_whole = groups.iter().all(|group| group.n_elements().is_multiple_of(length.max(1)));
    let is_one_each = groups.len() == owners.n_owners();
    match is_one_each && are_whole && n_elements == positions.len() * length {
        true => Ok(()),
        false => Err(refused("groups do not have one row per position")),
    }
}

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(local_count_owners, module)?)?;
    module.add_function(wrap_pyfunction!(local_group_positions, module)?)?;
    module.add_function(wrap_pyfunction!(local_group_rows, module)?)?;
    module.add_function(wrap_pyfunction!(local_ungroup_rows, module)?)
}
