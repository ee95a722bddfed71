//! The sums of one row of a product, at the columns that it has.

use super::alike::Alike;
use super::right::Right;
use super::room::Room;
use crate::error::Result;
use crate::index::Index;
use crate::line::{self, Pair};
use crate::matrix::Matrix;
use crate::memory::{Memory, unwritten, zeros};
use crate::number::Number;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Rows with more entries are sorted by bits where those lie close enough.
const LONG: usize = 64;
/// Of so many rows one is tried to see how many terms share a column.
const TRIED: usize = 64;
/// Results that can be no larger get all the room that they could need.
const SMALL: usize = 1 << 16;
/// Of more columns than so many per term, most would never be seen.
const SPARSE: usize = 8;

/// Sums by columns; an entry of `seen` says in which row a column was last seen.
pub(super) struct Sums<I, T> {
    seen: Vec<u32>,
    sums: Vec<MaybeUninit<T>>,
    bits: Vec<u64>,
    stamp: u32,
    /// Whether the columns are too many to have a sum each.
    by_sorting: bool,
    alike: Alike<I>,
}

impl<I: Index, T: Number> Sums<I, T> {
    pub(super) fn new(n_columns: usize, n_terms: usize) -> Result<Self> {
        let by_sorting = n_columns / SPARSE > n_terms;
        let n = if by_sorting { 0 } else { n_columns };
        let (sums, seen, bits) = (unwritten(n)?, zeros(n)?, zeros(n.div_ceil(64))?);
        Ok(Self { seen, sums, bits, stamp: 0, by_sorting, alike: Alike::new() })
    }

    fn next_stamp(&mut self) -> u32 {
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.seen.fill(0);
            self.stamp = 1;
        }
        self.stamp
    }

    /// How many entries rows will probably have, from some of them, and some more.
    pub(super) fn likely_entries(
        &mut self,
        a: Matrix<'_, I, T>,
        right: Right<'_, I, T>,
        rows: Range<usize>,
        terms: &[usize],
    ) -> usize {
        let n_terms = terms[rows.end] - terms[rows.start];
        if n_terms <= SMALL || self.by_sorting {
            return n_terms;
        }
        let (mut n_tried, mut n_seen) = (0, 0);
        for row in rows.step_by(TRIED) {
            let stamp = self.next_stamp();
            for column in &a.pattern.indices[a.pattern.row(row)] {
                for column in right.row(column.at()).0 {
                    let seen = &mut self.seen[column.at()];
                    n_seen += usize::from(*seen != stamp);
                    *seen = stamp;
                }
            }
            n_tried += terms[row + 1] - terms[row];
        }
        let share = n_seen as f64 / n_tried.max(1) as f64;
        ((n_terms as f64 * share * 1.1) as usize + SMALL).min(n_terms)
    }

    /// Writes one row of the product; how many entries it has. Sums that cancel are left out.
    #[inline(always)]
    pub(super) fn row<M: Memory>(
        &mut self,
        a: Matrix<'_, I, T>,
        right: Right<'_, I, T>,
        row: usize,
        room: &mut Room<M, I, T>,
    ) -> usize {
        if self.by_sorting {
            return sorted_row(a, right, row, room);
        }
        let (columns, values) = room.next();
        if let Some(n) = self.alike.row(a, right, row, columns, values) {
            // SAFETY: columns and values were written.
            unsafe { room.keep(n) };
            return n;
        }
        let stamp = self.next_stamp();
        let (seen, sums) = (&mut self.seen[..], &mut self.sums[..]);
        let mut n = 0;
        let entries = a.pattern.row(row);
        for at in entries {
            if let Some(ahead) = a.pattern.indices[..a.pattern.n_entries()].get(at + 2) {
                right.ask(ahead.at());
            }
            let left = a.data[at];
            let (right_columns, right_values) = right.row(a.pattern.indices[at].at());
            for (column, value) in right_columns.iter().zip(right_values) {
                let (place, term) = (column.at(), left.times(*value));
                // SAFETY: columns of the right operand were checked, and the row has no more
                // columns than terms, for which room was reserved.
                unsafe {
                    let seen = seen.get_unchecked_mut(place);
                    let sum = sums.get_unchecked_mut(place);
                    if *seen == stamp {
                        sum.write(sum.assume_init().plus(term));
                    } else {
                        *seen = stamp;
                        sum.write(term);
                        columns.get_unchecked_mut(n).write(*column);
                        n += 1;
                    }
                }
            }
        }
        // SAFETY: that many columns were written just now.
        let columns = unsafe { &mut *(std::ptr::from_mut(&mut columns[..n]) as *mut [I]) };
        sort(columns, &mut self.bits);
        self.alike.learn(a, right, row, columns);
        let mut kept = 0;
        for at in 0..n {
            let column = columns[at];
            // SAFETY: every column that was seen has a sum.
            let sum = unsafe { self.sums.get_unchecked(column.at()).assume_init() };
            columns[kept] = column;
            values[kept].write(sum);
            kept += usize::from(sum != T::ZERO);
        }
        // SAFETY: columns and values were written.
        unsafe { room.keep(kept) };
        kept
    }
}

/// Sorts different columns; by bits, which are all 0 before and after, where that is quicker.
#[inline(always)]
fn sort<I: Index>(columns: &mut [I], bits: &mut [u64]) {
    if columns.len() <= LONG {
        columns.sort_unstable();
        return;
    }
    let (mut least, mut most) = (usize::MAX, 0);
    for column in &*columns {
        (least, most) = (least.min(column.at()), most.max(column.at()));
    }
    if (most - least) / 64 > 4 * columns.len() {
        columns.sort_unstable();
        return;
    }
    for column in &*columns {
        bits[column.at() / 64] |= 1 << (column.at() % 64);
    }
    let mut next = 0;
    for (word, bits) in (least / 64..).zip(&mut bits[least / 64..=most / 64]) {
        let mut rest = std::mem::take(bits);
        while rest != 0 {
            columns[next] = I::from_position(64 * word + rest.trailing_zeros() as usize);
            next += 1;
            rest &= rest - 1;
        }
    }
}

/// The same for matrices of few entries and many columns: terms are sorted, and equal ones added.
fn sorted_row<M: Memory, I: Index, T: Number>(
    a: Matrix<'_, I, T>,
    right: Right<'_, I, T>,
    row: usize,
    room: &mut Room<M, I, T>,
) -> usize {
    let mut pairs = Vec::new();
    for at in a.pattern.row(row) {
        let (columns, values) = right.row(a.pattern.indices[at].at());
        pairs.extend(
            columns
                .iter()
                .zip(values)
                .map(|(column, value)| Pair { column: *column, value: a.data[at].times(*value) }),
        );
    }
    line::sort(&mut pairs);
    let (columns, values) = room.next();
    // SAFETY: room was reserved for as many entries as there are terms; those that were written
    // are looked at, and some of them kept.
    unsafe {
        let n = line::Target::over(columns, values).write(&pairs, 0);
        let mut kept = 0;
        for at in 0..n {
            let (column, sum) = (columns[at].assume_init(), values[at].assume_init());
            columns[kept].write(column);
            values[kept].write(sum);
            kept += usize::from(sum != T::ZERO);
        }
        room.keep(kept);
        kept
    }
}
