//! Sorting.
mod buckets;
mod classify;
mod kernels;
mod network;
mod partition;
mod quick;
mod vector;
mod wide;

use crate::{Cores, Scratch};

/// Sort.
pub fn sort(data: &mut [f64], scratch: &mut Scratch, cores: Cores) {
    wide::sort(data, scratch, cores);
}
