//! `__partitioned__`: a grid of partitions with their places and handles.
//!
//! `read.rs` judges a dictionary and reads it; `cover.rs` checks that the partitions tile the array;
//! `data.rs` looks at what is handed over; `ranks.rs` compares the dictionaries of several ranks;
//! `table.rs` is the grid by itself, to and from layouts.

mod cover;
mod data;
mod holders;
mod ranks;
mod read;
mod table;

pub(crate) use cover::repeated_keys;
pub use holders::{Held, Holders};
pub use ranks::{Summary, check_ranks};
pub use read::{Entry, Partitioned, read};
pub use table::Table;
