//! Packed halos: small halos are packed by their owner where neighbours can fetch them.
//!
//! Writing straight into another process's halo is slow where faces are strided: the halo and the
//! neighbour's own cells share cache lines, and every row is a page of its own. So a rank packs
//! what it gives into memory that all can map, before it meets the others, and fetches what it
//! takes after. One meeting is enough: nobody writes another's memory.
//!
//! A packed halo has two halves that rounds use in turn. Whoever packs for round r has seen all
//! ranks come to round r - 1, so all have fetched what lay there in round r - 2.

use std::collections::VecDeque;
use std::sync::Arc;

use partita_plan::{Move, Plan};

use crate::copy::{self, Prepared, Region, Stores, copy_all};
use crate::memory::arena::PAGE_BYTES;
use crate::memory::buffer::Buffer;
use crate::memory::pool::Memory;
use crate::program::offer::{Half, View};
use crate::program::packing::{self, Side};
use crate::program::program::moving_regions;

/// More than this per rank goes straight to its place.
const MOST_BYTES: u64 = 256 << 10;
/// Runs from this size on are written straight to their place.
const ROW_BYTES: u64 = 1024;
const LINE_BYTES: usize = 64;
/// Calls whose packed halos are kept.
const MOST_KEPT: usize = 16;

/// What one rank gives in a plan from a layout to itself, packed.
#[derive(Debug)]
pub(crate) struct PackedHalo {
    moves: Vec<PackedMove>,
    half_bytes: usize,
    memory: Memory,
    fetching: Fetches,
}

/// The packed halos of a rank's latest calls.
#[derive(Debug, Default)]
pub(crate) struct PackedHalos {
    /// Verdicts, newest last: some calls are better off without a packed halo.
    known: Vec<(Key, Option<Arc<PackedHalo>>)>,
    /// Taken out of use; others may still fetch from them until two more rounds have passed.
    retired: VecDeque<Option<Arc<PackedHalo>>>,
}

/// What a packed halo is made for.
#[derive(Debug)]
struct Key {
    plan: Plan,
    buffers: Vec<Buffer>,
}

impl PackedHalos {
    /// The packed halo of an earlier call with the same plan and buffers, else what `make` says.
    pub(crate) fn find(
        &mut self,
        plan: &Plan,
        buffers: &[Buffer],
        make: impl FnOnce() -> Option<Arc<PackedHalo>>,
    ) -> Option<Arc<PackedHalo>> {
        let fits = |key: &Key| key.buffers == buffers && key.plan == *plan;
        if let Some((_, packed_halo)) = self.known.iter().rev().find(|(key, _)| fits(key)) {
            return packed_halo.clone();
        }
        let packed_halo = make();
        if self.known.len() == MOST_KEPT {
            self.retired.push_back(self.known.remove(0).1);
        }
        // Each retirement is a round of its own.
        if self.retired.len() > 2 {
            self.retired.pop_front();
        }
        let key = Key { plan: plan.clone(), buffers: buffers.to_vec() };
        self.known.push((key, packed_halo.clone()));
        packed_halo
    }
}

/// A move between one of this rank's buffers and a place in a packed halo.
#[derive(Debug)]
struct PackedMove {
    prepared: Prepared,
    buffer: usize,
    offset: usize,
}

impl PackedHalo {
    /// Whether packing is the better way for what a rank gives: it is little, and comes in short
    /// runs or from memory that others cannot reach.
    pub(crate) fn suits(plan: &Plan, rank: u64, is_open: bool) -> bool {
        let moves: Vec<Move> = plan.sends(rank).into_iter().filter(Move::crosses).collect();
        let item_bytes = plan.dtype().n_bytes();
        let n_bytes: u64 = moves.iter().map(|m| m.n_elements() * item_bytes).sum();
        let is_short = |m: &Move| longest_run(m) * item_bytes < ROW_BYTES;
        n_bytes <= MOST_BYTES && (!is_open || moves.iter().any(is_short))
    }

    pub(crate) fn new(plan: &Plan, rank: u64, buffers: &[Buffer]) -> Self {
        let (placed, half_bytes) = placed(plan, rank);
        let item_bytes = plan.dtype().n_bytes() as usize;
        let one = |(m, offset): &(Move, usize)| {
            let (runs, shape) = packing::dense(m, Side::Source);
            let dense = Buffer::dense(0, &shape, item_bytes);
            let buffer = &buffers[m.source_buffer];
            let prepared = packing::prepare(&runs, plan.dtype(), buffer, &dense);
            PackedMove { prepared, buffer: m.source_buffer, offset: *offset }
        };
        Self {
            moves: placed.iter().map(one).collect(),
            half_bytes,
            // Smaller blocks cannot be mapped.
            memory: Memory::new((2 * half_bytes).max(PAGE_BYTES)),
            fetching: Fetches::new(plan, rank, buffers),
        }
    }

    /// The memory as a buffer of bytes.
    pub(crate) fn buffer(&self) -> Buffer {
        Buffer::dense(self.memory.address(), &[2 * self.half_bytes as u64], 1)
    }

    /// Packs what this rank gives in a round.
    ///
    /// # Safety
    /// The buffers must be those of a running call, with the strides the packed halo was made for.
    pub(crate) unsafe fn pack(&self, half: Half, buffers: &[Buffer]) {
        let start = self.memory.address() + offset_of(half, self.half_bytes);
        let moves: Vec<copy::Move<'_>> = self
            .moves
            .iter()
            .map(|one| copy::Move {
                prepared: &one.prepared,
                source: buffers[one.buffer].address as *const u8,
                target: (start + one.offset) as *mut u8,
            })
            .collect();
        // SAFETY: the caller's promise; the half has room for all moves, and nobody reads it.
        unsafe { copy_all(&moves, Stores::Cached) };
    }
}

impl PackedHalo {
    /// Fetches what the others have packed; none if a packed halo is out of reach.
    ///
    /// # Safety
    /// The view and the buffers must be those of a running call that all ranks have come to.
    pub(crate) unsafe fn fetch(&self, view: &View<'_>, buffers: &[Buffer]) -> Option<()> {
        // SAFETY: the caller's promise.
        unsafe { self.fetching.run(view, buffers) }
    }
}

/// What one rank fetches from the packed halos of the others.
#[derive(Debug)]
struct Fetches {
    moves: Vec<(PackedMove, u64)>,
    /// Who packs for this rank, and how many bytes a half of its packed halo has.
    halves: Vec<(u64, usize)>,
    /// What stays on this rank, and moves.
    own: Vec<(Prepared, usize, usize)>,
}

impl Fetches {
    fn new(plan: &Plan, rank: u64, buffers: &[Buffer]) -> Self {
        let item_bytes = plan.dtype().n_bytes() as usize;
        let mut sources: Vec<u64> = plan.receives(rank).iter().map(|m| m.source_rank).collect();
        sources.sort_unstable();
        sources.dedup();
        let (mut moves, mut halves) = (Vec::new(), Vec::new());
        for source in sources.into_iter().filter(|source| *source != rank) {
            let (placed, half_bytes) = placed(plan, source);
            halves.push((source, half_bytes));
            for (m, offset) in placed.iter().filter(|(m, _)| m.target_rank == rank) {
                let (runs, shape) = packing::dense(m, Side::Target);
                let dense = Buffer::dense(0, &shape, item_bytes);
                let buffer = &buffers[m.target_buffer];
                let prepared = packing::prepare(&runs, plan.dtype(), &dense, buffer);
                let one = PackedMove { prepared, buffer: m.target_buffer, offset: *offset };
                moves.push((one, source));
            }
        }
        let stays = plan.sends(rank).into_iter().filter(|m| !m.crosses());
        let own = stays.flat_map(|m| moving_regions(&m)).map(|m| {
            let runs: Vec<_> = m.runs.iter().map(|runs| &**runs).collect();
            let (from, to) = (&buffers[m.source_buffer], &buffers[m.target_buffer]);
            let region = Region { runs: &runs, item_bytes };
            (Prepared::new(region, &from.strides, &to.strides), m.source_buffer, m.target_buffer)
        });
        Self { moves, halves, own: own.collect() }
    }

    /// Fetches; none if a packed halo is out of reach.
    ///
    /// # Safety
    /// The view and the buffers must be those of a running call that all ranks have come to.
    unsafe fn run(&self, view: &View<'_>, buffers: &[Buffer]) -> Option<()> {
        let mut moves = Vec::with_capacity(self.moves.len() + self.own.len());
        let fits = |(source, half_bytes): &(u64, usize)| {
            let packed_halo = view.packed_halo(*source)?;
            packed_halo.fits(&[2 * *half_bytes as u64], 1).then_some(())
        };
        self.halves.iter().try_for_each(fits)?;
        for (one, source) in &self.moves {
            let packed_halo = &view.packed_halo(*source)?.buffer;
            if packed_halo.address == 0 || packed_halo.strides != [1] {
                return None;
            }
            let half_bytes = packed_halo.shape.first().map_or(0, |length| *length as usize / 2);
            let at = packed_halo.address + offset_of(view.half(*source), half_bytes) + one.offset;
            let target = buffers[one.buffer].address as *mut u8;
            moves.push(copy::Move { prepared: &one.prepared, source: at as *const u8, target });
        }
        for (prepared, from, to) in &self.own {
            let source = buffers[*from].address as *const u8;
            moves.push(copy::Move { prepared, source, target: buffers[*to].address as *mut u8 });
        }
        // SAFETY: the caller's promise; the plan writes every halo element once.
        unsafe { copy_all(&moves, Stores::Cached) };
        Some(())
    }
}

/// Neighbouring elements of the innermost dimension, at most.
fn longest_run(m: &Move) -> u64 {
    let runs = m.runs.last().map_or(&[][..], |runs| &**runs);
    let length = |run: &partita_layout::Run| match run.levels[2] {
        partita_layout::Level { count, source_step: 1, target_step: 1 } => count,
        _ => 1,
    };
    runs.iter().map(length).max().unwrap_or(1)
}

/// Where a half of so many bytes begins.
fn offset_of(half: Half, half_bytes: usize) -> usize {
    match half {
        Half::First => 0,
        Half::Second => half_bytes,
    }
}

/// A rank's moves to others and where they lie when packed; every rank comes to the same places.
fn placed(plan: &Plan, rank: u64) -> (Vec<(Move, usize)>, usize) {
    let mut moves: Vec<Move> = plan.sends(rank).into_iter().filter(Move::crosses).collect();
    moves.sort_by_key(|m| m.target_rank);
    let mut at = 0;
    let place = |m: Move| {
        let offset = at;
        at += (m.n_elements() * plan.dtype().n_bytes()) as usize;
        at = at.next_multiple_of(LINE_BYTES);
        (m, offset)
    };
    let placed = moves.into_iter().map(place).collect();
    (placed, at)
}
