//! Random moves: where elements go one by one, two passes through buckets beat one through memory.
//!
//! It takes scratch memory of the size of the source, so it is only used where it pays: many
//! single elements of eight bytes between dense one-dimensional buffers.

use std::sync::{Mutex, PoisonError};

use partita_layout::Run;
use partita_plan::Move;

use crate::copy::Shuffle;
use crate::program::offer::View;

/// Below this the elements are in the cache anyway.
const FEWEST_ELEMENTS: u64 = 1 << 18;
/// Longer runs on average are rows, which copy faster as they are.
const LONGEST_RUN: u64 = 4;
const ITEM_BYTES: usize = 8;

/// All pushes of one rank, as a shuffle.
#[derive(Debug)]
pub(crate) struct Scatter {
    source: (u64, usize),
    targets: Vec<(u64, usize)>,
    /// The target to begin with, so that ranks do not write the same lines in turn.
    first: usize,
    shuffle: Mutex<Shuffle>,
}

impl Scatter {
    /// A shuffle of these moves, if that is the better way.
    pub(crate) fn of(moves: &[Move], view: &View<'_>, item_bytes: usize) -> Option<Self> {
        let (first, rest) = moves.split_first()?;
        let source = (first.source_rank, first.source_buffer);
        let targets: Vec<(u64, usize)> =
            moves.iter().map(|m| (m.target_rank, m.target_buffer)).collect();
        let is_plain = item_bytes == ITEM_BYTES
            && rest.iter().all(|m| (m.source_rank, m.source_buffer) == source)
            && moves.iter().all(|m| m.runs.len() == 1)
            && view.source(source.0, source.1)?.buffer.strides == [ITEM_BYTES as isize]
            && targets.iter().all(|(rank, buffer)| {
                let target = view.target(*rank, *buffer);
                target.is_some_and(|t| t.buffer.strides == [ITEM_BYTES as isize])
            });
        if !is_plain || !is_random(moves) {
            return None;
        }
        let runs: Vec<&[Run]> = moves.iter().map(|m| &*m.runs[0]).collect();
        let at = targets.iter().position(|(rank, _)| *rank >= view.rank).unwrap_or(0);
        Some(Self { source, targets, first: at, shuffle: Mutex::new(Shuffle::new(&runs)) })
    }

    /// Moves every element to its place; none if a buffer is out of reach.
    ///
    /// # Safety
    /// As for `Program::run`.
    pub(crate) unsafe fn run(&self, view: &View<'_>) -> Option<()> {
        let source = view.source(self.source.0, self.source.1)?.buffer.address;
        let address = |(rank, buffer): &(u64, usize)| {
            view.target(*rank, *buffer).map(|target| target.buffer.address)
        };
        let targets: Vec<usize> = self.targets.iter().map(address).collect::<Option<_>>()?;
        if source == 0 || targets.contains(&0) {
            return None;
        }
        let targets: Vec<*mut u8> = targets.iter().map(|target| *target as *mut u8).collect();
        let mut shuffle = self.shuffle.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the caller's promise; the strides were checked in `of`.
        unsafe { shuffle.copy(source as *const u8, &targets, self.first) };
        Some(())
    }
}

fn is_random(moves: &[Move]) -> bool {
    let n_elements: u64 = moves.iter().map(Move::n_elements).sum();
    let n_runs: u64 = moves.iter().map(|m| m.runs[0].len() as u64).sum();
    n_elements >= FEWEST_ELEMENTS && n_runs.saturating_mul(LONGEST_RUN) >= n_elements
}
