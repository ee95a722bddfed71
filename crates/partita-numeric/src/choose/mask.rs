//! Packing by a mask.
//!
//! Stretches of the mask are counted first, so that every thread knows where its elements go.

use crate::Cores;
use crate::cores::{Shared, stretch};
use crate::sort::Registers;
use std::mem::MaybeUninit;

/// Fewer elements are not worth a second thread.
const SHARE: usize = 1 << 15;

/// How many elements of the mask are true.
///
/// ```
/// use partita_numeric::{Cores, choose};
/// assert_eq!(choose::count(&[true, false, true], Cores::best()), 2);
/// ```
#[must_use]
pub fn count(mask: &[bool], cores: Cores) -> usize {
    counts(mask, cores).iter().sum()
}

/// The counts of all stretches.
fn counts(mask: &[bool], cores: Cores) -> Vec<usize> {
    let n_pieces = cores.n_pieces(mask.len(), SHARE);
    let mut counts = vec![0; n_pieces];
    let all = Shared::new(&mut counts);
    cores.each(n_pieces, |piece| {
        let mask = &mask[stretch(mask.len(), n_pieces, piece)];
        // Sums of bytes that cannot overflow, so that many are added at once.
        let of_block = |block: &[bool]| usize::from(block.iter().map(|b| u8::from(*b)).sum::<u8>());
        // SAFETY: every piece has a count of its own.
        unsafe { *all.at(piece) = mask.chunks(255).map(of_block).sum() };
    });
    counts
}

/// Writes the elements where the mask is true; how many those are.
///
/// ```
/// use partita_numeric::{Cores, choose};
/// use std::mem::MaybeUninit;
/// let mut out = [MaybeUninit::uninit(); 2];
/// assert_eq!(choose::pack(&[true, false, true], &[1, 2, 3], &mut out, Cores::best()), 2);
/// // SAFETY: two elements were written.
/// assert_eq!(out.map(|x| unsafe { x.assume_init() }), [1, 3]);
/// ```
///
/// # Panics
/// If mask and values differ in length, or `out` is too short.
pub fn pack<T: Copy + Send + Sync>(
    mask: &[bool],
    values: &[T],
    out: &mut [MaybeUninit<T>],
    cores: Cores,
) -> usize {
    assert_eq!(mask.len(), values.len(), "one value per element of the mask");
    each_stretch(mask, out, cores, |first, mask, out| {
        let values = &values[first..first + mask.len()];
        let done = Registers::pack(cores.level, mask, values, out);
        pack_rest(&mask[done.read..], &values[done.read..], &mut out[done.written..]);
    })
}

/// Writes the positions where the mask is true; how many those are.
///
/// # Panics
/// If `out` is too short.
pub fn pack_positions(mask: &[bool], out: &mut [MaybeUninit<i64>], cores: Cores) -> usize {
    each_stretch(mask, out, cores, |first, mask, out| {
        let mut next = 0;
        for (block, mask) in mask.chunks(64).enumerate() {
            let mut bits = bits(mask);
            while bits != 0 {
                let at = first + 64 * block + bits.trailing_zeros() as usize;
                out[next].write(at as i64);
                next += 1;
                bits &= bits - 1;
            }
        }
    })
}

/// Gives every stretch of the mask its part of the result.
fn each_stretch<T: Send>(
    mask: &[bool],
    out: &mut [MaybeUninit<T>],
    cores: Cores,
    write: impl Fn(usize, &[bool], &mut [MaybeUninit<T>]) + Sync,
) -> usize {
    let counts = counts(mask, cores);
    let ends: Vec<usize> = counts
        .iter()
        .scan(0, |end, count| {
            *end += count;
            Some(*end)
        })
        .collect();
    let n = ends.last().copied().unwrap_or(0);
    assert!(out.len() >= n, "the result has room for all that is true");
    let all = Shared::new(out);
    cores.each(counts.len(), |piece| {
        let range = stretch(mask.len(), counts.len(), piece);
        // SAFETY: the parts do not overlap.
        let out = unsafe { all.slice(ends[piece] - counts[piece]..ends[piece]) };
        write(range.start, &mask[range], out);
    });
    n
}

/// Bit i is element i, of at most 64.
#[inline(always)]
fn bits(mask: &[bool]) -> u64 {
    let eight = |eight: &[bool]| {
        let mut bytes = [0; 8];
        bytes[..eight.len()].copy_from_slice(eight.align_to_bytes());
        // Moves the lowest bit of byte i to bit 56 + i.
        u64::from_le_bytes(bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56
    };
    mask.chunks(8).rev().fold(0, |bits, part| bits << 8 | eight(part))
}

/// What a slice of truth values is in memory.
trait Bytes {
    fn align_to_bytes(&self) -> &[u8];
}

impl Bytes for [bool] {
    #[inline(always)]
    fn align_to_bytes(&self) -> &[u8] {
        // SAFETY: a bool is a byte, 0 or 1.
        unsafe { std::slice::from_raw_parts(self.as_ptr().cast(), self.len()) }
    }
}

/// Packs one element after the other.
fn pack_rest<T: Copy>(mask: &[bool], values: &[T], out: &mut [MaybeUninit<T>]) {
    let mut next = 0;
    for (mask, values) in mask.chunks(64).zip(values.chunks(64)) {
        let mut bits = bits(mask);
        if out.len() - next > 64 {
            // Without a branch: there is room for what is written in vain.
            for (value, is_chosen) in values.iter().zip(mask) {
                out[next].write(*value);
                next += usize::from(*is_chosen);
            }
        } else {
            while bits != 0 {
                out[next].write(values[bits.trailing_zeros() as usize]);
                next += 1;
                bits &= bits - 1;
            }
        }
    }
}
