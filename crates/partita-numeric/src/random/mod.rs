//! Random numbers that depend on their position alone.
//!
//! An array's random numbers are the elements of a [`Stream`], named by a key and a number. Element
//! i is a function of these and of i (Philox4x32 with ten rounds), so that every division of an
//! array gives the same numbers, on every level and any number of threads.
//!
//! ```
//! use partita_numeric::Cores;
//! use partita_numeric::random::{Continuous, Stream};
//! let stream = Stream { key: 42, number: 0 };
//! let (mut whole, mut end) = ([0.0; 10], [0.0; 4]);
//! stream.fill(Continuous::Normal, 0, &mut whole, Cores::best())?;
//! stream.fill(Continuous::Normal, 6, &mut end, Cores::best())?;
//! assert_eq!(whole[6..], end);
//! # Ok::<(), partita_numeric::NumericError>(())
//! ```
//!
//! Distributions have their standard form; who wants another location or scale computes it.

mod continuous;
mod discrete;
mod lgamma;
mod loops;
mod permutation;
mod philox;
mod rejection;
mod stream;

pub use continuous::Continuous;
pub use discrete::Discrete;
pub use stream::Stream;
