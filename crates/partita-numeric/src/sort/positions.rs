//! The positions that sort, stable.
//!
//! Keys of a bucket and their positions within it are packed into one number each: the difference
//! to the least key above, the position below. These are all different, so that any sort of them
//! is stable, and the vector quicksort sorts them. If the differences take too many bits, the
//! lowest are left out and what they would have decided is sorted again.

use super::buckets::Spread;
use super::element::Sortable;
use super::kernels::Wide;
use super::quick;
use crate::cores::Shared;
use crate::scratch::written;
use crate::{Cores, Scratch};
use std::mem::MaybeUninit;

/// Which way round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The least first, NaN last.
    Ascending,
    /// The greatest first, and NaN before all.
    Descending,
}

/// From here on, keys are spread over buckets.
const SPREAD_FROM: usize = 1 << 17;
/// The same if threads can share the work.
const SHARE_FROM: usize = 1 << 15;

/// Writes the positions of the elements in their order; equal ones keep theirs, either way round.
///
/// ```
/// use partita_numeric::{Cores, Scratch, sort};
/// use partita_numeric::sort::Order;
/// let mut positions = [0; 4];
/// let data = [2.0, 1.0, 2.0, f64::NAN];
/// let scratch = &mut Scratch::default();
/// sort::positions(&data, &mut positions, Order::Descending, scratch, Cores::best());
/// assert_eq!(positions, [3, 0, 2, 1]);
/// ```
///
/// # Panics
/// If there is not one position per element.
pub fn positions<T: Sortable>(
    data: &[T],
    positions: &mut [i64],
    order: Order,
    scratch: &mut Scratch,
    cores: Cores,
) {
    let n = data.len();
    assert_eq!(positions.len(), n, "one position per element");
    let from = if cores.n_threads > 1 { SHARE_FROM } else { SPREAD_FROM };
    let single = data.first().is_none_or(|x| T::number(x.key()).is_some());
    if n >= from && single {
        return spread(data, positions, order, scratch, cores);
    }
    row(data, positions, order, scratch.take(n), cores);
}

/// Writes the positions within each row, as [`positions`].
///
/// # Panics
/// If the data is no whole number of rows, or there is not one position per element.
pub fn positions_of_rows<T: Sortable>(
    data: &[T],
    row_length: usize,
    positions: &mut [i64],
    order: Order,
    cores: Cores,
) {
    let n = data.len();
    assert_eq!(positions.len(), n, "one position per element");
    assert_eq!(n % row_length.max(1), 0, "whole rows");
    let n_rows = n / row_length.max(1);
    let n_pieces = cores.n_pieces(n, 1 << 12).min(n_rows);
    let all = Shared::new(positions);
    cores.each(n_pieces, |piece| {
        let mut scratch = Scratch::default();
        let scratch = scratch.take(row_length);
        for i in n_rows * piece / n_pieces..n_rows * (piece + 1) / n_pieces {
            let range = i * row_length..(i + 1) * row_length;
            // SAFETY: the rows do not overlap.
            let positions = unsafe { all.slice(range.clone()) };
            row(&data[range], positions, order, scratch, cores);
        }
    });
}

/// The positions of few elements; `scratch` is as long.
fn row<T: Sortable>(
    data: &[T],
    positions: &mut [i64],
    order: Order,
    scratch: &mut [MaybeUninit<Pair>],
    cores: Cores,
) {
    for (i, (to, element)) in scratch.iter_mut().zip(data).enumerate() {
        let Some(key) = number(*element, order) else { return compare(data, positions, order) };
        to.write(Pair { key, position: i as i64 });
    }
    // SAFETY: every pair was written.
    bucket(unsafe { written(&scratch[..data.len()]) }, positions, cores);
}

#[inline(always)]
fn number<T: Sortable>(element: T, order: Order) -> Option<u64> {
    let key = element.key();
    T::number(if order == Order::Descending { T::reverse(key) } else { key })
}

/// The library's stable sort, for keys that are no single number.
fn compare<T: Sortable>(data: &[T], positions: &mut [i64], order: Order) {
    for (i, position) in positions.iter_mut().enumerate() {
        *position = i as i64;
    }
    let key = |position: &i64| data[*position as usize].key();
    match order {
        Order::Ascending => positions.sort_by_key(key),
        Order::Descending => positions.sort_by_key(|position| T::reverse(key(position))),
    }
}

/// A key and where it was; they travel together, as one write.
#[derive(Clone, Copy)]
struct Pair {
    key: u64,
    position: i64,
}

/// Writes the positions of a bucket in the order of its keys.
fn bucket(pairs: &[Pair], positions: &mut [i64], cores: Cores) {
    let n = pairs.len();
    let least = pairs.iter().map(|pair| pair.key).min().unwrap_or(0);
    let range = pairs.iter().map(|pair| pair.key).max().unwrap_or(0) - least;
    if range == 0 {
        for (position, pair) in positions.iter_mut().zip(pairs) {
            *position = pair.position;
        }
        return;
    }
    let place_bits = usize::BITS - (n - 1).leading_zeros();
    let shift = (place_bits + u64::BITS - range.leading_zeros()).saturating_sub(u64::BITS);
    // SAFETY: both are numbers of 64 bits, and what is borrowed is borrowed alone.
    let packed = unsafe { &mut *(std::ptr::from_mut(positions) as *mut [u64]) };
    for (i, (to, pair)) in packed.iter_mut().zip(pairs).enumerate() {
        *to = ((pair.key - least) >> shift) << place_bits | i as u64;
    }
    quick::sort(u64::kernels(cores.level), packed, None);
    let mask = (1 << place_bits) - 1;
    if shift > 0 {
        for equal in packed.chunk_by_mut(|a, b| a >> place_bits == b >> place_bits) {
            if equal.len() > 1 {
                equal.sort_by_key(|number| pairs[(number & mask) as usize].key);
            }
        }
    }
    for number in packed {
        *number = pairs[(*number & mask) as usize].position as u64;
    }
}

/// The positions of many elements.
fn spread<T: Sortable>(
    data: &[T],
    positions: &mut [i64],
    order: Order,
    scratch: &mut Scratch,
    cores: Cores,
) {
    let n = data.len();
    let all = scratch.take::<Pair>(n + n.div_ceil(size_of::<Pair>()));
    let (pairs, names) = all.split_at_mut(n);
    // SAFETY: the rest has at least n bytes.
    let names = unsafe { std::slice::from_raw_parts_mut(names.as_mut_ptr().cast(), n) };
    let key = |i: usize| number(data[i], order).unwrap_or(0);
    let spread = Spread::new(n, key, names, cores);
    // SAFETY: every key has a name now.
    let names = unsafe { written(names) };
    let (pairs, positions) = (Shared::new(pairs), Shared::new(positions));
    spread.each(names, cores, |i, j| {
        let pair = Pair { key: key(i), position: i as i64 };
        // SAFETY: j is below n, and no other piece writes there.
        unsafe { pairs.at(j).write(MaybeUninit::new(pair)) }
    });
    cores.each(spread.n_buckets(), |number| {
        let range = spread.bucket(number);
        // SAFETY: buckets do not overlap, and all their pairs were written.
        unsafe {
            let pairs = written(pairs.slice(range.clone()));
            bucket(pairs, positions.slice(range), cores);
        }
    });
}
