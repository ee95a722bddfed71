//! Rows like the one before: the same columns, moved along.
//!
//! Matrices of grids have long stretches of such rows. The place of each term in the result is then
//! known before, so that nothing is looked up and nothing is sorted; that a row really is like the
//! one that was learned is checked while it is computed. Terms are added in the order in which they
//! come, as for any other row, so that all sums have the same bits.

use super::right::Right;
use crate::index::Index;
use crate::matrix::Matrix;
use crate::number::Number;
use std::mem::MaybeUninit;

/// Rows with more terms are not learned.
const MOST_TERMS: usize = 1 << 12;
/// So many rows may be learned in vain before none is learned any more.
const PATIENCE: usize = 64;
/// Marks the first term of a sum.
const FIRST: u32 = 1 << 31;

/// What was learned of a row.
pub(super) struct Alike<I> {
    /// How many terms each entry of the left row has.
    lengths: Vec<usize>,
    /// The column of each term.
    terms: Vec<I>,
    /// The place of each term in the result, and whether it is the first one there.
    places: Vec<u32>,
    /// The columns of the result, also where sums cancel.
    columns: Vec<I>,
    patience: usize,
}

impl<I: Index> Alike<I> {
    pub(super) fn new() -> Alike<I> {
        let patience = PATIENCE;
        Alike { lengths: vec![], terms: vec![], places: vec![], columns: vec![], patience }
    }

    /// Learns a row whose result has these columns, sorted, if the next row may be like it.
    #[inline(always)]
    pub(super) fn learn<T: Number>(
        &mut self,
        a: Matrix<'_, I, T>,
        right: Right<'_, I, T>,
        row: usize,
        columns: &[I],
    ) {
        self.forget();
        if self.patience > 0 && next_looks_alike(&a, &right, row) {
            self.learn_row(a, right, row, columns);
        }
    }

    fn forget(&mut self) {
        self.lengths.clear();
    }

    #[cold]
    fn learn_row<T: Number>(
        &mut self,
        a: Matrix<'_, I, T>,
        right: Right<'_, I, T>,
        row: usize,
        columns: &[I],
    ) {
        if columns.len() > MOST_TERMS {
            return;
        }
        self.terms.clear();
        self.places.clear();
        self.columns.clear();
        self.columns.extend_from_slice(columns);
        let mut is_seen = [0_u64; MOST_TERMS / 64];
        for left in &a.pattern.indices[a.pattern.row(row)] {
            let (terms, _) = right.row(left.at());
            if self.terms.len() + terms.len() > MOST_TERMS {
                return self.forget();
            }
            self.lengths.push(terms.len());
            self.terms.extend_from_slice(terms);
            for column in terms {
                let place = columns.partition_point(|one| one < column);
                let (word, bit) = (&mut is_seen[place / 64], 1 << (place % 64));
                self.places.push(place as u32 | if *word & bit == 0 { FIRST } else { 0 });
                *word |= bit;
            }
        }
        self.patience -= 1;
    }

    /// Computes a row if it is like the one that was learned; how many entries it has.
    ///
    /// There must be room for as many entries as the row has terms.
    #[inline(always)]
    pub(super) fn row<T: Number>(
        &mut self,
        a: Matrix<'_, I, T>,
        right: Right<'_, I, T>,
        row: usize,
        columns: &mut [MaybeUninit<I>],
        values: &mut [MaybeUninit<T>],
    ) -> Option<usize> {
        let entries = a.pattern.row(row);
        if self.lengths.is_empty() || entries.len() != self.lengths.len() {
            return None;
        }
        let n = self.columns.len();
        // A row with fewer terms has less room, and is not alike.
        let (columns, values) = (columns.get_mut(..n)?, values.get_mut(..n)?);
        let (mut terms, mut places) = (&self.terms[..], &self.places[..]);
        let (mut shift, mut differ) = (None, 0);
        for (at, length) in entries.zip(&self.lengths) {
            let left = a.data[at];
            let (row_columns, row_values) = right.row(a.pattern.indices[at].at());
            if row_columns.len() != *length {
                return None;
            }
            let (these, later) = terms.split_at(*length);
            let (here, after) = places.split_at(*length);
            (terms, places) = (later, after);
            for (((column, term), value), place) in
                row_columns.iter().zip(these).zip(row_values).zip(here)
            {
                let moved = column.at().wrapping_sub(term.at());
                differ |= moved ^ *shift.get_or_insert(moved);
                let product = left.times(*value);
                // SAFETY: places were found among as many columns, and the first term of a place
                // is written before others are added to it.
                unsafe {
                    let sum = values.get_unchecked_mut((*place & !FIRST) as usize);
                    match *place & FIRST != 0 {
                        true => sum.write(product),
                        false => sum.write(sum.assume_init().plus(product)),
                    };
                }
            }
        }
        if differ != 0 {
            return None;
        }
        let shift = shift.unwrap_or(0);
        let mut has_zeros = false;
        for ((to, from), value) in columns.iter_mut().zip(&self.columns).zip(&*values) {
            to.write(I::from_position(from.at().wrapping_add(shift)));
            // SAFETY: every column of the result has a first term.
            has_zeros |= unsafe { value.assume_init() } == T::ZERO;
        }
        self.patience = PATIENCE;
        Some(if has_zeros { without_zeros(columns, values) } else { n })
    }
}

/// Whether the next row has as many entries, and these as far apart and as long.
fn next_looks_alike<I: Index, T>(
    a: &Matrix<'_, I, T>,
    right: &Right<'_, I, T>,
    row: usize,
) -> bool {
    if row + 1 == a.pattern.n_rows() {
        return false;
    }
    let [this, next] = [row, row + 1].map(|row| &a.pattern.indices[a.pattern.row(row)]);
    let ([first, .., last], [next_first, .., next_last]) = (this, next) else { return false };
    let is_moved =
        last.at().wrapping_sub(first.at()) == next_last.at().wrapping_sub(next_first.at());
    let as_long = |(one, other): (&I, &I)| right.length(one.at()) == right.length(other.at());
    this.len() == next.len() && is_moved && this.iter().zip(next).all(as_long)
}

/// Drops sums that cancel; how many entries are left. All are written.
#[cold]
fn without_zeros<I: Index, T: Number>(
    columns: &mut [MaybeUninit<I>],
    values: &mut [MaybeUninit<T>],
) -> usize {
    let mut kept = 0;
    for at in 0..columns.len() {
        (columns[kept], values[kept]) = (columns[at], values[at]);
        // SAFETY: the caller's.
        kept += usize::from(unsafe { values[kept].assume_init() } != T::ZERO);
    }
    kept
}
