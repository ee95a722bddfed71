//! Entries grouped by stretches of rows, for those who send them to whoever holds their rows.

use crate::Cores;
use crate::error::{Result, SparseError};
use crate::index::Index;
use crate::matrix::{SHARE, expect_length};
use crate::memory::{Array, Memory};
use partita_numeric::Shared;

/// So many stretches are told apart by comparisons, which cost less than branches; more by halving.
const FEW: usize = 8;

/// Entries one stretch behind the other; those of one stretch keep their order.
#[derive(Debug)]
pub struct Divided<M, I, T> {
    /// Counted from the first row of their stretch.
    pub rows: Array<M, I>,
    /// As they were.
    pub columns: Array<M, I>,
    /// As they were.
    pub values: Array<M, T>,
    /// How many entries each stretch has.
    pub counts: Vec<usize>,
}

/// Groups entries by stretches of rows: `cuts` says where each begins, and where the last one ends.
///
/// # Errors
/// `lengths-differ`, `pointers-empty`, `pointers-fall`, `row-outside`, `no-memory`.
pub fn divided<M: Memory, I: Index, T: Copy + Send + Sync>(
    rows: &[I],
    columns: &[I],
    values: &[T],
    cuts: &[I],
    cores: Cores,
) -> Result<Divided<M, I, T>> {
    let n = rows.len();
    expect_length("columns", columns.len(), n)?;
    expect_length("values", values.len(), n)?;
    let [first, inner @ .., end] = cuts else { return Err(SparseError::PointersEmpty) };
    if let Some(row) = cuts.windows(2).position(|two| two[0] > two[1]) {
        let (start, end) = (cuts[row].number(), cuts[row + 1].number());
        return Err(SparseError::PointersFall { row, start, end });
    }
    // Without an early end the loop is vectorised.
    let (least, most) =
        rows.iter().fold((*end, *first), |(least, most), row| (least.min(*row), most.max(*row)));
    if n > 0 && (least < *first || most >= *end) {
        let at = rows.iter().position(|row| row < first || row >= end).unwrap_or(0);
        return Err(SparseError::RowOutside { at, row: rows[at].number(), n_rows: end.at() });
    }
    let n_stretches = inner.len() + 1;
    let stretch_of = |row: I| match inner.len() <= FEW {
        true => inner.iter().map(|cut| usize::from(row >= *cut)).sum(),
        false => inner.partition_point(|cut| *cut <= row),
    };
    let n_pieces = cores.n_pieces(n, SHARE);
    let cut = |piece: usize| (n as u128 * piece as u128 / n_pieces as u128) as usize;
    let mut places = vec![0_usize; n_pieces * n_stretches];
    let shared = Shared::new(&mut places);
    // SAFETY: every piece has places of its own.
    let of_piece =
        |piece: usize| unsafe { shared.slice(piece * n_stretches..(piece + 1) * n_stretches) };
    cores.each(n_pieces, |piece| {
        let counts = of_piece(piece);
        rows[cut(piece)..cut(piece + 1)].iter().for_each(|row| counts[stretch_of(*row)] += 1);
    });
    let mut counts = vec![0; n_stretches];
    let mut next = 0;
    for (stretch, count) in counts.iter_mut().enumerate() {
        let start = next;
        for piece in 0..n_pieces {
            next += std::mem::replace(&mut of_piece(piece)[stretch], next);
        }
        *count = next - start;
    }
    let mut grouped_rows = Array::<M, I>::new(n)?;
    let (mut grouped_columns, mut grouped_values) =
        (Array::<M, I>::new(n)?, Array::<M, T>::new(n)?);
    let to_rows = Shared::new(grouped_rows.room());
    let to_columns = Shared::new(grouped_columns.room());
    let to_values = Shared::new(grouped_values.room());
    cores.each(n_pieces, |piece| {
        let places = of_piece(piece);
        for at in cut(piece)..cut(piece + 1) {
            let stretch = stretch_of(rows[at]);
            let place = &mut places[stretch];
            let row = I::from_position(rows[at].at() - cuts[stretch].at());
            // SAFETY: the same rows were counted before, so that each place is inside and belongs
            // to one entry.
            unsafe {
                (*to_rows.at(*place)).write(row);
                (*to_columns.at(*place)).write(columns[at]);
                (*to_values.at(*place)).write(values[at]);
            }
            *place += 1;
        }
    });
    Ok(Divided { rows: grouped_rows, columns: grouped_columns, values: grouped_values, counts })
}
