//! What every MPI must do for us, as checks that run on any communicator.

mod collectives;
mod failures;
mod messages;
mod shapes;

use partita_mpi::{Comm, MpiError, Patience};
use std::{convert::Infallible, time::Duration};

/// Why a check failed: MPI said so, or a value was not the expected one.
pub type Outcome = Result<(), Box<dyn std::error::Error>>;

/// One check of one communicator.
type Check = fn(&Comm) -> Outcome;

/// Long enough for four ranks on one busy core.
pub fn patience() -> Patience {
    Patience::within(Duration::from_secs(30))
}

/// A `check` for waits that nothing interrupts.
pub fn never() -> Result<(), MpiError> {
    let nothing: Result<(), Infallible> = Ok(());
    nothing.map_err(|never| match never {})
}

/// Fails with both values unless they are equal.
#[allow(clippy::needless_pass_by_value, reason = "reads best with plain values")]
pub fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Outcome {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: found {found:?}, expected {expected:?}").into()),
    }
}

/// Whether to send more than 2 GiB, which takes memory and seconds.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "not every example runs both")]
pub enum Extent {
    Usual,
    Huge,
}

/// Runs every check on a communicator of our own.
pub fn run(comm: &Comm, extent: Extent) -> Outcome {
    let checks: &[(&str, Check)] = &[
        ("blocking collectives", collectives::blocking),
        ("nonblocking collectives", collectives::nonblocking),
        ("chunked collectives", collectives::chunked),
        ("messages", messages::ring),
        ("chunked messages", messages::chunked),
        ("blocking messages", messages::blocking),
        ("probes", messages::probes),
        ("sets of requests", messages::sets),
        ("groups", shapes::groups),
        ("raw handles", shapes::raw),
        ("subarrays", shapes::rows_to_columns),
        ("shared window", shapes::shared_window),
        ("refused arguments", failures::arguments),
        ("truncation", failures::truncation),
        ("deadline and cancel", failures::deadline),
        ("dropped requests", failures::dropped),
    ];
    for (name, check) in checks {
        check(comm).map_err(|error| format!("rank {}: {name}: {error}", comm.rank()))?;
        comm.barrier()?;
    }
    if extent == Extent::Huge { messages::huge(comm) } else { Ok(()) }
}
