//! Spreading keys over buckets that fit the cache.
//!
//! One pass names the bucket of every key, the next writes the keys there: twice through memory
//! instead of eight times. Stretches of the keys are counted apart, so that several threads can
//! work and equal keys keep their order.

use super::classify::{MAX_BUCKETS, one_by_one, tree};
use super::kernels::Wide;
use super::quick::{self, Places};
use crate::Cores;
use crate::cores::{Shared, stretch};
use crate::scratch::written;
use std::mem::MaybeUninit;
use std::ops::Range;

/// How many keys a bucket should have.
const BUCKET: usize = 1 << 16;
/// Samples per bucket: the largest is then seldom twice as large as it should be.
const OVERSAMPLING: usize = 16;

/// Where buckets begin for every stretch.
pub(super) struct Spread {
    n: usize,
    n_stretches: usize,
    /// By stretch and bucket: where its next key goes.
    next: Vec<[usize; MAX_BUCKETS]>,
    /// Where each bucket begins, and the end of the last.
    starts: Vec<usize>,
}

impl Spread {
    /// Names the bucket of every key.
    pub(super) fn new(
        n: usize,
        key: impl Fn(usize) -> u64 + Sync,
        names: &mut [MaybeUninit<u8>],
        cores: Cores,
    ) -> Spread {
        assert_eq!(names.len(), n);
        let tree = tree(&splitters(n, &key, cores));
        let n_stretches = cores.n_pieces(n, BUCKET);
        let mut next = vec![[0; MAX_BUCKETS]; n_stretches];
        let (all_names, all_counts) = (Shared::new(names), Shared::new(&mut next));
        cores.each(n_stretches, |piece| {
            let range = stretch(n, n_stretches, piece);
            // SAFETY: every piece has a stretch and counts of its own.
            let (names, counts) = unsafe {
                (all_names.slice(range.clone()), &mut all_counts.slice(piece..piece + 1)[0])
            };
            name_and_count(range.start, &key, names, counts, &tree, cores);
        });
        let mut spread = Spread { n, n_stretches, next, starts: Vec::new() };
        spread.place(tree.len());
        spread
    }

    /// Turns counts into places.
    fn place(&mut self, n_buckets: usize) {
        let mut at = 0;
        for bucket in 0..n_buckets {
            self.starts.push(at);
            for next in &mut self.next {
                let count = next[bucket];
                next[bucket] = at;
                at += count;
            }
        }
        self.starts.push(at);
    }

    pub(super) fn n_buckets(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn bucket(&self, bucket: usize) -> Range<usize> {
        self.starts[bucket]..self.starts[bucket + 1]
    }

    /// Writes elements to their buckets; `write` is told from where to where.
    ///
    /// Every place below n is told once.
    pub(super) fn each(&self, names: &[u8], cores: Cores, write: impl Fn(usize, usize) + Sync) {
        assert_eq!(names.len(), self.n);
        cores.each(self.n_stretches, |piece| {
            let range = stretch(self.n, self.n_stretches, piece);
            let mut next = self.next[piece];
            for (from, name) in range.clone().zip(&names[range]) {
                let to = &mut next[usize::from(*name)];
                write(from, *to);
                *to += 1;
            }
        });
    }
}

/// Names the keys from `first` on.
fn name_and_count(
    first: usize,
    key: &impl Fn(usize) -> u64,
    names: &mut [MaybeUninit<u8>],
    counts: &mut [usize; MAX_BUCKETS],
    tree: &[u64],
    cores: Cores,
) {
    const BLOCK: usize = 1024;
    let classify = u64::kernels(cores.level).map_or(one_by_one as _, |kernels| kernels.classify);
    // Neighbours are counted apart: one that is alike would wait for the other.
    let mut apart = [[0_usize; MAX_BUCKETS]; 4];
    let mut keys = [0; BLOCK];
    for (block, names) in names.chunks_mut(BLOCK).enumerate() {
        for (i, to) in keys[..names.len()].iter_mut().enumerate() {
            *to = key(first + block * BLOCK + i);
        }
        // SAFETY: there are as many names as keys, and the tree is complete.
        let names = unsafe {
            classify(keys.as_ptr(), names.as_mut_ptr().cast(), names.len(), tree);
            written(names)
        };
        for four in names.chunks(4) {
            for (counts, name) in apart.iter_mut().zip(four) {
                counts[usize::from(*name)] += 1;
            }
        }
    }
    for (bucket, count) in counts.iter_mut().enumerate() {
        *count = apart.iter().map(|counts| counts[bucket]).sum();
    }
}

/// Keys that divide all keys into buckets of about the same size.
fn splitters(n: usize, key: &impl Fn(usize) -> u64, cores: Cores) -> Vec<u64> {
    let n_buckets = (n / BUCKET).next_power_of_two().clamp(8, MAX_BUCKETS);
    let mut places = Places::new(n);
    let mut samples = vec![0; n_buckets * OVERSAMPLING];
    samples.fill_with(|| key(places.next()));
    quick::sort(u64::kernels(cores.level), &mut samples, None);
    (1..n_buckets).map(|bucket| samples[bucket * OVERSAMPLING]).collect()
}
