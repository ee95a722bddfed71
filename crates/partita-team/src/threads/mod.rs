//! The threads engine: ranks are threads of one process and share memory.
//!
//! ```
//! use std::sync::Arc;
//! use partita_team::threads::World;
//! let world = World::new(3);
//! std::thread::scope(|scope| {
//!     for rank in 0..3 {
//!         let world = Arc::clone(&world);
//!         scope.spawn(move || {
//!             let team = world.team(rank);
//!             let all = team.allgather("greet", vec![rank as u8]).expect("all came");
//!             assert_eq!(all, [Arc::from([0]), Arc::from([1]), Arc::from([2])]);
//!         });
//!     }
//! });
//! ```
//!
//! It starts no threads itself: whoever makes the ranks hands each its [`crate::Team`].

mod circles;
mod meeting;
#[cfg(all(test, feature = "shuttle"))]
mod model;
mod near;
mod rendezvous;
mod sync;
mod turn;
mod world;

pub use turn::Turn;
pub use world::World;
