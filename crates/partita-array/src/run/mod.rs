//! Runs programs of `partita-ir` on the ranks of a team, at every level.
//!
//! All ranks run the same program. Numbers are computed at once, operations on local arrays are
//! recorded in the [local engine](crate::local) and fused; distributed arrays are local parts and
//! boxes (`dist`), movement is plans (`exchange`). An operation of `ndarray` on distributed arrays
//! brings its operands to where the result is; one of `dist` works on what is there.
//!
//! - `interpret`: blocks, loops, choices, calls.
//! - `facts`: what is known of a function beforehand: when values are dropped (`lifetimes`), which
//!   exchanges never change (`steady`), what is made only to be inserted (`destinations`).
//! - `numbers`, `elementwise`: what operators mean, for numbers and for local arrays.
//! - `array_ops`, `dist_ops`, `runtime_ops`: the dialects `ndarray`, `dist`, `distruntime`.
//! - `operators`, `reduce`, `scans`, `views`, `reshape`, `movement`: how arrays of any kind are
//!   computed; `shares`: how ranks put together what each has a share of.
//! - `partition_ops`, `partitioned`: the dialect `partition`, tensors in slices.
//! - `arguments`, `results`: in and out; `agreement`: whether all ranks are called alike.
//!
//! A rank that fails tells the others (`Team::report`), so all fail with the same words.

mod agreement;
mod arguments;
mod array_ops;
mod create;
mod deleted;
mod destinations;
mod dist;
mod dist_ops;
mod elementwise;
mod exchange;
mod facts;
mod interpret;
mod lifetimes;
mod movement;
mod numbers;
mod operators;
mod partition_ops;
mod partitioned;
mod problem;
mod reduce;
mod reshape;
mod results;
mod runtime_ops;
mod scans;
mod shares;
mod steady;
mod value;
mod views;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use partita_ir::{Module, Op};
use partita_kernel::{Machine, Settings};
use partita_team::{Team, TeamError};

pub use arguments::Argument;
pub use problem::RunError;
pub use results::{Dense, LocalPart, ResultValue, SparsePart};
pub use value::{Number, dtype_of_type};

use crate::local::Engine;
use crate::timeline::{Event, Recorder};
use deleted::Deleted;
pub(crate) use elementwise::{binary_of, unary_of};
use exchange::Mover;
use facts::Facts;
use problem::Problem;

/// Which ranks get whole arrays as results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gather {
    /// Every rank.
    All,
    /// The first rank; the others get arrays without elements.
    First,
    /// Nobody: every rank gets what it holds.
    Nobody,
}

/// What a run gave.
#[derive(Debug, Clone)]
pub struct Report {
    /// The function's results.
    pub results: Vec<ResultValue>,
    /// Collective movements, the same number on all ranks.
    pub n_exchanges: u64,
    /// Bytes that crossed ranks, all ranks together.
    pub n_bytes: u128,
    /// Kernel calls of this rank.
    pub n_kernels: u64,
}

/// One rank's run of a program.
pub(crate) struct Runner<'m> {
    module: &'m Module,
    engine: Engine,
    mover: Mover,
    facts: HashMap<Op, Rc<Facts>>,
    deleted: Deleted,
    /// Grids of the partitioned tensors the run began with, one per number of dimensions.
    grids: Vec<Vec<u64>>,
    depth: usize,
}

/// A machine for each of so many ranks of one process: they share the cores.
#[must_use]
pub fn machine_for(n_ranks_here: u64) -> Arc<Machine> {
    let mut settings = Settings::default();
    settings.n_threads = (settings.n_threads / n_ranks_here.max(1) as usize).max(1);
    Arc::new(Machine::new(settings))
}

/// How many ranks of a team share this rank's cores, as far as they share its memory.
#[must_use]
pub fn n_ranks_here(team: &Team) -> u64 {
    (0..team.size()).filter(|rank| team.shares_memory_with(*rank)).count() as u64
}

/// Runs a function of a module on this rank. All ranks of the team call it with the same module.
///
/// # Errors
/// A function that is not there, arguments that do not fit, operations that fail on any rank.
pub fn run(
    module: &Module,
    function: &str,
    arguments: &[Argument],
    team: &Team,
    machine: &Arc<Machine>,
    gather: Gather,
) -> Result<Report, RunError> {
    let mut runner = Runner::new(module, team, machine)?;
    let outcome = runner.run(function, arguments, gather);
    runner.told(outcome)
}

/// The same with a record of what this rank did, whose times all ranks count from one moment.
///
/// # Errors
/// As [`run`].
pub fn run_recorded(
    module: &Module,
    function: &str,
    arguments: &[Argument],
    team: &Team,
    machine: &Arc<Machine>,
    gather: Gather,
) -> Result<(Report, Vec<Event>), RunError> {
    let mut runner = Runner::new(module, team, machine)?;
    team.barrier().map_err(RunError::Team)?;
    let recorder = Rc::new(Recorder::new());
    runner.mover.recorder = Some(Rc::clone(&recorder));
    runner.engine.record_with(Rc::clone(&recorder));
    let outcome = runner.run(function, arguments, gather);
    Ok((runner.told(outcome)?, recorder.take()))
}

impl<'m> Runner<'m> {
    fn new(module: &'m Module, team: &Team, machine: &Arc<Machine>) -> Result<Self, RunError> {
        let Some(mover) = Mover::new(team) else { return Err(RunError::NotAMember) };
        let engine = Engine::with_machine(Arc::clone(machine));
        let (facts, deleted, grids) = Default::default();
        Ok(Self { module, engine, mover, facts, deleted, grids, depth: 0 })
    }
}

impl Runner<'_> {
    fn run(
        &mut self,
        function: &str,
        arguments: &[Argument],
        gather: Gather,
    ) -> Result<Report, Problem> {
        let op = self.function(function).map_err(Problem::Named)?;
        self.called_alike(function, arguments)?;
        let values = self.arguments(op, function, arguments)?;
        let values = self.call(op, values)?;
        self.engine.flush()?;
        self.mover.finish_all()?;
        let moved = self.mover.moved;
        let results = self.results(op, &values, gather);
        let results = results.map_err(|problem| self.at_return(op, problem))?;
        // Nobody goes before all have come to the end: an error on any rank is one on all.
        self.mover.team.barrier()?;
        Ok(Report {
            results,
            n_exchanges: moved.n_exchanges,
            n_bytes: moved.n_bytes,
            n_kernels: self.engine.n_kernels(),
        })
    }

    fn function(&self, name: &str) -> Result<Op, RunError> {
        let found = self.module.function(name).filter(|op| self.module.body(*op).is_some());
        found.ok_or_else(|| {
            let names = self.module.functions().filter_map(|op| self.module.function_name(op));
            let known = names.collect::<Vec<_>>().join(", ");
            RunError::FunctionUnknown { name: name.to_string(), known }
        })
    }

    /// Tells the others of a problem of this rank's own.
    fn told(&mut self, outcome: Result<Report, Problem>) -> Result<Report, RunError> {
        let error = match outcome {
            Ok(report) => return Ok(report),
            Err(Problem::Team(error)) => return Err(RunError::Team(error)),
            Err(Problem::Named(RunError::Team(error))) => return Err(RunError::Team(error)),
            Err(Problem::Named(error)) => error,
            Err(Problem::Own(problem)) => {
                RunError::Whole { operation: "the run".to_string(), problem }
            }
        };
        self.tell(&error.to_string());
        Err(error)
    }

    /// Ends the run for the others, who do not know of this rank's problem.
    fn tell(&mut self, problem: &str) {
        let _ = self.mover.finish_all();
        let _ = self.mover.team.report(problem);
    }

    /// Ctrl-C between two turns of a loop.
    fn interrupted(&mut self) -> Problem {
        self.tell("its program was interrupted");
        Problem::Team(TeamError::Interrupted)
    }
}
