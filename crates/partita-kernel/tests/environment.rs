//! Variables that are not understood are told once, by processes that are started with them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use partita_kernel::math::Level;
use partita_kernel::{Machine, Settings};
use std::process::Command;

/// What the started process does: asks for settings again and again, and says what they are.
#[test]
fn settings() {
    let first = Settings::default();
    for _ in 0..3 {
        let again = Machine::new(Settings::default());
        assert_eq!(again.settings().level, first.level);
    }
    assert!(Level::all().contains(&first.level));
    println!("settings {:?} {} {}", first.level, first.emit, first.n_threads);
}

/// The settings of a process with a variable, and what it tells on stderr.
fn with(variable: &str, value: &str) -> (String, String) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "settings", "--nocapture"])
        .env_remove("PARTITA_SIMD")
        .env_remove("PARTITA_KERNEL")
        .env_remove("PARTITA_THREADS")
        .env(variable, value)
        .output()
        .unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    let settings = said.lines().find_map(|line| line.split_once("settings ")).unwrap().1;
    (settings.to_owned(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn what_is_known_is_taken_in_any_case() {
    let (plain, told) = with("PARTITA_KERNEL", "");
    assert!(plain.contains(" true ") && told.is_empty(), "{plain}: {told}");
    for (variable, value, part) in [
        ("PARTITA_KERNEL", "Tiles", " false "),
        ("PARTITA_KERNEL", "emit", " true "),
        ("PARTITA_SIMD", "Portable", "portable "),
        ("PARTITA_SIMD", "scalar", "portable "),
        ("PARTITA_THREADS", "3", " 3"),
    ] {
        let (settings, told) = with(variable, value);
        assert!(settings.contains(part), "{variable}={value}: {settings}");
        assert!(!told.contains(variable), "{told}");
    }
}

#[test]
fn what_is_not_known_is_ignored_and_told_once() {
    let (plain, _) = with("PARTITA_KERNEL", "");
    for (variable, value, known) in [
        ("PARTITA_KERNEL", "tile", "tiles, emit"),
        ("PARTITA_SIMD", "sse2", "portable"),
        ("PARTITA_THREADS", "abc", "a whole number"),
        ("PARTITA_THREADS", "-1", "a whole number"),
        ("PARTITA_THREADS", "0", "a whole number"),
    ] {
        let (settings, told) = with(variable, value);
        assert_eq!(settings, plain, "{variable}={value}");
        assert_eq!(told.matches(&format!("{variable}={value}")).count(), 1, "{told}");
        assert!(told.contains(known), "{told}");
    }
}
