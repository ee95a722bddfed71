//! Two matrices of one shape, element by element.

use crate::Cores;
use crate::error::{Result, SparseError};
use crate::first_error::FirstError;
use crate::index::Index;
use crate::line::add_up;
use crate::matrix::{Matrix, Pattern, expect_length};
use crate::memory::{Array, Csr, Memory};
use crate::number::{Number, Ordered};
use partita_numeric::Shared;
use std::cmp::Ordering;

/// What becomes of two elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Their sum.
    Add,
    /// Their difference.
    Subtract,
    /// Their product, where both have entries.
    Multiply,
    /// The larger one.
    Maximum,
    /// The smaller one.
    Minimum,
}

/// Combines two tidy matrices of one shape; entries that one of them lacks count as 0.
///
/// The result has an entry where one of them has, and for products where both have.
///
/// # Errors
/// `lengths-differ`, `pointers-fall`, `column-outside`, `not-tidy`, `too-many-entries`,
/// `no-memory`.
pub fn combined<M: Memory, I: Index, T: Ordered>(
    a: Matrix<'_, I, T>,
    b: Matrix<'_, I, T>,
    operation: Operation,
    n_columns: usize,
    cores: Cores,
) -> Result<Csr<M, I, T>> {
    match operation {
        Operation::Add => joined::<_, _, _, true>(a, b, n_columns, T::plus, cores),
        Operation::Subtract => joined::<_, _, _, true>(a, b, n_columns, T::minus, cores),
        Operation::Maximum => joined::<_, _, _, true>(a, b, n_columns, T::larger, cores),
        Operation::Minimum => joined::<_, _, _, true>(a, b, n_columns, T::smaller, cores),
        Operation::Multiply => joined::<_, _, _, false>(a, b, n_columns, T::times, cores),
    }
}

/// `UNION` keeps entries that only one matrix has.
fn joined<M: Memory, I: Index, T: Number, const UNION: bool>(
    a: Matrix<'_, I, T>,
    b: Matrix<'_, I, T>,
    n_columns: usize,
    operation: impl Fn(T, T) -> T + Sync,
    cores: Cores,
) -> Result<Csr<M, I, T>> {
    let n_rows = a.pattern.n_rows();
    expect_length("rows of the second matrix", b.pattern.n_rows(), n_rows)?;
    for one in [a, b] {
        expect_length("values", one.data.len(), one.pattern.indices.len())?;
        one.pattern.check(n_columns, cores)?;
        check_tidy(one.pattern, cores)?;
    }
    let (mut indptr, n_entries) = counted::<M, I, UNION>(a.pattern, b.pattern, cores)?;
    // SAFETY: counting wrote where every row begins.
    let starts = unsafe { indptr.elements_mut() };
    let (mut indices, mut data) = (Array::<M, I>::new(n_entries)?, Array::<M, T>::new(n_entries)?);
    let (to_columns, to_values) = (Shared::new(indices.room()), Shared::new(data.room()));
    let n_pieces = a.pattern.n_pieces(4, cores);
    cores.each(n_pieces, |piece| {
        for row in a.pattern.piece(n_pieces, piece) {
            let mut place = starts[row].at();
            let (in_a, in_b) = (a.pattern.row(row), b.pattern.row(row));
            merge::<I, UNION>(
                &a.pattern.indices[in_a.clone()],
                &b.pattern.indices[in_b.clone()],
                |column, at_a, at_b| {
                    let value = |data: &[T], start, at: Option<usize>| {
                        at.map_or(T::ZERO, |at| data[start + at])
                    };
                    let (x, y) = (value(a.data, in_a.start, at_a), value(b.data, in_b.start, at_b));
                    // SAFETY: the same walk counted as many places for this row.
                    unsafe {
                        (*to_columns.at(place)).write(column);
                        (*to_values.at(place)).write(operation(x, y));
                    }
                    place += 1;
                },
            );
        }
    });
    Ok(Csr { indptr, indices, data })
}

/// Where the rows of the result begin, and how many entries it has.
fn counted<M: Memory, I: Index, const UNION: bool>(
    a: Pattern<'_, I>,
    b: Pattern<'_, I>,
    cores: Cores,
) -> Result<(Array<M, I>, usize)> {
    let n_rows = a.n_rows();
    if UNION && a.n_entries() + b.n_entries() > I::LARGEST {
        // Only then can the sums of counts be too large for the type.
        let n_entries = a.n_entries() + b.n_entries();
        return Err(SparseError::TooManyEntries { n_entries });
    }
    let mut indptr = Array::<M, I>::new(n_rows + 1)?;
    indptr.room()[0].write(I::from_position(0));
    let n_pieces = a.n_pieces(4, cores);
    let counts = Shared::new(indptr.room());
    cores.each(n_pieces, |piece| {
        for row in a.piece(n_pieces, piece) {
            let (in_a, in_b) = (&a.indices[a.row(row)], &b.indices[b.row(row)]);
            let n_common = count_common(in_a, in_b);
            let n = if UNION { in_a.len() + in_b.len() - n_common } else { n_common };
            // SAFETY: every row belongs to one piece.
            unsafe { (*counts.at(row + 1)).write(I::from_position(n)) };
        }
    });
    // SAFETY: every row wrote its count.
    let starts = unsafe { indptr.elements_mut() };
    add_up(starts);
    let n_entries = starts[n_rows].at();
    Ok((indptr, n_entries))
}

/// How many columns two rows that rise have in common.
#[inline(always)]
fn count_common<I: Index>(a: &[I], b: &[I]) -> usize {
    let (mut at_a, mut at_b, mut n_common) = (0, 0, 0);
    while at_a < a.len() && at_b < b.len() {
        let (x, y) = (a[at_a], b[at_b]);
        n_common += usize::from(x == y);
        at_a += usize::from(x <= y);
        at_b += usize::from(y <= x);
    }
    n_common
}

/// Tells, in order, of the columns of two rows that rise, and where each row has them.
#[inline(always)]
fn merge<I: Index, const UNION: bool>(
    a: &[I],
    b: &[I],
    mut tell: impl FnMut(I, Option<usize>, Option<usize>),
) {
    let (mut at_a, mut at_b) = (0, 0);
    while at_a < a.len() && at_b < b.len() {
        match a[at_a].cmp(&b[at_b]) {
            Ordering::Equal => {
                tell(a[at_a], Some(at_a), Some(at_b));
                (at_a, at_b) = (at_a + 1, at_b + 1);
            }
            Ordering::Less => {
                if UNION {
                    tell(a[at_a], Some(at_a), None);
                }
                at_a += 1;
            }
            Ordering::Greater => {
                if UNION {
                    tell(b[at_b], None, Some(at_b));
                }
                at_b += 1;
            }
        }
    }
    if UNION {
        (at_a..a.len()).for_each(|at| tell(a[at], Some(at), None));
        (at_b..b.len()).for_each(|at| tell(b[at], None, Some(at)));
    }
}

/// Checks that the columns of every row rise.
fn check_tidy<I: Index>(pattern: Pattern<'_, I>, cores: Cores) -> Result<()> {
    let n_pieces = pattern.n_pieces(1, cores);
    let errors = FirstError::default();
    cores.each(n_pieces, |piece| {
        for row in pattern.piece(n_pieces, piece) {
            let columns = &pattern.indices[pattern.row(row)];
            if let Some(at) = columns.windows(2).position(|two| two[0] >= two[1]) {
                let (before, column) = (columns[at].number(), columns[at + 1].number());
                errors.note(piece, Err(SparseError::NotTidy { row, before, column }));
                return;
            }
        }
    });
    errors.outcome()
}
