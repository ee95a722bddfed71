//! Cutting keys into parts that several threads sort apart.
//!
//! Parts are divided by pivots in rounds, as quicksort would, the parts of a round at once. Only
//! the first round has one part; it is a twentieth of the work.

use super::partition::Left;
use super::quick::Places;
use super::wide::{Ordered, sort_alone};
use crate::Cores;
use crate::cores::Shared;
use std::ops::Range;
use std::sync::Mutex;

/// Parts per thread, so that threads end at about the same time.
const PARTS: usize = 4;
/// Parts are not cut below.
const LEAST: usize = 1 << 13;

/// Moves keys so that no key of a part is greater than one of a later part, NaN the greatest.
///
/// The largest part comes first.
pub(super) fn parts<K: Ordered>(data: &mut [K], cores: Cores) -> Vec<Range<usize>> {
    let wanted = data.len() / (PARTS * cores.n_threads);
    let whole = 0..data.len();
    let mut parts = Vec::from([whole]);
    let all = Shared::new(data);
    // Pivots are never so bad that twice the rounds would not do.
    for _ in 0..2 * (PARTS * cores.n_threads).ilog2() {
        let (large, mut small): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|part: &Range<usize>| part.len() > wanted.max(LEAST));
        let done = large.is_empty();
        let halves = Mutex::new(&mut small);
        cores.each(large.len(), |part| {
            let range = large[part].clone();
            // SAFETY: the parts do not overlap.
            let cut = range.start + cut(unsafe { all.slice(range.clone()) }, cores);
            let mut halves = halves.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            halves.extend([range.start..cut, cut..range.end].into_iter().filter(|r| !r.is_empty()));
        });
        parts = small;
        if done {
            break;
        }
    }
    parts.sort_unstable_by_key(|part| std::cmp::Reverse(part.len()));
    parts
}

/// Moves lesser keys to the front; how many those are.
fn cut<K: Ordered>(keys: &mut [K], cores: Cores) -> usize {
    const SAMPLES: usize = 255;
    let mut places = Places::new(keys.len());
    let mut samples: [K; SAMPLES] = std::array::from_fn(|_| keys[places.next()]);
    sort_alone(&mut samples, cores);
    let pivot = samples[SAMPLES / 2];
    if pivot.is_nan() {
        return split(keys, |key| !key.is_nan());
    }
    // NaN is not less than the pivot, and hence on the right.
    match K::kernels(cores.level) {
        // SAFETY: a part is longer than any network.
        Some(kernels) => unsafe {
            (kernels.partition)(keys.as_mut_ptr(), keys.len(), pivot, Left::Less)
        },
        None => split(keys, |key| key < pivot),
    }
}

/// Moves keys of the left to the front; how many those are.
fn split<K: Copy>(keys: &mut [K], is_left: impl Fn(K) -> bool) -> usize {
    let mut n_left = 0;
    for i in 0..keys.len() {
        let key = keys[i];
        keys.swap(i, n_left);
        n_left += usize::from(is_left(key));
    }
    n_left
}
