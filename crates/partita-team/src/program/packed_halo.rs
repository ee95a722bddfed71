//! Packed halos: small halos are packed by their owner where neighbours can fetch them.
//!
//! Writing straight into another process's halo is slow where faces are strided: the halo and the
//! neighbour's own cells share cache lines, and every row is a page of its own. So a rank packs
//! what it gives into memory that all can map, before it meets the others, and fetches what it
//! takes after. One meeting is enough: nobody writes another's memory.
//!
//! A packed halo has two halves that its calls use in turn. Whoever packs for a call has seen its
//! partners come to the call before, so they have fetched what lay there two calls ago.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
    /// Calls that it was packed for.
    n_packed: AtomicU64,
}

/// The packed halos of a rank's latest calls.
#[derive(Debug, Default)]
pub(crate) struct PackedHalos {
    /// Newest last.
    known: Vec<Known>,
    /// Taken out of use; others may still fetch from them until all have met.
    retired: Vec<Known>,
}

/// What is known of a plan on buffers that lie alike.
#[derive(Debug)]
struct Known {
    plan: Plan,
    strides: Vec<Vec<isize>>,
    /// Whether packing suits what a rank gives, from closed and from open memory.
    suits: [bool; 2],
    packed_halo: Option<Arc<PackedHalo>>,
}

/// When a call wants its halo packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All ranks have agreed on it.
    Always,
    /// Where it suits memory that others can reach.
    IfOpenSuits,
    /// Where it suits memory that others cannot reach.
    IfClosedSuits,
}

impl PackedHalos {
    /// The packed halo for what a rank gives in a plan, if it should have one.
    pub(crate) fn find(
        &mut self,
        plan: &Plan,
        rank: u64,
        buffers: &[Buffer],
        wanted: Wanted,
    ) -> Option<Arc<PackedHalo>> {
        let known = self.known(plan, rank, buffers);
        let is_wanted = match wanted {
            Wanted::Always => true,
            Wanted::IfOpenSuits => known.suits[1],
            Wanted::IfClosedSuits => known.suits[0],
        };
        let make = || Arc::new(PackedHalo::new(plan, rank, buffers));
        is_wanted.then(|| Arc::clone(known.packed_halo.get_or_insert_with(make)))
    }

    fn known(&mut self, plan: &Plan, rank: u64, buffers: &[Buffer]) -> &mut Known {
        let lie_alike = |known: &Known| {
            known.strides.len() == buffers.len()
                && known.strides.iter().zip(buffers).all(|(a, b)| *a == b.strides)
        };
        let fits = |known: &Known| lie_alike(known) && known.plan == *plan;
        let at = self.known.iter().rposition(fits).unwrap_or_else(|| {
            if self.known.len() == MOST_KEPT {
                self.retired.push(self.known.remove(0));
            }
            self.known.push(Known {
                plan: plan.clone(),
                strides: buffers.iter().map(|buffer| buffer.strides.clone()).collect(),
                suits: [false, true].map(|is_open| PackedHalo::suits(plan, rank, is_open)),
                packed_halo: None,
            });
            self.known.len() - 1
        });
        &mut self.known[at]
    }

    /// Gives back what was taken out of use: all have met since, so nobody fetches from it.
    pub(crate) fn drop_retired(&mut self) {
        self.retired.clear();
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
    fn suits(plan: &Plan, rank: u64, is_open: bool) -> bool {
        let moves: Vec<Move> = plan.sends(rank).into_iter().filter(Move::crosses).collect();
        let item_bytes = plan.dtype().n_bytes();
        let n_bytes: u64 = moves.iter().map(|m| m.n_elements() * item_bytes).sum();
        let is_short = |m: &Move| longest_run(m) * item_bytes < ROW_BYTES;
        n_bytes <= MOST_BYTES && (!is_open || moves.iter().any(is_short))
    }

    fn new(plan: &Plan, rank: u64, buffers: &[Buffer]) -> Self {
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
            n_packed: AtomicU64::new(0),
        }
    }

    /// The memory as a buffer of bytes.
    pub(crate) fn buffer(&self) -> Buffer {
        Buffer::dense(self.memory.address(), &[2 * self.half_bytes as u64], 1)
    }

    /// Packs what this rank gives in a call; says where.
    ///
    /// # Safety
    /// The buffers must be those of a running call, with the strides the packed halo was made for,
    /// and this rank's partners must have come to the last call that it was packed for.
    pub(crate) unsafe fn pack(&self, buffers: &[Buffer]) -> Half {
        let half = Half::in_turn(self.n_packed.fetch_add(1, Ordering::Relaxed));
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
        half
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
