//! What a rank has sent and must see on its way before it goes on, since it sends nothing while it
//! computes.
//!
//! Whoever waits for it reads. What does not move any more is for ranks that have all they need, or have
//! failed, and compute: they find it later. How messages of MPI move nobody sees, and a link may be
//! slow, so these are given up only where the call has failed.

use std::time::{Duration, Instant};

/// How long what neighbours are to read may lie before it counts as not waited for.
const LONGEST_LULL: Duration = Duration::from_millis(100);
/// The same for what MPI has, in a call that has failed.
const LONGEST_FAR_LULL: Duration = Duration::from_millis(400);

/// Bytes that have not left a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Unsent {
    /// To neighbours of the node.
    pub near: usize,
    /// By MPI.
    pub far: usize,
}

/// How what was sent flows out.
#[derive(Debug, Default)]
pub(crate) struct Outflow {
    /// What was left when some left last, and when that was.
    last: Option<(Unsent, Instant)>,
}

impl Outflow {
    /// Whether nothing is left, or what is left leaves no more and nobody waits for it.
    pub(crate) fn is_over(&mut self, left: Unsent, has_failed: impl FnOnce() -> bool) -> bool {
        left == Unsent::default() || self.is_over_at(left, has_failed(), Instant::now())
    }

    fn is_over_at(&mut self, left: Unsent, has_failed: bool, now: Instant) -> bool {
        let longest = if left.far == 0 { LONGEST_LULL } else { LONGEST_FAR_LULL };
        match self.last {
            Some((last, since)) if last == left => {
                (left.far == 0 || has_failed) && now - since >= longest
            }
            _ => {
                self.last = Some((left, now));
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_is_waited_for_and_what_lies_is_not() {
        let start = Instant::now();
        let mut outflow = Outflow::default();
        let mut is_over = |near: usize, ms: u64| {
            outflow.is_over_at(Unsent { near, far: 0 }, false, start + Duration::from_millis(ms))
        };
        assert!(!is_over(9, 0) && !is_over(9, 99));
        assert!(!is_over(8, 150) && !is_over(8, 249));
        assert!(is_over(8, 250));
    }

    #[test]
    fn messages_of_mpi_are_waited_for_unless_the_call_has_failed() {
        let start = Instant::now();
        let mut outflow = Outflow::default();
        let mut is_over = |has_failed: bool, ms: u64| {
            let left = Unsent { near: 1, far: 5 };
            outflow.is_over_at(left, has_failed, start + Duration::from_millis(ms))
        };
        assert!(!is_over(false, 0) && !is_over(false, 60_000));
        assert!(is_over(true, 60_000));
        let mut outflow = Outflow::default();
        let far = Unsent { near: 0, far: 5 };
        assert!(!outflow.is_over_at(far, true, start));
        assert!(!outflow.is_over_at(far, true, start + Duration::from_millis(399)));
        assert!(outflow.is_over_at(far, true, start + Duration::from_millis(400)));
    }
}
