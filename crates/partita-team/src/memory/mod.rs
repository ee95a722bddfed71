//! Memory that ranks read and write, and how other processes of the machine reach it.
//!
//! - `buffer`: somebody's memory, described well enough to move through it.
//! - `pool`: warm memory for results.
//! - `arena`: memory of this process that others can map; `other_arena`: that of another process.
//! - `huge_pages`: fewer translations of addresses, for both.
//! - `machine`: how much memory there is.
//! - `loan`: bytes that are lent to others for a while; `loan_table`: who reads which of them.
//! - `shown_window`: arrays that others read whenever they like; `seen_window`: those of another
//!   process; `window_slot`, `window_list`: what owners say of them; `other_memory`: memory of
//!   another process that cannot be mapped; `served_window`: such arrays as others ask for them.
//! - `snapshot`: what a forked child sees of shared memory.
//! - `process`: whether another process still lives.

pub(crate) mod arena;
pub(crate) mod buffer;
pub(crate) mod huge_pages;
pub(crate) mod loan;
mod loan_table;
mod machine;
pub(crate) mod other_arena;
mod other_memory;
pub(crate) mod pool;
pub(crate) mod process;
pub(crate) mod seen_window;
pub(crate) mod served_window;
pub(crate) mod shown_window;
mod snapshot;
mod window_list;
mod window_slot;
