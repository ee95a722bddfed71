//! The command line, called from Python's entry point.

#![allow(clippy::needless_pass_by_value, reason = "Python's arguments come by value")]

use std::path::PathBuf;

use partita_cli::{Colour, Ending};
use partita_protocol::Strictness;
use partita_team::Engine;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::team::TeamCore;

/// What `write` says, what it printed and what it complained.
fn told<T>(write: impl FnOnce(&mut Vec<u8>, &mut Vec<u8>) -> T) -> (T, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let value = write(&mut out, &mut err);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (value, text(out), text(err))
}

/// Runs the command `partita`; gives how it ended, what it printed and what it complained.
///
/// It ends with `("status", number)`, or with what is left to do: `("run", n, engine, command)`,
/// `("program", n, command)`, `("check", target, strict)`, `("doctor",)`.
#[pyfunction]
pub(crate) fn run_command(
    py: Python<'_>,
    args: Vec<String>,
    is_terminal: bool,
) -> PyResult<(Bound<'_, PyTuple>, String, String)> {
    let colour = Colour::for_output(is_terminal);
    let (ending, out, err) =
        py.detach(|| told(|out, err| partita_cli::run(args, colour, out, err)));
    Ok((plain(py, ending)?, out, err))
}

fn plain(py: Python<'_>, ending: Ending) -> PyResult<Bound<'_, PyTuple>> {
    match ending {
        Ending::Status(status) => ("status", status).into_pyobject(py),
        Ending::Script { n_ranks, engine, command } => {
            let engine = match engine {
                partita_cli::Engine::Threads => Engine::Threads,
                partita_cli::Engine::Mpi => Engine::Mpi,
            };
            ("run", n_ranks, engine.name(), command).into_pyobject(py)
        }
        Ending::Program { n_ranks, command } => ("program", n_ranks, command).into_pyobject(py),
        Ending::Object { target, strictness } => {
            ("check", target, strictness == Strictness::Strict).into_pyobject(py)
        }
        _ => ("doctor",).into_pyobject(py),
    }
}

/// Says what is here, besides the given facts; gives the exit status, the words and the complaints.
#[pyfunction]
pub(crate) fn run_doctor(
    py: Python<'_>,
    facts: Vec<(String, String)>,
    mpiexec: Option<PathBuf>,
) -> (i32, String, String) {
    py.detach(|| told(|out, err| partita_cli::doctor(&facts, mpiexec.as_deref(), out, err)))
}

/// How many problems a check has found, in words.
#[pyfunction]
pub(crate) fn problems(n: usize) -> String {
    partita_protocol::problems(n)
}

/// One rank of `partita run --engine mpi FILE.mlir`; gives status, words and complaints.
#[pyfunction]
pub(crate) fn run_program_rank(
    py: Python<'_>,
    words: Vec<String>,
    team: &TeamCore,
) -> (i32, String, String) {
    py.detach(|| told(|out, err| partita_cli::run_program_rank(&words, &team.core, out, err)))
}
