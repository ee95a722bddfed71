//! A matrix times rows of several numbers.
//!
//! As many columns as registers hold are summed at once, entry by entry; the rows that later
//! entries need are asked for meanwhile.

use super::Into;
use crate::Cores;
use crate::error::Result;
use crate::first_error::FirstError;
use crate::index::Index;
use crate::level::{Loop, at_level, prefetch};
use crate::matrix::{Matrix, Pattern};
use crate::number::Number;
use crate::stacked::Rows;
use partita_numeric::Shared;
use std::ops::Range;

/// Columns that are summed at once.
const WIDE: usize = 32;
const NARROW: usize = 8;
/// How many entries ahead rows are asked for.
const AHEAD: usize = 8;
const LINE_BYTES: usize = 64;

pub(super) fn times<I: Index, T: Number>(
    matrix: Matrix<'_, I, T>,
    right: Rows<'_, T>,
    out: &mut [T],
    into: Into,
    cores: Cores,
) -> Result<()> {
    let width = right.width();
    let n_pieces = matrix.pattern.n_pieces(width, cores);
    let errors = FirstError::default();
    let shared = Shared::new(out);
    cores.each(n_pieces, |piece| {
        let rows = matrix.pattern.piece(n_pieces, piece);
        // SAFETY: every row belongs to one piece.
        let out = unsafe { shared.slice(rows.start * width..rows.end * width) };
        errors.note(piece, at_level(cores.level, Piece { matrix, right, rows, out, into }));
    });
    errors.outcome()
}

struct Piece<'a, I, T> {
    matrix: Matrix<'a, I, T>,
    right: Rows<'a, T>,
    rows: Range<usize>,
    out: &'a mut [T],
    into: Into,
}

impl<I: Index, T: Number> Loop for Piece<'_, I, T> {
    type Result = Result<()>;

    #[inline(always)]
    fn run(self) -> Result<()> {
        let Piece { matrix: Matrix { pattern, data }, right, rows, out, into } = self;
        let n_entries = pattern.n_entries();
        for (row, to) in rows.zip(out.chunks_exact_mut(right.width())) {
            let entries = pattern.row(row);
            if entries.start > entries.end || entries.end > n_entries {
                return Err(pattern.falls(row));
            }
            let columns = &pattern.indices[entries.clone()];
            if !columns.iter().fold(true, |inside, column| inside & (column.at() < right.n_rows()))
            {
                return Err(pattern.outside(entries, right.n_rows()));
            }
            ask_ahead(pattern, &right, entries.clone());
            let values = &data[entries];
            let mut column = 0;
            // SAFETY: the columns of the row were checked, and no more numbers than the width are
            // read and written.
            unsafe {
                while column + WIDE <= right.width() {
                    block::<_, _, WIDE>(columns, values, &right, column, &mut to[column..], into);
                    column += WIDE;
                }
                while column + NARROW <= right.width() {
                    block::<_, _, NARROW>(columns, values, &right, column, &mut to[column..], into);
                    column += NARROW;
                }
                while column < right.width() {
                    block::<_, _, 1>(columns, values, &right, column, &mut to[column..], into);
                    column += 1;
                }
            }
        }
        Ok(())
    }
}

/// Asks for the rows that entries need which come later; columns that are outside do no harm.
#[inline(always)]
fn ask_ahead<I: Index, T>(pattern: Pattern<'_, I>, right: &Rows<'_, T>, entries: Range<usize>) {
    let last = pattern.n_entries();
    let ahead = (entries.start + AHEAD).min(last)..(entries.end + AHEAD).min(last);
    let n_lines = (right.width() * size_of::<T>()).div_ceil(LINE_BYTES);
    for column in &pattern.indices[ahead] {
        let row = right.address(column.at()).cast::<u8>();
        for line in 0..n_lines {
            prefetch(row.wrapping_add(line * LINE_BYTES));
        }
    }
}

/// Sums N columns of one row.
///
/// # Safety
/// All columns of the row are rows of `right`, which have N numbers from `first` on.
#[inline(always)]
unsafe fn block<I: Index, T: Number, const N: usize>(
    columns: &[I],
    values: &[T],
    right: &Rows<'_, T>,
    first: usize,
    to: &mut [T],
    into: Into,
) {
    let mut sums = [T::ZERO; N];
    for (column, value) in columns.iter().zip(values) {
        // SAFETY: the caller's.
        let row = unsafe { &*right.address(column.at()).wrapping_add(first).cast::<[T; N]>() };
        for lane in 0..N {
            sums[lane] = sums[lane].plus(value.times(row[lane]));
        }
    }
    for (to, sum) in to[..N].iter_mut().zip(sums) {
        *to = if into == Into::Add { to.plus(sum) } else { sum };
    }
}
