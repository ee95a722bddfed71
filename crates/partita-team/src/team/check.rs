//! What is refused before anything moves.

use partita_plan::Plan;

use crate::error::{Rank, Result, TeamError};
use crate::memory::buffer::{Buffer, check_shapes};
use crate::program::offer::{Offered, View};
use crate::program::program::Style;
use crate::team::run::Run;

/// Checks a rank's own buffers before anybody hears of them.
pub(crate) fn check_own(run: &Run<'_>, rank: Rank, size: u64) -> Result<()> {
    check_size(run.plan, size)?;
    check_shapes("source", run.sources, run.plan.source(), run.rank)?;
    check_shapes("target", run.targets, run.plan.target(), run.rank)?;
    for (number, target) in run.targets.iter().enumerate() {
        target.check_target(number, run.item_bytes())?;
    }
    check_separate(run, rank)
}

/// Checks the plan's ranks against the team.
fn check_size(plan: &Plan, size: u64) -> Result<()> {
    for layout in [plan.source(), plan.target()] {
        if let Some(rank) = layout.ranks().iter().max().filter(|rank| *rank >= size) {
            return Err(TeamError::TeamTooSmall { rank, size });
        }
    }
    Ok(())
}

/// Checks that a rank's own buffers share no memory.
fn check_separate(run: &Run<'_>, rank: Rank) -> Result<()> {
    let item_bytes = run.item_bytes();
    let shares = |target: &Buffer| run.sources.iter().any(|s| target.overlaps(s, item_bytes));
    if run.style == Style::Apart && run.targets.iter().any(shares) {
        return Err(TeamError::BufferOverlap { rank, other: rank });
    }
    let meets_earlier = |(at, target): (usize, &Buffer)| {
        run.targets[..at].iter().any(|t| t.overlaps(target, item_bytes))
    };
    if run.targets.iter().enumerate().any(meets_earlier) {
        return Err(TeamError::TargetsOverlap { rank, other: rank });
    }
    Ok(())
}

/// Checks that other processes' buffers fit the plan and the memory that is mapped for them here.
///
/// What their owners say of them is not taken on trust: a wrong word would write anywhere.
pub(crate) fn check_mapped(plan: &Plan, view: &View<'_>, members: &[u64]) -> Result<()> {
    let item_bytes = plan.dtype().n_bytes() as usize;
    for (rank, offer) in view.ranked_offers() {
        let sides =
            [("source", plan.source(), &offer.sources), ("target", plan.target(), &offer.targets)];
        for (side, layout, offered) in sides {
            let mapped = offered.iter().enumerate().filter(|(_, one)| one.mapped.is_some());
            for (buffer, one) in mapped {
                let shape = layout.local_shape(rank, buffer);
                if !shape.is_ok_and(|shape| one.fits(&shape, item_bytes)) {
                    let rank = Rank::of(members, rank);
                    return Err(TeamError::BufferOutside { rank, side, buffer });
                }
            }
        }
    }
    Ok(())
}

/// Checks that no target shares memory with a source of another rank; all check all, and agree.
///
/// Only where ranks see the same memory at the same address, in one process, can they tell.
pub(crate) fn check_apart(
    style: Style,
    view: &View<'_>,
    members: &[u64],
    item_bytes: usize,
) -> Result<()> {
    let named = |rank: u64| Rank::of(members, rank);
    let meet = |a: &[Offered], b: &[Offered]| {
        a.iter().any(|a| b.iter().any(|b| a.buffer.overlaps(&b.buffer, item_bytes)))
    };
    for (rank, taker) in view.ranked_offers() {
        for (other, giver) in view.ranked_offers() {
            if style == Style::Apart && meet(&taker.targets, &giver.sources) {
                let (rank, other) = (named(rank), named(other));
                return Err(TeamError::BufferOverlap { rank, other });
            }
            if rank < other && meet(&taker.targets, &giver.targets) {
                let (rank, other) = (named(rank), named(other));
                return Err(TeamError::TargetsOverlap { rank, other });
            }
        }
    }
    Ok(())
}
