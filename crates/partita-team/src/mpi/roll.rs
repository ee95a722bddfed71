//! Roll calls: rounds to which all bring the same, which a number tells.
//!
//! Most rounds only compare: everybody has come to the same barrier, everybody has copied. A rank that
//! brings nothing but its call sends no post but *notes* of its digest, on the ways of posts
//! (`relays.rs`): first to the next three ranks; once the three ranks before it have brought the same,
//! to those 4, 8 and 12 further on; and so on. A note says that all ranks up to its sender, as many as
//! its distance, have brought what the digest stands for. A rank that has all notes knows that all have.
//!
//! Notes are all that a round needs to which all come alike, and soon. In any other, ranks send their
//! posts to everybody (`round.rs`), and notes say no more than that ranks have come.

use std::ops::Range;

use crate::mpi::relays::{RADIX, Standing};
use crate::team::meeting::Contribution;

/// How far the notes of a round have come on one rank.
#[derive(Debug, Default)]
pub(crate) struct Roll {
    /// What this rank brings, or the first note speaks of as long as it has not come.
    digest: Option<u64>,
    /// Whether this rank has come, with nothing but its call.
    is_own: bool,
    /// The notes that have come with this digest, a bit for each.
    heard: u64,
    /// Whether another digest was heard of.
    is_mixed: bool,
    /// How far away those are that it sends its next notes to.
    next: u64,
}

/// Notes that a rank is to send now.
#[derive(Debug)]
pub(crate) struct Notes {
    pub digest: u64,
    numbers: Range<u64>,
}

impl Notes {
    /// The number of each note, and the rank of the team that it goes to.
    pub(crate) fn to(self, standing: &Standing) -> impl Iterator<Item = (u64, u64)> {
        self.numbers.map(|number| (number, standing.after(distance(number))))
    }
}

/// Numbers that notes have: three for each factor of four in the size of a team.
pub(crate) const N_NOTES: u64 = 63;

/// How far a note with that number comes.
fn distance(number: u64) -> u64 {
    let n = number % (RADIX - 1) + 1;
    n * RADIX.pow((number / (RADIX - 1)) as u32)
}

/// The notes that a rank of a team of that size gets.
fn numbers(size: u64) -> impl Iterator<Item = u64> {
    (0..N_NOTES).take_while(move |number| distance(*number) < size)
}

/// All notes that a rank of a team of that size gets, a bit for each.
pub(crate) fn whole(size: u64) -> u64 {
    numbers(size).fold(0, |all, number| all | 1 << number)
}

impl Roll {
    /// Takes in a note.
    pub(crate) fn hear(&mut self, number: u64, digest: u64) {
        if *self.digest.get_or_insert(digest) == digest {
            self.heard |= 1 << number;
        } else {
            self.is_mixed = true;
        }
    }

    /// This rank has come.
    pub(crate) fn come(&mut self, digest: u64) {
        if self.digest.is_some_and(|first| first != digest) {
            (self.heard, self.is_mixed) = (0, true);
        }
        (self.digest, self.is_own, self.next) = (Some(digest), true, 1);
    }

    /// Whether this rank has come, with nothing but its call.
    pub(crate) fn is_own(&self) -> bool {
        self.is_own
    }

    /// Whether any rank has come with nothing but its call.
    pub(crate) fn has_begun(&self) -> bool {
        self.digest.is_some()
    }

    /// Whether ranks bring different things.
    pub(crate) fn is_mixed(&self) -> bool {
        self.is_mixed
    }

    /// Whether all ranks have brought what this one has; `whole` is what [`whole`] gives.
    pub(crate) fn is_complete(&self, whole: u64) -> bool {
        self.is_own && self.heard & whole == whole
    }

    /// Notes to send now; none as long as others must come first. `is_alike` says of so many ranks
    /// before this one whether they are known otherwise to bring the same.
    pub(crate) fn next(
        &mut self,
        standing: &Standing,
        is_alike: impl Fn(u64) -> bool,
    ) -> Option<Notes> {
        let (size, stride) = (standing.size(), self.next);
        let digest = self.digest.filter(|_| self.is_own && stride < size)?;
        // Those that are as near were told of by the notes that came before.
        let needed = whole(stride);
        if self.heard & needed != needed && !(1..stride).all(is_alike) {
            return None;
        }
        self.next *= RADIX;
        let first = needed.count_ones().into();
        let n_notes = (first..first + RADIX - 1).take_while(|at| distance(*at) < size).count();
        Some(Notes { digest, numbers: first..first + n_notes as u64 })
    }

    /// The ranks that notes have told of, all of which bring what this one does.
    pub(crate) fn told(&self, standing: &Standing) -> Vec<u64> {
        let size = standing.size();
        let heard = numbers(size).filter(|number| self.is_own && self.heard >> number & 1 == 1);
        let of = |number: u64| {
            let far = distance(number);
            let n_ranks = (far / (number % (RADIX - 1) + 1)).min(size - far);
            (far..far + n_ranks).map(|back| standing.before(back))
        };
        heard.flat_map(of).collect()
    }
}

impl Contribution {
    /// A number for what a rank brings, if it is nothing but its call.
    pub(crate) fn digest(&self) -> Option<u64> {
        self.is_bare().then(|| self.call.digest(self.near))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_told(roll: &Roll, standing: &Standing) -> Vec<u64> {
        let mut told = roll.told(standing);
        told.sort_unstable();
        told
    }

    #[test]
    fn notes_tell_of_every_other_rank_once() {
        for size in [1, 2, 3, 4, 5, 7, 16, 17, 63, 64, 65, 250] {
            for rank in [0, 1 % size, size / 2, size - 1] {
                let standing = Standing::new(rank, size, None);
                let mut roll = Roll::default();
                roll.come(7);
                numbers(size).for_each(|number| roll.hear(number, 7));
                assert!(roll.is_complete(whole(size)));
                let others: Vec<u64> = (0..size).filter(|other| *other != rank).collect();
                assert_eq!(all_told(&roll, &standing), others, "rank {rank} of {size}");
            }
        }
    }

    #[test]
    fn notes_go_to_those_that_wait_for_them() {
        for size in [2, 3, 5, 16, 17, 64, 100] {
            for rank in 0..size {
                let standing = Standing::new(rank, size, None);
                let mut roll = Roll::default();
                roll.come(7);
                let mut sent = 0;
                while let Some(notes) = roll.next(&standing, |_| true) {
                    for (number, to) in notes.to(&standing) {
                        sent |= 1 << number;
                        assert_eq!(to, (rank + distance(number)) % size);
                    }
                }
                assert_eq!(sent, whole(size), "rank {rank} of {size}");
            }
        }
    }

    #[test]
    fn who_waits_for_others_sends_no_note_of_them() {
        let standing = Standing::new(3, 16, None);
        let mut roll = Roll::default();
        assert!(roll.next(&standing, |_| true).is_none(), "it has not come");
        roll.come(7);
        let first = roll.next(&standing, |_| false).expect("its own notes");
        assert!(first.to(&standing).eq([(0, 4), (1, 5), (2, 6)]));
        roll.hear(0, 7);
        roll.hear(2, 7);
        assert!(roll.next(&standing, |_| false).is_none());
        roll.hear(1, 7);
        let second = roll.next(&standing, |_| false).expect("all have come");
        assert!(second.to(&standing).eq([(3, 7), (4, 11), (5, 15)]));
        assert!(roll.next(&standing, |_| true).is_none());
    }

    #[test]
    fn notes_of_something_else_complete_nothing() {
        let standing = Standing::new(0, 2, None);
        let mut early = Roll::default();
        early.hear(0, 8);
        early.come(7);
        assert!(
            early.is_mixed() && !early.is_complete(whole(2)) && early.told(&standing).is_empty()
        );
        let mut late = Roll::default();
        late.come(7);
        late.hear(0, 8);
        assert!(late.is_mixed() && !late.is_complete(whole(2)) && late.told(&standing).is_empty());
    }
}
