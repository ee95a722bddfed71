//! Arrays that are computed when somebody looks.
//!
//! An [`Array`] is a window of a base. Operations are recorded as nodes, plain data in the order
//! of the program; a flush makes loops of them (`schedule`) and runs these. What nobody can see
//! any more is never stored. A read means what the base held when it was recorded, a write is seen
//! by all arrays of the base: whether it happens in place is decided at the flush.
//!
//! ```
//! use partita_array::local::Engine;
//! use partita_kernel::{Op, Scalar};
//! let engine = Engine::new();
//! let a = engine.fill(&[4], Scalar::from(2.0))?;
//! let middle = a.slice(&[1], &[2], &[1])?;
//! middle.write(&engine.fill(&[], Scalar::from(5.0))?)?;
//! let b = engine.apply(Op::Multiply, &[&a, &a])?;
//! assert_eq!(b.to_vec::<f64>()?, [4.0, 25.0, 25.0, 4.0]);
//! # Ok::<(), partita_array::LocalError>(())
//! ```
//!
//! An engine belongs to one thread. One for a team knows of its ranks in `ranks` alone: all else
//! works on what lies here.

mod array;
mod base;
mod engine;
mod failure;
mod foreign;
mod kept;
mod largest;
mod meter;
mod node;
mod outline;
mod places;
mod progress;
mod ranks;
mod record;
mod replace;
mod rhythm;
mod run;
mod schedule;
mod segment;
#[cfg(test)]
mod tests;
mod text;
mod window;

pub use array::{Array, BaseId, Element, Lock};
pub use base::Storage;
pub use engine::Engine;
pub use foreign::Foreign;
pub use outline::Outline;
pub use ranks::{Here, Snapshot, Spread, cut_dim, spread_of};
pub use record::{Input, Running};
pub use window::{Dims, Window, broadcast_shapes, c_strides};
