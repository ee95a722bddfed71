//! Calls: what ranks compare before they act together.

use std::borrow::Cow;
use std::sync::Arc;

use partita_plan::Plan;

use crate::buffer::{Buffer, check_shapes};
use crate::error::{Rank, Result, TeamError, cut};

/// Which call a rank has made, for comparison with the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub name: Cow<'static, str>,
    /// What must be equal besides the name: a plan, a root.
    pub argument: Arc<str>,
}

impl Call {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), argument: Arc::default() }
    }

    /// The call in words, for messages.
    pub(crate) fn words(&self) -> String {
        format!("{} {}", self.name, self.argument).trim_end().to_string()
    }
}

/// Finds the first rank that made another call than rank 0; every rank comes to the same verdict.
pub(crate) fn check_same<'a>(
    members: &[u64],
    mut calls: impl Iterator<Item = &'a Call>,
) -> Result<()> {
    let Some(first) = calls.next() else { return Ok(()) };
    let Some((at, other)) = (1..).zip(calls).find(|(_, call)| *call != first) else {
        return Ok(());
    };
    let (what, mine, theirs) = if first.name == other.name {
        let what = if first.name.starts_with("run") { "plan" } else { "argument" };
        (what, cut(&first.argument), cut(&other.argument))
    } else {
        ("call", first.name.to_string(), other.name.to_string())
    };
    let (rank, other) = (Rank::of(members, 0), Rank::of(members, at));
    Err(TeamError::Mismatch { rank, other, what, mine, theirs })
}

/// Checks a rank's buffers against its layouts, and the plan's ranks against the team.
pub(crate) fn check_buffers(
    plan: &Plan,
    (rank, size): (u64, u64),
    sources: &[Buffer],
    targets: &[Buffer],
) -> Result<()> {
    for layout in [plan.source(), plan.target()] {
        if let Some(rank) = layout.ranks().iter().max().filter(|rank| *rank >= size) {
            return Err(TeamError::TeamTooSmall { rank, size });
        }
    }
    let shapes = |layout: &partita_layout::Layout| -> Vec<Vec<u64>> {
        let n_buffers = layout.n_buffers(rank).unwrap_or(0);
        (0..n_buffers).filter_map(|buffer| layout.local_shape(rank, buffer).ok()).collect()
    };
    check_shapes("source", sources, &shapes(plan.source()))?;
    check_shapes("target", targets, &shapes(plan.target()))?;
    for (number, target) in targets.iter().enumerate() {
        target.check_target(number, plan.dtype().n_bytes() as usize)?;
    }
    Ok(())
}
