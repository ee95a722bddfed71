//! `partita run FILE.mlir`: a program on the ranks of a team.
//!
//! - `options`: the command line behind the file; `npy`, `npz`: arrays and sparse tensors from files.
//! - `numpy`: results as NumPy prints them; `report`: results as text or JSON.
//! - `timeline`: what the ranks did, and when.
//! - `trouble`: what goes wrong on ranks that are processes is told once.

mod npy;
mod npz;
mod numpy;
mod options;
mod report;
mod timeline;
mod trouble;

use std::io::Write;
use std::path::Path;

use partita_array::run::{
    Argument, Gather, Report, RunError, machine_for, n_ranks_here, run, run_recorded,
};
use partita_array::timeline::{Event, from_lines, to_lines};
use partita_array::{run_on_threads, run_recorded_on_threads};
use partita_ir::{Location, Module, passes};
use partita_team::{Team, TeamError};

use crate::{Failure, Outcome};
pub use timeline::picture;

pub(crate) use options::{Program, ProgramOptions, numbered};
use trouble::{Trouble, told_once};

/// Whether the file of `partita run` is a program rather than a script.
pub(crate) fn is_program(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension == "mlir")
}

/// Runs a program on threads of this process.
pub(crate) fn run_here(program: &Program, n_ranks: i64, out: &mut dyn Write) -> Outcome {
    let n_ranks = u64::try_from(n_ranks).ok().filter(|n| (1..=4096).contains(n));
    let n_ranks = n_ranks.ok_or_else(|| Failure::Usage {
        reason: "ranks-zero",
        message: "that many ranks cannot be made; use 1 to 4096".to_string(),
    })?;
    let ready = prepared(program, n_ranks)?;
    let reports = reports_of(program, &ready, n_ranks)?;
    let totals = report::Totals::of(&reports);
    let texts = reports.iter().map(|one| report::results(program, one)).collect::<Vec<_>>();
    write!(out, "{}", report::joined(program, &texts, &totals))?;
    Ok(())
}

/// What the ranks give; writes down what they did, if that is wanted.
fn reports_of(program: &Program, ready: &Prepared, n_ranks: u64) -> Result<Vec<Report>, Failure> {
    let Prepared { module, text, function, arguments } = ready;
    let gather = program.gather();
    let Some(file) = &program.timeline else {
        let reports = run_on_threads(module, function, arguments, n_ranks, gather);
        return reports.map_err(|error| failed(program, &error, text));
    };
    let ranks = run_recorded_on_threads(module, function, arguments, n_ranks, gather);
    let ranks = ranks.map_err(|error| failed(program, &error, text))?;
    let (reports, events): (Vec<Report>, Vec<Vec<Event>>) = ranks.into_iter().unzip();
    timeline::write(file, &program.title(), &events)?;
    Ok(reports)
}

/// Runs a program as one rank of a team; the first rank writes.
pub(crate) fn run_as_rank(program: &Program, team: &Team, out: &mut dyn Write) -> Outcome {
    let ready = told_once(team, prepared(program, team.size()).map_err(Trouble::Own))?;
    let Prepared { module, text, function, arguments } = ready;
    let machine = machine_for(n_ranks_here(team));
    let (gather, mut events) = (program.gather(), Vec::new());
    let report = match program.timeline {
        None => run(&module, &function, &arguments, team, &machine, gather),
        Some(_) => {
            let found = run_recorded(&module, &function, &arguments, team, &machine, gather);
            found.map(|(report, recorded)| {
                events = recorded;
                report
            })
        }
    };
    let report = report.map_err(|error| match &error {
        RunError::Team(TeamError::Remote(_)) => Trouble::Told(failed(program, &error, &text)),
        _ => Trouble::Own(failed(program, &error, &text)),
    });
    let report = told_once(team, report)?;
    let gathered = |name: &'static str, bytes: Vec<u8>| {
        team.allgather(name, bytes).map_err(|error| Failure::Failed(error.to_string()))
    };
    let texts = gathered("results", report::results(program, &report).into_bytes())?;
    let kernels = gathered("kernels", report.n_kernels.to_le_bytes().to_vec())?;
    let lines = gathered("timeline", to_lines(&events).into_bytes())?;
    if team.rank() != Some(0) {
        return Ok(());
    }
    if let Some(file) = &program.timeline {
        let events = |bytes: &[u8]| from_lines(&String::from_utf8_lossy(bytes));
        let ranks: Vec<Vec<Event>> = lines.iter().map(|bytes| events(bytes)).collect();
        timeline::write(file, &program.title(), &ranks)?;
    }
    let texts: Vec<String> =
        texts.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    let n_kernels = kernels.iter().map(|bytes| number(bytes)).sum();
    let totals =
        report::Totals { n_exchanges: report.n_exchanges, n_bytes: report.n_bytes, n_kernels };
    write!(out, "{}", report::joined(program, &texts, &totals))?;
    Ok(())
}

/// A program that is ready to run.
struct Prepared {
    /// After its passes.
    module: Module,
    /// What it was read from.
    text: String,
    function: String,
    arguments: Vec<Argument>,
}

fn prepared(program: &Program, n_ranks: u64) -> Result<Prepared, Failure> {
    program.timeline.as_deref().map_or(Ok(()), timeline::check)?;
    let bytes = std::fs::read(&program.file).map_err(|error| {
        Failure::Failed(format!("cannot read {}: {error}; give a file", program.file))
    })?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let parsed = partita_ir::parse_bytes(&bytes);
    let mut module = parsed
        .map_err(|found| Failure::Failed(format!("{} is no program:\n{found}", program.file)))?;
    partita_ir::verify(&module).map_err(|found| {
        Failure::Failed(format!("{}: {}", program.file, found.with_source(&text)))
    })?;
    let options = passes::Options { n_ranks: Some(n_ranks), ..passes::Options::default() };
    for name in passes::listed(program.passes.iter().map(String::as_str)) {
        let unknown = |error: passes::PassError| Failure::Usage {
            reason: error.reason(),
            message: error.to_string(),
        };
        passes::apply_with(&mut module, name, &options).map_err(unknown)?;
    }
    let function = program.function_of(&module)?;
    Ok(Prepared { function, arguments: program.arguments()?, module, text })
}

/// A failed run in words, with the line of the program where it failed.
fn failed(program: &Program, error: &RunError, text: &str) -> Failure {
    let file = &program.file;
    Failure::Failed(match error {
        RunError::ArgumentCount { n_wanted, .. } => {
            let last = n_wanted.saturating_sub(1);
            format!("{file}: {error} with --arg I=VALUE, I from 0 to {last}")
        }
        RunError::Operation { line, column, .. } => {
            let location = Location { line: *line, column: *column };
            let shown = partita_ir::marked_line(text, location);
            let shown = shown.map_or(String::new(), |shown| format!("\n{shown}"));
            format!("{file}: {error}{shown}")
        }
        _ => format!("{file}: {error}"),
    })
}

impl Program {
    fn gather(&self) -> Gather {
        if self.is_local { Gather::Nobody } else { Gather::First }
    }

    fn title(&self) -> String {
        format!("partita run {}", self.file)
    }

    /// The function that was asked for, or the only one.
    fn function_of(&self, module: &Module) -> Result<String, Failure> {
        if let Some(name) = &self.function {
            return Ok(name.clone());
        }
        let has_body = |op: &partita_ir::Op| module.body(*op).is_some();
        let names = module.functions().filter(has_body).filter_map(|op| module.function_name(op));
        let names: Vec<&str> = names.collect();
        match names[..] {
            [one] => Ok(one.to_string()),
            _ if names.contains(&"main") => Ok("main".to_string()),
            [] => Err(Failure::Usage {
                reason: "function-missing",
                message: format!("{} has no function with a body; write one", self.file),
            }),
            _ => Err(Failure::Usage {
                reason: "function-missing",
                message: format!(
                    "{} has the functions {}; name one with --function",
                    self.file,
                    names.join(", ")
                ),
            }),
        }
    }
}
