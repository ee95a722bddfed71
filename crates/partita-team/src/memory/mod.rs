//! Memory that ranks read and write, and how other processes of the machine reach it.
//!
//! - `buffer`: somebody's memory, described well enough to move through it.
//! - `pool`: warm memory for results.
//! - `arena`: memory of this process that others can map; `other_arena`: that of another process.
//! - `loan`: bytes that are lent to others for a while; `loan_table`: who reads which of them.
//! - `snapshot`: what a forked child sees of shared memory.
//! - `process`: whether another process still lives.

pub(crate) mod arena;
pub(crate) mod buffer;
pub(crate) mod loan;
mod loan_table;
pub(crate) mod other_arena;
pub(crate) mod pool;
pub(crate) mod process;
mod snapshot;
