//! Positions grouped by who has them: owners have stretches, one behind the other.
//!
//! A position's owner is found again whenever it is needed: that takes less time than to keep it.
//! Positions keep their order within a group, so that groups can be taken apart again.

use crate::Cores;
use crate::cores::{Shared, stretch};
use std::hint::select_unpredictable;
use std::mem::MaybeUninit;

/// Positions whose owners are found before anything is moved.
const BLOCK: usize = 512;
/// Fewer positions are not worth a second thread.
const SHARE: usize = 1 << 14;
/// With so many inner cuts, looking for the right one takes less time than comparing with all.
const MANY_CUTS: usize = 16;

/// Stretches of positions: the first owner's begins at 0, each other's at a cut.
///
/// ```
/// use partita_numeric::{Cores, choose::Owners};
/// let owners = Owners::new(&[3, 5]);
/// assert_eq!(owners.count(&[4, 0, 7, 3], Cores::best()), [1, 2, 1]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Owners<'a> {
    cuts: &'a [i64],
}

impl<'a> Owners<'a> {
    /// Owners with these cuts, in ascending order, between them.
    ///
    /// # Panics
    /// If the cuts are in another order.
    #[must_use]
    pub fn new(cuts: &'a [i64]) -> Owners<'a> {
        assert!(cuts.is_sorted(), "cuts ascend");
        Owners { cuts }
    }

    /// How many owners there are.
    #[must_use]
    pub fn n_owners(self) -> usize {
        self.cuts.len() + 1
    }

    /// How many positions each owner has.
    #[must_use]
    pub fn count(self, positions: &[i64], cores: Cores) -> Vec<usize> {
        let mut counts = vec![0; self.n_owners()];
        for piece in self.counts_of_pieces(positions, cores) {
            counts.iter_mut().zip(piece).for_each(|(count, more)| *count += more);
        }
        counts
    }

    /// Writes positions by owner, each counted from where its owner's stretch begins.
    ///
    /// # Panics
    /// If a group has not just as much room as its owner has positions.
    pub fn group_positions(
        self,
        positions: &[i64],
        groups: &mut [&mut [MaybeUninit<i64>]],
        cores: Cores,
    ) {
        let sizes: Vec<usize> = groups.iter().map(|group| group.len()).collect();
        let groups: Vec<_> = groups.iter_mut().map(|group| Shared::new(group)).collect();
        let firsts = [&[0], self.cuts].concat();
        self.each(positions, &sizes, cores, |number, owner, place| {
            // SAFETY: each place of a group is named once, and none outside.
            unsafe { (*groups[owner].at(place)).write(positions[number] - firsts[owner]) };
        });
    }

    /// Writes rows of some length, one per position, by the position's owner.
    ///
    /// # Panics
    /// As [`Owners::group_positions`], or if there is not one row per position.
    pub fn group_rows<T: Copy + Send + Sync>(
        self,
        positions: &[i64],
        (rows, length): (&[T], usize),
        groups: &mut [&mut [MaybeUninit<T>]],
        cores: Cores,
    ) {
        assert_eq!(rows.len(), positions.len() * length, "one row per position");
        if length == 0 {
            return;
        }
        let sizes: Vec<usize> = groups.iter().map(|group| n_rows(group.len(), length)).collect();
        let groups: Vec<_> = groups.iter_mut().map(|group| Shared::new(group)).collect();
        if length == 1 {
            return self.each(positions, &sizes, cores, |number, owner, place| {
                // SAFETY: each place of a group is named once, and none outside.
                unsafe { (*groups[owner].at(place)).write(rows[number]) };
            });
        }
        self.each(positions, &sizes, cores, |number, owner, place| {
            // SAFETY: each place of a group is named once, and none outside.
            let to = unsafe { groups[owner].slice(place * length..(place + 1) * length) };
            write_row(&rows[number * length..][..length], to);
        });
    }

    /// Writes rows that lie in groups in the order of the positions.
    ///
    /// # Panics
    /// As [`Owners::group_rows`].
    pub fn ungroup_rows<T: Copy + Send + Sync>(
        self,
        positions: &[i64],
        (groups, length): (&[&[T]], usize),
        out: &mut [MaybeUninit<T>],
        cores: Cores,
    ) {
        assert_eq!(out.len(), positions.len() * length, "one row per position");
        if length == 0 {
            return;
        }
        let sizes: Vec<usize> = groups.iter().map(|group| n_rows(group.len(), length)).collect();
        let out = Shared::new(out);
        if length == 1 {
            return self.each(positions, &sizes, cores, |number, owner, place| {
                // SAFETY: each number is named once, and none is outside.
                unsafe { (*out.at(number)).write(groups[owner][place]) };
            });
        }
        self.each(positions, &sizes, cores, |number, owner, place| {
            // SAFETY: each number is named once, and none is outside.
            let to = unsafe { out.slice(number * length..(number + 1) * length) };
            write_row(&groups[owner][place * length..][..length], to);
        });
    }

    /// Names every position's number, its owner and its place among the owner's, each once.
    fn each(
        self,
        positions: &[i64],
        sizes: &[usize],
        cores: Cores,
        visit: impl Fn(usize, usize, usize) + Sync,
    ) {
        assert_eq!(sizes.len(), self.n_owners(), "one group per owner");
        assert_eq!(sizes.iter().sum::<usize>(), positions.len(), "as much room as positions");
        let n_pieces = cores.n_pieces(positions.len(), SHARE);
        let mut places = vec![vec![0; sizes.len()]];
        if n_pieces > 1 {
            for counts in self.counts_of_pieces(positions, cores) {
                let last = &places[places.len() - 1];
                let next = last.iter().zip(&counts).map(|(at, count)| at + count).collect();
                places.push(next);
            }
        }
        cores.each(n_pieces, |piece| {
            let mut next = places[piece].clone();
            let range = stretch(positions.len(), n_pieces, piece);
            if let ([_], [first, second]) = (self.cuts, &next[..]) {
                let places = [*first, *second];
                return self.each_of_two(
                    &positions[range.clone()],
                    sizes,
                    places,
                    |number, owner, place| {
                        visit(range.start + number, owner, place);
                    },
                );
            }
            self.named(&positions[range.clone()], |first, names| {
                for (number, name) in names.iter().enumerate() {
                    let owner = *name as usize;
                    let place = next[owner];
                    assert!(place < sizes[owner], "room for all positions of an owner");
                    next[owner] = place + 1;
                    visit(range.start + first + number, owner, place);
                }
            });
        });
    }

    /// As [`Owners::each`], for two owners: their places are kept in registers.
    #[inline(always)]
    fn each_of_two(
        self,
        positions: &[i64],
        sizes: &[usize],
        places: [usize; 2],
        visit: impl Fn(usize, usize, usize),
    ) {
        let [mut first, mut second] = places;
        self.named(positions, |start, names| {
            for (number, name) in names.iter().enumerate() {
                let owner = (*name & 1) as usize;
                let place = select_unpredictable(owner == 1, second, first);
                assert!(place < sizes[owner], "room for all positions of an owner");
                second += owner;
                first += 1 - owner;
                visit(start + number, owner, place);
            }
        });
    }

    /// How many positions each owner has in the stretch of each piece.
    fn counts_of_pieces(self, positions: &[i64], cores: Cores) -> Vec<Vec<usize>> {
        let n_pieces = cores.n_pieces(positions.len(), SHARE);
        let mut counts = vec![vec![0; self.n_owners()]; n_pieces];
        let all = Shared::new(&mut counts);
        cores.each(n_pieces, |piece| {
            // SAFETY: every piece has counts of its own.
            let counts = &mut unsafe { all.slice(piece..piece + 1) }[0];
            let positions = &positions[stretch(positions.len(), n_pieces, piece)];
            if let [cut] = self.cuts {
                counts[1] = positions.iter().filter(|position| *position >= cut).count();
                counts[0] = positions.len() - counts[1];
                return;
            }
            self.named(positions, |_, names| {
                names.iter().for_each(|name| counts[*name as usize] += 1);
            });
        });
        counts
    }

    /// Names the owners of positions, a block at a time.
    #[inline(always)]
    fn named(self, positions: &[i64], mut take: impl FnMut(usize, &[u32])) {
        let mut names = [0_u32; BLOCK];
        for (number, positions) in positions.chunks(BLOCK).enumerate() {
            let names = &mut names[..positions.len()];
            if self.cuts.len() >= MANY_CUTS {
                for (name, position) in names.iter_mut().zip(positions) {
                    *name = self.cuts.partition_point(|cut| cut <= position) as u32;
                }
            } else {
                names.fill(0);
                for cut in self.cuts {
                    for (name, position) in names.iter_mut().zip(positions) {
                        *name += u32::from(position >= cut);
                    }
                }
            }
            take(number * BLOCK, names);
        }
    }
}

fn n_rows(n_elements: usize, length: usize) -> usize {
    assert!(n_elements.is_multiple_of(length), "whole rows");
    n_elements / length
}

#[inline(always)]
fn write_row<T: Copy>(from: &[T], to: &mut [MaybeUninit<T>]) {
    for (to, element) in to.iter_mut().zip(from) {
        to.write(*element);
    }
}
