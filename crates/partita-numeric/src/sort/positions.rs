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
use crate::cores::{Shared, stretch};
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
    row(data, positions, order, scratch.take(2 * n), cores);
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
        let scratch = scratch.take(2 * row_length);
        for i in n_rows * piece / n_pieces..n_rows * (piece + 1) / n_pieces {
            let range = i * row_length..(i + 1) * row_length;
            // SAFETY: the rows do not overlap.
            let positions = unsafe { all.slice(range.clone()) };
            row(&data[range], positions, order, scratch, cores);
        }
    });
}

/// The positions of few elements; `scratch` is twice as long.
fn row<T: Sortable>(
    data: &[T],
    positions: &mut [i64],
    order: Order,
    scratch: &mut [MaybeUninit<u64>],
    cores: Cores,
) {
    for (i, position) in positions.iter_mut().enumerate() {
        *position = i as i64;
    }
    let (keys, packed) = scratch.split_at_mut(data.len());
    for (to, element) in keys.iter_mut().zip(data) {
        let Some(key) = number(*element, order) else { return compare(data, positions, order) };
        to.write(key);
    }
    // SAFETY: every key was written.
    let keys = unsafe { keys.assume_init_mut() };
    bucket(keys, &mut packed[..data.len()], positions, cores);
}

#[inline(always)]
fn number<T: Sortable>(element: T, order: Order) -> Option<u64> {
    let key = element.key();
    T::number(if order == Order::Descending { T::reverse(key) } else { key })
}

/// The library's stable sort, for keys that are no single number.
fn compare<T: Sortable>(data: &[T], positions: &mut [i64], order: Order) {
    let key = |position: &i64| data[*position as usize].key();
    match order {
        Order::Ascending => positions.sort_by_key(key),
        Order::Descending => positions.sort_by_key(|position| T::reverse(key(position))),
    }
}

/// Sorts the positions of a bucket by its keys, which are lost.
fn bucket(
    keys: &mut [u64],
    packed: &mut [MaybeUninit<u64>],
    positions: &mut [i64],
    cores: Cores,
) {
    let n = keys.len();
    let least = keys.iter().copied().min().unwrap_or(0);
    let range = keys.iter().copied().max().unwrap_or(0) - least;
    if range == 0 {
        return;
    }
    let position_bits = usize::BITS - (n - 1).leading_zeros();
    let shift = (position_bits + u64::BITS - range.leading_zeros()).saturating_sub(u64::BITS);
    for (i, (to, key)) in packed.iter_mut().zip(&*keys).enumerate() {
        to.write(((key - least) >> shift) << position_bits | i as u64);
    }
    // SAFETY: every number was written.
    let packed = unsafe { packed.assume_init_mut() };
    quick::sort(u64::kernels(cores.level), packed, None);
    let mask = (1 << position_bits) - 1;
    if shift > 0 {
        for equal in packed.chunk_by_mut(|a, b| a >> position_bits == b >> position_bits) {
            if equal.len() > 1 {
                equal.sort_by_key(|number| keys[(number & mask) as usize]);
            }
        }
    }
    // The keys are not needed any more: their place takes the old positions.
    for (to, position) in keys.iter_mut().zip(&*positions) {
        *to = *position as u64;
    }
    for (position, number) in positions.iter_mut().zip(packed) {
        *position = keys[(*number & mask) as usize] as i64;
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
    let (first, rest) = scratch.take::<u64>(2 * n + n.div_ceil(8)).split_at_mut(n);
    let (second, names) = rest.split_at_mut(n);
    // SAFETY: the rest has at least n bytes.
    let names = unsafe { std::slice::from_raw_parts_mut(names.as_mut_ptr().cast(), n) };
    let keys = write_keys(data, first, order, cores);
    let spread = Spread::new(keys, names, cores);
    // SAFETY: every key has a name now.
    let names = unsafe { names.assume_init_ref() };
    let (all_keys, all_positions) = (Shared::new(second), Shared::new(positions));
    spread.each(names, cores, |i, j| {
        // SAFETY: i and j are below n, and no other piece writes to j.
        unsafe {
            all_keys.at(j).write(MaybeUninit::new(*keys.get_unchecked(i)));
            all_positions.at(j).write(i as i64);
        }
    });
    let packed = Shared::new(first);
    cores.each(spread.n_buckets(), |number| {
        let range = spread.bucket(number);
        // SAFETY: buckets do not overlap, and all their keys were written.
        unsafe {
            let keys = all_keys.slice(range.clone()).assume_init_mut();
            let positions = all_positions.slice(range.clone());
            bucket(keys, packed.slice(range), positions, cores);
        }
    });
}

fn write_keys<'a, T: Sortable>(
    data: &[T],
    keys: &'a mut [MaybeUninit<u64>],
    order: Order,
    cores: Cores,
) -> &'a mut [u64] {
    let n_pieces = cores.n_pieces(data.len(), 1 << 14);
    let all = Shared::new(keys);
    cores.each(n_pieces, |piece| {
        let range = stretch(data.len(), n_pieces, piece);
        // SAFETY: the stretches do not overlap.
        let keys = unsafe { all.slice(range.clone()) };
        for (to, element) in keys.iter_mut().zip(&data[range]) {
            to.write(number(*element, order).unwrap_or(0));
        }
    });
    // SAFETY: every key was written.
    unsafe { keys.assume_init_mut() }
}
