//! Merging sorted runs.

use super::element::Sortable;
use super::merge_two::merge_two;
use crate::cores::Shared;
use crate::scratch::{copy, written};
use crate::{Cores, Scratch};
use std::mem::MaybeUninit;

/// Fewer elements are not worth a second thread.
const SHARE_FROM: usize = 1 << 14;
/// Samples per run from which the pieces of threads are chosen.
const SAMPLES: usize = 32;

/// Merges sorted runs; of equal elements, those of earlier runs come first.
///
/// ```
/// use partita_numeric::{Cores, Scratch, sort};
/// use std::mem::MaybeUninit;
/// let mut out = [MaybeUninit::uninit(); 5];
/// sort::merge(&[&[1, 4, 6], &[2, 5]], &mut out, &mut Scratch::default(), Cores::best());
/// // SAFETY: merging writes every element.
/// assert_eq!(out.map(|x| unsafe { x.assume_init() }), [1, 2, 4, 5, 6]);
/// ```
///
/// # Panics
/// If `out` has another length than all runs together.
pub fn merge<T: Sortable>(
    runs: &[&[T]],
    out: &mut [MaybeUninit<T>],
    scratch: &mut Scratch,
    cores: Cores,
) {
    let n = runs.iter().map(|run| run.len()).sum::<usize>();
    assert_eq!(out.len(), n, "the result has room for all runs");
    // Two runs go into the result at once; more need room for what is merged before.
    let is_at_once = runs.len() <= 2;
    let other = scratch.take::<T>(if is_at_once { 0 } else { n });
    let cuts = cuts(runs, cores);
    let (out, other) = (Shared::new(out), Shared::new(other));
    cores.each(cuts.len() - 1, |piece| {
        let (from, to) = (&cuts[piece], &cuts[piece + 1]);
        let part = |run: usize| &runs[run][from[run]..to[run]];
        let parts: Vec<_> = (0..runs.len()).map(part).filter(|part| !part.is_empty()).collect();
        let (from_sum, to_sum) = (from.iter().sum(), to.iter().sum());
        // SAFETY: the pieces do not overlap, neither in the result nor in the other buffer.
        let (out, other) = unsafe {
            (
                out.slice(from_sum..to_sum),
                other.slice(if is_at_once { 0..0 } else { from_sum..to_sum }),
            )
        };
        merge_alone(&parts, out, other);
    });
}

/// Where the pieces of threads begin in every run, and where the last ends.
fn cuts<T: Sortable>(runs: &[&[T]], cores: Cores) -> Vec<Vec<usize>> {
    let n: usize = runs.iter().map(|run| run.len()).sum();
    let n_pieces = if n < SHARE_FROM { 1 } else { cores.n_pieces(n, SHARE_FROM / 4) };
    let mut cuts = vec![vec![0; runs.len()]];
    let at = |run: &[T], i: usize| run[i * run.len() / SAMPLES];
    let full = runs.iter().filter(|run| !run.is_empty());
    let mut samples: Vec<T> = full.flat_map(|run| (0..SAMPLES).map(move |i| at(run, i))).collect();
    samples.sort_unstable_by_key(|sample| sample.key());
    for piece in 1..n_pieces {
        // Equal elements stay in one piece, so those of earlier runs come first.
        let splitter = samples[piece * samples.len() / n_pieces];
        cuts.push(runs.iter().map(|run| run.partition_point(|x| x.before(splitter))).collect());
    }
    cuts.push(runs.iter().map(|run| run.len()).collect());
    cuts
}

/// Merges neighbours until one run is left; the last time into `out`.
fn merge_alone<T: Sortable>(
    runs: &[&[T]],
    out: &mut [MaybeUninit<T>],
    other: &mut [MaybeUninit<T>],
) {
    match runs {
        [] => {}
        [run] => {
            copy(run, out);
        }
        [first, second] => merge_two(first, second, out),
        _ => {
            let (early, late) = runs.split_at(runs.len() / 2);
            let n_early = early.iter().map(|run| run.len()).sum();
            let ((a, b), (c, d)) = (out.split_at_mut(n_early), other.split_at_mut(n_early));
            merge_alone(early, c, a);
            merge_alone(late, d, b);
            // SAFETY: both halves have been merged into the other buffer.
            let (early, late) = unsafe { (written(c), written(d)) };
            merge_two(early, late, out);
        }
    }
}
