//! Sorting keys of 32 and 64 bits.

use super::kernels::{Apart, Kernels, Wide};
use super::{quick, shared};
use crate::Cores;
use crate::cores::Shared;

/// Keys of 32 and 64 bits as they are in arrays.
pub(super) trait Ordered: Wide {
    fn is_nan(self) -> bool;
    /// Writes zeros, the first of them negative.
    fn write_zeros(data: &mut [Self], n_negative: usize);
}

macro_rules! integers {
    ($($key:ty)*) => {$(
        impl Ordered for $key {
            fn is_nan(self) -> bool {
                false
            }
            fn write_zeros(_data: &mut [$key], _n_negative: usize) {}
        }
    )*};
}
integers!(i64 u64 i32 u32);

macro_rules! floats {
    ($($key:ident)*) => {$(
        impl Ordered for $key {
            fn is_nan(self) -> bool {
                self.is_nan()
            }
            fn write_zeros(data: &mut [$key], n_negative: usize) {
                let first = data.partition_point(|key| *key < 0.0);
                let n_zeros = data[first..].partition_point(|key| *key == 0.0);
                data[first..][..n_negative].fill(-0.0);
                data[first + n_negative..first + n_zeros].fill(0.0);
            }
        }
    )*};
}
floats!(f64 f32);

/// Sorts on one thread.
///
/// Instructions for the lesser and the greater of two zeros take any of them, so the negative ones
/// are counted before and written again afterwards.
pub(super) fn sort_alone<K: Ordered>(data: &mut [K], cores: Cores) {
    let kernels = K::kernels(cores.level);
    let apart = count(kernels, data);
    let n_keys = data.len() - apart.n_nan;
    if apart.n_nan > 0 {
        move_nan_last(data);
    }
    quick::sort(kernels, &mut data[..n_keys], None);
    if apart.n_negative_zeros > 0 {
        K::write_zeros(&mut data[..n_keys], apart.n_negative_zeros);
    }
}

fn count<K: Wide>(kernels: Option<&Kernels<K>>, keys: &[K]) -> Apart {
    match kernels {
        // SAFETY: the kernels are those of a level that the processor has.
        Some(kernels) => unsafe { (kernels.count)(keys) },
        None => K::count(keys),
    }
}

/// The others stay in no order.
fn move_nan_last<K: Ordered>(keys: &mut [K]) {
    let (mut i, mut end) = (0, keys.len());
    while i < end {
        if keys[i].is_nan() {
            end -= 1;
            keys.swap(i, end);
        } else {
            i += 1;
        }
    }
}

/// Fewer keys than these are not worth a second thread.
const SHARE_FROM: usize = 1 << 14;

/// Sorts on all cores.
pub(super) fn sort<K: Ordered>(data: &mut [K], cores: Cores) {
    if data.len() > FEW && in_order(data) {
        return;
    }
    if data.len() < SHARE_FROM || cores.n_threads <= 1 {
        return sort_alone(data, cores);
    }
    let all = Shared::new(data);
    let parts = shared::parts(data, cores);
    cores.each(parts.len(), |part| {
        // SAFETY: the parts do not overlap.
        sort_alone(unsafe { all.slice(parts[part].clone()) }, cores);
    });
}

/// So few are sorted before their order is known.
const FEW: usize = 32;

/// Whether nothing has to be done, after the reversal of what is the other way round.
fn in_order<K: Ordered>(data: &mut [K]) -> bool {
    let follows = |pair: &[K]| pair[0] <= pair[1] || pair[1].is_nan();
    if data.windows(2).all(follows) {
        return true;
    }
    let precedes = |pair: &[K]| pair[0] > pair[1];
    let reversed = data.windows(2).all(precedes);
    if reversed {
        data.reverse();
    }
    reversed
}
