//! Teams of ranks and what runs plans on them.
//!
//! So far: [`copy`], the kernels that carry out one move between two buffers at the speed of
//! memory. Every engine uses them, whatever made the buffers reachable.

pub mod copy;
