//! What the search for MPI asks of the process around it.

use super::ancestors;
use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

/// What the search may ask of its surroundings; replaced in tests.
pub(super) trait Surroundings {
    fn variable(&self, name: &str) -> Option<OsString>;
    fn exists(&self, path: &Path) -> bool;
    fn resolve(&self, path: &Path) -> PathBuf;
    /// The programs that started this process, nearest first.
    fn ancestors(&self) -> Vec<PathBuf>;
}

/// The surroundings that are.
pub(super) struct ThisProcess;

impl Surroundings for ThisProcess {
    fn variable(&self, name: &str) -> Option<OsString> {
        env::var_os(name).filter(|value| !value.is_empty())
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        path.canonicalize().unwrap_or_else(|_| path.to_owned())
    }

    fn ancestors(&self) -> Vec<PathBuf> {
        ancestors::programs()
    }
}
