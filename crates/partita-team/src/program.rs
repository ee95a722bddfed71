//! Programs: one rank's share of a plan, prepared for the buffers at hand.
//!
//! Copies are pushed: each rank writes what it owns straight into the targets of the others, so
//! that every source line is read once. Sums are pulled: each rank adds up what it takes, in the
//! order of the giving ranks, so that the result does not depend on who was faster.

use partita_plan::{Combine, Dtype, Move, Plan};

use crate::buffer::Buffer;
use crate::copy::{self, Prepared, Region, Stores, Target, add_all, copy_all, fill_zero};

/// Prepared moves of one rank.
#[derive(Debug)]
pub(crate) struct Program {
    moves: Vec<Step>,
    combine: Combine,
    /// Whether this rank's target must be zeroed by itself.
    zeros: bool,
    dtype: Dtype,
}

#[derive(Debug)]
struct Step {
    source_rank: u64,
    target_rank: u64,
    source_buffer: usize,
    target_buffer: usize,
    prepared: Prepared,
}

/// Everyone's buffers: source and target, by rank of the plan.
pub(crate) trait Reachable {
    fn source(&self, rank: u64, buffer: usize) -> Option<&Buffer>;
    fn target(&self, rank: u64, buffer: usize) -> Option<&Buffer>;
}

impl Program {
    /// Prepares a rank's moves for buffers with these strides; none if a buffer is missing.
    pub(crate) fn new(plan: &Plan, rank: u64, buffers: &impl Reachable) -> Option<Self> {
        let mut moves = match plan.combine() {
            Combine::Copy => plan.sends(rank),
            Combine::Sum => plan.receives(rank),
        };
        moves.sort_by_key(|m| (m.source_rank, m.target_rank));
        Self::of(plan, rank, &moves, buffers)
    }

    /// The same where source and target are one buffer: what stays in place is left out.
    pub(crate) fn in_place(plan: &Plan, rank: u64, buffers: &impl Reachable) -> Option<Self> {
        let moves: Vec<Move> = plan
            .sends(rank)
            .into_iter()
            .flat_map(|m| if m.crosses() { vec![m] } else { moving_parts(&m) })
            .collect();
        Self::of(plan, rank, &moves, buffers)
    }

    fn of(plan: &Plan, rank: u64, moves: &[Move], buffers: &impl Reachable) -> Option<Self> {
        let combine = plan.combine();
        let item_bytes = plan.dtype().n_bytes() as usize;
        let steps: Option<Vec<Step>> =
            moves.iter().map(|m| Step::new(m, item_bytes, buffers)).collect();
        let takes_nothing =
            combine == Combine::Copy && plan.needs_zeros() && plan.receives(rank).is_empty();
        let zeros = combine == Combine::Sum || takes_nothing;
        Some(Self { moves: steps?, combine, zeros, dtype: plan.dtype() })
    }

    /// Runs the moves.
    ///
    /// # Safety
    /// The buffers must be those of a running call: all ranks named in the moves wait until every
    /// rank has run its program, nobody else touches the memory, sources and targets do not
    /// overlap, and shapes and strides are those the program was made for.
    pub(crate) unsafe fn run(&self, rank: u64, buffers: &impl Reachable) {
        let item_bytes = self.dtype.n_bytes() as usize;
        let own = (0..).map_while(|number| buffers.target(rank, number));
        let own: Vec<&Buffer> = own.collect();
        let own_bytes: usize = own.iter().map(|b| b.n_elements() as usize * item_bytes).sum();
        let stores = Stores::for_bytes(own_bytes.max(self.largest_target(buffers, item_bytes)));
        if self.zeros {
            for buffer in &own {
                let target =
                    Target { pointer: buffer.address as *mut u8, strides: &buffer.strides };
                // SAFETY: the rank's own target, which the caller vouches for.
                unsafe { fill_zero(target, &buffer.shape, item_bytes, stores) };
            }
        }
        let moves: Vec<copy::Move<'_>> =
            self.moves.iter().filter_map(|s| s.bind(buffers)).collect();
        match self.combine {
            // SAFETY: the caller's promise; the plan writes every target element once.
            Combine::Copy => unsafe { copy_all(&moves, stores) },
            Combine::Sum => {
                for one in &moves {
                    // SAFETY: the caller's promise; this rank alone writes its target.
                    unsafe { add_all(std::slice::from_ref(one), self.dtype) };
                }
            }
        }
    }

    fn largest_target(&self, buffers: &impl Reachable, item_bytes: usize) -> usize {
        let targets =
            self.moves.iter().filter_map(|s| buffers.target(s.target_rank, s.target_buffer));
        targets.map(|buffer| buffer.n_elements() as usize * item_bytes).max().unwrap_or(0)
    }
}

/// The parts of a rank's move to itself that change their position.
///
/// A region is a product of run lists; it stays in place where the chosen run of every dimension
/// does.
fn moving_parts(m: &Move) -> Vec<Move> {
    let mut parts = vec![(true, Vec::new())];
    for runs in &m.runs {
        parts = parts
            .into_iter()
            .flat_map(|(stays, chosen): (bool, Vec<partita_layout::Run>)| {
                runs.iter().map(move |run| {
                    let mut next = chosen.clone();
                    next.push(*run);
                    (stays && *run == run.reversed(), next)
                })
            })
            .collect();
    }
    let moving = parts.into_iter().filter(|(stays, _)| !stays);
    moving
        .map(|(_, chosen)| Move {
            runs: chosen.into_iter().map(|run| std::sync::Arc::from([run])).collect(),
            ..m.clone()
        })
        .collect()
}

impl Step {
    fn new(m: &Move, item_bytes: usize, buffers: &impl Reachable) -> Option<Self> {
        let source = buffers.source(m.source_rank, m.source_buffer)?;
        let target = buffers.target(m.target_rank, m.target_buffer)?;
        let runs: Vec<&[partita_layout::Run]> = m.runs.iter().map(|runs| &**runs).collect();
        let region = Region { runs: &runs, item_bytes };
        Some(Self {
            source_rank: m.source_rank,
            target_rank: m.target_rank,
            source_buffer: m.source_buffer,
            target_buffer: m.target_buffer,
            prepared: Prepared::new(region, &source.strides, &target.strides),
        })
    }

    fn bind(&self, buffers: &impl Reachable) -> Option<copy::Move<'_>> {
        Some(copy::Move {
            prepared: &self.prepared,
            source: buffers.source(self.source_rank, self.source_buffer)?.address as *const u8,
            target: buffers.target(self.target_rank, self.target_buffer)?.address as *mut u8,
        })
    }
}
