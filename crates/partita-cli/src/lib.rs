//! The command `partita`: pictures of layouts, plans explained, array programs, a look at the
//! machine.
//!
//! The binary and the Python package both call [`run`]. It writes to the given streams and gives
//! the exit status: 0, 1 for a finding or a failed run, 2 for wrong usage; or what Python is to do.

mod args;
mod check;
mod doctor;
mod json;
mod opt;
mod plan;
mod program;
mod show;

use std::io::Write;
use std::path::Path;

use clap::Parser;
use partita_protocol::Strictness;

pub use args::Engine;
use args::{Args, Command, RunArgs};
pub use program::picture as timeline_picture;

/// How a command ended, or what is left to do: running Python is the Python package's business.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// The exit status.
    Status(i32),
    /// Run a script.
    Script {
        /// Number of ranks, as given.
        n_ranks: i64,
        /// What they are.
        engine: Engine,
        /// The file, then the script's own arguments.
        command: Vec<String>,
    },
    /// Run a program on processes that mpiexec starts, each of which calls [`run_program_rank`].
    Program {
        /// Number of ranks, as given.
        n_ranks: i64,
        /// The file, then its options.
        command: Vec<String>,
    },
    /// Judge an object of a Python module.
    Object {
        /// `MODULE:OBJECT`.
        target: String,
        /// How much to forgive.
        strictness: Strictness,
    },
    /// Call [`doctor`] with what there is to say of Python packages.
    Doctor,
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
    /// Another rank tells what is wrong.
    Elsewhere {
        /// The exit status.
        status: i32,
    },
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
    colour: Colour,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Ending {
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => {
            return told_by_clap(&error, out, err);
        }
    };
    let outcome = match args.command {
        Command::Show(args) => show::run(&args, colour, out),
        Command::Plan(args) => plan::run(&args, out),
        Command::Check(args) if args.is_object() => {
            return Ending::Object { strictness: args.strictness(), target: args.target };
        }
        Command::Check(args) => check::run(&args, out),
        Command::Opt(args) => opt::run(&args, out, err),
        Command::Run(args) => return run_file(args, out, err),
        Command::Doctor => return Ending::Doctor,
    };
    Ending::Status(status(outcome, err))
}

/// A script is Python's business; a program runs here, unless its ranks are processes.
fn run_file(args: RunArgs, out: &mut dyn Write, err: &mut dyn Write) -> Ending {
    let RunArgs { n, engine, program: before, script: command } = args;
    if !command.first().is_some_and(|file| program::is_program(file)) {
        if !before.is_empty() {
            let message = "options of programs before a script; put the script's own behind it";
            let failure = Failure::Usage { reason: "script-options", message: message.into() };
            return Ending::Status(status(Err(failure), err));
        }
        return Ending::Script { n_ranks: n, engine, command };
    }
    let (program, n_behind, engine_behind) = match program::Program::read(&command, &before) {
        Ok(read) => read,
        Err(error) => return told_by_clap(&error, out, err),
    };
    let (n_ranks, engine) = (n_behind.unwrap_or(n), engine_behind.unwrap_or(engine));
    if engine == Engine::Mpi {
        return Ending::Program { n_ranks, command: program.words() };
    }
    Ending::Status(status(program::run_here(&program, n_ranks, out), err))
}

/// One rank of a program whose ranks are processes: the first writes to `out`.
///
/// `words` are those of [`Ending::Program`].
pub fn run_program_rank(
    words: &[String],
    team: &partita_team::Team,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> i32 {
    let program = match program::Program::read(words, &program::ProgramOptions::default()) {
        Ok((program, ..)) => program,
        Err(error) => {
            let _ = write!(err, "{}", error.render());
            return error.exit_code();
        }
    };
    status(program::run_as_rank(&program, team, out), err)
}

fn told_by_clap(error: &clap::Error, out: &mut dyn Write, err: &mut dyn Write) -> Ending {
    let text = error.render();
    let _ = if error.use_stderr() { write!(err, "{text}") } else { write!(out, "{text}") };
    Ending::Status(error.exit_code())
}

/// Says what is here, besides the given facts; gives the exit status.
///
/// `mpiexec` is the launcher that was found.
pub fn doctor(
    facts: &[(String, String)],
    mpiexec: Option<&Path>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> i32 {
    status(doctor::run(facts, mpiexec, out), err)
}

/// The exit status of what needs the Python package where there is none.
pub fn without_python(ending: &Ending, err: &mut dyn Write) -> i32 {
    let failure = match ending {
        Ending::Object { target, .. } => Failure::Usage {
            reason: "file-unreadable",
            message: format!(
                "cannot read {target}: there is no such file (objects need the Python package and \
                 its command `partita`)"
            ),
        },
        Ending::Program { .. } => Failure::Failed(
            "ranks that are processes need the Python package; install it and use its command \
             `partita`, or --engine threads"
                .into(),
        ),
        _ => Failure::Failed(
            "a script needs the Python package; install it and use its command `partita`".into(),
        ),
    };
    status(Err(failure), err)
}

fn status(outcome: Outcome, err: &mut dyn Write) -> i32 {
    match outcome {
        Ok(()) => 0,
        Err(Failure::Usage { reason, message }) => {
            let _ = writeln!(err, "error[{reason}]: {message}");
            2
        }
        Err(Failure::Found) => 1,
        Err(Failure::Elsewhere { status }) => status,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(words: &[&str]) -> Ending {
        let args = ["partita"].iter().chain(words).map(ToString::to_string);
        run(args, Colour::No, &mut Vec::new(), &mut Vec::new())
    }

    #[test]
    fn what_follows_the_script_is_the_scripts() {
        let own = ["s.py", "-n", "7", "--engine", "mpi", "--help", "--", "x"];
        let expected = |n_ranks, engine| Ending::Script {
            n_ranks,
            engine,
            command: own.map(String::from).to_vec(),
        };
        let with = |words: &[&'static str]| ending(&[words, &own].concat());
        assert_eq!(with(&["run", "-n", "3"]), expected(3, Engine::Threads));
        assert_eq!(with(&["run", "--engine", "mpi", "-n", "-1"]), expected(-1, Engine::Mpi));
        assert_eq!(ending(&["run", "s.py"]), Ending::Status(2));
        assert_eq!(ending(&["run", "-n", "3"]), Ending::Status(2));
        assert_eq!(ending(&["run", "--help"]), Ending::Status(0));
    }

    #[test]
    fn an_object_is_told_from_a_file() {
        let target = "module:name.part".to_string();
        let strictness = Strictness::Strict;
        assert_eq!(ending(&["check", "--strict", &target]), Ending::Object { target, strictness });
        assert_eq!(ending(&["check", "no-such-file"]), Ending::Status(2));
        assert_eq!(ending(&["check", "a:b", "c:d"]), Ending::Status(2));
        assert_eq!(ending(&["doctor"]), Ending::Doctor);
    }
}
