//! Where values belong in a sorted slice.

use super::element::Sortable;
use crate::Cores;
use crate::cores::{Shared, stretch};

/// Which place a value takes among equal ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Before the first.
    Left,
    /// After the last.
    Right,
}

/// Searches on their way at once, since each step waits for memory.
const GROUP: usize = 16;
/// Fewer searches are not worth a second thread.
const SHARE: usize = 1 << 12;

/// Where each value would be inserted in a sorted slice, with NaN after all numbers.
///
/// ```
/// use partita_numeric::{Cores, sort};
/// use partita_numeric::sort::Side;
/// let mut places = [0; 2];
/// sort::search(&[1.0, 2.0, 2.0], &[2.0, f64::NAN], Side::Left, &mut places, Cores::best());
/// assert_eq!(places, [1, 3]);
/// ```
///
/// # Panics
/// If there is not one place per value.
pub fn search<T: Sortable>(
    sorted: &[T],
    values: &[T],
    side: Side,
    places: &mut [i64],
    cores: Cores,
) {
    let n = values.len();
    assert_eq!(places.len(), n, "one place per value");
    let n_pieces = cores.n_pieces(n, SHARE);
    let all = Shared::new(places);
    cores.each(n_pieces, |piece| {
        let range = stretch(n, n_pieces, piece);
        // SAFETY: the stretches do not overlap.
        let places = unsafe { all.slice(range.clone()) };
        let values = &values[range];
        match side {
            Side::Left => groups(sorted, values, places, |x, value| x.before(value)),
            Side::Right => groups(sorted, values, places, |x, value| !value.before(x)),
        }
    });
}

/// Finds the first element that does not come before, for each value.
fn groups<T: Sortable>(
    sorted: &[T],
    values: &[T],
    places: &mut [i64],
    is_before: impl Fn(T, T) -> bool + Copy,
) {
    if sorted.is_empty() {
        return places.fill(0);
    }
    for (values, places) in values.chunks(GROUP).zip(places.chunks_mut(GROUP)) {
        let Ok(values) = <&[T; GROUP]>::try_from(values) else {
            for (value, place) in values.iter().zip(places) {
                *place = descend(sorted, &[*value], is_before)[0] as i64;
            }
            continue;
        };
        for (place, found) in places.iter_mut().zip(descend(sorted, values, is_before)) {
            *place = found as i64;
        }
    }
}

/// Halves the stretches of all searches in step: they have the same lengths.
#[inline(always)]
fn descend<T: Sortable, const N: usize>(
    sorted: &[T],
    values: &[T; N],
    is_before: impl Fn(T, T) -> bool,
) -> [usize; N] {
    let mut bases = [0; N];
    let mut length = sorted.len();
    while length > 1 {
        let half = length / 2;
        for (base, value) in bases.iter_mut().zip(values) {
            // SAFETY: base + length never leaves the slice, and half is not greater than length.
            let middle = unsafe { *sorted.get_unchecked(*base + half - 1) };
            *base += if is_before(middle, *value) { half } else { 0 };
        }
        length -= half;
    }
    for (base, value) in bases.iter_mut().zip(values) {
        *base += usize::from(is_before(sorted[*base], *value));
    }
    bases
}
