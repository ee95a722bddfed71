//! The rooms of the crate use each other in one direction only, the one that `lib.rs` tells.

use std::fs;
use std::path::{Path, PathBuf};

/// Rooms from the lowest to the highest; those of one line know nothing of each other.
const ROOMS: [&[&str]; 7] =
    [&["error"], &["copy"], &["memory"], &["program"], &["team"], &["far"], &["threads", "mpi"]];

fn floor(room: &str) -> usize {
    let found = ROOMS.iter().position(|rooms| rooms.contains(&room));
    found.unwrap_or_else(|| panic!("{room} is no room; add it to the list here and in lib.rs"))
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// The rooms that a line of code names, as `crate::room` or by as many `super::` as lead out of
/// a file that lies `depth` modules below the crate.
fn named(line: &str, depth: usize) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or_default();
    let way_out = "super::".repeat(depth);
    let starts = ["crate::", &way_out];
    let rests = starts.iter().flat_map(|start| code.split(*start).skip(1));
    rests
        .map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(rest))
        // Such as `super::*`, in the tests of a room.
        .filter(|name| !name.is_empty())
        .collect()
}

/// How many modules below the crate a file is.
fn depth(inside: &Path) -> usize {
    let is_folder = inside.file_name().is_some_and(|name| name == "mod.rs");
    inside.iter().count() - usize::from(is_folder)
}

#[test]
fn every_way_to_name_a_room_is_seen() {
    let cases = [
        ("use crate::team::call;", "copy/job.rs", "team"),
        ("use super::super::team::call;", "copy/job.rs", "team"),
        ("use super::team::call;", "copy/mod.rs", "team"),
        ("let x = super::super::super::mpi::f();", "copy/kernels/pick.rs", "mpi"),
        ("use super::region; // not crate::team", "copy/job.rs", ""),
    ];
    for (line, file, room) in cases {
        let found = named(line, depth(Path::new(file)));
        assert_eq!(found.first().copied().unwrap_or_default(), room, "{line} in {file}");
    }
}

#[test]
fn rooms_use_only_those_below_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let mut n_named = 0;
    for file in files {
        let inside = file.strip_prefix(&src).expect("a file of the crate");
        let room = inside.iter().next().and_then(|name| name.to_str()).expect("a room");
        if room == "lib.rs" {
            continue;
        }
        for line in fs::read_to_string(&file).expect("text").lines() {
            for other in named(line, depth(inside)) {
                n_named += 1;
                let is_below = other == room || floor(other) < floor(room);
                assert!(is_below, "{} uses {other}: {line}", inside.display());
            }
        }
    }
    assert!(n_named > 100, "{n_named} lines name a room");
}
