//! Simulation: the code of rounds and of planning on a network in memory, for any number of ranks.
//!
//! Ranks are values, time is a number, and messages are those that processes send each other. So the
//! cost of a call can be counted for thousands of ranks on one core ([`cost_of_barrier`] and its
//! neighbours), and the rules of rounds are tried against deaths, delays and failures in every order
//! that a random number chooses (`interleavings.rs`).
//!
//! What it does not do: move data, and say how long anything takes.

mod cost;
#[cfg(test)]
mod interleavings;
mod network;
mod process;

pub use cost::{Cost, cost_of_barrier, cost_of_exchange, cost_of_near_call, cost_of_run};
