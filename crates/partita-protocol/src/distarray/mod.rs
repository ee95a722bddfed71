//! `__distarray__`: one rank's buffer with a rule per dimension.
//!
//! `read.rs` judges one rank's dictionary; `dims.rs` reads its dimensions; `ranks.rs` compares those
//! of all ranks and makes the layout; `export.rs` goes the way back.

mod dims;
mod export;
mod ranks;
mod read;

pub use dims::{Block, Dim, Edge, Rule, n_owned_cyclic};
pub use export::{beyond_ends, dims_of};
pub use ranks::{Layouts, check_ranks, layouts};
pub use read::{Distarray, Version, read};
