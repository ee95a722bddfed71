//! Rows at positions: as elements, several at once.

use super::gather::{self, refuse};
use super::scatter::{self, Summable};
use crate::Cores;
use crate::cores::{Shared, stretch};
use crate::error::Result;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fewer elements are not worth a second thread.
const SHARE: usize = 1 << 13;

/// Writes the rows at positions, negative ones counted from the end.
///
/// ```
/// use partita_numeric::{Cores, choose};
/// use std::mem::MaybeUninit;
/// let mut out = [MaybeUninit::uninit(); 4];
/// choose::gather_rows(&[1, 2, 3, 4, 5, 6], 2, &[-1, 0], &mut out, Cores::best())?;
/// // SAFETY: gathering writes every element.
/// assert_eq!(out.map(|x| unsafe { x.assume_init() }), [5, 6, 1, 2]);
/// # Ok::<(), partita_numeric::NumericError>(())
/// ```
///
/// # Errors
/// `index-out-of-range`.
///
/// # Panics
/// If the source is no whole number of rows, or the result has not one per position.
pub fn gather_rows<T: Copy + Send + Sync>(
    source: &[T],
    row_length: usize,
    positions: &[i64],
    out: &mut [MaybeUninit<T>],
    cores: Cores,
) -> Result<()> {
    if row_length == 1 {
        return gather::gather(source, positions, out, cores);
    }
    let n_rows = rows_of(source.len(), row_length, positions, out.len());
    let n_pieces = cores.n_pieces(out.len(), SHARE);
    let wrong = AtomicUsize::new(positions.len());
    let all = Shared::new(out);
    cores.each(n_pieces, |piece| {
        for at in stretch(positions.len(), n_pieces, piece) {
            let Some(row) = row_at(positions[at], n_rows) else {
                wrong.fetch_min(at, Ordering::Relaxed);
                return;
            };
            // SAFETY: every row of the result is written by one piece.
            let to = unsafe { all.slice(at * row_length..(at + 1) * row_length) };
            let from = &source[row * row_length..(row + 1) * row_length];
            for (to, from) in to.iter_mut().zip(from) {
                to.write(*from);
            }
        }
    });
    refuse(positions, wrong.into_inner(), n_rows)
}

/// Writes rows at positions; of repeated ones the last counts.
///
/// # Errors
/// `index-out-of-range`; rows before it may have been written.
///
/// # Panics
/// As [`gather_rows`].
pub fn scatter_rows<T: Copy + Send + Sync>(
    target: &mut [T],
    row_length: usize,
    positions: &[i64],
    values: &[T],
    cores: Cores,
) -> Result<()> {
    if row_length == 1 {
        return scatter::scatter(target, positions, values, cores);
    }
    each_row(target, row_length, positions, values, |target, value| *target = value)
}

/// Adds rows at positions, repeated ones too.
///
/// # Errors
/// `index-out-of-range`; rows before it may have been added.
///
/// # Panics
/// As [`gather_rows`].
pub fn scatter_add_rows<T: Summable>(
    target: &mut [T],
    row_length: usize,
    positions: &[i64],
    values: &[T],
    cores: Cores,
) -> Result<()> {
    if row_length == 1 {
        return scatter::scatter_add(target, positions, values, cores);
    }
    each_row(target, row_length, positions, values, |target, value| *target = target.plus(value))
}

fn each_row<T: Copy>(
    target: &mut [T],
    row_length: usize,
    positions: &[i64],
    values: &[T],
    change: impl Fn(&mut T, T),
) -> Result<()> {
    let n_rows = rows_of(target.len(), row_length, positions, values.len());
    for (at, position) in positions.iter().enumerate() {
        let Some(row) = row_at(*position, n_rows) else { return refuse(positions, at, n_rows) };
        let to = &mut target[row * row_length..(row + 1) * row_length];
        let from = &values[at * row_length..(at + 1) * row_length];
        to.iter_mut().zip(from).for_each(|(to, from)| change(to, *from));
    }
    Ok(())
}

fn rows_of(n: usize, row_length: usize, positions: &[i64], n_others: usize) -> usize {
    assert_eq!(n % row_length.max(1), 0, "whole rows");
    assert_eq!(n_others, positions.len() * row_length, "one row per position");
    // Rows without elements are not counted: no position is wrong.
    n.checked_div(row_length).unwrap_or(usize::MAX)
}

fn row_at(position: i64, n_rows: usize) -> Option<usize> {
    let from_end = if position < 0 { n_rows as i64 } else { 0 };
    usize::try_from(position.wrapping_add(from_end)).ok().filter(|row| *row < n_rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_gathered_scattered_and_added() {
        let source: Vec<i64> = (0..3000).collect();
        let positions: Vec<i64> = (0..1500).map(|i| (i * 7919) % 1000 - 300).collect();
        for n_threads in [1, 2] {
            let cores = Cores { n_threads, ..Cores::best() };
            let mut out = vec![MaybeUninit::uninit(); 4500];
            gather_rows(&source, 3, &positions, &mut out, cores).expect("inside");
            let row = |position: i64| position.rem_euclid(1000) as usize;
            for (at, position) in positions.iter().enumerate() {
                for column in 0..3 {
                    // SAFETY: gathering writes every element.
                    let found = unsafe { out[3 * at + column].assume_init() };
                    assert_eq!(found, (3 * row(*position) + column) as i64);
                }
            }
            let values: Vec<i64> = (0..4500).collect();
            let (mut put, mut sums) = (vec![-1; 3000], vec![0; 3000]);
            scatter_rows(&mut put, 3, &positions, &values, cores).expect("inside");
            scatter_add_rows(&mut sums, 3, &positions, &values, cores).expect("inside");
            let (mut last, mut total) = (vec![-1; 3000], vec![0; 3000]);
            for (at, position) in positions.iter().enumerate() {
                for column in 0..3 {
                    last[3 * row(*position) + column] = values[3 * at + column];
                    total[3 * row(*position) + column] += values[3 * at + column];
                }
            }
            assert_eq!((put, sums), (last, total));
        }
    }

    #[test]
    fn positions_outside_are_named() {
        let mut out = [MaybeUninit::<u8>::uninit(); 4];
        let error = gather_rows(&[0; 6], 2, &[1, 3], &mut out, Cores::best()).expect_err("outside");
        assert_eq!(error.reason(), "index-out-of-range");
        let mut target = [0; 6];
        let error =
            scatter_rows(&mut target, 2, &[-4], &[1, 1], Cores::best()).expect_err("outside");
        assert!(error.to_string().contains("-4"), "{error}");
    }
}
