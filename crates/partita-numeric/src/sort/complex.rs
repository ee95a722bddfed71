//! Sorting by keys that are no single number: the library's sort, and merging between threads.

use super::element::Sortable;
use super::merge::merge;
use crate::cores::{Shared, stretch};
use crate::scratch::written;
use crate::{Cores, Scratch};

/// Fewer are not worth a second thread.
const SHARE_FROM: usize = 1 << 12;

pub(super) fn sort_alone<T: Sortable>(data: &mut [T]) {
    data.sort_unstable_by_key(|element| element.key());
}

pub(super) fn sort<T: Sortable>(data: &mut [T], scratch: &mut Scratch, cores: Cores) {
    let n = data.len();
    if n < SHARE_FROM || cores.n_threads <= 1 {
        return sort_alone(data);
    }
    let n_runs = cores.n_threads;
    let all = Shared::new(data);
    cores.each(n_runs, |run| {
        // SAFETY: the stretches do not overlap.
        sort_alone(unsafe { all.slice(stretch(n, n_runs, run)) });
    });
    let sorted = scratch.take::<T>(n);
    let runs: Vec<_> = (0..n_runs).map(|run| &data[stretch(n, n_runs, run)]).collect();
    merge(&runs, sorted, &mut Scratch::default(), cores);
    // SAFETY: merging has written every element.
    data.copy_from_slice(unsafe { written(sorted) });
}
