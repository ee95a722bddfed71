//! A matrix times a vector.
//!
//! Sums have four parts, of every fourth entry each, joined as (0 + 1) + (2 + 3): the additions of
//! a long row do not wait for each other. Asking for elements ahead gained nothing here: loads
//! that do not wait for each other hide their time as well.

use super::Into;
use super::store::{self, Store, before_lines};
use crate::Cores;
use crate::error::Result;
use crate::first_error::FirstError;
use crate::index::Index;
use crate::matrix::Matrix;
use crate::number::Number;
use crate::stacked::Rows;
use partita_numeric::{Scratch, Shared};
use std::ops::Range;

/// So often is an element looked up where the vector is brought to one place.
const OFTEN: usize = 6;
/// Of so many own elements at least one is another's where rows are not tried without those first.
const FEW: usize = 8;

/// Sums that are kept until they are written past the caches: whole lines of any number.
const KEPT: usize = 64;

/// A vector, and how its elements are found.
trait Vector<T>: Copy + Sync {
    fn length(&self) -> usize;
    /// Where an element lies; the address means nothing if it is outside.
    fn address(&self, at: usize) -> *const T;
}

#[derive(Clone, Copy)]
struct InOnePlace<T> {
    start: *const T,
    length: usize,
}

// SAFETY: it stands for a shared slice.
unsafe impl<T: Sync> Sync for InOnePlace<T> {}

impl<T: Copy + Sync> Vector<T> for InOnePlace<T> {
    #[inline(always)]
    fn length(&self) -> usize {
        self.length
    }

    #[inline(always)]
    fn address(&self, at: usize) -> *const T {
        self.start.wrapping_add(at)
    }
}

impl<T: Copy + Sync> Vector<T> for Rows<'_, T> {
    #[inline(always)]
    fn length(&self) -> usize {
        self.n_rows()
    }

    #[inline(always)]
    fn address(&self, at: usize) -> *const T {
        Rows::address(self, at)
    }
}

pub(super) fn times<I: Index, T: Number>(
    matrix: Matrix<'_, I, T>,
    right: Rows<'_, T>,
    out: &mut [T],
    into: Into,
    cores: Cores,
) -> Result<()> {
    let mut scratch = Scratch::default();
    let right = joined(right, matrix.pattern.n_entries(), &mut scratch);
    let (start, length) = right.first_place();
    let first = InOnePlace { start, length };
    let n_pieces = matrix.pattern.n_pieces(1, cores);
    let n_bytes = size_of_val(matrix.data) + size_of_val(matrix.pattern.indices);
    let store = Store::of(into, n_bytes);
    let errors = FirstError::default();
    let shared = Shared::new(out);
    cores.each(n_pieces, |piece| {
        let rows = matrix.pattern.piece(n_pieces, piece);
        // SAFETY: every row belongs to one piece.
        let out = unsafe { shared.slice(rows.clone()) };
        // Closures take fields apart, and pointers alone may not be shared.
        let first = &first;
        let outcome = match (right.n_rows() - first.length) * FEW <= first.length {
            true => piece_put(matrix, *first, right, rows, out, store),
            false => piece_put(matrix, right, right, rows, out, store),
        };
        errors.note(piece, outcome);
    });
    errors.outcome()
}

/// The vector in one place, if it is looked up so often that a copy costs less than the choice.
fn joined<'a, T: Number>(
    right: Rows<'a, T>,
    n_entries: usize,
    scratch: &'a mut Scratch,
) -> Rows<'a, T> {
    let (_, n_first) = right.first_place();
    if n_first == right.n_rows() || n_entries / OFTEN < right.n_rows() {
        return right;
    }
    right.joined(scratch.take(right.n_rows()))
}

/// Multiplies rows and writes what comes of it.
fn piece_put<I: Index, T: Number, V: Vector<T>>(
    matrix: Matrix<'_, I, T>,
    quick: V,
    right: Rows<'_, T>,
    rows: Range<usize>,
    out: &mut [T],
    store: Store,
) -> Result<()> {
    if store != Store::Past {
        return piece_times(matrix, quick, right, rows, out, store);
    }
    let (before, lines) = out.split_at_mut(before_lines(out));
    let mut row = rows.start + before.len();
    piece_times(matrix, quick, right, rows.start..row, before, Store::Replace)?;
    let mut kept = [T::ZERO; KEPT];
    for to in lines.chunks_mut(KEPT) {
        let sums = &mut kept[..to.len()];
        piece_times(matrix, quick, right, row..row + sums.len(), sums, Store::Replace)?;
        store.put(to, sums);
        row += sums.len();
    }
    store::finish();
    Ok(())
}

/// Multiplies rows with the quick form of a vector, and those that it does not hold with all of it.
///
/// Both sum in the same order.
#[inline(never)]
fn piece_times<I: Index, T: Number, V: Vector<T>>(
    matrix: Matrix<'_, I, T>,
    quick: V,
    right: Rows<'_, T>,
    rows: Range<usize>,
    out: &mut [T],
    store: Store,
) -> Result<()> {
    let Matrix { pattern, data } = matrix;
    let n_entries = pattern.n_entries();
    let mut start = pattern.indptr[rows.start].at();
    for (row, to) in rows.zip(out) {
        let end = pattern.indptr[row + 1].at();
        if start > end || end > n_entries {
            return Err(pattern.falls(row));
        }
        // SAFETY: the ends were checked just now, and there are as many values as indices.
        let (columns, values) =
            unsafe { (pattern.indices.get_unchecked(start..end), data.get_unchecked(start..end)) };
        let sum =
            row_times(columns, values, quick).or_else(|| row_otherwise(columns, values, right));
        let Some(sum) = sum else { return Err(pattern.outside(start..end, right.n_rows())) };
        *to = if store == Store::Add { to.plus(sum) } else { sum };
        start = end;
    }
    Ok(())
}

#[cold]
#[inline(never)]
fn row_otherwise<I: Index, T: Number>(
    columns: &[I],
    values: &[T],
    right: Rows<'_, T>,
) -> Option<T> {
    row_times(columns, values, right)
}

/// The sum of one row; none if a column is outside.
#[inline(always)]
fn row_times<I: Index, T: Number, V: Vector<T>>(
    columns: &[I],
    values: &[T],
    vector: V,
) -> Option<T> {
    let mut sums = [T::ZERO; 4];
    let mut at = 0;
    // SAFETY: columns and values are equally many, and elements that are outside are not read.
    unsafe {
        let column = |at: usize| columns.get_unchecked(at).at();
        let term =
            |at: usize, column: usize| values.get_unchecked(at).times(*vector.address(column));
        while at + 4 <= columns.len() {
            let four = [column(at), column(at + 1), column(at + 2), column(at + 3)];
            // One branch for four columns.
            if !four.iter().fold(true, |inside, column| inside & (*column < vector.length())) {
                return None;
            }
            for lane in 0..4 {
                sums[lane] = sums[lane].plus(term(at + lane, four[lane]));
            }
            at += 4;
        }
        while at < columns.len() {
            let column = column(at);
            if column >= vector.length() {
                return None;
            }
            sums[0] = sums[0].plus(term(at, column));
            at += 1;
        }
    }
    Some(sums[0].plus(sums[1]).plus(sums[2].plus(sums[3])))
}
