//! The stand-alone binary.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use partita_cli::{Colour, Ending};

fn main() {
    let stdout = std::io::stdout();
    let colour = Colour::for_output(stdout.is_terminal());
    let (mut out, mut err) = (std::io::BufWriter::new(stdout.lock()), std::io::stderr().lock());
    let status = match partita_cli::run(std::env::args(), colour, &mut out, &mut err) {
        Ending::Status(status) => status,
        Ending::Doctor => partita_cli::doctor(&[], mpiexec().as_deref(), &mut out, &mut err),
        other => partita_cli::without_python(&other, &mut err),
    };
    let _ = out.flush();
    std::process::exit(status);
}

fn mpiexec() -> Option<PathBuf> {
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent).map(Path::to_owned);
    partita_mpi::find_mpiexec(beside.into_iter().collect())
}
