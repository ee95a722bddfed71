//! The programs that started this process: its parent, the parent's parent, and so on.
//!
//! Known where the system has `/proc`; elsewhere there are none.

use std::{fs, iter, os::unix::process::parent_id, path::PathBuf};

/// Between a launcher and a rank stand a proxy of the launcher and, at most, a few scripts.
const MOST: usize = 8;

/// Their executables, nearest first; those of other users are left out.
pub(super) fn programs() -> Vec<PathBuf> {
    let pids = iter::successors(Some(parent_id()), |pid| parent_of(*pid)).take(MOST);
    pids.filter_map(|pid| fs::read_link(format!("/proc/{pid}/exe")).ok()).collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parent_in(&String::from_utf8_lossy(&stat))
}

/// The parent in what `/proc/PID/stat` says: `PID (NAME) STATE PARENT ...`.
fn parent_in(stat: &str) -> Option<u32> {
    // A name may have brackets and blanks of its own.
    let (_, rest) = stat.rsplit_once(')')?;
    let pid = rest.split_whitespace().nth(1)?.parse().ok()?;
    (pid != 0).then_some(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_read_after_any_name() {
        let cases = [
            ("7 (sh) S 5 7 7 0", Some(5)),
            ("7 (a) b (c) S 5 7", Some(5)),
            ("1 (init) S 0 1 1", None),
            ("7 (sh", None),
        ];
        for (stat, parent) in cases {
            assert_eq!(parent_in(stat), parent, "{stat}");
        }
    }

    #[test]
    fn a_test_has_the_program_that_started_it() {
        let parent = fs::read_link(format!("/proc/{}/exe", parent_id())).ok();
        assert_eq!(programs().first(), parent.as_ref());
    }
}
