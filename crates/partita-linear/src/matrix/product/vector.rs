//! Matrix times vector at the speed of memory.
//!
//! A matrix whose rows are contiguous is a dot product per row; one whose columns are contiguous
//! adds columns, eight at a time, to a stretch of the result that stays in the cache. Rows and
//! columns of a few elements have loops of their own. Any other matrix is copied row by row. How the sums are cut depends on the shape only, never on the threads.

use super::Into;
use super::dot::{Conjugate, Dot, PART};
use super::level::{Loop, at_level};
use super::number::Number;
use crate::matrix::view::{View, ViewMut};
use partita_kernel::math::Level;
use partita_kernel::threads;
use std::borrow::Cow;

/// Elements of the result that columns are added to at a time: 128 KiB of float64.
const STRETCH: usize = 1 << 14;

/// Columns added at once, so that the result is read and written an eighth as often.
const AT_ONCE: usize = 8;

/// Rows, or columns, of no more elements than this have loops of their own.
const SHORT: usize = 32;

/// Short rows whose sums run side by side.
const SIDE_BY_SIDE: usize = 8;

/// Short rows, or columns, that are one piece of work.
const PIECE: usize = 1 << 12;

/// Elements of the matrix that are worth another thread.
const WORTH: usize = 1 << 15;

/// How a call runs.
#[derive(Debug, Clone, Copy)]
pub struct How {
    pub level: Level,
    pub into: Into,
    pub n_threads: usize,
}

/// A pointer that threads share; they write different elements behind it.
#[derive(Clone, Copy)]
struct Shared<T>(*mut T);
// SAFETY: see above.
unsafe impl<T: Send> Sync for Shared<T> {}
impl<T> Shared<T> {
    fn get(&self) -> *mut T {
        self.0
    }
}

/// `out`, a column, becomes `a` times `x`, a column, or is added to.
pub fn times_vector<T: Dot>(mut out: ViewMut<'_, T>, a: View<'_, T>, x: View<'_, T>, how: How) {
    let [m, k] = a.shape();
    let x = contiguous(x.transposed(), 0, 0..k);
    if a.strides()[1] == 1 && k <= SHORT && m > SHORT {
        return put(&mut out, how.into, &of_short_rows(a, &x, how));
    }
    if a.strides()[0] == 1 && m > 1 && a.strides()[1] != 1 {
        let is_flat = m <= SHORT && k > SHORT;
        let y = if is_flat { of_short_columns(a, &x, how) } else { sum_of_columns(a, &x, how) };
        return put(&mut out, how.into, &y);
    }
    // SAFETY: a row of no stride, which all rows of the result are multiplied with.
    let repeated = unsafe { View::from_raw(x.as_ptr(), [m, k], [0, 1]) };
    row_by_row(out, a, repeated, Conjugate::Neither, how);
}

/// A column for each of many short rows: the sums of several rows run side by side.
fn of_short_rows<T: Dot>(a: View<'_, T>, x: &[T], how: How) -> Vec<T> {
    let [m, k] = a.shape();
    let mut sums = vec![T::ZERO; m];
    let places = Shared(sums.as_mut_ptr());
    let n_threads = how.n_threads.min((m * k).div_ceil(WORTH));
    threads::divide(n_threads, m.div_ceil(PIECE), &|piece| {
        let rows = piece * PIECE..((piece + 1) * PIECE).min(m);
        // SAFETY: these rows belong to this piece alone.
        let y = unsafe { std::slice::from_raw_parts_mut(places.get().add(rows.start), rows.len()) };
        at_level(how.level, ShortRows(y, a.part(rows, 0..k), x));
    });
    sums
}

struct ShortRows<'a, T>(&'a mut [T], View<'a, T>, &'a [T]);

impl<T: Number> Loop for ShortRows<'_, T> {
    type Result = ();

    #[inline(always)]
    fn run<const WIDE: bool>(self) {
        let ShortRows(out, a, x) = self;
        let element = |row: usize, column: usize| {
            let place = row.cast_signed() * a.strides()[0] + column.cast_signed();
            // SAFETY: the loops below stay within the matrix, whose rows are contiguous.
            unsafe { *a.data().offset(place) }
        };
        for (group, y) in out.chunks_mut(SIDE_BY_SIDE).enumerate() {
            let mut sums = [T::ZERO; SIDE_BY_SIDE];
            let n = y.len();
            for (column, &factor) in x.iter().enumerate() {
                for (r, sum) in sums[..n].iter_mut().enumerate() {
                    *sum = sum.plus(element(group * SIDE_BY_SIDE + r, column).times(factor));
                }
            }
            y.copy_from_slice(&sums[..n]);
        }
    }
}

/// The sum of many short columns, each times an element: the sums stay in registers.
fn of_short_columns<T: Dot>(a: View<'_, T>, x: &[T], how: How) -> Vec<T> {
    let [m, k] = a.shape();
    let n_pieces = k.div_ceil(PIECE);
    let mut partial = vec![[T::ZERO; SHORT]; n_pieces];
    let places = Shared(partial.as_mut_ptr());
    let n_threads = how.n_threads.min((m * k).div_ceil(WORTH));
    threads::divide(n_threads, n_pieces, &|piece| {
        let columns = piece * PIECE..((piece + 1) * PIECE).min(k);
        let sums = at_level(how.level, ShortColumns(a.part(0..m, columns.clone()), &x[columns]));
        // SAFETY: the place belongs to this piece alone.
        unsafe { places.get().add(piece).write(sums) };
    });
    let mut sums = partial[0];
    for other in &partial[1..] {
        sums.iter_mut().zip(other).for_each(|(sum, &value)| *sum = sum.plus(value));
    }
    sums[..m].to_vec()
}

struct ShortColumns<'a, T>(View<'a, T>, &'a [T]);

impl<T: Number> Loop for ShortColumns<'_, T> {
    type Result = [T; SHORT];

    #[inline(always)]
    fn run<const WIDE: bool>(self) -> [T; SHORT] {
        let ShortColumns(a, x) = self;
        let m = a.shape()[0];
        let mut sums = [T::ZERO; SHORT];
        for (column, &factor) in x.iter().enumerate() {
            // SAFETY: columns are contiguous, and there are as many as elements of `x`.
            let elements = unsafe {
                let first = a.data().offset(column.cast_signed() * a.strides()[1]);
                std::slice::from_raw_parts(first, m)
            };
            for (sum, element) in sums.iter_mut().zip(elements) {
                *sum = sum.plus(element.times(factor));
            }
        }
        sums
    }
}

/// Each row of `out` becomes the dot product of the rows of `a` and `b`, or is added to.
pub fn row_by_row<T: Dot>(
    mut out: ViewMut<'_, T>,
    a: View<'_, T>,
    b: View<'_, T>,
    conjugate: Conjugate,
    how: How,
) {
    let [m, k] = a.shape();
    let n_parts = k.div_ceil(PART).max(1);
    let rows_at_once = (PART / k.max(1)).clamp(1, m.max(1));
    let groups = m.div_ceil(rows_at_once);
    let mut partial = vec![T::ZERO; m * n_parts];
    let places = Shared(partial.as_mut_ptr());
    let n_threads = how.n_threads.min((m * k).div_ceil(WORTH));
    threads::divide(n_threads, groups * n_parts, &|piece| {
        let (group, part) = (piece / n_parts, piece % n_parts);
        let columns = part * PART..((part + 1) * PART).min(k);
        for row in group * rows_at_once..((group + 1) * rows_at_once).min(m) {
            let x = contiguous(a, row, columns.clone());
            let y = contiguous(b, row, columns.clone());
            let value = T::dot(how.level, &x, &y, conjugate);
            // SAFETY: the position belongs to this row and part alone.
            unsafe { places.get().add(row * n_parts + part).write(value) };
        }
    });
    let sums: Vec<T> = partial
        .chunks(n_parts)
        .map(|parts| parts[1..].iter().fold(parts[0], |sum, &part| sum.plus(part)))
        .collect();
    put(&mut out, how.into, &sums);
}

/// Elements of a row, copied if they do not lie side by side.
fn contiguous<'a, T: Number>(
    a: View<'a, T>,
    row: usize,
    columns: std::ops::Range<usize>,
) -> Cow<'a, [T]> {
    let n = columns.len();
    let part = a.part(row..row + 1, columns);
    let (data, stride) = (part.data(), part.strides()[1]);
    if n == 0 {
        Cow::Borrowed(&[])
    } else if stride == 1 {
        // SAFETY: these are elements of the matrix.
        Cow::Borrowed(unsafe { std::slice::from_raw_parts(data, n) })
    } else {
        // SAFETY: as above.
        Cow::Owned((0..n).map(|i| unsafe { *data.offset(i.cast_signed() * stride) }).collect())
    }
}

fn put<T: Number>(out: &mut ViewMut<'_, T>, into: Into, values: &[T]) {
    match into {
        Into::Overwrite => out.fill_with(|row, _| values[row]),
        Into::Add => {
            for (row, &value) in values.iter().enumerate() {
                let sum = out.as_view().at(row, 0).plus(value);
                out.put(row, 0, sum);
            }
        }
    }
}

/// The sum of the columns of `a`, each times an element of `x`. Columns are contiguous.
fn sum_of_columns<T: Dot>(a: View<'_, T>, x: &[T], how: How) -> Vec<T> {
    let [m, k] = a.shape();
    let n_stretches = m.div_ceil(STRETCH);
    // Few rows and many columns: parts of the columns have sums of their own.
    let columns_at_once = (4 * PART / m.min(STRETCH)).max(AT_ONCE).next_multiple_of(AT_ONCE);
    let n_parts = if m <= PART / 16 { k.div_ceil(columns_at_once).max(1) } else { 1 };
    let columns_at_once = if n_parts == 1 { k } else { columns_at_once };
    let mut partial = vec![T::ZERO; m * n_parts];
    let places = Shared(partial.as_mut_ptr());
    let n_threads = how.n_threads.min((m * k).div_ceil(WORTH));
    // One stretch for each thread at least; a result does not depend on where stretches end.
    let stretch = STRETCH.min(m.div_ceil(n_threads).next_multiple_of(64));
    let n_stretches = n_stretches.max(m.div_ceil(stretch));
    threads::divide(n_threads, n_stretches * n_parts, &|piece| {
        let (part, rows) = (piece / n_stretches, piece % n_stretches * stretch);
        let rows = rows..(rows + stretch).min(m);
        let columns = part * columns_at_once..((part + 1) * columns_at_once).min(k);
        // SAFETY: these elements belong to this part and stretch alone.
        let y = unsafe {
            std::slice::from_raw_parts_mut(places.get().add(part * m + rows.start), rows.len())
        };
        add_columns(how.level, y, a.part(rows, columns.clone()), &x[columns]);
    });
    let (sums, others) = partial.split_at_mut(m);
    for other in others.chunks(m) {
        for (sum, &value) in sums.iter_mut().zip(other) {
            *sum = sum.plus(value);
        }
    }
    partial.truncate(m);
    partial
}

struct Columns<'a, T, const N: usize>(&'a mut [T], [&'a [T]; N], [T; N]);

impl<T: Number, const N: usize> Loop for Columns<'_, T, N> {
    type Result = ();

    #[inline(always)]
    fn run<const WIDE: bool>(self) {
        let n = self.0.len();
        let columns = self.1.map(|column| &column[..n]);
        for (i, y) in self.0.iter_mut().enumerate() {
            let mut sum = *y;
            for (column, &factor) in columns.iter().zip(&self.2) {
                sum = sum.plus(column[i].times(factor));
            }
            *y = sum;
        }
    }
}

fn add_columns<T: Number>(level: Level, y: &mut [T], a: View<'_, T>, x: &[T]) {
    let (m, stride) = (y.len(), a.strides()[1]);
    let column = |c: usize| {
        // SAFETY: columns are contiguous and have as many elements as `y`.
        unsafe { std::slice::from_raw_parts(a.data().offset(c.cast_signed() * stride), m) }
    };
    let whole = x.len() / AT_ONCE * AT_ONCE;
    for c in (0..whole).step_by(AT_ONCE) {
        let columns: [&[T]; AT_ONCE] = std::array::from_fn(|i| column(c + i));
        let factors: [T; AT_ONCE] = std::array::from_fn(|i| x[c + i]);
        at_level(level, Columns(y, columns, factors));
    }
    for (c, &factor) in x.iter().enumerate().skip(whole) {
        at_level(level, Columns(y, [column(c)], [factor]));
    }
}
