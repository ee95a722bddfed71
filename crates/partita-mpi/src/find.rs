//! Finding an MPI library: which places are looked at, in which order.
//!
//! ```no_run
//! use partita_mpi::Search;
//! let library = Search::new().open()?;
//! # Ok::<(), partita_mpi::MpiError>(())
//! ```
//!
//! 1. the path given ([`Search::path`]);
//! 2. the variable `PARTITA_MPI_LIBRARY`;
//! 3. the extension module of a running mpi4py ([`Search::mpi4py`]);
//! 4. a library with a well-known name: one the process has already loaded,
//!    then the `lib` folder of the Python environment, the folders next to the
//!    `mpiexec` on `PATH`, then the system's search path.
//!
//! The first three are somebody's choice: if it cannot be loaded, that is an
//! error, and no other library is taken in its place.

use super::{Library, MpiError, Result, launcher::Family, symbols::Load};
use std::{
    env,
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
};

/// The variable that names the library to load.
pub const LIBRARY_VARIABLE: &str = "PARTITA_MPI_LIBRARY";

const MPICH_NAMES: [&str; 3] = ["libmpi.so.12", "libmpi_abi.so.1", "libmpich.so.12"];
const STANDARD_NAME: &str = "libmpi_abi.so.1";
const OPEN_MPI_NAMES: [&str; 2] = ["libmpi.so.40", "libmpi_abi.so.1"];
const ALL_NAMES: [&str; 4] = ["libmpi.so.12", "libmpi_abi.so.1", "libmpi.so.40", "libmpich.so.12"];

/// Why a candidate is on the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The caller gave the path.
    Argument,
    /// `PARTITA_MPI_LIBRARY` gives the path.
    Variable,
    /// The extension module of mpi4py, whose own MPI is used.
    Mpi4py,
    /// A well-known name that the process has already loaded.
    Loaded,
    /// A well-known name in the Python environment's `lib` folder.
    Environment,
    /// A well-known name near the `mpiexec` on `PATH`.
    NearMpiexec,
    /// A well-known name on the system's search path.
    System,
}

/// A library to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Why it is on the list.
    pub origin: Origin,
    /// Its path, or a bare name for the system to look up.
    pub path: PathBuf,
}

impl Candidate {
    /// Whether a person or program named it, so that nothing may replace it.
    pub fn is_choice(&self) -> bool {
        matches!(self.origin, Origin::Argument | Origin::Variable | Origin::Mpi4py)
    }

    fn load(&self) -> Load {
        match self.origin {
            Origin::Loaded => Load::OnlyLoaded,
            _ => Load::Anew,
        }
    }
}

/// A candidate that could not be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are the values named in the message")]
pub struct Attempt {
    pub origin: Origin,
    pub path: PathBuf,
    pub problem: String,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:?}): {}", self.path.display(), self.origin, self.problem)
    }
}

/// What the search may ask of its surroundings; replaced in tests.
pub(super) trait Surroundings {
    fn variable(&self, name: &str) -> Option<OsString>;
    fn exists(&self, path: &Path) -> bool;
    fn resolve(&self, path: &Path) -> PathBuf;
}

struct ThisProcess;

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
}

/// Where to look for MPI.
#[derive(Debug, Clone, Default)]
pub struct Search {
    path: Option<PathBuf>,
    mpi4py: Option<PathBuf>,
    prefix: Option<PathBuf>,
}

impl Search {
    /// Looks at the environment only.
    pub fn new() -> Self {
        Self::default()
    }

    /// Loads this library and no other.
    #[must_use]
    pub fn path(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Calls the MPI of a running mpi4py: `mpi4py.MPI.__file__`.
    ///
    /// The module is loaded already; its symbols are searched together with
    /// those of its dependencies, so these are the functions it calls itself.
    #[must_use]
    pub fn mpi4py(mut self, module: impl Into<PathBuf>) -> Self {
        self.mpi4py = Some(module.into());
        self
    }

    /// Looks into the `lib` folder of this Python environment (`sys.prefix`).
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<PathBuf>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// The libraries that [`open`](Self::open) tries, in that order.
    pub fn candidates(&self) -> Vec<Candidate> {
        self.candidates_in(&ThisProcess)
    }

    /// Loads the first library that can be used.
    ///
    /// # Errors
    /// [`MpiError::NotFound`] lists every place that was looked at. A library
    /// that was chosen by name gives its own error.
    pub fn open(&self) -> Result<Library> {
        let mut attempts = Vec::new();
        for candidate in self.candidates() {
            match Library::load(&candidate.path, candidate.load()) {
                Ok(library) => return Ok(library),
                Err(error) if candidate.is_choice() => return Err(error),
                Err(error) => attempts.push(Attempt {
                    origin: candidate.origin,
                    path: candidate.path,
                    problem: problem_of(&error),
                }),
            }
        }
        Err(MpiError::NotFound { attempts })
    }

    fn candidates_in(&self, around: &impl Surroundings) -> Vec<Candidate> {
        if let Some(choice) = self.choice(around) {
            return vec![choice];
        }
        let launcher = Family::of_launcher(&|name| around.variable(name));
        let names = names(launcher);
        let bare = |origin| names.iter().map(move |name| Candidate { origin, path: name.into() });
        let mut list: Vec<_> = bare(Origin::Loaded).collect();
        for (origin, folder) in self.folders(around) {
            let files = names.iter().map(|name| folder.join(name));
            let found = files.filter(|file| around.exists(file));
            list.extend(found.map(|path| Candidate { origin, path }));
        }
        list.extend(bare(Origin::System));
        // A launcher's own MPI anywhere is better than another one nearby.
        let own = preferred(launcher);
        if own.is_empty() {
            return list;
        }
        list.sort_by_key(|candidate| match candidate.path.file_name() {
            Some(name) if own.iter().any(|o| name == *o && name != STANDARD_NAME) => 0,
            // Every MPI may have it.
            Some(name) if name == STANDARD_NAME => 1,
            _ => 2,
        });
        list
    }

    fn choice(&self, around: &impl Surroundings) -> Option<Candidate> {
        let variable = || around.variable(LIBRARY_VARIABLE).map(PathBuf::from);
        let argument = self.path.clone().map(|path| (Origin::Argument, path));
        let choice = argument
            .or_else(|| variable().map(|path| (Origin::Variable, path)))
            .or_else(|| self.mpi4py.clone().map(|path| (Origin::Mpi4py, path)));
        choice.map(|(origin, path)| Candidate { origin, path })
    }

    fn folders(&self, around: &impl Surroundings) -> Vec<(Origin, PathBuf)> {
        let from_variables = ["VIRTUAL_ENV", "CONDA_PREFIX"]
            .into_iter()
            .filter_map(|name| around.variable(name).map(PathBuf::from));
        let prefixes = self.prefix.iter().cloned().chain(from_variables);
        let mut folders: Vec<_> =
            prefixes.map(|prefix| (Origin::Environment, prefix.join("lib"))).collect();
        if let Some(mpiexec) = find_mpiexec(around) {
            folders
                .extend(near(around, &mpiexec).into_iter().map(|dir| (Origin::NearMpiexec, dir)));
        }
        let mut seen = Vec::new();
        folders.retain(|(_, folder)| {
            let new = !seen.contains(folder);
            seen.push(folder.clone());
            new
        });
        folders
    }
}

fn problem_of(error: &MpiError) -> String {
    match error {
        MpiError::LoadFailed { problem, .. } => problem.clone(),
        other => other.to_string(),
    }
}

/// The names to look for: the launcher's family first, if there is a launcher.
fn names(launcher: Option<Family>) -> Vec<&'static str> {
    let preferred = preferred(launcher);
    let rest = ALL_NAMES.into_iter().filter(|name| !preferred.contains(name));
    preferred.iter().copied().chain(rest).collect()
}

/// The names of a launcher's own libraries.
fn preferred(launcher: Option<Family>) -> &'static [&'static str] {
    match launcher {
        Some(Family::Mpich) => &MPICH_NAMES,
        Some(Family::OpenMpi) => &OPEN_MPI_NAMES,
        None => &[],
    }
}

fn find_mpiexec(around: &impl Surroundings) -> Option<PathBuf> {
    let path = around.variable("PATH")?;
    let found = env::split_paths(&path).map(|folder| folder.join("mpiexec"));
    let mpiexec = found.into_iter().find(|file| around.exists(file))?;
    Some(mpiexec)
}

/// The `lib` folders beside a program, before and after following links.
fn near(around: &impl Surroundings, mpiexec: &Path) -> Vec<PathBuf> {
    let real = around.resolve(mpiexec);
    let prefixes =
        [mpiexec, &real].map(|file| file.parent().and_then(Path::parent).map(Path::to_owned));
    let both = prefixes.into_iter().flatten();
    both.flat_map(|prefix| [prefix.join("lib"), prefix.join("lib64")]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Surroundings with these variables and files.
    struct Fake {
        variables: Vec<(&'static str, &'static str)>,
        files: Vec<&'static str>,
    }

    impl Surroundings for Fake {
        fn variable(&self, name: &str) -> Option<OsString> {
            let found = self.variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| value.into())
        }

        fn exists(&self, path: &Path) -> bool {
            self.files.iter().any(|file| Path::new(file) == path)
        }

        fn resolve(&self, path: &Path) -> PathBuf {
            path.to_owned()
        }
    }

    fn found(search: &Search, around: &Fake) -> Vec<(Origin, String)> {
        let list = search.candidates_in(around);
        list.into_iter().map(|c| (c.origin, c.path.to_string_lossy().into_owned())).collect()
    }

    #[test]
    fn a_choice_is_the_only_candidate_and_the_argument_wins() {
        let around = Fake { variables: vec![(LIBRARY_VARIABLE, "/v/libmpi.so")], files: vec![] };
        let with_module = Search::new().mpi4py("/m/MPI.so");
        let cases = [
            (with_module.clone().path("/a/libmpi.so"), Origin::Argument, "/a/libmpi.so"),
            (with_module.clone(), Origin::Variable, "/v/libmpi.so"),
        ];
        for (search, origin, path) in cases {
            assert_eq!(found(&search, &around), [(origin, path.to_owned())]);
        }
        let nothing = Fake { variables: vec![], files: vec![] };
        assert_eq!(found(&with_module, &nothing), [(Origin::Mpi4py, "/m/MPI.so".to_owned())]);
    }

    #[test]
    fn folders_come_between_the_loaded_and_the_system() {
        let around = Fake {
            variables: vec![("VIRTUAL_ENV", "/venv"), ("PATH", "/none:/opt/mpi/bin:/usr/bin")],
            files: vec![
                "/venv/lib/libmpi.so.12",
                "/opt/mpi/bin/mpiexec",
                "/opt/mpi/lib/libmpi.so.40",
            ],
        };
        let list = found(&Search::new(), &around);
        let origins: Vec<_> = list.iter().map(|(origin, _)| *origin).collect();
        assert_eq!(origins[..4], [Origin::Loaded; 4]);
        assert_eq!(list[4], (Origin::Environment, "/venv/lib/libmpi.so.12".to_owned()));
        assert_eq!(list[5], (Origin::NearMpiexec, "/opt/mpi/lib/libmpi.so.40".to_owned()));
        let system: Vec<_> = list[6..].iter().map(|(_, path)| path.as_str()).collect();
        assert_eq!(system, ALL_NAMES);
    }

    #[test]
    fn the_names_of_the_launcher_come_first() {
        let around = Fake {
            variables: vec![("OMPI_COMM_WORLD_SIZE", "2"), ("VIRTUAL_ENV", "/venv")],
            files: vec!["/venv/lib/libmpi.so.12"],
        };
        let list = found(&Search::new(), &around);
        assert_eq!(list[0], (Origin::Loaded, "libmpi.so.40".to_owned()));
        assert_eq!(list[1], (Origin::System, "libmpi.so.40".to_owned()));
        let foreign = (Origin::Environment, "/venv/lib/libmpi.so.12".to_owned());
        assert!(list[2..].contains(&foreign), "{list:?}");
    }

    #[test]
    fn a_wrong_choice_is_an_error_and_nothing_else_is_tried() {
        let error = Search::new().path("/nowhere/libmpi.so").open().map(|_| ());
        assert_eq!(error.map_err(|error| error.reason()), Err("mpi-load-failed"));
    }

    #[test]
    fn a_library_without_mpi_is_refused() {
        let error = Search::new().path("libc.so.6").open().map(|_| ());
        assert_eq!(error.map_err(|error| error.reason()), Err("mpi-symbol-missing"));
    }
}
