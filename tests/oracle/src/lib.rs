//! Small, slow, dense model of layouts that the tests compare with.
//!
//! It lists every element of every buffer from the plainest reading of each rule, and shares no
//! arithmetic with the crates under test. [`case::pair`] makes odd layouts from a seed; a failing
//! test prints the seed and the case.

pub mod case;
pub mod dense;
mod rng;

pub use case::{Case, CaseForm, CaseMap, CaseRule};
pub use dense::{Dense, DenseBuffer, DensePlace, coords};
pub use rng::Rng;

/// How many generated cases a test runs: `PARTITA_CASES`, or the given number.
#[must_use]
pub fn n_cases(usual: u64) -> u64 {
    std::env::var("PARTITA_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}
