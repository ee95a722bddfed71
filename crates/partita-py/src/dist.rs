//! The index arithmetic of the Dist dialect, one dimension at a time.

use partita_layout::Slice;
use partita_layout::dist::{self, Bound as Box, Extent};
use pyo3::prelude::*;

use crate::errors::OrRaise;

type Pair = (u64, u64);

fn extent(pair: Pair) -> Extent {
    Extent::new(pair.0, pair.1)
}

fn pair(extent: Extent) -> Pair {
    (extent.offset, extent.size)
}

fn slice((offset, size, stride): (u64, u64, i64)) -> Slice {
    Slice::new(offset, size, stride)
}

/// (offset, size) per dimension of a team member's part: cut along the first, extras last.
#[pyfunction]
fn default_partition(
    py: Python<'_>,
    n_members: u64,
    member: u64,
    shape: Vec<u64>,
) -> PyResult<Vec<Pair>> {
    let parts = dist::default_partition(n_members, member, &shape).or_raise(py)?;
    Ok(parts.into_iter().map(pair).collect())
}

/// Entries of a slice that fall into the owned part: (first entry, count).
#[pyfunction]
fn local_target_of_slice(
    py: Python<'_>,
    extent_of_array: u64,
    owned: Pair,
    view: (u64, u64, i64),
) -> PyResult<Pair> {
    let target = dist::local_target_of_slice(extent_of_array, extent(owned), &slice(view));
    target.map(pair).or_raise(py)
}

/// Indices needed for some entries of a view, joined with a box that is there already.
#[pyfunction]
#[pyo3(signature = (view, target, before=None, *, inner=false))]
fn local_bounding_box(
    py: Python<'_>,
    view: (u64, u64, i64),
    target: Pair,
    before: Option<Pair>,
    inner: bool,
) -> PyResult<Pair> {
    let bound = if inner { Box::Inner } else { Box::Outer };
    let found = dist::local_bounding_box(&slice(view), extent(target), before.map(extent), bound);
    found.map(pair).or_raise(py)
}

/// Entries of a target whose index is owned, counted from the start of the target.
#[pyfunction]
#[pyo3(signature = (owned, target, view, before=None))]
fn local_core(
    py: Python<'_>,
    owned: Pair,
    target: Pair,
    view: (u64, u64, i64),
    before: Option<Pair>,
) -> PyResult<Pair> {
    let core = dist::local_core(extent(owned), extent(target), &slice(view), before.map(extent));
    core.map(pair).or_raise(py)
}

/// Adds the functions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(default_partition, module)?)?;
    module.add_function(wrap_pyfunction!(local_target_of_slice, module)?)?;
    module.add_function(wrap_pyfunction!(local_bounding_box, module)?)?;
    module.add_function(wrap_pyfunction!(local_core, module)?)
}
