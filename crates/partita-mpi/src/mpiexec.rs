//! The launcher `mpiexec`: an environment's own before the system's.

use super::surroundings::{Surroundings, ThisProcess};
use std::{env, path::PathBuf};

/// What is said where there is none.
pub const NO_MPIEXEC: &str = "no mpiexec found; pip install mpich brings one";

/// The first `mpiexec` in these folders, then on `PATH`.
pub fn find_mpiexec(own: Vec<PathBuf>) -> Option<PathBuf> {
    among(&ThisProcess, own)
}

pub(super) fn among(around: &impl Surroundings, own: Vec<PathBuf>) -> Option<PathBuf> {
    let path = around.variable("PATH").unwrap_or_default();
    let folders = own.into_iter().chain(env::split_paths(&path));
    folders.map(|folder| folder.join("mpiexec")).find(|file| around.exists(file))
}
