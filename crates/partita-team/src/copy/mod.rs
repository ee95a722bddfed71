//! Copying a region from one strided buffer to another at the speed of memory.
//!
//! A move of a plan is a product of run lists, one per dimension, and a buffer on each side. The
//! loops are normalised once ([`Prepared`]); what is contiguous becomes long rows, and each kind of
//! pattern has its kernel: rows, gathers, transposed tiles, lists. Large targets are written around
//! the cache, several rows in flight, which beats a plain `memcpy`.
//!
//! ```
//! use partita_layout::Run;
//! use partita_team::copy::{Region, Source, Stores, Target, copy};
//!
//! // Columns 1 and 2 of a 2 x 3 array become a 2 x 2 array.
//! let (from, mut to) = ([0u8, 1, 2, 10, 11, 12], [0u8; 4]);
//! let (rows, columns) = ([Run::contiguous(0, 0, 2)], [Run::contiguous(1, 0, 2)]);
//! let region = Region { runs: &[&rows, &columns], item_bytes: 1 };
//! let source = Source { pointer: from.as_ptr(), strides: &[3, 1] };
//! let target = Target { pointer: to.as_mut_ptr(), strides: &[2, 1] };
//! // SAFETY: both buffers hold all positions of the region and do not overlap.
//! unsafe { copy(region, source, target, Stores::Cached) };
//! assert_eq!(to, [1, 2, 11, 12]);
//! ```
//!
//! Nothing here knows ranks, starts threads or allocates buffers for data: who copies what, and
//! when the other side may look, is the engine's business.

mod add;
mod bundle;
mod cursor;
mod job;
mod kernels;
mod nest;
mod prepare;
mod region;
mod shuffle;
mod zero;

use bundle::{Shared, Task, bundles};
use job::{Job, Kernel, jobs};

pub use add::{Dtype, Sum, add, add_all, sum_two};
pub use kernels::Isa;
pub use region::{Region, Source, Stores, Target};
pub use shuffle::Shuffle;
pub use zero::fill_zero;
pub(crate) use zero::fill_zero_region;

/// A region between buffers with known strides, ready to be copied any number of times.
#[derive(Debug, Clone)]
pub struct Prepared {
    jobs: Vec<Job>,
}

impl Prepared {
    /// Normalises a region for buffers with these strides in bytes.
    ///
    /// # Panics
    /// If the region and the strides differ in their number of dimensions.
    ///
    /// # Cost
    /// Proportional to the number of runs, not of elements.
    #[must_use]
    pub fn new(region: Region<'_>, source_strides: &[isize], target_strides: &[isize]) -> Self {
        let mut prepared = Self { jobs: Vec::new() };
        for nest in prepare::nests(region, source_strides, target_strides) {
            jobs(nest, &mut |job| prepared.jobs.push(job));
        }
        prepared
    }
}

/// One prepared region and its buffers.
#[derive(Debug, Clone, Copy)]
pub struct Move<'a> {
    /// What is copied.
    pub prepared: &'a Prepared,
    /// The source element at position zero of every dimension.
    pub source: *const u8,
    /// The target element at position zero of every dimension.
    pub target: *mut u8,
}

/// Copies the source elements of a region to their target positions.
///
/// # Safety
/// Every source position of the region must be readable and every target position writable, no
/// target element may overlap a source element or another target element, and nobody else may
/// write either meanwhile.
pub unsafe fn copy(region: Region<'_>, source: Source<'_>, target: Target<'_>, stores: Stores) {
    let prepared = Prepared::new(region, source.strides, target.strides);
    let once = Move { prepared: &prepared, source: source.pointer, target: target.pointer };
    // SAFETY: the caller's promise.
    unsafe { copy_all(&[once], stores) }
}

/// Copies several regions side by side.
///
/// Give it all moves out of one source, or all into one target: lines that several of them touch
/// are then read from memory once. Element-cyclic targets gain a third.
///
/// # Safety
/// As [`copy`], for every move.
pub unsafe fn copy_all(moves: &[Move<'_>], stores: Stores) {
    // SAFETY: every block of a job lies in its region, which the caller vouches for.
    // What an exchange in place leaves where it is must not be copied onto itself.
    unsafe { run_all(moves, Task::moves, |job| kernels::copy_kernel(job, stores)) };
    if stores == Stores::Streaming {
        kernels::fence();
    }
}

/// Runs those tasks of all moves that are wanted, with the kernels that `kernel` names.
///
/// # Safety
/// The kernels must be sound for every block of the moves.
unsafe fn run_all(
    moves: &[Move<'_>],
    is_wanted: impl Fn(&Task) -> bool,
    kernel: impl Fn(&Job) -> Kernel,
) {
    let task = |one: &Move<'_>, job: &Job| Task {
        job: job.clone(),
        source: one.source,
        target: one.target,
    };
    let tasks: Vec<Task> = moves
        .iter()
        .flat_map(|one| one.prepared.jobs.iter().map(move |job| task(one, job)))
        .filter(is_wanted)
        .collect();
    let shared = Shared::of(&tasks);
    let bundles = bundles(tasks, shared, kernel);
    // SAFETY: the caller's promise.
    unsafe { cursor::run(&bundles, shared) };
}
