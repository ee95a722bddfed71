//! A matrix times rows of several numbers.
//!
//! As many columns as registers hold are summed at once, entry by entry. The rows that later
//! entries need are asked for meanwhile, unless a row's columns follow those of the row before: the
//! processor then sees by itself what comes, and asking would take half as long again.

use super::Into;
use super::store::{self, Store};
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
/// How many lines of memory are asked for ahead.
const AHEAD_LINES: usize = 64;
const LINE_BYTES: usize = 64;
/// Columns so far apart are near each other.
const NEAR: usize = 8;

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
    let store = Store::of(into, size_of_val(out));
    let shared = Shared::new(out);
    cores.each(n_pieces, |piece| {
        let rows = matrix.pattern.piece(n_pieces, piece);
        // SAFETY: every row belongs to one piece.
        let out = unsafe { shared.slice(rows.start * width..rows.end * width) };
        errors.note(piece, at_level(cores.level, Piece { matrix, right, rows, out, store }));
    });
    errors.outcome()
}

struct Piece<'a, I, T> {
    matrix: Matrix<'a, I, T>,
    right: Rows<'a, T>,
    rows: Range<usize>,
    out: &'a mut [T],
    store: Store,
}

impl<I: Index, T: Number> Loop for Piece<'_, I, T> {
    type Result = Result<()>;

    #[inline(always)]
    fn run(self) -> Result<()> {
        let Piece { matrix: Matrix { pattern, data }, right, rows, out, store } = self;
        let n_entries = pattern.n_entries();
        let mut before: &[I] = &[];
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
            if !follows(columns, before) {
                ask_ahead(pattern, &right, entries.clone());
            }
            before = columns;
            let values = &data[entries];
            let mut column = 0;
            // SAFETY: the columns of the row were checked, and no more numbers than the width are
            // read and written.
            unsafe {
                while column + WIDE <= right.width() {
                    block::<_, _, WIDE>(columns, values, &right, column, &mut to[column..], store);
                    column += WIDE;
                }
                while column + NARROW <= right.width() {
                    block::<_, _, NARROW>(
                        columns,
                        values,
                        &right,
                        column,
                        &mut to[column..],
                        store,
                    );
                    column += NARROW;
                }
                while column < right.width() {
                    block::<_, _, 1>(columns, values, &right, column, &mut to[column..], store);
                    column += 1;
                }
            }
        }
        store::finish();
        Ok(())
    }
}

/// Whether the first and the last column are near those of the row before.
#[inline(always)]
fn follows<I: Index>(columns: &[I], before: &[I]) -> bool {
    let is_near = |x: Option<&I>, y: Option<&I>| {
        x.zip(y).is_some_and(|(x, y)| x.at().abs_diff(y.at()) <= NEAR)
    };
    is_near(columns.first(), before.first()) && is_near(columns.last(), before.last())
}

/// Asks for the rows that entries need which come later; columns that are outside do no harm.
#[inline(always)]
fn ask_ahead<I: Index, T>(pattern: Pattern<'_, I>, right: &Rows<'_, T>, entries: Range<usize>) {
    let last = pattern.n_entries();
    let n_lines = (right.width() * size_of::<T>()).div_ceil(LINE_BYTES);
    let ahead = AHEAD_LINES.div_ceil(n_lines);
    let ahead = (entries.start + ahead).min(last)..(entries.end + ahead).min(last);
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
    store: Store,
) {
    let mut sums = [T::ZERO; N];
    for (column, value) in columns.iter().zip(values) {
        // SAFETY: the caller's.
        let row = unsafe { &*right.address(column.at()).wrapping_add(first).cast::<[T; N]>() };
        for lane in 0..N {
            sums[lane] = sums[lane].plus(value.times(row[lane]));
        }
    }
    store.put(&mut to[..N], &sums);
}
