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
//!    then the folders next to the launcher that started the process, the `lib`
//!    folder of the Python environment, those next to its packages, those next to
//!    the `mpiexec` on `PATH`, then the system's search path.
//!
//! The first three are somebody's choice: if it cannot be loaded, that is an
//! error, and no other library is taken in its place.

use super::{
    Library, MpiError, Result,
    launcher::{Family, Program},
    mpiexec,
    surroundings::{Surroundings, ThisProcess},
    symbols::Load,
};
use std::{
    env, fmt,
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
    /// A well-known name near the launcher that started the process.
    NearLauncher,
    /// A well-known name in the Python environment's `lib` folder.
    Environment,
    /// A well-known name near the folders that Python takes packages from.
    NearPackages,
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

/// Where to look for MPI.
#[derive(Debug, Clone, Default)]
pub struct Search {
    path: Option<PathBuf>,
    mpi4py: Option<PathBuf>,
    prefix: Option<PathBuf>,
    packages: Vec<PathBuf>,
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

    /// Looks near the folders that Python takes packages from (`sys.path`).
    ///
    /// A wheel may bring its MPI beside the packages, or into the `lib` folder they are in.
    #[must_use]
    pub fn packages(mut self, folders: Vec<PathBuf>) -> Self {
        self.packages = folders;
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
        let launcher = nearest_launcher(&ThisProcess).map(|(path, _)| path);
        Err(MpiError::NotFound { attempts, launcher })
    }

    fn candidates_in(&self, around: &impl Surroundings) -> Vec<Candidate> {
        if let Some(choice) = self.choice(around) {
            return vec![choice];
        }
        let nearest = nearest_launcher(around);
        let family = nearest.as_ref().and_then(|(_, program)| program.family);
        let family = family.or_else(|| Family::of_launcher(&|name| around.variable(name)));
        let names = names(family);
        let bare = |origin| names.iter().map(move |name| Candidate { origin, path: name.into() });
        let mut list: Vec<_> = bare(Origin::Loaded).collect();
        for (origin, folder) in self.folders(around, nearest.map(|(path, _)| path)) {
            let files = names.iter().map(|name| folder.join(name));
            let found = files.filter(|file| around.exists(file));
            list.extend(found.map(|path| Candidate { origin, path }));
        }
        list.extend(bare(Origin::System));
        if let Some(family) = family {
            list.sort_by_key(|candidate| distance(candidate, family));
        }
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

    fn folders(
        &self,
        around: &impl Surroundings,
        launcher: Option<PathBuf>,
    ) -> Vec<(Origin, PathBuf)> {
        let variable = |name| around.variable(name).map(PathBuf::from);
        let prefixes = [self.prefix.clone(), variable("VIRTUAL_ENV"), variable("CONDA_PREFIX")];
        let beside = |program: Option<PathBuf>| program.map(|file| near(around, &file));
        let groups = [
            (Origin::NearLauncher, beside(launcher).unwrap_or_default()),
            (Origin::Environment, prefixes.into_iter().flatten().map(|p| p.join("lib")).collect()),
            (Origin::NearPackages, self.packages.iter().flat_map(|p| around_packages(p)).collect()),
            (Origin::NearMpiexec, beside(mpiexec::among(around, Vec::new())).unwrap_or_default()),
        ];
        let mut folders: Vec<(Origin, PathBuf)> = Vec::new();
        for (origin, folder) in
            groups.into_iter().flat_map(|(o, all)| all.into_iter().map(move |f| (o, f)))
        {
            if folders.iter().all(|(_, known)| *known != folder) {
                folders.push((origin, folder));
            }
        }
        folders
    }
}

/// The nearest program among those that started this process that is part of a launcher.
fn nearest_launcher(around: &impl Surroundings) -> Option<(PathBuf, Program)> {
    let known = |path: PathBuf| Program::of(&path).map(|program| (path, program));
    around.ancestors().into_iter().find_map(known)
}

/// How far a library is from a launcher of this family: its own anywhere is better than another
/// one nearby.
fn distance(candidate: &Candidate, launcher: Family) -> u8 {
    let Some(name) = candidate.path.file_name() else { return 2 };
    let is_own = preferred(launcher).iter().any(|own| name == *own);
    let is_standard = name == STANDARD_NAME;
    match is_own {
        true if !is_standard || candidate.origin == Origin::NearLauncher => 0,
        // Every MPI may have it.
        _ if is_standard => 1,
        _ => 2,
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
    let preferred = launcher.map_or(&[] as &[_], preferred);
    let rest = ALL_NAMES.into_iter().filter(|name| !preferred.contains(name));
    preferred.iter().copied().chain(rest).collect()
}

/// The names of a launcher's own libraries.
fn preferred(launcher: Family) -> &'static [&'static str] {
    match launcher {
        Family::Mpich => &MPICH_NAMES,
        Family::OpenMpi => &OPEN_MPI_NAMES,
    }
}

/// The `lib` folders beside a program, before and after following links.
fn near(around: &impl Surroundings, program: &Path) -> Vec<PathBuf> {
    let real = around.resolve(program);
    let prefixes = [program, &real].map(|file| file.parent().and_then(Path::parent));
    // Debian has a folder for each kind of processor.
    let debian = format!("lib/{}-linux-gnu", env::consts::ARCH);
    let folders = ["lib", "lib64", &debian];
    let both = prefixes.into_iter().flatten();
    both.flat_map(|prefix| folders.map(|folder| prefix.join(folder))).collect()
}

/// Where wheels put libraries for a folder of packages: inside it, or into the `lib` folder that
/// `lib/python3.11/site-packages` is in.
fn around_packages(packages: &Path) -> Vec<PathBuf> {
    // A relative folder means another one whenever the process changes its own.
    if !packages.is_absolute() {
        return Vec::new();
    }
    let outer = packages.ancestors().nth(2).filter(|folder| folder.ends_with("lib"));
    [packages.join("lib")].into_iter().chain(outer.map(Path::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    /// Surroundings with these variables and files.
    struct Fake {
        variables: Vec<(&'static str, &'static str)>,
        files: Vec<&'static str>,
        ancestors: Vec<&'static str>,
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

        fn ancestors(&self) -> Vec<PathBuf> {
            self.ancestors.iter().map(PathBuf::from).collect()
        }
    }

    fn found(search: &Search, around: &Fake) -> Vec<(Origin, String)> {
        let list = search.candidates_in(around);
        list.into_iter().map(|c| (c.origin, c.path.to_string_lossy().into_owned())).collect()
    }

    #[test]
    fn a_choice_is_the_only_candidate_and_the_argument_wins() {
        let variables = vec![(LIBRARY_VARIABLE, "/v/libmpi.so")];
        let around = Fake { variables, files: vec![], ancestors: vec![] };
        let with_module = Search::new().mpi4py("/m/MPI.so");
        let cases = [
            (with_module.clone().path("/a/libmpi.so"), Origin::Argument, "/a/libmpi.so"),
            (with_module.clone(), Origin::Variable, "/v/libmpi.so"),
        ];
        for (search, origin, path) in cases {
            assert_eq!(found(&search, &around), [(origin, path.to_owned())]);
        }
        let nothing = Fake { variables: vec![], files: vec![], ancestors: vec![] };
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
            ancestors: vec!["/usr/bin/bash"],
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
            ancestors: vec![],
        };
        let list = found(&Search::new(), &around);
        assert_eq!(list[0], (Origin::Loaded, "libmpi.so.40".to_owned()));
        assert_eq!(list[1], (Origin::System, "libmpi.so.40".to_owned()));
        let foreign = (Origin::Environment, "/venv/lib/libmpi.so.12".to_owned());
        assert!(list[2..].contains(&foreign), "{list:?}");
    }

    /// The first candidate that is a file.
    fn first_file(search: &Search, around: &Fake) -> Option<(Origin, String)> {
        found(search, around).into_iter().find(|(_, path)| path.starts_with('/'))
    }

    #[test]
    fn the_library_of_the_launcher_that_started_us_comes_first() {
        let files = vec![
            "/venv/lib/libmpi.so.12",
            "/venv/lib/libmpi.so.40",
            "/new/lib/libmpi_abi.so.1",
            "/other/lib/libmpi.so.12",
            "/other/lib/libmpi.so.40",
        ];
        let marks = [("PMI_SIZE", "2"), ("OMPI_COMM_WORLD_SIZE", "2")];
        let cases: [(&[_], &[_], _); 6] = [
            // Nothing is on PATH nor in a variable.
            (
                &["/other/bin/hydra_pmi_proxy", "/other/bin/mpiexec"],
                &marks[..1],
                "/other/lib/libmpi.so.12",
            ),
            // A script between the launcher and us.
            (&["/usr/bin/bash", "/other/bin/prterun"], &marks[1..], "/other/lib/libmpi.so.40"),
            // A launcher inside a rank of another: the inner one counts.
            (&["/other/bin/orted", "/venv/bin/hydra_pmi_proxy"], &marks, "/other/lib/libmpi.so.40"),
            // Its name does not tell the family, its variable does.
            (&["/other/bin/mpiexec"], &marks[1..], "/other/lib/libmpi.so.40"),
            // It has the standard name only, and another MPI is in the environment.
            (&["/new/bin/hydra_pmi_proxy"], &marks[..1], "/new/lib/libmpi_abi.so.1"),
            // A Python beside a library is no launcher.
            (&["/other/bin/python3"], &marks[..1], "/venv/lib/libmpi.so.12"),
        ];
        for (ancestors, variables, expected) in cases {
            let around = Fake {
                variables: [&[("VIRTUAL_ENV", "/venv")], variables].concat(),
                files: files.clone(),
                ancestors: ancestors.to_vec(),
            };
            let first = first_file(&Search::new(), &around).map(|(_, path)| path);
            assert_eq!(first.as_deref(), Some(expected), "{ancestors:?} {variables:?}");
        }
    }

    #[test]
    fn a_library_is_found_near_packages() {
        let cases = [
            // Packages and libraries in one folder of their own.
            ("/target", "/target/lib/libmpi.so.12"),
            // The user's packages; the library is not in sys.prefix.
            ("/home/.local/lib/python3.11/site-packages", "/home/.local/lib/libmpi.so.12"),
        ];
        for (packages, file) in cases {
            let around = Fake { variables: vec![], files: vec![file], ancestors: vec![] };
            let search = Search::new().packages(vec!["".into(), packages.into()]);
            let wanted = (Origin::NearPackages, file.to_owned());
            assert_eq!(first_file(&search, &around), Some(wanted));
        }
    }

    #[test]
    fn an_mpi_installed_without_its_library_is_named_with_the_cure() {
        let launcher = Some("/target/bin/hydra_pmi_proxy".into());
        let text = MpiError::NotFound { attempts: vec![], launcher }.to_string();
        for part in ["/target/bin/hydra_pmi_proxy", "pip install --target", LIBRARY_VARIABLE] {
            assert!(text.contains(part), "{text}");
        }
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
