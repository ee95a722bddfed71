//! From pending work to a list of kernel calls.
//!
//! 1. Nodes whose result nobody can see are left out.
//! 2. [`groups`]: every other node joins a group, all of whose nodes have one space and become one
//!    loop. A node that reads what an earlier node of its group has written takes the value from
//!    it, without memory between them.
//! 3. [`lower`]: every group becomes a program of the kernel crate, with the slots (pieces of
//!    memory) that it reads and writes; results that only their own group reads are never stored.
//!
//! A schedule names bases by number and has no address and no number of the program in it, so that
//! it is kept and used again for work of the same structure.

mod groups;
mod lower;
mod versions;

use std::rc::Rc;
use std::sync::Arc;

use partita_kernel::{Dtype, Kernel, Machine};

use super::base::Storage;
use super::meter::Meter;
use super::node::{BaseFacts, Node};
use super::window::Window;
use crate::error::Result;

/// A list of calls, and what becomes of memory between them.
#[derive(Debug)]
pub(super) struct Schedule {
    pub steps: Vec<Step>,
    /// Number of slots; the first ones are the memory that the bases have already.
    pub n_slots: usize,
    /// Which base each slot is memory of.
    pub slot_bases: Vec<usize>,
    /// For each base that lives on, the slot with its elements.
    pub kept: Vec<(usize, usize)>,
    /// Bytes of new memory at the worst moment, also of what kernels need while they run.
    pub growth_bytes: usize,
}

/// Pieces of memory from this size on may not be had.
const PROBE_FROM_BYTES: usize = 1 << 30;

impl Schedule {
    /// Finds out before anything is done whether the largest new piece of memory can be had.
    pub fn probe(&self, meter: &Rc<Meter>) -> Result<()> {
        let fresh = self.steps.iter().flat_map(|step| &step.fresh);
        match fresh.map(|(_, n_bytes)| *n_bytes).max() {
            Some(most) if most >= PROBE_FROM_BYTES => Storage::new(most, meter).map(drop),
            _ => Ok(()),
        }
    }
}

/// One kernel call.
#[derive(Debug)]
pub(super) struct Step {
    pub kernel: Arc<Kernel>,
    pub extents: Vec<usize>,
    pub inputs: Vec<SlotView>,
    pub outputs: Vec<SlotView>,
    /// Which of the work's numbers it takes.
    pub numbers: Vec<usize>,
    /// Slots that come to be here, with their size.
    pub fresh: Vec<(usize, usize)>,
    /// Slots that nobody needs afterwards.
    pub spent: Vec<usize>,
    /// Bytes that its kernel needs while it runs.
    pub scratch_bytes: usize,
    /// What its nodes are, but for which bases they touch.
    pub marks: Vec<u64>,
}

/// A window of a slot, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SlotView {
    pub slot: usize,
    pub offset_bytes: isize,
    pub strides_bytes: Vec<isize>,
}

impl SlotView {
    fn new(slot: usize, window: &Window, dtype: Dtype) -> Self {
        let size = dtype.size() as isize;
        Self {
            slot,
            offset_bytes: window.offset * size,
            strides_bytes: window.strides.iter().map(|stride| stride * size).collect(),
        }
    }
}

/// Compiles pending work.
pub(super) fn compile(nodes: &[Node], bases: &[BaseFacts], machine: &Machine) -> Result<Schedule> {
    let needed = needed(nodes, bases);
    let grouped = groups::group(nodes, bases, &needed);
    lower::lower(nodes, bases, &grouped, machine)
}

/// Nodes that somebody can see the result of.
pub(super) fn needed(nodes: &[Node], bases: &[BaseFacts]) -> Vec<bool> {
    let mut is_read: Vec<bool> = bases.iter().map(|base| base.is_alive).collect();
    let mut needed = vec![false; nodes.len()];
    for (at, node) in nodes.iter().enumerate().rev() {
        needed[at] = is_read[node.target.base];
        if needed[at] {
            node.places().for_each(|place| is_read[place.base] = true);
        }
    }
    needed
}
