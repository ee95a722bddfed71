//! What a plan is run on: sources as they are given, targets given or fresh, and what comes out.

use partita_plan::Dtype;
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple, PyType};

use crate::buffers::WarmMemory;
use crate::errors::layout_error;
use crate::layout::Layout;
use crate::plan::Plan;
use crate::team::TeamCore;

/// More bytes than any machine has.
const TOO_MANY_BYTES: u64 = 1 << 62;

/// This rank's buffers of both sides of a plan.
pub(crate) struct Sides<'py> {
    pub sources: Vec<Bound<'py, PyAny>>,
    pub targets: Vec<Bound<'py, PyAny>>,
    /// What the caller gets: the targets as they were given, or as fresh arrays.
    pub result: Bound<'py, PyAny>,
}

impl<'py> Sides<'py> {
    /// Reads what was given and makes what was not; the other ranks hear of it if that fails.
    pub(crate) fn new(
        team: &TeamCore,
        plan: &Plan,
        local: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let py = local.py();
        Self::prepared(team.core.rank(), plan, local, out).map_err(|error| team.told(py, error))
    }

    fn prepared(
        rank: Option<u64>,
        plan: &Plan,
        local: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let sources = listed(local);
        if let Some(out) = out {
            return Ok(Self { sources, targets: listed(out), result: out.clone() });
        }
        let (py, dtype) = (local.py(), plan.core.dtype());
        let shapes = rank.into_iter().flat_map(|rank| plan.core.target().local_shapes(rank));
        let fresh = shapes.map(|shape| empty(py, &shape, dtype));
        let targets = fresh.collect::<PyResult<Vec<_>>>()?;
        let result = shown(py, &targets, dtype)?;
        Ok(Self { sources, targets, result })
    }
}

/// One buffer, several, or none.
fn listed<'py>(buffers: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    if buffers.is_none() {
        return Vec::new();
    }
    if let Ok(list) = buffers.cast::<PyList>() {
        return list.iter().collect();
    }
    match buffers.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().collect(),
        Err(_) => vec![buffers.clone()],
    }
}

/// Shapes of a rank's buffers; none if it is not part of the layout.
#[pyfunction]
pub(crate) fn local_shapes<'py>(
    py: Python<'py>,
    layout: &Layout,
    rank: i64,
) -> PyResult<Vec<Bound<'py, PyTuple>>> {
    let rank = u64::try_from(rank).ok();
    let shapes = rank.into_iter().flat_map(|rank| layout.core.local_shapes(rank));
    shapes.map(|shape| PyTuple::new(py, shape)).collect()
}

/// An array of warm memory; its content is whatever was there.
fn empty<'py>(py: Python<'py>, shape: &[u64], dtype: Dtype) -> PyResult<Bound<'py, PyAny>> {
    static NDARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let n_items = shape.iter().try_fold(1_u64, |all, length| all.checked_mul(*length));
    let n_bytes = n_items.and_then(|n_items| n_items.checked_mul(dtype.n_bytes()));
    let n_bytes = n_bytes.filter(|n_bytes| *n_bytes < TOO_MANY_BYTES).ok_or_else(|| {
        PyMemoryError::new_err(format!("an array of shape {shape:?} and type {}", dtype.name()))
    })?;
    let memory = WarmMemory::new(py, n_bytes as usize)?;
    // NumPy holds bfloat16 only with the help of others: its bits travel.
    let name = if dtype == Dtype::Bf16 { Dtype::U16.name() } else { dtype.name() };
    NDARRAY.import(py, "numpy", "ndarray")?.call1((PyTuple::new(py, shape)?, name, memory))
}

/// Fresh targets as the caller sees them: one array, a list of several, or None.
fn shown<'py>(
    py: Python<'py>,
    targets: &[Bound<'py, PyAny>],
    dtype: Dtype,
) -> PyResult<Bound<'py, PyAny>> {
    let mut seen = targets.to_vec();
    if dtype == Dtype::Bf16 {
        seen = seen.iter().map(as_numbers).collect::<PyResult<_>>()?;
    }
    match seen.len() {
        0 => Ok(py.None().into_bound(py)),
        1 => Ok(seen.remove(0)),
        _ => Ok(PyList::new(py, seen)?.into_any()),
    }
}

/// Bits as bfloat16 where some library has taught NumPy that type, else as they are.
fn as_numbers<'py>(bits: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = bits.py();
    match bits.call_method1(intern!(py, "view"), (Dtype::Bf16.name(),)) {
        Err(error) if error.is_instance_of::<PyTypeError>(py) => Ok(bits.clone()),
        seen => seen,
    }
}

/// The core of what is given as a team, if it is one.
pub(crate) fn read_team<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, TeamCore>> {
    let native = given.getattr(intern!(given.py(), "native")).ok();
    native.and_then(|native| native.cast_into().ok()).ok_or_else(|| {
        let kind = given.get_type();
        let kind = kind.name().map_or_else(|_| kind.to_string(), |name| name.to_string());
        let message = format!("a {kind} as team; use one, such as partita.world()");
        layout_error(given.py(), &message, "not-a-team")
    })
}
