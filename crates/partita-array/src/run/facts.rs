//! What is known of a function before it runs.

use partita_ir::{Module, Op};

use super::destinations::Destinations;
use super::lifetimes::Lifetimes;
use super::steady::Steady;

/// Found out once, however often the function is called.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub lifetimes: Lifetimes,
    pub steady: Steady,
    pub destinations: Destinations,
}

impl Facts {
    pub fn of(module: &Module, function: Op) -> Self {
        let steady = Steady::of(module, function);
        let lifetimes = Lifetimes::new(module, function, &steady);
        Self { lifetimes, steady, destinations: Destinations::of(module, function) }
    }
}
