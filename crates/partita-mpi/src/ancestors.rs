//! The programs that started this process: its parent, the parent's parent, and so on.
//!
//! Known where the system has `/proc`; elsewhere there are none.

use super::ProcessStat;
use std::{fs, iter, os::unix::process::parent_id, path::PathBuf};

/// Between a launcher and a rank stand a proxy of the launcher and, at most, a few scripts.
const MOST: usize = 8;

/// Their executables, nearest first; those of other users are left out.
pub(super) fn programs() -> Vec<PathBuf> {
    let parent_of = |pid: &u64| ProcessStat::of(*pid)?.parent();
    let pids = iter::successors(Some(u64::from(parent_id())), parent_of).take(MOST);
    pids.filter_map(|pid| fs::read_link(format!("/proc/{pid}/exe")).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_has_the_program_that_started_it() {
        let parent = fs::read_link(format!("/proc/{}/exe", parent_id())).ok();
        assert_eq!(programs().first(), parent.as_ref());
    }
}
