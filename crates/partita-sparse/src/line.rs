//! One row: its columns brought into order, its duplicates added.

use crate::index::Index;
use crate::memory::{Array, Memory};
use crate::number::Number;
use partita_numeric::Shared;
use std::mem::MaybeUninit;

/// Longer rows are sorted by merging.
const SHORT: usize = 24;

/// An entry of a row.
#[derive(Clone, Copy)]
pub(crate) struct Pair<I, T> {
    pub column: I,
    pub value: T,
}

/// Sorts a row by columns; duplicates keep their order, so that sums are always the same.
pub(crate) fn sort<I: Index, T: Copy>(row: &mut [Pair<I, T>]) {
    match row.len() {
        0 | 1 => {}
        2..=SHORT => sort_short(row),
        _ => row.sort_by_key(|pair| pair.column),
    }
}

/// Sorts a short row by counting, for each entry, those that belong before it.
///
/// Random columns make every branch of other ways a guess; here there is none.
fn sort_short<I: Index, T: Copy>(row: &mut [Pair<I, T>]) {
    let n = row.len();
    let mut places = [0_u8; SHORT];
    let mut old = [const { MaybeUninit::<Pair<I, T>>::uninit() }; SHORT];
    for (to, pair) in old.iter_mut().zip(row.iter()) {
        to.write(*pair);
    }
    for at in 1..n {
        let column = row[at].column;
        let mut place = 0;
        for (before, other) in row[..at].iter().zip(&mut places) {
            let is_later = u8::from(before.column > column);
            *other += is_later;
            place += 1 - is_later;
        }
        places[at] = place;
    }
    for (pair, place) in old[..n].iter().zip(places) {
        // SAFETY: as many were written as the row has.
        row[usize::from(place)] = unsafe { pair.assume_init() };
    }
}

/// Where columns and values of a result are written.
pub(crate) struct Target<I, T> {
    indices: Shared<MaybeUninit<I>>,
    data: Shared<MaybeUninit<T>>,
}

impl<I: Index, T: Number> Target<I, T> {
    pub(crate) fn new<M: Memory>(indices: &mut Array<M, I>, data: &mut Array<M, T>) -> Self {
        Self::over(indices.room(), data.room())
    }

    /// The same over memory that is borrowed.
    pub(crate) fn over(indices: &mut [MaybeUninit<I>], data: &mut [MaybeUninit<T>]) -> Self {
        Target { indices: Shared::new(indices), data: Shared::new(data) }
    }

    /// Writes a sorted row from a place on, duplicates added; how many entries that are.
    ///
    /// # Safety
    /// As many places as the row has entries are inside and belong to the caller.
    #[inline(always)]
    pub(crate) unsafe fn write(&self, row: &[Pair<I, T>], place: usize) -> usize {
        let Some((first, others)) = row.split_first() else { return 0 };
        let (mut at, mut column, mut sum) = (place, first.column, first.value);
        // SAFETY: no more entries are written than the row has.
        let put = |at: usize, column: I, sum: T| unsafe {
            (*self.indices.at(at)).write(column);
            (*self.data.at(at)).write(sum);
        };
        for pair in others {
            if pair.column == column {
                sum = sum.plus(pair.value);
            } else {
                put(at, column, sum);
                (at, column, sum) = (at + 1, pair.column, pair.value);
            }
        }
        put(at, column, sum);
        at + 1 - place
    }

    /// Writes a row in any order from a place on, sorted; false, and nothing, if a column comes
    /// twice. What lies behind its columns is not looked at, but there must be `W` in all.
    ///
    /// Each column is compared with all others, without a branch: random columns make every branch
    /// of other ways a guess.
    ///
    /// # Safety
    /// Columns are not negative. As many places as there are values, at most `W`, are inside and
    /// belong to the caller.
    #[inline(always)]
    pub(crate) unsafe fn write_distinct<const W: usize>(
        &self,
        columns: &[I],
        values: &[T],
        place: usize,
    ) -> bool {
        let n = values.len();
        let Some(given) = columns.first_chunk::<W>().filter(|_| n <= W) else { return false };
        let mut own = [I::from_position(0); W];
        for (at, column) in own.iter_mut().enumerate() {
            // No column lies before 0.
            *column = if at < n { given[at] } else { I::from_position(0) };
        }
        let mut places = [0_u32; W];
        for column in &given[..n] {
            for (before, other) in places.iter_mut().zip(&own) {
                *before += u32::from(column < other);
            }
        }
        // Of two columns that differ, one lies before the other.
        if places.iter().sum::<u32>() as usize != n * n.saturating_sub(1) / 2 {
            return false;
        }
        for ((before, column), value) in places.iter().zip(given).zip(values) {
            let at = place + *before as usize;
            // SAFETY: fewer than `n` lie before any of them.
            unsafe {
                (*self.indices.at(at)).write(*column);
                (*self.data.at(at)).write(*value);
            }
        }
        true
    }
}

/// Moves what pieces kept of their stretches, (start, count) in their order, close together.
///
/// # Safety
/// What they kept has been written.
pub(crate) unsafe fn close_up<M: Memory, T: Copy>(
    array: &mut Array<M, T>,
    kept: &[(usize, usize)],
) {
    let room = array.room();
    let mut next = 0;
    for (start, count) in kept {
        if *start != next {
            room.copy_within(*start..start + count, next);
        }
        next += count;
    }
}

/// Counts of rows, behind a zero, turned into where rows begin.
pub(crate) fn add_up<I: Index>(counts: &mut [I]) {
    let mut next = 0;
    for count in counts {
        next += count.at();
        *count = I::from_position(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_every_length_are_sorted_and_duplicates_keep_their_order() {
        let mut seed = 7_u32;
        for n in 0..2 * SHORT {
            for n_columns in [1, 3, 1000] {
                let mut next = || {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (seed >> 8) as i32 % n_columns
                };
                let mut row: Vec<Pair<i32, usize>> =
                    (0..n).map(|value| Pair { column: next(), value }).collect();
                let mut wanted: Vec<(i32, usize)> =
                    row.iter().map(|pair| (pair.column, pair.value)).collect();
                wanted.sort_unstable();
                sort(&mut row);
                let found: Vec<(i32, usize)> =
                    row.iter().map(|pair| (pair.column, pair.value)).collect();
                assert_eq!(found, wanted);
            }
        }
    }
}
