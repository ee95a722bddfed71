//! The inner loops, one file per kind, and the choice between them.
//!
//! Each loop is written once, generic in how a cache line is stored, and compiled for several
//! instruction sets; which one runs is decided by what the processor has.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod elements;
mod gather;
mod interleave;
pub(super) mod isa;
pub(super) mod line;
mod list;
#[cfg(target_arch = "aarch64")]
mod neon;
mod pick;
mod rows;
mod tile;

use super::Stores;
use super::job::{Job, Kernel, Kind};

pub use isa::Isa;
pub(super) use isa::versions;
pub(super) use line::{
    Line, ROW_BUFFER_BYTES, RowBuffer, copy_bytes, fence, lead, prefetch_to_write, stream_line,
};

/// The kernel that copies blocks of a job.
pub(super) fn copy_kernel(job: &Job, stores: Stores) -> Kernel {
    let isa = Isa::detect();
    match job.kind {
        Kind::Bytes => rows::bytes(isa, stores),
        Kind::Pieces => rows::pieces(isa, stores),
        Kind::Gather => gather::kernel(job.unit, isa, stores),
        Kind::Elements => interleave::kernel(job.unit, isa, stores),
        Kind::Tile => tile::kernel(job.unit, isa, stores),
        Kind::List => list::kernel(job.unit),
    }
}
