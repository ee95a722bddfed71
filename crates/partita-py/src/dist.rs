//! The index arithmetic of the Dist dialect, one dimension at a time.

use partita_layout::Slice;
use partita_layout::dist::{self, Bound as Box, Extent};
use pyo3::prelude::*;

use crate::convert::{index, natural, naturals, several, shown};
use crate::errors::{OrRaise, layout_error};

type Pair = (u64, u64);

/// Indices lie below 2^63, so an interval ends there at the latest.
const TOP: u64 = 1 << 63;

/// (offset, size).
fn extent(value: &Bound<'_, PyAny>, what: &'static str) -> PyResult<Extent> {
    let [offset, size] = several(value, what)?;
    let extent = Extent::new(natural(&offset, what)?, natural(&size, what)?);
    if extent.offset.checked_add(extent.size).is_none_or(|stop| stop > TOP) {
        let message = format!("{what} {} ends beyond 2^63; use a smaller one", shown(value));
        return Err(layout_error(value.py(), &message, &format!("{what}-overflow")));
    }
    Ok(extent)
}

fn pair(extent: Extent) -> Pair {
    (extent.offset, extent.size)
}

/// (offset, size, stride).
fn slice(value: &Bound<'_, PyAny>, what: &'static str) -> PyResult<Slice> {
    let [offset, size, stride] = several(value, what)?;
    Ok(Slice::new(natural(&offset, what)?, natural(&size, what)?, index(&stride, what)?))
}

/// (offset, size) per dimension of a team member's part: split along the first, extras last.
#[pyfunction]
fn default_partition(
    n_members: &Bound<'_, PyAny>,
    member: &Bound<'_, PyAny>,
    shape: &Bound<'_, PyAny>,
) -> PyResult<Vec<Pair>> {
    let (n_members, member) = (natural(n_members, "team")?, natural(member, "member")?);
    let shape_of_array = naturals(shape, "shape")?;
    let parts = dist::default_partition(n_members, member, &shape_of_array);
    Ok(parts.or_raise(shape.py())?.into_iter().map(pair).collect())
}

/// Entries of a slice that fall into the owned part: (first entry, count).
#[pyfunction]
fn local_target_of_slice(
    extent_of_array: &Bound<'_, PyAny>,
    owned: &Bound<'_, PyAny>,
    view: &Bound<'_, PyAny>,
) -> PyResult<Pair> {
    let n = natural(extent_of_array, "extent")?;
    let target = dist::local_target_of_slice(n, extent(owned, "owned")?, &slice(view, "view")?);
    target.map(pair).or_raise(view.py())
}

/// Indices needed for some entries of a view, joined with an existing box.
#[pyfunction]
#[pyo3(signature = (view, target, before=None, *, inner=false))]
fn local_bounding_box(
    view: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    before: Option<&Bound<'_, PyAny>>,
    inner: bool,
) -> PyResult<Pair> {
    let bound = if inner { Box::Inner } else { Box::Outer };
    let before = before.map(|before| extent(before, "before")).transpose()?;
    let target = extent(target, "target")?;
    let found = dist::local_bounding_box(&slice(view, "view")?, target, before, bound);
    found.map(pair).or_raise(view.py())
}

/// Entries of a target whose index is owned, counted from the start of the target.
#[pyfunction]
#[pyo3(signature = (owned, target, view, before=None))]
fn local_core(
    owned: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    view: &Bound<'_, PyAny>,
    before: Option<&Bound<'_, PyAny>>,
) -> PyResult<Pair> {
    let before = before.map(|before| extent(before, "before")).transpose()?;
    let (owned, target) = (extent(owned, "owned")?, extent(target, "target")?);
    let core = dist::local_core(owned, target, &slice(view, "view")?, before);
    core.map(pair).or_raise(view.py())
}

/// Adds the functions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(default_partition, module)?)?;
    module.add_function(wrap_pyfunction!(local_target_of_slice, module)?)?;
    module.add_function(wrap_pyfunction!(local_bounding_box, module)?)?;
    module.add_function(wrap_pyfunction!(local_core, module)?)
}
