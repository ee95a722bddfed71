//! Sparse times sparse, in one pass.
//!
//! - `right`: the right operand, whose rows lie in two places.
//! - `sums`: the sums of one row, at the columns that it has.
//! - `alike`: rows like the one before, whose columns need not be found again.
//! - `room`: room for a result whose size is not known before.
//!
//! The result's size is found with the result: a pass that only counts would cost half as much
//! again.

mod alike;
mod right;
mod room;
mod sums;

use crate::Cores;
use crate::error::{Result, SparseError};
use crate::first_error::FirstError;
use crate::index::Index;
use crate::line::add_up;
use crate::matrix::{Matrix, SHARE, expect_length};
use crate::memory::{Array, Csr, Memory};
use crate::number::Number;
use partita_numeric::Shared;
use right::Right;
use room::Room;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use sums::Sums;

/// The product of two sparse matrices, with sorted columns, without sums that are 0.
///
/// Row j of the right one is row j of `own`, or of `ghosts` behind it.
///
/// # Errors
/// `lengths-differ`, `pointers-fall`, `column-outside`, `too-many-entries`, `no-memory`.
pub fn product<M: Memory, I: Index, T: Number>(
    a: Matrix<'_, I, T>,
    own: Matrix<'_, I, T>,
    ghosts: Matrix<'_, I, T>,
    n_columns: usize,
    cores: Cores,
) -> Result<Csr<M, I, T>> {
    let right = Right { own, ghosts };
    for (one, n_columns) in [(a, right.n_rows()), (own, n_columns), (ghosts, n_columns)] {
        expect_length("values", one.data.len(), one.pattern.indices.len())?;
        one.pattern.check(n_columns, cores)?;
    }
    let n_rows = a.pattern.n_rows();
    let terms = right.terms_before(a.pattern, cores)?;
    let n_terms = terms[n_rows];
    let n_pieces = if n_terms < SHARE { 1 } else { cores.n_threads.clamp(1, n_rows.max(1)) };
    let cut = |piece: usize| match piece == n_pieces {
        true => n_rows,
        false => {
            let target = (n_terms as u128 * piece as u128 / n_pieces as u128) as usize;
            terms.partition_point(|before| *before < target).min(n_rows)
        }
    };

    let mut indptr = Array::<M, I>::new(n_rows + 1)?;
    indptr.room()[0].write(I::from_position(0));
    let counts = Shared::new(indptr.room());
    let errors = FirstError::default();
    let parts: Vec<Mutex<Option<Room<M, I, T>>>> =
        (0..n_pieces).map(|_| Mutex::default()).collect();
    cores.each(n_pieces, |piece| {
        let rows = cut(piece)..cut(piece + 1);
        let outcome = piece_product(a, right, n_columns, rows, &terms, &counts);
        errors.note(
            piece,
            outcome.map(|room| {
                *parts[piece].lock().unwrap_or_else(PoisonError::into_inner) = Some(room);
            }),
        );
    });
    errors.outcome()?;
    let parts = parts
        .into_iter()
        .filter_map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner));
    let parts: Vec<_> = parts.collect();
    let n_entries: usize = parts.iter().map(Room::len).sum();
    if n_entries > I::LARGEST {
        return Err(SparseError::TooManyEntries { n_entries });
    }
    // SAFETY: every row wrote its count.
    unsafe { add_up(indptr.elements_mut()) };
    let (indices, data) = room::joined(parts, n_entries, cores)?;
    Ok(Csr { indptr, indices, data })
}

/// The products of some rows; their numbers of entries are written behind their places.
fn piece_product<M: Memory, I: Index, T: Number>(
    a: Matrix<'_, I, T>,
    right: Right<'_, I, T>,
    n_columns: usize,
    rows: Range<usize>,
    terms: &[usize],
    counts: &Shared<std::mem::MaybeUninit<I>>,
) -> Result<Room<M, I, T>> {
    let n_terms = terms[rows.end] - terms[rows.start];
    let mut sums = Sums::new(n_columns, n_terms)?;
    let n_likely = sums.likely_entries(a, right, rows.clone(), terms);
    let mut room = Room::new(n_likely)?;
    for row in rows {
        room.reserve(terms[row + 1] - terms[row])?;
        let n = sums.row(a, right, row, &mut room);
        // SAFETY: every row belongs to one piece.
        unsafe { (*counts.at(row + 1)).write(I::from_position(n)) };
    }
    Ok(room)
}
