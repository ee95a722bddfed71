//! Parts: what one rank gives another, packed, for engines that send by themselves.
//!
//! Task schedulers carry objects, not messages: a task on the giving side packs ([`Giving`]), the
//! scheduler brings the object over, and a task on the taking side writes it into its target
//! ([`Taking`]). A source that can be seen from the taking side needs no packing.
//!
//! Nothing here waits for anybody, and nothing knows where ranks live.

use partita_plan::{Combine, Move, Plan};

use crate::copy::{self, Prepared, Stores, add_all, copy_all};
use crate::error::{Result, TeamError};
use crate::memory::buffer::{Buffer, check_against, check_shapes};
use crate::program::packing::{self, Side};

/// What a rank gives, by taking rank.
#[derive(Debug)]
pub struct Giving<'a> {
    plan: &'a Plan,
    moves: Vec<Move>,
    shapes: Vec<Vec<u64>>,
}

impl<'a> Giving<'a> {
    /// The parts of one rank.
    #[must_use]
    pub fn new(plan: &'a Plan, rank: u64) -> Self {
        Self { plan, moves: plan.sends(rank), shapes: plan.source().local_shapes(rank).collect() }
    }

    /// Bytes of the part for a rank.
    #[must_use]
    pub fn n_bytes(&self, target_rank: u64) -> usize {
        packing::n_bytes(&self.to(target_rank), self.plan.dtype())
    }

    /// Writes the parts for some ranks one after the other.
    ///
    /// # Errors
    /// Buffers of another number or shape than the layout says, a message of another size.
    ///
    /// # Safety
    /// The buffers must describe readable memory that nobody writes meanwhile.
    pub unsafe fn pack(
        &self,
        target_ranks: &[u64],
        sources: &[Buffer],
        message: &mut [u8],
    ) -> Result<()> {
        check_against("source", sources, &self.shapes)?;
        let n_bytes = target_ranks.iter().map(|rank| self.n_bytes(*rank)).sum();
        check_size(0, message, n_bytes)?;
        let (dtype, mut rest) = (self.plan.dtype(), message);
        let moves: Vec<Vec<&Move>> = target_ranks.iter().map(|rank| self.to(*rank)).collect();
        let parts = moves.iter().map(|moves| {
            let (part, after) =
                std::mem::take(&mut rest).split_at_mut(packing::n_bytes(moves, dtype));
            rest = after;
            (&moves[..], part)
        });
        // SAFETY: shapes were checked, so the buffers hold every position of the plan.
        unsafe { packing::pack(parts, sources, dtype) };
        Ok(())
    }

    fn to(&self, target_rank: u64) -> Vec<&Move> {
        self.moves.iter().filter(|m| m.target_rank == target_rank).collect()
    }
}

/// What arrives from one rank.
#[derive(Debug, Clone, Copy)]
pub enum Part<'a> {
    /// A packed part.
    Packed(&'a [u8]),
    /// The giving rank's own buffers, where they can be seen.
    Seen(&'a [Buffer]),
}

/// A move with its memory.
struct Bound {
    prepared: Prepared,
    source: usize,
    target: usize,
}

impl Bound {
    fn as_move(&self) -> copy::Move<'_> {
        copy::Move {
            prepared: &self.prepared,
            source: self.source as *const u8,
            target: self.target as *mut u8,
        }
    }
}

/// What a rank takes, by giving rank.
#[derive(Debug)]
pub struct Taking<'a> {
    plan: &'a Plan,
    rank: u64,
    moves: Vec<Move>,
}

impl<'a> Taking<'a> {
    /// The parts of one rank.
    #[must_use]
    pub fn new(plan: &'a Plan, rank: u64) -> Self {
        let mut moves = plan.receives(rank);
        // Sums are taken in the order of the giving ranks, so that results repeat.
        moves.sort_by_key(|m| m.source_rank);
        Self { plan, rank, moves }
    }

    /// Writes all parts into the rank's target buffers, which need no content before.
    ///
    /// # Errors
    /// A giving rank without a part, parts or buffers of the wrong size.
    ///
    /// # Safety
    /// The buffers must describe memory of that shape; nobody may write the sources or touch the
    /// targets meanwhile, and they must not overlap.
    pub unsafe fn join(&self, parts: &[(u64, Part<'_>)], targets: &[Buffer]) -> Result<()> {
        check_shapes("target", targets, self.plan.target(), self.rank)?;
        for (number, target) in targets.iter().enumerate() {
            target.check_target(number, self.plan.dtype().n_bytes() as usize)?;
        }
        let mut groups = Vec::new();
        for group in self.moves.chunk_by(|a, b| a.source_rank == b.source_rank) {
            groups.push((group, self.part_for(group, parts)?));
        }
        let stores = Stores::for_bytes(self.target_bytes(targets));
        let adds = self.plan.combine() == Combine::Sum;
        if adds || self.moves.is_empty() {
            for target in targets {
                // SAFETY: the caller vouches for the targets.
                unsafe { target.fill_zero(self.item_bytes(), stores) };
            }
        }
        let bound: Vec<Bound> =
            groups.into_iter().flat_map(|(moves, part)| self.bind(moves, part, targets)).collect();
        let bound: Vec<copy::Move<'_>> = bound.iter().map(Bound::as_move).collect();
        if adds {
            for one in &bound {
                // SAFETY: sizes were checked above; the caller vouches for the memory.
                unsafe { add_all(std::slice::from_ref(one), self.plan.dtype()) };
            }
        } else {
            // SAFETY: as above; a plan that copies writes every target element once.
            unsafe { copy_all(&bound, stores) };
        }
        Ok(())
    }

    /// The part from the rank that gives these moves, checked.
    fn part_for<'p>(&self, moves: &[Move], parts: &[(u64, Part<'p>)]) -> Result<Part<'p>> {
        let source_rank = moves[0].source_rank;
        let found = parts.iter().find(|(rank, _)| *rank == source_rank);
        let Some((_, part)) = found else {
            let (n_given, n_wanted) = (parts.len(), self.n_sources());
            return Err(TeamError::BufferCount { n_given, n_wanted, side: "part" });
        };
        match part {
            Part::Seen(sources) => {
                check_shapes("source", sources, self.plan.source(), source_rank)?;
            }
            Part::Packed(message) => {
                let moves: Vec<&Move> = moves.iter().collect();
                check_size(source_rank, message, packing::n_bytes(&moves, self.plan.dtype()))?;
            }
        }
        Ok(*part)
    }

    /// Moves bound to their memory, whatever the parts are.
    fn bind(&self, moves: &[Move], part: Part<'_>, targets: &[Buffer]) -> Vec<Bound> {
        let dtype = self.plan.dtype();
        let mut at = 0;
        let bind = |m: &Move| {
            let target = &targets[m.target_buffer];
            let (prepared, source) = match part {
                Part::Seen(sources) => {
                    let source = &sources[m.source_buffer];
                    let runs: Vec<_> = m.runs.iter().map(|runs| runs.to_vec()).collect();
                    (packing::prepare(&runs, dtype, source, target), source.address)
                }
                Part::Packed(message) => {
                    let (runs, shape) = packing::dense(m, Side::Target);
                    let address = message[at..].as_ptr() as usize;
                    at += (m.n_elements() * dtype.n_bytes()) as usize;
                    let dense = Buffer::dense(address, &shape, self.item_bytes());
                    (packing::prepare(&runs, dtype, &dense, target), address)
                }
            };
            Bound { prepared, source, target: target.address }
        };
        moves.iter().map(bind).collect()
    }

    fn n_sources(&self) -> usize {
        self.moves.chunk_by(|a, b| a.source_rank == b.source_rank).count()
    }

    fn item_bytes(&self) -> usize {
        self.plan.dtype().n_bytes() as usize
    }

    fn target_bytes(&self, targets: &[Buffer]) -> usize {
        targets.iter().map(|buffer| buffer.n_elements() as usize * self.item_bytes()).sum()
    }
}

fn check_size(rank: u64, message: &[u8], wanted: usize) -> Result<()> {
    if message.len() == wanted {
        return Ok(());
    }
    let (given, wanted) = (vec![message.len() as u64], vec![wanted as u64]);
    Err(TeamError::BufferShape { side: "part", buffer: rank as usize, given, wanted })
}
