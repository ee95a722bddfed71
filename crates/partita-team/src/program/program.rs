//! Programs: one rank's share of a plan, prepared for the buffers at hand.
//!
//! A rank pushes copies, pulls copies and sums, and sends the rest (`routes.rs` decides). Sums are
//! added up in the order of the giving ranks, so that the result does not depend on who was faster.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use partita_layout::Run;
use partita_plan::{Combine, Dtype, Move, Plan};

use crate::copy::{self, Prepared, Region, Stores, add_all, copy_all};
use crate::memory::buffer::Buffer;
use crate::program::offer::View;
use crate::program::routes::Route;
use crate::program::scatter::Scatter;
use crate::program::turns::{self, Ranks, Turns};

/// Whether a plan's source and target are the same memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Apart,
    InPlace,
}

/// Prepared moves of one rank.
#[derive(Debug)]
pub(crate) struct Program {
    steps: Vec<Step>,
    /// The pushes, where their elements go one by one.
    scatter: Option<Scatter>,
    /// What is sent and received by messages.
    pub messages_out: Vec<Move>,
    pub messages_in: Vec<Move>,
    /// Who takes what of the messages to and from nodes where several ranks want the same.
    pub turns_out: Turns,
    pub turns_in: Turns,
    combine: Combine,
    /// Whether this rank's target must be zeroed by itself.
    zeros: bool,
    stores: Stores,
    dtype: Dtype,
}

/// One move between two buffers in reach.
#[derive(Debug)]
struct Step {
    source_rank: u64,
    target_rank: u64,
    source_buffer: usize,
    target_buffer: usize,
    prepared: Prepared,
}

impl Program {
    /// Prepares a rank's moves; none if a buffer of the plan is missing or out of reach.
    pub(crate) fn new(style: Style, plan: &Plan, view: &View<'_>) -> Option<Self> {
        let (rank, combine) = (view.rank, plan.combine());
        let sends = listed(style, plan.sends(rank));
        // Where all push, only the pushing side has to list its moves.
        let is_pushed = combine == Combine::Copy && view.is_all_open() && !plan.needs_zeros();
        let receives = if is_pushed { Vec::new() } else { listed(style, plan.receives(rank)) };
        let of = |moves: &[Move], route: Route| -> Vec<Move> {
            let here = moves.iter().filter(|m| view.route(m, combine) == route);
            here.cloned().collect()
        };
        let item_bytes = plan.dtype().n_bytes() as usize;
        let mut direct = of(&sends, Route::Push);
        let scatter = match combine {
            Combine::Copy => Scatter::of(&direct, view, item_bytes),
            Combine::Sum => None,
        };
        if scatter.is_some() {
            direct.clear();
        }
        direct.extend(of(&receives, Route::Pull));
        direct.sort_by_key(|m| (m.source_rank, m.target_rank));
        let steps = direct.iter().map(|m| Step::new(m, item_bytes, view)).collect::<Option<_>>()?;
        let takes_nothing = combine == Combine::Copy && plan.needs_zeros() && receives.is_empty();
        let (messages_out, messages_in) = (of(&sends, Route::Send), of(&receives, Route::Send));
        let is_open = |rank| view.has_open_targets(rank);
        let ranks = Ranks { nodes: view.nodes, is_open: &is_open };
        Some(Self {
            steps,
            scatter,
            turns_out: turns::giving(plan, &messages_out, ranks),
            turns_in: turns::taking(plan, rank, &messages_in, ranks),
            messages_out,
            messages_in,
            combine,
            // In place a sum is added to what is there.
            zeros: style == Style::Apart && (combine == Combine::Sum || takes_nothing),
            stores: Stores::for_bytes(match style {
                Style::Apart => largest_target(&direct, view, item_bytes),
                // What is exchanged is read soon, however large the buffers are.
                Style::InPlace => written(&direct, item_bytes),
            }),
            dtype: plan.dtype(),
        })
    }

    /// Whether anything travels by messages.
    pub(crate) fn has_messages(&self) -> bool {
        !self.messages_out.is_empty() || !self.messages_in.is_empty()
    }

    /// Whether messages and direct sums meet in one target: then the order matters.
    pub(crate) fn is_ordered(&self) -> bool {
        self.combine == Combine::Sum
    }

    /// Zeroes this rank's targets where the plan adds to them or leaves them empty.
    ///
    /// # Safety
    /// The targets must be those of a running call.
    pub(crate) unsafe fn clear(&self, targets: &[Buffer]) {
        if !self.zeros {
            return;
        }
        for buffer in targets {
            // SAFETY: the rank's own target, which the caller vouches for.
            unsafe { buffer.fill_zero(self.dtype.n_bytes() as usize, self.stores) };
        }
    }

    /// Runs the direct moves from some ranks; none if a buffer is out of reach.
    ///
    /// # Safety
    /// The view must be that of a running call: all ranks named in the moves wait until every rank
    /// has run its program, nobody else touches the memory, sources and targets do not overlap, and
    /// the program fits the call.
    pub(crate) unsafe fn run(&self, view: &View<'_>, sources: Range<u64>) -> Option<()> {
        let chosen = self.steps.iter().filter(|step| sources.contains(&step.source_rank));
        if let Some(scatter) = &self.scatter {
            // SAFETY: the caller's promise.
            unsafe { scatter.run(view) }?;
        }
        let moves: Vec<copy::Move<'_>> =
            chosen.map(|step| step.bind(view)).collect::<Option<_>>()?;
        match self.combine {
            // SAFETY: the caller's promise; the plan writes every target element once.
            Combine::Copy => unsafe { copy_all(&moves, self.stores) },
            Combine::Sum => {
                for one in &moves {
                    // SAFETY: the caller's promise; this rank alone writes its target.
                    unsafe { add_all(std::slice::from_ref(one), self.dtype) };
                }
            }
        }
        Some(())
    }
}

/// The moves as they are carried out: in place, what stays where it is is left out.
fn listed(style: Style, moves: Vec<Move>) -> Vec<Move> {
    match style {
        Style::Apart => moves,
        Style::InPlace => moves
            .into_iter()
            .flat_map(|m| if m.crosses() { vec![m] } else { moving_regions(&m) })
            .collect(),
    }
}

/// Bytes that the moves write.
fn written(moves: &[Move], item_bytes: usize) -> usize {
    moves.iter().map(|m| m.n_elements() as usize * item_bytes).sum()
}

/// The size of the largest buffer that the moves write to, or of this rank's own ones.
fn largest_target(moves: &[Move], view: &View<'_>, item_bytes: usize) -> usize {
    let mut written: BTreeMap<(u64, usize), usize> = BTreeMap::new();
    for m in moves {
        let target = view.target(m.target_rank, m.target_buffer);
        let n_bytes = target.map_or(0, |o| o.buffer.n_elements() as usize * item_bytes);
        written.insert((m.target_rank, m.target_buffer), n_bytes);
    }
    let own = (0..).map_while(|buffer| view.target(view.rank, buffer));
    let own: usize = own.map(|o| o.buffer.n_elements() as usize * item_bytes).sum();
    written.into_values().max().unwrap_or(0).max(own)
}

/// The regions of a rank's move to itself that change their position.
///
/// A region is a product of run lists; it stays in place where the chosen run of every dimension
/// does.
pub(crate) fn moving_regions(m: &Move) -> Vec<Move> {
    let mut regions = vec![(true, Vec::new())];
    for runs in &m.runs {
        regions = regions
            .into_iter()
            .flat_map(|(stays, chosen): (bool, Vec<Run>)| {
                runs.iter().map(move |run| {
                    let mut next = chosen.clone();
                    next.push(*run);
                    (stays && *run == run.reversed(), next)
                })
            })
            .collect();
    }
    let moving = regions.into_iter().filter(|(stays, _)| !stays);
    moving
        .map(|(_, chosen)| Move {
            runs: chosen.into_iter().map(|run| Arc::from([run])).collect(),
            ..m.clone()
        })
        .collect()
}

impl Step {
    fn new(m: &Move, item_bytes: usize, view: &View<'_>) -> Option<Self> {
        let source = &view.source(m.source_rank, m.source_buffer)?.buffer;
        let target = &view.target(m.target_rank, m.target_buffer)?.buffer;
        let runs: Vec<&[Run]> = m.runs.iter().map(|runs| &**runs).collect();
        let region = Region { runs: &runs, item_bytes };
        Some(Self {
            source_rank: m.source_rank,
            target_rank: m.target_rank,
            source_buffer: m.source_buffer,
            target_buffer: m.target_buffer,
            prepared: Prepared::new(region, &source.strides, &target.strides),
        })
    }

    fn bind(&self, view: &View<'_>) -> Option<copy::Move<'_>> {
        let source = view.source(self.source_rank, self.source_buffer)?.buffer.address;
        let target = view.target(self.target_rank, self.target_buffer)?.buffer.address;
        // An open buffer that could not be mapped here has no address.
        (source != 0 && target != 0).then_some(copy::Move {
            prepared: &self.prepared,
            source: source as *const u8,
            target: target as *mut u8,
        })
    }
}
