//! The MPI engine under a real launcher: generated plans and failures on several processes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// The environment's launcher first, then the system's.
fn mpiexec() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(root.join(".venv/bin")).chain(std::env::split_paths(&path));
    folders
        .map(|folder| folder.join("mpiexec"))
        .find(|file| file.is_file())
        .expect("an mpiexec: run `make build` first, it brings one")
}

/// The example's binary, one folder up from the test's own and built like it.
///
/// `cargo test --test mpi` alone would not build it.
static RANKS: LazyLock<PathBuf> = LazyLock::new(|| {
    let test = std::env::current_exe().expect("the test's own path");
    let folder = test.parent().and_then(Path::parent).expect("a target folder");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "-q", "--example", "mpi_ranks", "-p", env!("CARGO_PKG_NAME")]);
    if folder.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.status().expect("cargo starts").success(), "the example does not build");
    folder.join("examples/mpi_ranks")
});

/// Neighbours touch each other's memory, only send messages, or do both as pairs on nodes of two.
const SHARING: [&str; 3] = ["memory", "messages", "pairs"];

fn check(scene: &str, sharing: &str, n_ranks: u64) {
    let mut child = Command::new(mpiexec())
        .args(["-n", &n_ranks.to_string()])
        .arg(&*RANKS)
        .args([scene, sharing])
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the launcher starts");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if start.elapsed() > Duration::from_secs(100) {
            child.kill().expect("a child");
            panic!("{scene} on {n_ranks} ranks ({sharing}) hangs");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let output = child.wait_with_output().expect("its output");
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(status.success(), "{scene} on {n_ranks} ranks ({sharing})\n{out}\n{err}");
    let n_done = out.lines().filter(|line| line.ends_with("is done")).count() as u64;
    assert_eq!(n_done, n_ranks, "{scene} on {n_ranks} ranks ({sharing})\n{out}\n{err}");
}

#[test]
fn generated_plans_run_on_processes() {
    for n_ranks in [1, 2, 3, 4, 5, 8] {
        for sharing in SHARING {
            check("plans", sharing, n_ranks);
        }
    }
}

#[test]
fn only_partners_come_to_plans_that_all_agreed_on() {
    for n_ranks in [1, 2, 3, 5] {
        for sharing in SHARING {
            check("near", sharing, n_ranks);
        }
    }
}

#[test]
fn failures_of_near_calls_reach_every_process() {
    for sharing in SHARING {
        for n_ranks in [2, 3, 5] {
            check("near_faults", sharing, n_ranks);
        }
        check("near_left", sharing, 3);
        check("far_mismatch", sharing, 4);
        check("passed_by", sharing, 3);
    }
}

#[test]
fn failures_reach_every_process() {
    for n_ranks in [2, 3] {
        for scene in ["mismatch", "report", "late", "left"] {
            for sharing in SHARING {
                check(scene, sharing, n_ranks);
            }
        }
    }
}
