//! Sorting elements of 8 and 16 bits: by counting, or as wider numbers if they are few.

use super::element::Sortable;
use super::kernels::Wide;
use super::quick;
use crate::Cores;
use crate::cores::{Shared, stretch};

/// So many are sorted in a buffer on the stack.
const FEW: usize = 4096;
/// Fewer are not worth a second thread.
const SHARE_FROM: usize = 1 << 18;

/// An element with its key in the upper half; equal keys of different bits stay apart.
#[inline(always)]
fn widened<T: Sortable>(element: T) -> u32 {
    (T::number(element.key()).unwrap_or(0) as u32) << 16 | u32::from(bits(element))
}

#[inline(always)]
fn bits<T: Sortable>(element: T) -> u16 {
    let mut bits = 0_u16;
    let size = size_of::<T>().min(2);
    // SAFETY: elements here have one or two bytes, all initialised.
    unsafe {
        std::ptr::copy_nonoverlapping(
            std::ptr::from_ref(&element).cast::<u8>(),
            std::ptr::from_mut(&mut bits).cast::<u8>(),
            size,
        );
    }
    bits
}

/// The element that [`bits`] was made of.
#[inline(always)]
fn element<T: Sortable>(bits: u16) -> T {
    debug_assert!(size_of::<T>() <= 2);
    // SAFETY: these are the bits of an element, which has no more bytes.
    unsafe { std::ptr::from_ref(&bits).cast::<T>().read() }
}

pub(super) fn sort_alone<T: Sortable>(data: &mut [T], cores: Cores) {
    if data.len() > FEW {
        return sort(data, cores.alone());
    }
    let mut buffer = [0_u32; FEW];
    let keys = &mut buffer[..data.len()];
    for (key, element) in keys.iter_mut().zip(&*data) {
        *key = widened(*element);
    }
    quick::sort(u32::kernels(cores.level), keys, None);
    for (data, key) in data.iter_mut().zip(keys) {
        *data = element(*key as u16);
    }
}

/// Counts every pattern of bits.
fn count<T: Sortable>(data: &[T]) -> Vec<usize> {
    let mut counts = vec![0_usize; 1 << (8 * size_of::<T>())];
    for element in data {
        counts[usize::from(bits(*element))] += 1;
    }
    counts
}

pub(super) fn sort<T: Sortable>(data: &mut [T], cores: Cores) {
    let n = data.len();
    if n <= FEW {
        return sort_alone(data, cores);
    }
    let n_pieces = if n < SHARE_FROM { 1 } else { cores.n_threads.max(1) };
    let mut counts = vec![Vec::new(); n_pieces];
    let all = Shared::new(&mut counts);
    cores.each(n_pieces, |piece| {
        // SAFETY: every piece has counts of its own.
        unsafe { all.at(piece).write(count(&data[stretch(n, n_pieces, piece)])) }
    });
    let mut runs = runs::<T>(&counts);
    runs.sort_unstable_by_key(|run| run.0);
    let mut rest = data;
    for (key, count) in runs {
        let (run, others) = rest.split_at_mut(count);
        run.fill(element(key as u16));
        rest = others;
    }
}

/// Every pattern of bits that occurs, widened, and how often.
fn runs<T: Sortable>(counts: &[Vec<usize>]) -> Vec<(u32, usize)> {
    let total = |bits: usize| counts.iter().map(|counts| counts[bits]).sum();
    (0..counts[0].len())
        .map(|bits| (bits, total(bits)))
        .filter(|(_, count)| *count > 0)
        .map(|(bits, count)| (widened(element::<T>(bits as u16)), count))
        .collect()
}
