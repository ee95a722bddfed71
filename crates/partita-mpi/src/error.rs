//! What can go wrong between us and MPI, each with a stable reason code.

use super::{ErrorClass, find::Attempt};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// Result of the MPI layer.
pub type Result<T> = std::result::Result<T, MpiError>;

partita_error::errors! {
    /// Why MPI could not be found, loaded or called.
    pub enum MpiError {
        /// The launcher is the one that started the process: no library lies beside it.
        NotFound { attempts: Vec<Attempt>, launcher: Option<PathBuf> } "mpi-not-found" =>
            "no MPI library was found; {} or set PARTITA_MPI_LIBRARY to the path of libmpi; tried{}",
            what_to_install(launcher.as_deref()), lines(attempts);
        LoadFailed { path: PathBuf, problem: String } "mpi-load-failed" =>
            "the MPI library {} could not be loaded: {problem}; check the path and that it is a \
             shared library of this machine", path.display();
        SymbolMissing { symbol: &'static str, path: PathBuf } "mpi-symbol-missing" =>
            "{} has no function or object {symbol}; give an MPI library of version 3.1 or newer",
            path.display();
        NotInitialized { call: &'static str } "mpi-not-initialized" =>
            "{call} was called before MPI was initialised; call `Library::init` first";
        Finalized { call: &'static str } "mpi-finalized" =>
            "{call} was called after MPI was finalized; finish all work before";
        Forked { call: &'static str } "forked" =>
            "{call} was called in a forked process, which is no rank of the job; call it in the \
             process that started MPI";
        Call { call: &'static str, class: ErrorClass, code: i32, text: String } "mpi-call-failed" =>
            "{call} failed with {class} (code {code}): {text}; see whether the ranks made \
             matching calls and all of them still run";
        WorldTooSmall { variable: &'static str, launched: u64, world: usize, library: String } "mpi-world-too-small" =>
            "the launcher started {launched} ranks ({variable}={launched}) but the MPI world has \
             {world}: the launcher and the library {library} belong to different MPIs; use the \
             mpiexec that comes with this library, or set PARTITA_MPI_LIBRARY to the library of \
             the launcher";
        LauncherForeign { variable: &'static str, launched: u64, launcher: &'static str, library: String } "mpi-launcher-foreign" =>
            "the launcher started {launched} ranks ({variable}={launched}) and belongs to \
             {launcher}, but the library is {library}: each rank would be alone; use the mpiexec \
             that comes with this library, or set PARTITA_MPI_LIBRARY to the library of the \
             launcher";
        LauncherValue { variable: &'static str, value: String } "mpi-launcher-value" =>
            "the launcher set {variable}={value}, which is not a number of ranks; unset it or \
             start with mpiexec";
        CountTooLarge { call: &'static str, count: usize, limit: usize } "mpi-count-too-large" =>
            "{call} cannot take the count {count}: this library allows {limit}; split the call, \
             or use an MPI with large counts (MPI 4.0)";
        RankUnknown { call: &'static str, rank: usize, n_ranks: usize } "mpi-rank-unknown" =>
            "{call} was given rank {rank} of a communicator of {n_ranks}; use 0 to {}",
            n_ranks.saturating_sub(1);
        TagInvalid { tag: i32, limit: i32 } "mpi-tag-invalid" =>
            "the tag {tag} is not valid; use 0 to {limit}";
        LengthMismatch { call: &'static str, what: &'static str, given: usize, needed: usize } "mpi-length-mismatch" =>
            "{call}: {what} has length {given}, and {needed} is needed; give {needed}";
        AnySourceChunked { n_bytes: usize, limit_bytes: usize } "mpi-any-source-chunked" =>
            "a receive of {n_bytes} bytes is split into messages of {limit_bytes} and cannot come \
             from any source; name the source";
        CommNull { handle: u64 } "mpi-comm-null" =>
            "the handle {handle:#x} is MPI_COMM_NULL; give a communicator this rank is a member of";
        InterComm { handle: u64 } "mpi-inter-comm" =>
            "the handle {handle:#x} is an inter-communicator; merge it first (MPI_Intercomm_merge)";
        Deadline { waiting_for: &'static str, limit: Duration } "mpi-deadline" =>
            "{waiting_for} did not finish within {limit:?}; see whether every rank made the same \
             calls, or give a longer deadline";
    }
}

impl MpiError {
    /// The MPI error class, where MPI itself reported the error.
    pub fn class(&self) -> Option<ErrorClass> {
        match self {
            Self::Call { class, .. } => Some(*class),
            _ => None,
        }
    }
}

fn what_to_install(launcher: Option<&Path>) -> String {
    let Some(path) = launcher else {
        return "install one (for example `pip install mpich` in a virtual environment)".into();
    };
    format!(
        "the launcher {} has none beside it (`pip install --target` leaves libraries out): \
         install its MPI into a virtual environment",
        path.display()
    )
}

fn lines(attempts: &[Attempt]) -> String {
    attempts.iter().map(|attempt| format!("\n  {attempt}")).collect()
}

#[cfg(test)]
mod tests {
    use super::MpiError;

    #[test]
    fn every_variant_has_its_own_reason_and_names_a_cure() {
        // Both engines say `forked`; `mpi-call` alone would not say that it failed.
        let shared = [("Forked", "forked"), ("Call", "mpi-call-failed")];
        assert_eq!(partita_error::judge(MpiError::TABLE, "mpi-", &shared), [""; 0]);
    }
}
