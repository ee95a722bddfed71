//! The MPIs of this machine, and programs run with a deadline.

mod run;

pub use run::Run;

use std::{
    env, fmt, fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// One launcher with one library.
#[derive(Debug, Clone)]
pub struct Mpi {
    pub mpiexec: PathBuf,
    pub library: PathBuf,
    /// The Python environment or installation both are in, if not the system's.
    pub prefix: Option<PathBuf>,
}

impl Mpi {
    /// Starts `n_ranks` of what the caller adds.
    pub fn launch(&self, n_ranks: usize) -> Command {
        let mut command = Command::new(&self.mpiexec);
        if self.is_open_mpi() {
            command.arg("--oversubscribe");
            command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        }
        command.arg("-n").arg(n_ranks.to_string());
        command
    }

    pub fn library_name(&self) -> String {
        self.library.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
    }

    pub fn is_open_mpi(&self) -> bool {
        self.library_name().ends_with(".so.40")
    }

    /// Whether the search finds this library when nobody names one.
    pub fn is_preferred(&self) -> bool {
        !self.is_standard()
    }

    fn is_standard(&self) -> bool {
        self.library_name().starts_with("libmpi_abi")
    }

    pub fn python(&self) -> PathBuf {
        self.prefix.as_ref().map_or("python3".into(), |prefix| prefix.join("bin/python"))
    }

    /// Whether mpi4py is installed beside it; it chooses its library itself.
    pub fn has_mpi4py(&self) -> bool {
        self.prefix.as_ref().is_some_and(|prefix| has_package(prefix, "mpi4py"))
    }

    /// The header of the standard ABI, for a library that has it.
    pub fn abi_header(&self) -> PathBuf {
        let prefix = self.prefix.clone().unwrap_or_default();
        if self.is_standard() { prefix.join("include/mpi_abi.h") } else { "/none".into() }
    }
}

impl fmt::Display for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{} {}]", self.mpiexec.display(), self.library_name())
    }
}

fn has_package(prefix: &Path, name: &str) -> bool {
    let Ok(folders) = fs::read_dir(prefix.join("lib")) else { return false };
    folders.flatten().any(|folder| folder.path().join("site-packages").join(name).exists())
}

/// Every MPI of this machine.
pub fn all() -> Vec<Mpi> {
    let listed = env::var("PARTITA_TEST_MPI").unwrap_or_default();
    let listed = env::split_paths(&listed).filter(|path| !path.as_os_str().is_empty());
    let venv = root().join(".venv");
    let mut prefixes: Vec<_> = listed.chain(folders(&venv)).chain([venv]).collect();
    prefixes.sort();
    let mut found: Vec<_> = prefixes.iter().flat_map(|prefix| in_prefix(prefix)).collect();
    found.extend(DEBIANS.iter().filter_map(|(program, library, _)| on_path(program, library)));
    found
}

/// The launchers of Debian: a program, its library, the package that brings both.
const DEBIANS: [(&str, &str, &str); 2] = [
    ("mpiexec.openmpi", "libmpi.so.40", "openmpi-bin"),
    ("mpiexec.mpich", "libmpich.so.12", "mpich"),
];

/// Launchers of Debian that are not on this machine: what is not run, and what brings it.
pub fn missing() -> Vec<String> {
    let missing =
        DEBIANS.iter().filter(|(program, library, _)| on_path(program, library).is_none());
    missing
        .map(|(program, _, package)| {
            format!(
                "NOT RUN under {program}, it is not here: `apt-get install {package}` brings it"
            )
        })
        .collect()
}

fn folders(path: &Path) -> Vec<PathBuf> {
    fs::read_dir(path).map_or_else(|_| Vec::new(), |all| all.flatten().map(|e| e.path()).collect())
}

fn in_prefix(prefix: &Path) -> Vec<Mpi> {
    let mpiexec = prefix.join("bin/mpiexec");
    if !mpiexec.exists() {
        return Vec::new();
    }
    let names = ["libmpi.so.12", "libmpi_abi.so.1", "libmpi.so.40"];
    let libraries = names.map(|name| prefix.join("lib").join(name)).into_iter();
    let found = libraries.filter(|library| library.exists());
    let prefix = Some(prefix.to_owned());
    found.map(|library| Mpi { mpiexec: mpiexec.clone(), library, prefix: prefix.clone() }).collect()
}

fn on_path(program: &str, library: &str) -> Option<Mpi> {
    let path = env::var_os("PATH")?;
    let mpiexec =
        env::split_paths(&path).map(|folder| folder.join(program)).find(|f| f.exists())?;
    Some(Mpi { mpiexec, library: library.into(), prefix: None })
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("crates/partita-mpi").to_owned()
}

/// The folder of this test.
pub fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The examples, built once: `cargo test --test` alone would not build them.
static EXAMPLES: LazyLock<PathBuf> = LazyLock::new(|| {
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "-q", "--examples", "-p", env!("CARGO_PKG_NAME")]);
    let run = Run::new(command.current_dir(root()), Duration::from_secs(600));
    assert!(run.succeeded(), "the examples do not build\n{run}");
    let test = env::current_exe().expect("the path of this test");
    let target = test.ancestors().nth(3).expect("target/debug/deps/test");
    target.join("debug/examples")
});

/// The path of a built example.
pub fn example(name: &str) -> PathBuf {
    EXAMPLES.join(name)
}

/// One test at a time: the ranks of two would fight for the cores.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints even when the test passes, which `println!` does not.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "under_mpiexec: {text}");
}
