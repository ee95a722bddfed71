//! Work on the ranks of a team: who has what, what moves, what each rank computes.
//!
//! - `spread`: where the elements of a base are; `product`: which points of a window lie there.
//! - `choose`: where new bases go; `margins`: what ranks hold of their neighbours' elements.
//! - `divide`: one rank's work and the movements between; `reduce`: what ranks combine together.
//! - `array`: what a rank has of an array.
//! - `moves`: one rank's part of a movement; `run`: agreement among the ranks, and the run.

mod array;
mod choose;
mod divide;
mod margins;
mod moves;
mod product;
mod reduce;
mod run;
mod spread;

pub use array::{Here, spread_of};
pub(super) use divide::Divided;
pub(super) use run::Ranks;
pub use spread::Spread;
