//! Teams for Python: `ThreadWorld` makes those of threads, `TeamCore` is one of any engine.
//!
//! `partita.Team` wraps it.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use partita_kernel::math::Level;
use partita_team::threads;
use partita_team::{Buffer, Claim, Team, TeamError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use crate::buffers::HeldMemory;
use crate::errors::team_error;
use crate::gathered;
use crate::interpreter::{comes_in_turn, detached};
use crate::plan::Plan;
use crate::run::Sides;

/// Has it told on stderr if `PARTITA_SIMD` is a name that is not known: kernels that compute do so,
/// and copies, which come to it first, would say nothing.
pub(crate) fn look_at_settings() {
    let _ = Level::best();
}

/// All ranks that are threads of this process and work together.
#[pyclass(frozen, module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct ThreadWorld {
    core: Arc<threads::World>,
}

#[pymethods]
impl ThreadWorld {
    #[new]
    fn new(n_ranks: u64) -> Self {
        look_at_settings();
        Self { core: threads::World::new(n_ranks) }
    }

    /// The team of all ranks, as one of them sees it.
    fn team(&self, rank: u64) -> TeamCore {
        TeamCore { core: self.core.team(rank) }
    }

    /// Says that a rank will not come to any meeting any more, and why if it has failed.
    #[pyo3(signature = (rank, why))]
    fn leave(&self, rank: u64, why: Option<&str>) {
        self.core.leave(rank, why);
    }
}

/// An ordered list of ranks, as one of them sees it.
#[pyclass(frozen, module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct TeamCore {
    pub core: Team,
}

#[pymethods]
impl TeamCore {
    /// This rank's number; None if it is no member.
    #[getter]
    fn rank(&self) -> Option<u64> {
        self.core.rank()
    }

    /// What runs its plans: "threads" or "mpi".
    #[getter]
    fn engine(&self) -> &'static str {
        self.core.engine().name()
    }

    /// Whether all its ranks are in this process.
    #[getter]
    fn is_one_process(&self) -> bool {
        self.core.engine().is_one_process()
    }

    /// Whether this rank and a member can touch each other's memory.
    fn shares_memory_with(&self, rank: u64) -> bool {
        rank < self.core.size() && self.core.shares_memory_with(rank)
    }

    /// The members as ranks of the world.
    #[getter]
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.core.members())
    }

    /// How many seconds it waits for others; None waits for ever.
    #[getter]
    fn deadline(&self) -> Option<f64> {
        self.core.deadline().map(|limit| limit.as_secs_f64())
    }

    /// The same team with another deadline in seconds; None waits for ever.
    fn with_deadline(&self, seconds: Option<f64>) -> PyResult<Self> {
        let limit = read_deadline(seconds)?;
        Ok(Self { core: self.core.clone().with_deadline(limit) })
    }

    /// Notes options with which this rank computes alone: the next meeting compares them.
    fn say(&self, words: &str) {
        self.core.say(words);
    }

    fn subteam(&self, py: Python<'_>, ranks: Vec<u64>) -> PyResult<Self> {
        let core = self.core.subteam(&ranks).map_err(|error| team_error(py, &error))?;
        Ok(Self { core })
    }

    /// Whether the ranks of both teams are numbered alike.
    fn same_world(&self, other: &Self) -> bool {
        self.core.is_of_the_world_of(&other.core)
    }

    fn union(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let core = self.core.union(&other.core).map_err(|error| team_error(py, &error))?;
        Ok(Self { core })
    }

    /// Refuses where this process is not the rank (any more): after a fork.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.core.check().map_err(|error| team_error(py, &error))
    }

    fn barrier(&self, py: Python<'_>) -> PyResult<()> {
        self.detached(py, || self.called(Team::barrier)).map_err(|error| self.raised(py, &error))
    }

    /// Everyone's bytes; `argument` must be equal on all ranks.
    fn allgather<'py>(
        &self,
        py: Python<'py>,
        call: String,
        argument: String,
        data: Vec<u8>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let all = self.gathered(py, &call, &argument, &data)?;
        Ok(all.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
    }

    /// Everyone's values, which `decode` reads from their bytes; it also says whether nobody can
    /// change them.
    fn gather_values<'py>(
        &self,
        py: Python<'py>,
        call: String,
        argument: String,
        data: Vec<u8>,
        decode: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let all = self.gathered(py, &call, &argument, &data)?;
        if self.core.engine().is_one_process() {
            return gathered::values(py, all, decode);
        }
        gathered::decoded(py, &all, decode).map(|(values, _)| values)
    }

    /// Tells the others that this rank cannot take part in their call.
    fn report(&self, py: Python<'_>, message: &str) -> PyResult<()> {
        // It may wait for others to end an earlier call, and they may need the interpreter.
        let report = |team: &Team| team.report(message);
        py.detach(|| self.called(report)).map_err(|error| team_error(py, &error))
    }

    /// Takes hold of the buffers and of the team; the plan runs when the result is told to.
    fn start(
        &self,
        py: Python<'_>,
        plan: Py<Plan>,
        local: &Bound<'_, PyAny>,
        out: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Started> {
        let sides = Sides::new(self, plan.get(), local, out)?;
        let claim = self.core.claim().map_err(|error| self.raised(py, &error))?;
        let sources = self.hold(py, plan.get(), &sides.sources, "source")?;
        let targets = self.hold(py, plan.get(), &sides.targets, "target")?;
        let team = Self { core: self.core.clone() };
        let result = sides.result.unbind();
        let (claim, has_run) = (Mutex::new(Some(claim)), AtomicBool::new(false));
        Ok(Started { team, plan, sources, targets, result, claim, has_run })
    }

    /// Takes hold of the team until the result is let go: every other call of this rank is refused.
    fn keep(&self, py: Python<'_>) -> PyResult<KeptTeam> {
        let claim = self.core.claim().map_err(|error| self.raised(py, &error))?;
        Ok(KeptTeam(Mutex::new(Some(claim))))
    }

    /// Runs a plan from a layout to itself on this rank's buffers: fills the halos.
    fn run_in_place(
        &self,
        py: Python<'_>,
        plan: &Plan,
        buffers: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (own, _own) = self.hold(py, plan, &buffers, "source")?;
        // SAFETY: as in `run`.
        let run = |team: &Team| unsafe { team.run_in_place(&plan.core, &own) };
        let outcome = self.detached(py, || self.called(run));
        outcome.map_err(|error| self.raised(py, &error))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().core == self.core)
    }
}

impl TeamCore {
    /// Does something with the team while others may run Python.
    pub(crate) fn detached<T: Send>(&self, py: Python<'_>, call: impl Send + FnOnce() -> T) -> T {
        detached(py, comes_in_turn(&self.core), call)
    }

    /// Everyone's bytes.
    fn gathered(
        &self,
        py: Python<'_>,
        call: &str,
        argument: &str,
        data: &[u8],
    ) -> PyResult<Vec<Arc<[u8]>>> {
        let gather = |team: &Team| {
            team.allgather_with(call.to_string(), argument.to_string(), data.to_vec())
        };
        self.detached(py, || self.called(gather)).map_err(|error| self.raised(py, &error))
    }

    /// Makes a call. The only rank of a world of threads needs nobody for it: where another thread
    /// makes a call, or this process was forked, it makes the call in a world of its own.
    pub(crate) fn called<T>(
        &self,
        call: impl Fn(&Team) -> Result<T, TeamError>,
    ) -> Result<T, TeamError> {
        let outcome = call(&self.core);
        let is_kept_out = matches!(outcome, Err(TeamError::Busy | TeamError::Forked { .. }));
        // One member of several may have to be told apart from the others.
        let is_alone = self.core.members() == [0] && self.core.engine().is_one_process();
        if is_kept_out && is_alone { call(&threads::World::new(1).team(0)) } else { outcome }
    }

    /// Runs a plan on this rank's buffers.
    pub(crate) fn run(
        &self,
        py: Python<'_>,
        plan: &Plan,
        sides: &Sides<'_>,
        about: &str,
    ) -> PyResult<()> {
        let (from, _from) = self.hold(py, plan, &sides.sources, "source")?;
        let (into, _into) = self.hold(py, plan, &sides.targets, "target")?;
        // SAFETY: what is held keeps the memory in place until after the call, and the buffer
        // protocol vouches for shape and strides; the engine checks the rest.
        let run = |team: &Team| unsafe { team.run_about(about, &plan.core, &from, &into) };
        let outcome = self.detached(py, || self.called(run));
        outcome.map_err(|error| self.raised(py, &error))
    }

    /// The error, once the others have heard of it.
    pub(crate) fn told(&self, py: Python<'_>, error: PyErr) -> PyErr {
        // They must not wait for a rank that stumbles over its own arguments.
        match self.report(py, &error.value(py).to_string()) {
            Ok(()) => self.marked(py, error),
            Err(worse) => worse,
        }
    }

    /// Takes hold of the memory of one side; the others hear of it if that fails.
    pub(crate) fn hold(
        &self,
        py: Python<'_>,
        plan: &Plan,
        objects: &[Bound<'_, PyAny>],
        side: &str,
    ) -> PyResult<(Vec<Buffer>, Vec<HeldMemory>)> {
        let dtype = plan.core.dtype();
        let held: PyResult<Vec<HeldMemory>> =
            objects.iter().map(|object| HeldMemory::new(object, dtype, side)).collect();
        match held {
            Ok(held) => Ok((held.iter().map(|held| held.buffer.clone()).collect(), held)),
            Err(error) => Err(self.told(py, error)),
        }
    }

    pub(crate) fn raised(&self, py: Python<'_>, error: &TeamError) -> PyErr {
        let raised = team_error(py, error);
        match error {
            TeamError::TeamsDiffer { circle } => {
                let teams = circle.waits.iter().map(|wait| &*wait.members);
                known_to(py, raised, teams)
            }
            _ => self.marked(py, raised),
        }
    }

    /// Notes in an error whom it is known to, so that `with team:` does not tell them again.
    fn marked(&self, py: Python<'_>, error: PyErr) -> PyErr {
        known_to(py, error, std::iter::once(self.core.members()))
    }
}

/// Notes in an error which teams know of it.
fn known_to<'a>(py: Python<'_>, error: PyErr, teams: impl Iterator<Item = &'a [u64]>) -> PyErr {
    let teams: PyResult<Vec<_>> = teams.map(|members| PyTuple::new(py, members)).collect();
    let told = teams.and_then(|teams| PyTuple::new(py, teams));
    // Not every exception takes a note; then they are told twice.
    let _ = told.and_then(|told| error.value(py).setattr("told", told));
    error
}

/// A team that this rank makes no calls on.
#[pyclass(frozen, module = "partita._partita")]
pub(crate) struct KeptTeam(Mutex<Option<Claim>>);

#[pymethods]
impl KeptTeam {
    /// Lets it go.
    fn release(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// A plan that holds its team and its buffers and waits to be run.
#[pyclass(frozen, module = "partita._partita")]
pub(crate) struct Started {
    team: TeamCore,
    plan: Py<Plan>,
    sources: (Vec<Buffer>, Vec<HeldMemory>),
    targets: (Vec<Buffer>, Vec<HeldMemory>),
    /// The target buffer as the caller sees it.
    #[pyo3(get)]
    result: Py<PyAny>,
    /// None once it has been let go.
    claim: Mutex<Option<Claim>>,
    has_run: AtomicBool,
}

#[pymethods]
impl Started {
    /// Runs the plan, once; the team is kept until it is released.
    fn run(&self, py: Python<'_>) -> PyResult<()> {
        if self.has_run.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let plan = &self.plan.get().core;
        let outcome = py.detach(|| {
            // Not locked while the plan runs: a child that is forked meanwhile could not let go.
            let Some(claim) = self.claim().take() else { return Ok(()) };
            // SAFETY: as in `TeamCore::run`; what is held lives as long as this.
            let outcome = unsafe {
                self.team.core.run_claimed(&claim, plan, &self.sources.0, &self.targets.0)
            };
            *self.claim() = Some(claim);
            outcome
        });
        outcome.map_err(|error| self.team.raised(py, &error))
    }

    /// Lets the team go, after the plan has run.
    fn release(&self) {
        self.claim().take();
    }

    /// Says that this thread, which has started the plan, does nothing until it has run.
    fn await_run(&self) {
        self.team.core.await_claimed();
    }
}

impl Started {
    fn claim(&self) -> MutexGuard<'_, Option<Claim>> {
        self.claim.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A deadline in seconds; None is none.
fn read_deadline(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let limit = seconds.map(Duration::try_from_secs_f64).transpose();
    limit.map_err(|error| PyValueError::new_err(error.to_string()))
}
