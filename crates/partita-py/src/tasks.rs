//! Parts of plans for engines that are task schedulers: what a task packs, what a task joins.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use partita_plan::Dtype;
use partita_team::{Access, Buffer, Giving, Part, Taking};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::buffers::HeldMemory;
use crate::errors::{layout_error, team_error};
use crate::plan::Plan;

/// Writes what a rank gives to some ranks, part after part, into bytes of that size.
#[pyfunction]
pub(crate) fn pack_parts(
    py: Python<'_>,
    plan: &Plan,
    source_rank: u64,
    target_ranks: Vec<u64>,
    sources: Vec<Bound<'_, PyAny>>,
    into: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let held = hold(&sources, plan.core.dtype(), "source")?;
    let sources = buffers(&held);
    let into = HeldMemory::new(into, Dtype::U8, "part")?;
    let (address, length) = dense(py, &into.buffer)?;
    if into.buffer.access == Access::Read {
        return Err(layout_error(py, "the part is read-only; give memory to write", "part-memory"));
    }
    let outcome = py.detach(|| {
        // SAFETY: the view is dense and writable (checked above) and held until after the call;
        // the caller made it for this part and shows it to nobody else.
        let message = unsafe { std::slice::from_raw_parts_mut(address as *mut u8, length) };
        // SAFETY: the views in `held` keep the memory in place, and the buffer protocol vouches
        // for shape and strides.
        unsafe { Giving::new(&plan.core, source_rank).pack(&target_ranks, &sources, message) }
    });
    outcome.map_err(|error| team_error(py, &error))
}

/// Writes what a rank takes into its target buffers.
///
/// A part is (giving rank, packed bytes), or (giving rank, list of its buffers).
#[pyfunction]
pub(crate) fn join_parts(
    py: Python<'_>,
    plan: &Plan,
    target_rank: u64,
    parts: Vec<(u64, Bound<'_, PyAny>)>,
    targets: Vec<Bound<'_, PyAny>>,
) -> PyResult<()> {
    let dtype = plan.core.dtype();
    let into = hold(&targets, dtype, "target")?;
    let targets = buffers(&into);
    let mut given = Vec::with_capacity(parts.len());
    for (rank, part) in &parts {
        given.push((*rank, Given::new(part, dtype)?));
    }
    let outcome = py.detach(|| {
        let parts: Vec<(u64, Part<'_>)> =
            given.iter().map(|(rank, given)| (*rank, given.part())).collect();
        // SAFETY: the views in `given` and `into` keep the memory in place; targets are fresh
        // arrays of the calling task.
        unsafe { Taking::new(&plan.core, target_rank).join(&parts, &targets) }
    });
    outcome.map_err(|error| team_error(py, &error))
}

/// A part with the memory it lies in.
enum Given {
    Packed { address: usize, length: usize, _held: HeldMemory },
    Seen { buffers: Vec<Buffer>, _held: Vec<HeldMemory> },
}

impl Given {
    fn new(part: &Bound<'_, PyAny>, dtype: Dtype) -> PyResult<Self> {
        match part.cast::<PyList>() {
            Ok(list) => {
                let sources: Vec<_> = list.iter().collect();
                let held = hold(&sources, dtype, "source")?;
                Ok(Self::Seen { buffers: buffers(&held), _held: held })
            }
            Err(_) => {
                let held = HeldMemory::new(part, Dtype::U8, "part")?;
                let (address, length) = dense(part.py(), &held.buffer)?;
                Ok(Self::Packed { address, length, _held: held })
            }
        }
    }

    fn part(&self) -> Part<'_> {
        match self {
            Self::Packed { address, length, .. } => {
                // SAFETY: dense bytes (checked in `new`) that the view keeps in place.
                Part::Packed(unsafe { std::slice::from_raw_parts(*address as *const u8, *length) })
            }
            Self::Seen { buffers, .. } => Part::Seen(buffers),
        }
    }
}

/// Address and length of a dense row of bytes.
fn dense(py: Python<'_>, buffer: &Buffer) -> PyResult<(usize, usize)> {
    match (&buffer.shape[..], &buffer.strides[..]) {
        ([0], _) => Ok((std::ptr::dangling::<u8>() as usize, 0)),
        ([length], [1]) => Ok((buffer.address, *length as usize)),
        _ => {
            let message = format!("a part of shape {:?}; give a dense row of bytes", buffer.shape);
            Err(layout_error(py, &message, "part-memory"))
        }
    }
}

fn hold(objects: &[Bound<'_, PyAny>], dtype: Dtype, side: &str) -> PyResult<Vec<HeldMemory>> {
    objects.iter().map(|object| HeldMemory::new(object, dtype, side)).collect()
}

fn buffers(held: &[HeldMemory]) -> Vec<Buffer> {
    held.iter().map(|held| held.buffer.clone()).collect()
}
