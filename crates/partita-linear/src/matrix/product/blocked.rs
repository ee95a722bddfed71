//! Products of integers and truth values: panels of one operand, tiles of the result in registers.

use super::Into;
use super::level::{Loop, at_level};
use super::number::Number;
use crate::matrix::view::{View, ViewMut};
use partita_kernel::math::Level;

/// Rows of a tile.
const ROWS: usize = 4;

/// How deep a panel is: with 32 columns of eight bytes it takes 64 KiB.
const DEPTH: usize = 256;

/// Rows that are packed at a time: with the depth, 512 KiB of eight bytes.
const HEIGHT: usize = 256;

/// One panel of `b` times all rows of `a`.
struct Panel<'a, 'v, T> {
    out: &'a mut ViewMut<'v, T>,
    a: View<'v, T>,
    b: View<'v, T>,
    into: Into,
}

impl<T: Number> Loop for Panel<'_, '_, T> {
    type Result = ();

    #[inline(always)]
    fn run<const WIDE: bool>(self) {
        // A tile of four rows fills at most half of the vector registers.
        match (WIDE, size_of::<T>()) {
            (true, 8) => product::<T, 16>(self),
            (true, _) => product::<T, 32>(self),
            (false, 8) => product::<T, 8>(self),
            (false, _) => product::<T, 16>(self),
        }
    }
}

/// `out` becomes `a` times `b`, or is added to.
pub fn multiply<T: Number>(
    level: Level,
    out: &mut ViewMut<'_, T>,
    a: View<'_, T>,
    b: View<'_, T>,
    into: Into,
) {
    at_level(level, Panel { out: &mut out.lend(), a, b, into });
}

#[inline(always)]
fn product<T: Number, const LANES: usize>(work: Panel<'_, '_, T>) {
    let Panel { out, a, b, into } = work;
    let ([m, k], n) = (a.shape(), b.shape()[1]);
    let deepest = DEPTH.min(k);
    let mut panel = vec![[T::ZERO; LANES]; deepest];
    let mut rows = vec![[T::ZERO; ROWS]; deepest * HEIGHT.min(m).div_ceil(ROWS)];
    for depth in (0..k).step_by(DEPTH) {
        let depth = depth..(depth + DEPTH).min(k);
        let into = if depth.start == 0 { into } else { Into::Add };
        for top in (0..m).step_by(HEIGHT) {
            let below = (top + HEIGHT).min(m);
            let tiles = (top..below).step_by(ROWS).map(|row| row..(row + ROWS).min(below));
            for (rows, tile) in rows.chunks_exact_mut(depth.len()).zip(tiles.clone()) {
                pack(rows, a.part(tile, depth.clone()).transposed());
            }
            for column in (0..n).step_by(LANES) {
                let columns = column..(column + LANES).min(n);
                pack(&mut panel[..depth.len()], b.part(depth.clone(), columns.clone()));
                for (rows, tile) in rows.chunks_exact(depth.len()).zip(tiles.clone()) {
                    let sums = multiply_tile(rows, &panel[..depth.len()]);
                    store(out.lend().part(tile, columns.clone()), &sums, into);
                }
            }
        }
    }
}

/// Extents up to which a product needs no memory of its own.
pub const SMALL: usize = 32;

/// A product whose extents are at most [`SMALL`].
struct Small<'a, 'v, T>(Panel<'a, 'v, T>);

impl<T: Number> Loop for Small<'_, '_, T> {
    type Result = ();

    #[inline(always)]
    fn run<const WIDE: bool>(self) {
        match self.0.b.shape()[0].max(self.0.b.shape()[1]) {
            ..=4 => small::<T, 4, 4>(self.0),
            5..=8 => small::<T, 8, 8>(self.0),
            9..=16 => small::<T, 16, 16>(self.0),
            _ => small::<T, 16, SMALL>(self.0),
        }
    }
}

/// The same as [`multiply`] for extents up to [`SMALL`], with little to do before and after.
pub fn multiply_small<T: Number>(
    level: Level,
    out: &mut ViewMut<'_, T>,
    a: View<'_, T>,
    b: View<'_, T>,
    into: Into,
) {
    at_level(level, Small(Panel { out: &mut out.lend(), a, b, into }));
}

#[inline(always)]
fn small<T: Number, const LANES: usize, const DEEP: usize>(work: Panel<'_, '_, T>) {
    let Panel { out, a, b, into } = work;
    let ([m, k], n) = (a.shape(), b.shape()[1]);
    let (mut panel, mut rows) = ([[T::ZERO; LANES]; DEEP], [[T::ZERO; ROWS]; DEEP]);
    for column in (0..n).step_by(LANES) {
        let columns = column..(column + LANES).min(n);
        pack(&mut panel[..k], b.part(0..k, columns.clone()));
        for row in (0..m).step_by(ROWS) {
            let tile = row..(row + ROWS).min(m);
            pack(&mut rows[..k], a.part(tile.clone(), 0..k).transposed());
            let sums = multiply_tile(&rows[..k], &panel[..k]);
            store(out.lend().part(tile, columns.clone()), &sums, into);
        }
    }
}

/// Copies rows of at most `W` elements, with zeros behind them.
#[inline(always)]
fn pack<T: Number, const W: usize>(panel: &mut [[T; W]], from: View<'_, T>) {
    let (wide, [down, across]) = (from.shape()[1], from.strides());
    for (i, row) in panel.iter_mut().enumerate() {
        if across == 1 && wide == W {
            // SAFETY: the row has `W` elements, side by side.
            *row = unsafe { *from.data().offset(i.cast_signed() * down).cast() };
            continue;
        }
        // SAFETY: the row has `wide` elements.
        let element = |j: usize| unsafe {
            *from.data().offset(i.cast_signed() * down + j.cast_signed() * across)
        };
        for (j, place) in row.iter_mut().enumerate() {
            *place = if j < wide { element(j) } else { T::ZERO };
        }
    }
}

#[inline(always)]
fn multiply_tile<T: Number, const L: usize>(
    rows: &[[T; ROWS]],
    panel: &[[T; L]],
) -> [[T; L]; ROWS] {
    let mut tile = [[T::ZERO; L]; ROWS];
    for (factors, numbers) in rows.iter().zip(panel) {
        for (sums, &factor) in tile.iter_mut().zip(factors) {
            for l in 0..L {
                sums[l] = sums[l].plus(numbers[l].times(factor));
            }
        }
    }
    tile
}

#[inline(always)]
fn store<T: Number, const L: usize>(mut out: ViewMut<'_, T>, tile: &[[T; L]; ROWS], into: Into) {
    let [high, wide] = out.shape();
    let [down, across] = out.strides();
    for (i, sums) in tile.iter().enumerate().take(high) {
        if across == 1 && wide == L && into == Into::Overwrite {
            // SAFETY: the row has `L` elements, side by side.
            unsafe { *out.data().offset(i.cast_signed() * down).cast() = *sums };
            continue;
        }
        for (j, &sum) in sums.iter().enumerate().take(wide) {
            // SAFETY: both are within the shape.
            unsafe {
                let place =
                    out.lend().data().offset(i.cast_signed() * down + j.cast_signed() * across);
                *place = if into == Into::Add { (*place).plus(sum) } else { sum };
            }
        }
    }
}
