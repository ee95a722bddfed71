//! The MPI engine for Python: `MpiWorld` and `MpiTeam`. `partita.Team` wraps them.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::sync::Arc;

use partita_mpi::{Comm, Library, MpiError, Search, Started, ThreadLevel};
use partita_team::mpi::{Office, Team};
use partita_team::{Buffer, TeamError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::errors::team_error;
use crate::plan::Plan;
use crate::team::{hold, known_call, read_deadline};

/// This process's place among all processes of the job.
#[pyclass(frozen, module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct MpiWorld {
    library: Library,
    office: Arc<Office>,
    /// Whether MPI was started here, and so must be ended here.
    is_ours: bool,
}

fn raise(py: Python<'_>, error: &MpiError) -> PyErr {
    team_error(py, &TeamError::Engine { message: error.to_string() })
}

#[pymethods]
impl MpiWorld {
    /// Finds, loads and starts MPI. Collective over all processes.
    ///
    /// `mpi4py` is the path of its extension module, `prefix` that of the environment, `comm` the
    /// handle of a communicator of mpi4py to take instead of the world.
    #[new]
    #[pyo3(signature = (*, mpi4py=None, prefix=None, comm=None))]
    fn new(
        py: Python<'_>,
        mpi4py: Option<String>,
        prefix: Option<String>,
        comm: Option<u64>,
    ) -> PyResult<Self> {
        let made = py.detach(|| -> Result<Self, MpiError> {
            let mut search = Search::new();
            if let Some(module) = mpi4py {
                search = search.mpi4py(module);
            }
            if let Some(prefix) = prefix {
                search = search.prefix(prefix);
            }
            let library = search.open()?;
            let is_ours = library.init(ThreadLevel::Multiple)?.started == Started::Now;
            let world = match comm {
                // SAFETY: the handle comes from the very library that mpi4py loaded.
                Some(handle) => unsafe { Comm::from_raw(&library, handle)? },
                None => library.world()?,
            };
            Ok(Self { office: Arc::new(Office::new(&world)?), library, is_ours })
        });
        made.map_err(|error| raise(py, &error))
    }

    /// The team of all processes.
    fn team(&self) -> MpiTeam {
        MpiTeam { core: Team::world(&self.office) }
    }

    /// Says which MPI it is.
    #[getter]
    fn version(&self) -> String {
        self.library.library_version()
    }

    /// Tells every process that this one comes to no meeting any more.
    fn leave(&self, py: Python<'_>, why: &str) -> PyResult<()> {
        py.detach(|| self.office.leave(why)).map_err(|error| raise(py, &error))
    }

    /// Ends MPI, if it was started here.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        if !self.is_ours {
            return Ok(());
        }
        py.detach(|| self.library.finalize()).map_err(|error| raise(py, &error))
    }
}

/// An ordered list of processes, as one of them sees it.
#[pyclass(frozen, module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct MpiTeam {
    core: Team,
}

#[pymethods]
impl MpiTeam {
    /// This process's number; None if it is no member.
    #[getter]
    fn rank(&self) -> Option<u64> {
        self.core.rank()
    }

    /// The members as ranks of the world.
    #[getter]
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.core.members())
    }

    /// The same team with another deadline in seconds; None waits for ever.
    fn with_deadline(&self, seconds: Option<f64>) -> PyResult<Self> {
        let limit = read_deadline(seconds)?;
        Ok(Self { core: self.core.clone().with_deadline(limit) })
    }

    fn subteam(&self, py: Python<'_>, ranks: Vec<u64>) -> PyResult<Self> {
        let core = self.core.subteam(&ranks).map_err(|error| team_error(py, &error))?;
        Ok(Self { core })
    }

    fn union(&self, other: &Self) -> Self {
        Self { core: self.core.union(&other.core) }
    }

    fn barrier(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.core.barrier()).map_err(|error| team_error(py, &error))
    }

    /// Everyone's bytes; `argument` must be equal on all ranks.
    fn allgather<'py>(
        &self,
        py: Python<'py>,
        call: &str,
        argument: String,
        data: Vec<u8>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let name = known_call(call);
        let all = py
            .detach(|| self.core.allgather_with(name, argument, data))
            .map_err(|error| team_error(py, &error))?;
        Ok(all.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
    }

    /// Tells the others that this rank cannot take part in their call.
    fn report(&self, py: Python<'_>, message: &str) -> PyResult<()> {
        py.detach(|| self.core.report(message)).map_err(|error| team_error(py, &error))
    }

    /// Runs a plan on this rank's buffers.
    fn run(
        &self,
        py: Python<'_>,
        plan: &Plan,
        sources: Vec<Bound<'_, PyAny>>,
        targets: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let held = match hold(plan, &sources, &targets) {
            Ok(held) => held,
            Err(error) => {
                self.report(py, &error.value(py).to_string())?;
                return Err(error);
            }
        };
        let from: Vec<Buffer> = held.0.iter().map(|held| held.buffer.clone()).collect();
        let into: Vec<Buffer> = held.1.iter().map(|held| held.buffer.clone()).collect();
        // SAFETY: the views in `held` keep the memory in place until after the call, and the buffer
        // protocol vouches for shape and strides; the engine checks the rest.
        let outcome = py.detach(|| unsafe { self.core.run(&plan.core, &from, &into) });
        outcome.map_err(|error| team_error(py, &error))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().core == self.core)
    }
}
