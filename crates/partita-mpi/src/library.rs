//! A loaded MPI: which one it is, starting and ending it.

use super::{
    Abi, Comm, Handle, HandleSource, MpiError, Number, Predefined, Result, Width, fork,
    launcher::{self, Family, Launchable},
    symbols::{Load, Symbols},
    table::{Calls, read_text},
};
use std::{
    ffi::c_int,
    path::Path,
    ptr,
    sync::{Arc, Mutex},
};

/// A loaded MPI library. Clones are the same library.
///
/// It stays loaded until the process ends, even when the last clone is gone.
#[derive(Debug, Clone)]
pub struct Library {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    calls: Calls,
    abi: Abi,
    path: std::path::PathBuf,
    handles: Vec<Handle>,
}

/// How many threads may call MPI, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThreadLevel {
    /// The process has one thread.
    Single,
    /// Only the thread that initialised MPI calls it.
    Funneled,
    /// One thread at a time calls it.
    Serialized,
    /// Any thread calls it at any time.
    Multiple,
}

/// Who initialised MPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {
    /// This call did.
    Now,
    /// It was running already, for example through mpi4py.
    Before,
}

/// What [`Library::init`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Init {
    /// Who initialised MPI.
    pub started: Started,
    /// The thread level that MPI provides.
    pub provided: ThreadLevel,
}

/// MPI is initialised once per process: two threads must not both try.
static INIT: Mutex<()> = Mutex::new(());

impl Library {
    /// Loads one library, without any search; see [`Search`](super::Search).
    ///
    /// # Errors
    /// If it cannot be loaded, or lacks a function of MPI 3.1.
    pub fn load(path: &Path, load: Load) -> Result<Self> {
        let symbols = Symbols::open(path, load)?;
        // Asked first: a library that is no MPI must not pass for an ABI.
        symbols.address("MPI_Init_thread")?;
        let abi = symbols.tell_abi();
        // SAFETY: the ABI was told from the library itself.
        let calls = unsafe { Calls::load(&symbols, abi)? };
        let handles = Predefined::ALL.iter().map(|object| match object.source(abi) {
            HandleSource::Value(handle) => Ok(handle),
            HandleSource::Symbol(symbol) => symbols.address(symbol).map(Handle),
        });
        let handles = handles.collect::<Result<_>>()?;
        let path = symbols.path().to_owned();
        Ok(Self { inner: Arc::new(Inner { calls, abi, path, handles }) })
    }

    /// The binary interface of the library.
    pub fn abi(&self) -> Abi {
        self.inner.abi
    }

    /// The file that MPI's functions are in.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Whether counts above 2³¹ need no chunks (`MPI_Send_c` and so on).
    pub fn has_large_counts(&self) -> bool {
        self.inner.calls.has_large_counts()
    }

    /// The handle of a predefined object in this library.
    pub fn handle(&self, object: Predefined) -> Handle {
        self.inner.handles[object as usize]
    }

    /// The value of an integer constant in this library.
    pub fn number(&self, number: Number) -> i32 {
        number.value(self.abi())
    }

    /// The version of the MPI standard that the library follows.
    pub fn version(&self) -> (i32, i32) {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: allowed at any time; both are live ints.
        unsafe { self.calls().get_version(&mut major, &mut minor) };
        (major, minor)
    }

    /// The library's own name and version, over several lines.
    pub fn library_version(&self) -> String {
        // SAFETY: allowed at any time; the buffer holds the longest text.
        read_text(|text, length| unsafe { self.calls().get_library_version(text, length) })
    }

    /// Whether MPI was initialised, by us or by others.
    pub fn is_initialized(&self) -> bool {
        self.calls().is_initialized()
    }

    /// Whether MPI was finalized, by us or by others.
    pub fn is_finalized(&self) -> bool {
        self.calls().is_finalized()
    }

    /// Whether MPI may be called now.
    pub fn is_active(&self) -> bool {
        self.calls().is_active()
    }

    /// Initialises MPI, unless it is running, and checks the launcher.
    ///
    /// Errors on the world and on the self communicator are made to return
    /// where this call started MPI; who started it before us has chosen.
    ///
    /// # Errors
    /// [`MpiError::LauncherForeign`] and [`MpiError::WorldTooSmall`] if the
    /// launcher is not this library's; [`MpiError::Finalized`] if MPI has ended already;
    /// [`MpiError::Forked`] in a child of the process that started it.
    pub fn init(&self, wanted: ThreadLevel) -> Result<Init> {
        if fork::is_child_of_a_rank() {
            return Err(MpiError::Forked { call: "MPI_Init_thread" });
        }
        let _once = INIT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if self.is_finalized() {
            return Err(MpiError::Finalized { call: "MPI_Init_thread" });
        }
        let launched = launcher::detect()?;
        let version = self.library_version();
        let family = Family::of_library(self.abi(), &version);
        let library = Launchable { family, version: &version };
        let started = if self.is_initialized() {
            Started::Before
        } else {
            if std::env::var_os(launcher::ANY_LAUNCHER_VARIABLE).is_none() {
                launcher::check_family(&launched, library)?;
            }
            self.start(wanted)?
        };
        launcher::check_world(&launched, self.world()?.size(), library)?;
        Ok(Init { started, provided: self.thread_level()? })
    }

    fn start(&self, wanted: ThreadLevel) -> Result<Started> {
        let mut provided: c_int = 0;
        let required = self.number(wanted.number());
        // SAFETY: MPI is neither initialised nor finalized, and `INIT` is held;
        // null for argc and argv is allowed since MPI 2.
        let code = unsafe {
            self.calls().init_thread(ptr::null_mut(), ptr::null_mut(), required, &mut provided)
        };
        self.calls().check("MPI_Init_thread", code)?;
        for comm in [Predefined::CommWorld, Predefined::CommSelf] {
            self.return_errors(self.handle(comm))?;
        }
        Ok(Started::Now)
    }

    /// The thread level of the running MPI.
    ///
    /// # Errors
    /// If MPI is not active.
    pub fn thread_level(&self) -> Result<ThreadLevel> {
        let mut provided = 0;
        // SAFETY: `provided` is a live int.
        unsafe { self.calls().query_thread(&mut provided)? };
        let levels = ThreadLevel::ALL.into_iter().rev();
        let reached = levels.filter(|level| self.number(level.number()) <= provided);
        Ok(reached.max().unwrap_or(ThreadLevel::Single))
    }

    /// Ends MPI. Objects that are dropped later make no call.
    ///
    /// # Errors
    /// If MPI is not active, or says so itself.
    pub fn finalize(&self) -> Result<()> {
        // SAFETY: every wrapper asks whether MPI is active before each call.
        unsafe { self.calls().finalize() }
    }

    /// The name of the machine this rank runs on.
    ///
    /// # Errors
    /// If MPI is not active.
    pub fn processor_name(&self) -> Result<String> {
        let mut result = Ok(());
        let name = read_text(|name, length| {
            // SAFETY: the buffer holds the longest text.
            result = unsafe { self.calls().get_processor_name(name, length) };
            0
        });
        result.map(|()| name)
    }

    /// All ranks of the job.
    ///
    /// # Errors
    /// If MPI is not active.
    pub fn world(&self) -> Result<Comm> {
        Comm::lent(self, self.handle(Predefined::CommWorld))
    }

    /// Ends every rank of the job at once, with this exit code.
    pub fn abort(&self, code: i32) -> ! {
        // SAFETY: the world is always a valid communicator.
        let _ = unsafe { self.calls().abort(self.handle(Predefined::CommWorld), code) };
        // MPI is not active, or its abort came back: end this process at least.
        std::process::exit(code)
    }

    pub(super) fn calls(&self) -> &Calls {
        &self.inner.calls
    }

    pub(super) fn width(&self) -> Width {
        self.abi().width()
    }

    /// Refuses a count that this library cannot take in one call.
    pub(super) fn countable(&self, call: &'static str, count: usize) -> Result<()> {
        let limit = if self.has_large_counts() { isize::MAX as usize } else { c_int::MAX as usize };
        if count > limit {
            return Err(MpiError::CountTooLarge { call, count, limit });
        }
        Ok(())
    }

    pub(super) fn return_errors(&self, comm: Handle) -> Result<()> {
        // SAFETY: the caller gives a live communicator.
        unsafe { self.calls().comm_set_errhandler(comm, self.handle(Predefined::ErrorsReturn)) }
    }
}

impl ThreadLevel {
    /// All levels, from least to most.
    pub const ALL: [Self; 4] = [Self::Single, Self::Funneled, Self::Serialized, Self::Multiple];

    fn number(self) -> Number {
        match self {
            Self::Single => Number::ThreadSingle,
            Self::Funneled => Number::ThreadFunneled,
            Self::Serialized => Number::ThreadSerialized,
            Self::Multiple => Number::ThreadMultiple,
        }
    }
}
