//! The two passes of a shuffle.

use super::{Bucket, ItemLine, LINE_ITEMS, REGION, Shuffle};
use crate::copy::kernels::{fence, prefetch_to_write, stream_line};

/// Deals the source out to the buckets, a whole line of a bucket at a time.
///
/// # Safety
/// All source positions must be readable.
pub(super) unsafe fn deal(shuffle: &mut Shuffle, source: *const u8) {
    let mut next: Vec<usize> = shuffle.buckets.iter().map(|bucket| bucket.start).collect();
    let mut lines = vec![ItemLine::default(); shuffle.buckets.len()];
    let scratch = shuffle.scratch.as_mut_ptr();
    let item = |position: u64| {
        let from = source.cast::<u64>().wrapping_add(position as usize);
        // SAFETY: one of the source positions.
        unsafe { from.read_unaligned() }
    };
    let mut put = |bucket: u32, value: u64| {
        let (line, next) = (&mut lines[bucket as usize], &mut next[bucket as usize]);
        line.0[*next % LINE_ITEMS] = value;
        if *next % LINE_ITEMS == LINE_ITEMS - 1 {
            // SAFETY: buckets have whole lines in scratch memory, and this one is full.
            unsafe { stream_line(line.0.as_ptr().cast(), scratch.add(*next / LINE_ITEMS).cast()) };
        }
        *next += 1;
    };
    match shuffle.sources.as_slice() {
        [] => {}
        &[first] => (first..).zip(&shuffle.bucket_of).for_each(|(at, &to)| put(to, item(at))),
        all => all.iter().zip(&shuffle.bucket_of).for_each(|(&at, &to)| put(to, item(at))),
    }
    for (line, &next) in lines.iter().zip(&next) {
        if next % LINE_ITEMS > 0 {
            shuffle.scratch[next / LINE_ITEMS] = *line;
        }
    }
    fence();
}

/// Empties bucket after bucket into its region, from those of one target on.
///
/// # Safety
/// All target positions must be writable.
pub(super) unsafe fn empty(shuffle: &Shuffle, targets: &[*mut u8], first: usize) {
    let at = shuffle.buckets.partition_point(|bucket| bucket.target < first);
    let (later, sooner) = shuffle.buckets.split_at(at);
    let region =
        |bucket: &Bucket| targets[bucket.target].cast::<u64>().wrapping_add(bucket.first as usize);
    let mut buckets = sooner.iter().chain(later).peekable();
    while let Some(bucket) = buckets.next() {
        let next = buckets.peek().map(|next| region(next).cast::<u8>());
        // SAFETY: the caller's promise.
        unsafe { empty_one(shuffle, bucket, region(bucket), next) };
    }
}

/// Empties a bucket and meanwhile brings the next region near.
///
/// # Safety
/// All target positions of the bucket must be writable in its region.
unsafe fn empty_one(shuffle: &Shuffle, bucket: &Bucket, region: *mut u64, next: Option<*mut u8>) {
    const CHUNK_LINES: usize = 8;
    let n_lines = bucket.n_items.div_ceil(LINE_ITEMS);
    let lines = &shuffle.scratch[bucket.start / LINE_ITEMS..][..n_lines];
    let offsets = &shuffle.offsets[bucket.start..bucket.start + bucket.n_items];
    let ahead = REGION as usize / LINE_ITEMS * CHUNK_LINES / n_lines.max(1);
    let chunks = lines.chunks(CHUNK_LINES).zip(offsets.chunks(CHUNK_LINES * LINE_ITEMS));
    for (number, (lines, offsets)) in chunks.enumerate() {
        if let Some(next) = next {
            for line in number * ahead..(number + 1) * ahead {
                prefetch_to_write(next.wrapping_add(line * 64));
            }
        }
        let items = lines.iter().flat_map(|line| line.0);
        for (&offset, value) in offsets.iter().zip(items) {
            // SAFETY: one of the target positions.
            unsafe { region.wrapping_add(offset as usize).write_unaligned(value) };
        }
    }
}
