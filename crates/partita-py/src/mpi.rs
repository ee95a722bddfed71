//! The MPI engine for Python: `MpiWorld`, this process's place among all of the job.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::path::PathBuf;
use std::sync::Arc;

use partita_mpi::{Comm, Library, MpiError, Search, Started, ThreadLevel};
use partita_team::mpi::{Sharing, World};
use partita_team::{Engine, TeamError};
use pyo3::prelude::*;

use crate::errors::{team_error, watch_signals};
use crate::team::{TeamCore, look_at_settings};

/// This process's place among all processes of the job.
#[pyclass(frozen, weakref, module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct MpiWorld {
    library: Library,
    world: Arc<World>,
    /// Whether MPI was started here, and so must be ended here.
    is_ours: bool,
}

/// Whether a launcher of MPI has started this process.
#[pyfunction]
pub(crate) fn is_launched() -> bool {
    partita_mpi::launcher::is_launched()
}

/// The place that launchers give this process, in words: no two ranks have the same.
#[pyfunction]
pub(crate) fn launcher_place() -> String {
    partita_mpi::launcher::place()
}

/// Whether the environment names a connection to the launcher that this process does not have.
#[pyfunction]
pub(crate) fn launcher_is_cut_off() -> bool {
    partita_mpi::launcher::is_cut_off()
}

/// The launcher `mpiexec`: in these folders, then on the path.
#[pyfunction]
pub(crate) fn find_mpiexec(own: Vec<PathBuf>) -> Option<PathBuf> {
    partita_mpi::find_mpiexec(own)
}

fn raise(py: Python<'_>, error: &MpiError) -> PyErr {
    let error = match error {
        MpiError::Forked { .. } => TeamError::Forked { engine: Engine::Mpi },
        other => TeamError::Engine { message: other.to_string() },
    };
    team_error(py, &error)
}

#[pymethods]
impl MpiWorld {
    /// Finds, loads and starts MPI. Collective over all processes.
    ///
    /// `mpi4py` is the path of its extension module, `prefix` that of the environment, `packages`
    /// those where packages lie, `comm` the handle of a communicator of mpi4py to take instead of
    /// the world; `shared` says how many processes that follow each other may touch each other's
    /// memory, on one node: all of it if none, nobody if 0.
    #[new]
    #[pyo3(signature = (*, mpi4py=None, prefix=None, packages=Vec::new(), comm=None, shared=None))]
    fn new(
        py: Python<'_>,
        mpi4py: Option<PathBuf>,
        prefix: Option<PathBuf>,
        packages: Vec<PathBuf>,
        comm: Option<u64>,
        shared: Option<u64>,
    ) -> PyResult<Self> {
        watch_signals();
        look_at_settings();
        let sharing = match shared {
            None => Sharing::Memory,
            Some(0) => Sharing::Nothing,
            Some(n_ranks) => Sharing::Among(n_ranks),
        };
        let made = py.detach(|| -> Result<Self, MpiError> {
            let mut search = Search::new().packages(packages);
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
            Ok(Self { world: Arc::new(World::new(&world, sharing)?), library, is_ours })
        });
        made.map_err(|error| raise(py, &error))
    }

    /// The team of all processes.
    fn team(&self) -> TeamCore {
        TeamCore { core: self.world.team() }
    }

    /// Number of other processes whose memory is in reach.
    #[getter]
    fn n_neighbours(&self) -> u64 {
        self.world.n_neighbours()
    }

    /// Says which MPI it is.
    #[getter]
    fn version(&self) -> String {
        self.library.library_version()
    }

    /// Frees what belongs to a communicator of mpi4py that is being freed.
    fn free(&self, py: Python<'_>) {
        py.detach(|| self.world.free());
    }

    /// Tells every process that this one comes to no meeting any more, and why if it has failed.
    #[pyo3(signature = (why))]
    fn leave(&self, py: Python<'_>, why: Option<&str>) -> PyResult<()> {
        py.detach(|| self.world.leave(why)).map_err(|error| raise(py, &error))
    }

    /// Waits a moment for the others, and ends MPI if it was started here.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.end()).map_err(|error| raise(py, &error))
    }
}

impl MpiWorld {
    fn end(&self) -> Result<(), MpiError> {
        if !self.library.is_active() {
            return Ok(());
        }
        self.world.await_others()?;
        if self.is_ours && (self.world.died().is_some() || self.world.lost()?.is_some()) {
            // It would wait for the dead, or for a host that no message reaches.
            return Ok(());
        }
        self.world.end_if_another_dies();
        if self.is_ours { self.library.finalize() } else { Ok(()) }
    }
}
