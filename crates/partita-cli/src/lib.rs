//! The command `partita`: pictures of layouts, plans explained, a look at the machine.
//!
//! The binary and the Python package both call [`run`]. It writes to the given streams and gives
//! the exit status: 0, 1 for a finding or a failed run, 2 for wrong usage.

mod args;
mod check;
mod doctor;
mod json;
mod plan;
mod show;

use std::io::Write;

use clap::Parser;

use args::{Args, Command};

/// Where the command runs and writes.
#[derive(Debug)]
#[non_exhaustive]
pub struct Surroundings {
    /// Whether pictures may use colour.
    pub colour: Colour,
    /// What else `doctor` should say, such as the versions of Python packages.
    pub facts: Vec<(String, String)>,
    /// Where the environment keeps its programs, if that is not beside this one.
    pub programs: Option<std::path::PathBuf>,
}

impl Surroundings {
    /// Surroundings with nothing more to say.
    #[must_use]
    pub fn new(colour: Colour) -> Self {
        Self { colour, facts: Vec::new(), programs: None }
    }
}

/// Whether pictures may use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// A terminal that shows it.
    Yes,
    /// A file, a pipe, or a user who asked for none.
    No,
}

impl Colour {
    /// Colour for a terminal, unless `NO_COLOR` is set.
    #[must_use]
    pub fn for_output(is_terminal: bool) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if is_terminal && !refused { Self::Yes } else { Self::No }
    }
}

/// Why a command ended badly.
#[derive(Debug)]
enum Failure {
    /// Wrong usage: exit status 2.
    Usage { reason: &'static str, message: String },
    /// The run failed: exit status 1.
    Failed(String),
    /// Something was found, and told: exit status 1.
    Found,
}

type Outcome = Result<(), Failure>;

impl From<partita_layout::LayoutError> for Failure {
    fn from(error: partita_layout::LayoutError) -> Self {
        Self::Usage { reason: error.reason(), message: error.to_string() }
    }
}

impl From<partita_plan::PlanError> for Failure {
    fn from(error: partita_plan::PlanError) -> Self {
        Self::Usage { reason: error.reason(), message: error.to_string() }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Runs the command with its arguments, the command's name first.
pub fn run(
    args: impl IntoIterator<Item = String>,
    surroundings: &Surroundings,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> i32 {
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => {
            let text = error.render();
            let _ = if error.use_stderr() { write!(err, "{text}") } else { write!(out, "{text}") };
            return error.exit_code();
        }
    };
    let outcome = match &args.command {
        Command::Show(args) => show::run(args, surroundings.colour, out),
        Command::Plan(args) => plan::run(args, out),
        Command::Check(args) => check::run(args, out),
        Command::Run { .. } => Err(Failure::Failed(
            "a script needs the Python package; install it and use its command `partita`".into(),
        )),
        Command::Doctor => doctor::run(surroundings, out),
    };
    match outcome {
        Ok(()) => 0,
        Err(Failure::Usage { reason, message }) => {
            let _ = writeln!(err, "error[{reason}]: {message}");
            2
        }
        Err(Failure::Found) => 1,
        Err(Failure::Failed(message)) => {
            let _ = writeln!(err, "error: {message}");
            1
        }
    }
}

/// Writes a picture; the message names the file.
fn write_file(path: &std::path::Path, text: &str) -> Outcome {
    std::fs::write(path, text)
        .map_err(|error| Failure::Failed(format!("cannot write {}: {error}", path.display())))
}
