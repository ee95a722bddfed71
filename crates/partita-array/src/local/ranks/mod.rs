//! Work on the ranks of a team: who has what, what moves, what each rank computes.
//!
//! - `spread`: where the elements of a base are; `product`: which points of a window lie there.
//! - `choose`: where new bases go; `margins`: what ranks hold of their neighbours' elements.
//! - `divide`: one rank's work and the movements between; `reduce`, `running`, `shares`:
//!   what ranks combine together;
//!   `phases`: the loops of that work, and what becomes of memory between them.
//! - `array`: what a rank has of an array; `snapshot`: copies of what has no memory of its own.
//! - `moves`: one rank's part of a movement; `run`: agreement among the ranks, and the run;
//!   `differ`: where their programs differ.

mod array;
mod choose;
mod differ;
mod divide;
mod margins;
mod moves;
mod phases;
mod product;
mod reduce;
mod run;
mod running;
mod shares;
mod snapshot;
mod spread;

pub use array::{Here, spread_of};
pub(super) use phases::Divided;
pub(super) use run::Ranks;
pub use snapshot::Snapshot;
pub use spread::{Spread, cut_dim};
