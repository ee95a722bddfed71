//! The MPI engine: ranks are processes, and what they exchange are messages.
//!
//! Control messages (what a rank posts to a meeting) and data travel on communicators of their own.
//! Everything is point to point and polled: a rank that fails still answers, a rank that does not
//! come is named after the deadline, and nobody ever blocks inside MPI.
//!
//! It deliberately does not yet use memory that ranks of one node share, nor chunks: a message is
//! packed whole.

mod office;
mod team;
mod wire;

pub use office::Office;
pub use team::Team;
