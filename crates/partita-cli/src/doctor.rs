//! `partita doctor`: what is here, and how fast copying is.

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::Outcome;

/// Large enough to leave every cache.
const COPY_BYTES: usize = 256 << 20;

pub(crate) fn run(
    facts: &[(String, String)],
    mpiexec: Option<&Path>,
    out: &mut dyn Write,
) -> Outcome {
    let mut fact = |name: &str, value: &str| writeln!(out, "{name:<12} {value}");
    fact("partita", env!("CARGO_PKG_VERSION"))?;
    fact("system", &format!("{} {}", std::env::consts::OS, std::env::consts::ARCH))?;
    fact("cores", &std::thread::available_parallelism().map_or(1, usize::from).to_string())?;
    for (name, value) in facts {
        fact(name, value)?;
    }
    match mpiexec {
        Some(path) => {
            fact("mpiexec", &path.display().to_string())?;
            fact("MPI", &mpi_version(path))?;
        }
        None => fact("MPI", partita_mpi::NO_MPIEXEC)?,
    }
    fact("copying", &format!("{:.1} GB/s on one core", copy_speed() / 1e9))?;
    Ok(())
}

fn mpi_version(mpiexec: &Path) -> String {
    let output = match Command::new(mpiexec).arg("--version").output() {
        Ok(output) => output,
        Err(error) => return format!("found, but it does not start: {error}"),
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("does not say its version").to_string();
    match lines.find(|line| line.starts_with("Version:")) {
        Some(version) => format!("{first} {}", version["Version:".len()..].trim()),
        None => first,
    }
}

/// Bytes per second into warm memory, the best of five.
fn copy_speed() -> f64 {
    let source = vec![1_u8; COPY_BYTES];
    let mut target = vec![0_u8; COPY_BYTES];
    let times = (0..5).map(|_| {
        let start = Instant::now();
        target.copy_from_slice(std::hint::black_box(&source));
        std::hint::black_box(&mut target);
        start.elapsed().as_secs_f64()
    });
    COPY_BYTES as f64 / times.fold(f64::INFINITY, f64::min)
}
