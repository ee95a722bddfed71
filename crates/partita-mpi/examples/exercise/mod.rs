//! What every MPI must do for us, as checks that run on any communicator.

mod communicators;
mod failures;
mod messages;

use partita_mpi::{Comm, MpiError, Polling, Request, Status};
use std::{convert::Infallible, time::Duration};

/// Why a check failed: MPI said so, or a value was not the expected one.
pub type Outcome = Result<(), Box<dyn std::error::Error>>;

/// One check of one communicator.
type Check = fn(&Comm) -> Outcome;

/// Long enough for four ranks on one busy core.
pub fn polling() -> Polling {
    Polling::within(Duration::from_secs(30))
}

/// A `check` for waits that nothing interrupts.
pub fn never() -> Result<(), MpiError> {
    let nothing: Result<(), Infallible> = Ok(());
    nothing.map_err(|never| match never {})
}

/// Waits for a message.
pub fn finish(request: &mut Request) -> Result<Status, MpiError> {
    polling().until("a message", || request.test(), never)
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
        ("gathering", communicators::gather),
        ("raw handles", communicators::raw),
        ("released communicators", communicators::released),
        ("messages", messages::ring),
        ("chunked messages", messages::chunked),
        ("probes", messages::probes),
        ("refused arguments", failures::arguments),
        ("truncation", failures::truncation),
        ("deadline", failures::deadline),
        ("dropped requests", failures::dropped),
    ];
    for (name, check) in checks {
        check(comm).map_err(|error| format!("rank {}: {name}: {error}", comm.rank()))?;
        comm.barrier()?;
    }
    if extent == Extent::Huge { messages::huge(comm) } else { Ok(()) }
}
