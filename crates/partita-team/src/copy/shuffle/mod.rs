//! Elements in random order: two passes through buckets instead of one through memory.
//!
//! Copied one by one, every element of a random permutation costs a cache miss on one side. Here
//! the targets are cut into regions that fit the cache. The first pass reads the source in order
//! and appends each element to the bucket of its region, whole lines at a time; the second empties
//! bucket after bucket, and all stores of a bucket stay in the cache. What goes where is worked out
//! once.
//!
//! ```
//! use partita_layout::Run;
//! use partita_team::copy::Shuffle;
//!
//! // Elements 0 and 2 to the first target, backwards; element 1 to the second.
//! let (first, second) =
//!     ([Run::contiguous(0, 1, 1), Run::contiguous(2, 0, 1)], [Run::contiguous(1, 0, 1)]);
//! let mut shuffle = Shuffle::new(&[&first, &second]);
//! let (source, mut a, mut b) = ([10u64, 11, 12], [0u64; 2], [0u64; 1]);
//! // SAFETY: the arrays hold all positions of the runs.
//! unsafe {
//!     let targets = [a.as_mut_ptr().cast(), b.as_mut_ptr().cast()];
//!     shuffle.copy(source.as_ptr().cast(), &targets, 0);
//! }
//! assert_eq!((a, b), ([12, 10], [11]));
//! ```
//!
//! Only for contiguous buffers of eight-byte elements in one dimension; below some hundred thousand
//! elements, or when runs are long, [`copy_all`](super::copy_all) is better.

mod pass;

use partita_layout::{Run, n_elements};

use pass::{deal, empty};

/// Elements of a region: two of them stay in a second-level cache, and two bytes tell them apart.
const REGION: u64 = 1 << 15;
/// Elements of a cache line.
const LINE_ITEMS: usize = 8;

/// A region of a target and its bucket.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    target: usize,
    /// First position of the region.
    first: u64,
    /// Where its elements are in scratch memory; starts at a cache line.
    start: usize,
    n_items: usize,
}

/// A cache line of elements.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct ItemLine([u64; LINE_ITEMS]);

/// Source elements that go to given places of several targets, in any order.
#[derive(Debug)]
pub struct Shuffle {
    buckets: Vec<Bucket>,
    /// Positions in the source, increasing; the first alone if they are neighbours.
    sources: Vec<u64>,
    /// Bucket of each element, in the order of the source.
    bucket_of: Vec<u32>,
    /// Place in the region of each element, bucket by bucket, lines padded.
    offsets: Vec<u16>,
    scratch: Vec<ItemLine>,
    n_targets: usize,
}

/// An element's place in the source and its target.
#[derive(Debug, Clone, Copy)]
struct Destination {
    source: u64,
    target: usize,
    position: u64,
}

impl Shuffle {
    /// Works out what goes where; `runs[t]` pairs source positions with those of target `t`.
    ///
    /// # Cost
    /// Sorts the elements by source position; keeps about 22 bytes for each, 14 if they are all
    /// neighbours in the source.
    #[must_use]
    pub fn new(runs: &[&[Run]]) -> Self {
        let mut places: Vec<Destination> =
            Vec::with_capacity(runs.iter().map(|runs| n_elements(runs) as usize).sum());
        for (target, runs) in runs.iter().enumerate() {
            let pairs = runs.iter().flat_map(Run::pairs);
            places.extend(pairs.map(|(source, position)| Destination { source, target, position }));
        }
        places.sort_unstable_by_key(|place| place.source);
        let (mut buckets, number) = regions(&places, runs.len());
        let bucket_of: Vec<u32> = places
            .iter()
            .map(|place| number[place.target] + (place.position / REGION) as u32)
            .collect();
        let n_scratch = lay_out(&mut buckets, &bucket_of);
        let mut shuffle = Self {
            offsets: offsets(&places, &bucket_of, &buckets, n_scratch),
            sources: places.iter().map(|place| place.source).collect(),
            bucket_of,
            buckets,
            scratch: vec![ItemLine::default(); n_scratch / LINE_ITEMS],
            n_targets: runs.len(),
        };
        if shuffle.sources.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
            shuffle.sources.truncate(1);
            shuffle.sources.shrink_to_fit();
        }
        shuffle
    }

    /// Copies every element to its place, starting with the target `first`.
    ///
    /// Ranks that copy to the same targets at the same time should start with different ones, best
    /// each with its own: else they write the same cache lines in turn.
    ///
    /// # Panics
    /// If there are not as many targets as there were lists of runs.
    ///
    /// # Safety
    /// `source` and each of `targets` must hold all positions of their runs as neighbours of eight
    /// bytes each, may not overlap, and nobody else may write them meanwhile. They need no
    /// alignment.
    pub unsafe fn copy(&mut self, source: *const u8, targets: &[*mut u8], first: usize) {
        assert_eq!(targets.len(), self.n_targets, "one target for each list of runs");
        // SAFETY: positions and places come from the runs, which the caller vouches for.
        unsafe {
            deal(self, source);
            empty(self, targets, first);
        }
    }
}

/// The regions of all targets, and the number of each target's first.
fn regions(places: &[Destination], n_targets: usize) -> (Vec<Bucket>, Vec<u32>) {
    let mut extents = vec![0; n_targets];
    for place in places {
        extents[place.target] = place.position.max(extents[place.target]);
    }
    let (mut buckets, mut number) = (Vec::new(), Vec::new());
    for (target, last) in extents.into_iter().enumerate() {
        number.push(buckets.len() as u32);
        buckets.extend((0..=last / REGION).map(|region| Bucket {
            target,
            first: region * REGION,
            start: 0,
            n_items: 0,
        }));
    }
    (buckets, number)
}

/// Counts and places the buckets; the elements of scratch memory they need.
fn lay_out(buckets: &mut [Bucket], bucket_of: &[u32]) -> usize {
    for &bucket in bucket_of {
        buckets[bucket as usize].n_items += 1;
    }
    buckets.iter_mut().fold(0, |start, bucket| {
        bucket.start = start;
        start + bucket.n_items.next_multiple_of(LINE_ITEMS)
    })
}

fn offsets(
    places: &[Destination],
    bucket_of: &[u32],
    buckets: &[Bucket],
    n_scratch: usize,
) -> Vec<u16> {
    let mut next: Vec<usize> = buckets.iter().map(|bucket| bucket.start).collect();
    let mut offsets = vec![0; n_scratch];
    for (place, &bucket) in places.iter().zip(bucket_of) {
        let at = &mut next[bucket as usize];
        offsets[*at] = (place.position % REGION) as u16;
        *at += 1;
    }
    offsets
}
