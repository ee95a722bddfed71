//! Quicksort in place, on one thread.
//!
//! Keys equal to a pivot that was used before are split off at once, so few distinct values take
//! few passes; after too many passes the keys are handed to the library's sort, which has no slow
//! case. What has become small is sorted by a network.

use super::kernels::{Kernels, Wide};
use super::partition::Left;

/// Sorts keys without NaN.
pub(super) fn sort<K: Wide>(kernels: Option<&Kernels<K>>, keys: &mut [K], lower: Option<K>) {
    match kernels {
        Some(kernels) => {
            let passes = 2 * (usize::BITS - keys.len().leading_zeros()) + 8;
            quick(kernels, keys, lower, passes);
        }
        None => settle(keys),
    }
}

/// The library's sort.
fn settle<K: Wide>(keys: &mut [K]) {
    keys.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
}

/// Sorts keys of which none is less than `lower`.
fn quick<K: Wide>(
    kernels: &Kernels<K>,
    mut keys: &mut [K],
    mut lower: Option<K>,
    mut passes_left: u32,
) {
    loop {
        let n = keys.len();
        if n <= kernels.few {
            // SAFETY: so few can be sorted at once.
            return unsafe { (kernels.sort_few)(keys.as_ptr(), keys.as_mut_ptr(), n) };
        }
        if passes_left == 0 {
            return settle(keys);
        }
        passes_left -= 1;
        let pivot = pivot(kernels, keys);
        let left = if lower == Some(pivot) { Left::AtMost } else { Left::Less };
        // SAFETY: more keys than a network takes are enough to divide.
        let n_left = unsafe { (kernels.partition)(keys.as_mut_ptr(), n, pivot, left) };
        let (first, second) = keys.split_at_mut(n_left);
        if left == Left::AtMost {
            // All of them equal the pivot.
            (keys, lower) = (second, Some(pivot));
        } else if first.len() < second.len() {
            // The smaller part first, so that few calls are open at once.
            quick(kernels, first, lower, passes_left);
            (keys, lower) = (second, Some(pivot));
        } else {
            quick(kernels, second, Some(pivot), passes_left);
            keys = first;
        }
    }
}

/// The median of keys from places all over.
fn pivot<K: Wide>(kernels: &Kernels<K>, keys: &[K]) -> K {
    /// What every level sorts at once.
    const MOST: usize = 64;
    let n_samples = match keys.len() {
        0..=1023 => 16,
        1024..=16383 => 32,
        _ => MOST,
    };
    let mut samples = [keys[0]; MOST];
    let mut places = Places::new(keys.len());
    samples[..n_samples].fill_with(|| keys[places.next()]);
    // SAFETY: every level sorts as many.
    unsafe { (kernels.sort_few)(samples.as_ptr(), samples.as_mut_ptr(), n_samples) };
    samples[n_samples / 2]
}

/// Places below n that no pattern in the data follows.
pub(super) struct Places {
    state: u64,
    n: usize,
}

impl Places {
    pub(super) fn new(n: usize) -> Places {
        Places { state: n as u64, n }
    }

    pub(super) fn next(&mut self) -> usize {
        // The generator of Steele, Lea and Flood (SplitMix64).
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * self.n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_kernel::math::Level;

    /// However few passes are left, what remains is sorted; so bad pivots cost no more than that.
    #[test]
    fn sorts_when_passes_run_out() {
        let mut places = Places::new(1000);
        let data: Vec<i64> = (0..5000).map(|_| places.next() as i64).collect();
        let mut want = data.clone();
        want.sort_unstable();
        for kernels in Level::all().into_iter().filter_map(i64::kernels) {
            for passes in 0..6 {
                let mut keys = data.clone();
                quick(kernels, &mut keys, None, passes);
                assert!(keys == want, "{passes} passes");
            }
        }
    }
}
