//! What can go wrong between us and MPI, each with a stable reason code.

use super::{ErrorClass, find::Attempt};
use std::{fmt, path::PathBuf, time::Duration};

/// Result of the MPI layer.
pub type Result<T> = std::result::Result<T, MpiError>;

/// Why MPI could not be found, loaded or called.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the values named in the message")]
pub enum MpiError {
    NotFound {
        attempts: Vec<Attempt>,
        /// The launcher that started the process: no library lies beside it.
        launcher: Option<PathBuf>,
    },
    LoadFailed {
        path: PathBuf,
        problem: String,
    },
    SymbolMissing {
        symbol: &'static str,
        path: PathBuf,
    },
    NotInitialized {
        call: &'static str,
    },
    Finalized {
        call: &'static str,
    },
    Forked {
        call: &'static str,
    },
    Call {
        call: &'static str,
        class: ErrorClass,
        code: i32,
        text: String,
    },
    ThreadLevel {
        wanted: &'static str,
        provided: &'static str,
    },
    WorldTooSmall {
        variable: &'static str,
        launched: u64,
        world: usize,
        library: String,
    },
    LauncherForeign {
        variable: &'static str,
        launched: u64,
        launcher: &'static str,
        library: String,
    },
    LauncherValue {
        variable: &'static str,
        value: String,
    },
    CountTooLarge {
        call: &'static str,
        count: usize,
        limit: usize,
    },
    RankUnknown {
        call: &'static str,
        rank: usize,
        n_ranks: usize,
    },
    TagInvalid {
        tag: i32,
        limit: i32,
    },
    LengthMismatch {
        call: &'static str,
        what: &'static str,
        given: usize,
        needed: usize,
    },
    OutsideBuffer {
        call: &'static str,
        rank: usize,
        start: usize,
        end: usize,
        length: usize,
    },
    AnySourceChunked {
        n_bytes: usize,
        limit_bytes: usize,
    },
    BoxOutside {
        dim: usize,
        start: usize,
        length: usize,
        extent: usize,
    },
    CommNull {
        handle: u64,
    },
    InterComm {
        handle: u64,
    },
    NotCancellable {
        call: &'static str,
    },
    Deadline {
        waiting_for: &'static str,
        limit: Duration,
    },
}

impl MpiError {
    /// A stable name of the kind of error.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "mpi-not-found",
            Self::LoadFailed { .. } => "mpi-load-failed",
            Self::SymbolMissing { .. } => "mpi-symbol-missing",
            Self::NotInitialized { .. } => "mpi-not-initialized",
            Self::Finalized { .. } => "mpi-finalized",
            Self::Forked { .. } => "forked",
            Self::Call { .. } => "mpi-call-failed",
            Self::ThreadLevel { .. } => "mpi-thread-level",
            Self::WorldTooSmall { .. } => "mpi-world-too-small",
            Self::LauncherForeign { .. } => "mpi-launcher-foreign",
            Self::LauncherValue { .. } => "mpi-launcher-value",
            Self::CountTooLarge { .. } => "mpi-count-too-large",
            Self::RankUnknown { .. } => "mpi-rank-unknown",
            Self::TagInvalid { .. } => "mpi-tag-invalid",
            Self::LengthMismatch { .. } => "mpi-length-mismatch",
            Self::OutsideBuffer { .. } => "mpi-outside-buffer",
            Self::AnySourceChunked { .. } => "mpi-any-source-chunked",
            Self::BoxOutside { .. } => "mpi-box-outside",
            Self::CommNull { .. } => "mpi-comm-null",
            Self::InterComm { .. } => "mpi-inter-comm",
            Self::NotCancellable { .. } => "mpi-not-cancellable",
            Self::Deadline { .. } => "mpi-deadline",
        }
    }

    /// The MPI error class, where MPI itself reported the error.
    pub fn class(&self) -> Option<ErrorClass> {
        match self {
            Self::Call { class, .. } => Some(*class),
            _ => None,
        }
    }
}

impl fmt::Display for MpiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { .. }
            | Self::LoadFailed { .. }
            | Self::SymbolMissing { .. }
            | Self::WorldTooSmall { .. }
            | Self::LauncherForeign { .. }
            | Self::LauncherValue { .. } => self.describe_setup(f),
            Self::NotInitialized { .. }
            | Self::Finalized { .. }
            | Self::Forked { .. }
            | Self::Call { .. }
            | Self::ThreadLevel { .. }
            | Self::Deadline { .. }
            | Self::CommNull { .. }
            | Self::InterComm { .. } => self.describe_state(f),
            _ => self.describe_argument(f),
        }
    }
}

impl std::error::Error for MpiError {}

impl MpiError {
    fn describe_setup(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { attempts, launcher } => {
                f.write_str("no MPI library was found; ")?;
                match launcher {
                    Some(path) => write!(
                        f,
                        "the launcher {} has none beside it (`pip install --target` leaves libraries out): install its MPI into a virtual environment",
                        path.display()
                    )?,
                    None => f.write_str(
                        "install one (for example `pip install mpich` in a virtual environment)",
                    )?,
                }
                f.write_str(" or set PARTITA_MPI_LIBRARY to the path of libmpi; tried")?;
                attempts.iter().try_for_each(|attempt| write!(f, "\n  {attempt}"))
            }
            Self::LoadFailed { path, problem } => write!(
                f,
                "the MPI library {} could not be loaded: {problem}; check the path and that it is a shared library of this machine",
                path.display()
            ),
            Self::SymbolMissing { symbol, path } => write!(
                f,
                "{} has no function or object {symbol}; give an MPI library of version 3.1 or newer",
                path.display()
            ),
            Self::WorldTooSmall { variable, launched, world, library } => write!(
                f,
                "the launcher started {launched} ranks ({variable}={launched}) but the MPI world has {world}: \
                 the launcher and the library {library} belong to different MPIs; use the mpiexec that comes \
                 with this library, or set PARTITA_MPI_LIBRARY to the library of the launcher"
            ),
            Self::LauncherForeign { variable, launched, launcher, library } => write!(
                f,
                "the launcher started {launched} ranks ({variable}={launched}) and belongs to {launcher}, but the \
                 library is {library}: each rank would be alone; use the mpiexec that comes with this library, or set \
                 PARTITA_MPI_LIBRARY to the library of the launcher"
            ),
            Self::LauncherValue { variable, value } => write!(
                f,
                "the launcher set {variable}={value}, which is not a number of ranks; unset it or start with mpiexec"
            ),
            _ => f.write_str(self.reason()),
        }
    }

    fn describe_state(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInitialized { call } => {
                write!(
                    f,
                    "{call} was called before MPI was initialised; call `Library::init` first"
                )
            }
            Self::Finalized { call } => {
                write!(f, "{call} was called after MPI was finalized; finish all work before")
            }
            Self::Forked { call } => write!(
                f,
                "{call} was called in a forked process, which is no rank of the job; call it in the process that started MPI"
            ),
            Self::Call { call, class, code, text } => {
                write!(f, "{call} failed with {class} (code {code}): {text}")
            }
            Self::ThreadLevel { wanted, provided } => write!(
                f,
                "MPI provides the thread level {provided}, and {wanted} is needed; initialise it with {wanted}, or use one thread"
            ),
            Self::Deadline { waiting_for, limit } => write!(
                f,
                "{waiting_for} did not finish within {limit:?}; see whether every rank made the same calls, or give a longer deadline"
            ),
            Self::CommNull { handle } => {
                write!(
                    f,
                    "the handle {handle:#x} is MPI_COMM_NULL; give a communicator this rank is a member of"
                )
            }
            Self::InterComm { handle } => {
                write!(
                    f,
                    "the handle {handle:#x} is an inter-communicator; merge it first (MPI_Intercomm_merge)"
                )
            }
            _ => f.write_str(self.reason()),
        }
    }

    fn describe_argument(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CountTooLarge { call, count, limit } => write!(
                f,
                "{call} cannot take the count {count}: this library allows {limit}; split the call, or use an MPI with large counts (MPI 4.0)"
            ),
            Self::RankUnknown { call, rank, n_ranks } => {
                write!(
                    f,
                    "{call} was given rank {rank} of a communicator of {n_ranks}; use 0 to {}",
                    n_ranks.saturating_sub(1)
                )
            }
            Self::TagInvalid { tag, limit } => {
                write!(f, "the tag {tag} is not valid; use 0 to {limit}")
            }
            Self::LengthMismatch { call, what, given, needed } => {
                write!(f, "{call}: {what} has length {given}, and {needed} is needed")
            }
            Self::OutsideBuffer { call, rank, start, end, length } => write!(
                f,
                "{call}: the part of rank {rank} is {start}..{end} in a buffer of {length}; correct its count or offset"
            ),
            Self::AnySourceChunked { n_bytes, limit_bytes } => write!(
                f,
                "a receive of {n_bytes} bytes is split into messages of {limit_bytes} and cannot come from any source; name the source"
            ),
            Self::BoxOutside { dim, start, length, extent } => write!(
                f,
                "the box {start}..{start}+{length} leaves dimension {dim} of extent {extent}; keep it inside"
            ),
            Self::NotCancellable { call } => {
                write!(f, "a request of {call} cannot be cancelled; only receives can")
            }
            _ => f.write_str(self.reason()),
        }
    }
}
