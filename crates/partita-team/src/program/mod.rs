//! One rank's share of a plan, prepared for the buffers at hand. It waits for nobody.
//!
//! - `offer`: the buffers that ranks show each other for a call, and what one rank sees of all.
//! - `routes`: who carries out a move.
//! - `program`: a rank's moves, ready to run; `scatter`: those whose elements go one by one.
//! - `packing`: moves as dense bytes; `cut`: as chunks of limited size, for messages; `turns`: which
//!   of a node's ranks takes which chunk of what several want.
//! - `packed_halo`: small halos, packed by their owner and fetched by the neighbours.
//! - `parts`: what ranks give each other, for engines that send by themselves.

pub(crate) mod cut;
pub(crate) mod offer;
pub(crate) mod packed_halo;
pub(crate) mod packing;
pub(crate) mod parts;
#[allow(clippy::module_inception, reason = "the folder is named after what it makes")]
pub(crate) mod program;
mod routes;
mod scatter;
pub(crate) mod turns;
