//! The command line, called from Python's entry point.

use partita_cli::{Colour, Surroundings};
use pyo3::prelude::*;

/// Runs the command `partita`; gives its exit status, what it printed and what it complained.
#[pyfunction]
pub(crate) fn run_command(
    py: Python<'_>,
    args: Vec<String>,
    is_terminal: bool,
    facts: Vec<(String, String)>,
    programs: std::path::PathBuf,
) -> (i32, String, String) {
    let mut surroundings = Surroundings::new(Colour::for_output(is_terminal));
    surroundings.facts = facts;
    surroundings.programs = Some(programs);
    py.detach(|| {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let status = partita_cli::run(args, &surroundings, &mut out, &mut err);
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (status, text(out), text(err))
    })
}
