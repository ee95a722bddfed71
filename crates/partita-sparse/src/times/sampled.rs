//! Products of dense rows at the entries of a pattern alone.

use crate::Cores;
use crate::error::Result;
use crate::first_error::FirstError;
use crate::index::Index;
use crate::level::{Loop, at_level, prefetch};
use crate::matrix::{Pattern, expect_length};
use crate::number::Number;
use crate::stacked::Rows;
use partita_numeric::Shared;
use std::ops::Range;

/// Sums have that many parts, joined in halves at the end.
const LANES: usize = 16;
/// How many entries ahead a row is asked for.
const AHEAD: usize = 4;
const LINE_BYTES: usize = 64;

/// Writes, for every entry, row i of `left` times the row of its column, summed.
///
/// # Errors
/// `lengths-differ`, `pointers-fall`, `column-outside`; the result then has no meaning.
pub fn sampled<I: Index, T: Number>(
    pattern: Pattern<'_, I>,
    left: &[T],
    right: Rows<'_, T>,
    out: &mut [T],
    cores: Cores,
) -> Result<()> {
    let n_numbers = pattern.n_rows().saturating_mul(right.width());
    expect_length("numbers of the left operand", left.len(), n_numbers)?;
    expect_length("numbers of the result", out.len(), pattern.n_entries())?;
    pattern.check(right.n_rows(), cores)?;
    let n_pieces = pattern.n_pieces(right.width(), cores);
    let errors = FirstError::default();
    let shared = Shared::new(out);
    cores.each(n_pieces, |piece| {
        let rows = pattern.piece(n_pieces, piece);
        let entries = pattern.indptr[rows.start].at()..pattern.indptr[rows.end].at();
        // SAFETY: rows that never fall have entries of their own.
        let out = unsafe { shared.slice(entries) };
        errors.note(piece, at_level(cores.level, Piece { pattern, left, right, rows, out }));
    });
    errors.outcome()
}

struct Piece<'a, I, T> {
    pattern: Pattern<'a, I>,
    left: &'a [T],
    right: Rows<'a, T>,
    rows: Range<usize>,
    out: &'a mut [T],
}

impl<I: Index, T: Number> Loop for Piece<'_, I, T> {
    type Result = Result<()>;

    #[inline(always)]
    fn run(self) -> Result<()> {
        let Piece { pattern, left, right, rows, out } = self;
        let width = right.width();
        let first = pattern.indptr[rows.start].at();
        for row in rows {
            let left = &left[row * width..(row + 1) * width];
            for at in pattern.row(row) {
                if let Some(ahead) = pattern.indices.get(at + AHEAD) {
                    let start = right.address(ahead.at()).cast::<u8>();
                    for line in 0..(width * size_of::<T>()).div_ceil(LINE_BYTES) {
                        prefetch(start.wrapping_add(line * LINE_BYTES));
                    }
                }
                let other = right.address(pattern.indices[at].at());
                // SAFETY: all columns were checked to be rows of the operand.
                let other = unsafe { std::slice::from_raw_parts(other, width) };
                out[at - first] = dot(left, other);
            }
        }
        Ok(())
    }
}

#[inline(always)]
fn dot<T: Number>(left: &[T], right: &[T]) -> T {
    let mut sums = [T::ZERO; LANES];
    let (mut lefts, mut rights) = (left.chunks_exact(LANES), right.chunks_exact(LANES));
    for (left, right) in lefts.by_ref().zip(rights.by_ref()) {
        for lane in 0..LANES {
            sums[lane] = sums[lane].plus(left[lane].times(right[lane]));
        }
    }
    let rest = lefts.remainder().iter().zip(rights.remainder());
    for (sum, (left, right)) in sums.iter_mut().zip(rest) {
        *sum = sum.plus(left.times(*right));
    }
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            sums[lane] = sums[lane].plus(sums[lane + half]);
        }
        half /= 2;
    }
    sums[0]
}
