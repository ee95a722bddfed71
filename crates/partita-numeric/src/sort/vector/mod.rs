//! Registers of keys: the few operations that sorting needs.
//!
//! Networks and partitions are written once over [`Vector`] and compiled per level.
//!
//! # Safety
//! As in the kernel crate, the methods use instructions that the processor may lack. They are
//! reached only through [`super::kernels`], where code is compiled for a level and chosen by a
//! `Level`, which exists only where the processor has been asked.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;

/// A register of keys. Floats are never NaN here.
pub(super) trait Vector: Copy {
    type Key: Copy + PartialOrd;
    /// How many lanes.
    const W: usize;
    /// No key is greater.
    const LAST: Self::Key;

    fn splat(key: Self::Key) -> Self;
    /// # Safety
    /// `from` has W readable keys.
    unsafe fn load(from: *const Self::Key) -> Self;
    /// # Safety
    /// `to` has W writable keys.
    unsafe fn store(self, to: *mut Self::Key);

    /// Loads the first n < W keys; the others are the last of all.
    ///
    /// # Safety
    /// `from` has n readable keys.
    unsafe fn load_first(from: *const Self::Key, n: usize) -> Self;
    /// Stores the first n < W keys.
    ///
    /// # Safety
    /// `to` has n writable keys.
    unsafe fn store_first(self, to: *mut Self::Key, n: usize);

    /// Asks for n keys that will be read soon.
    #[inline(always)]
    fn prefetch(from: *const Self::Key, n: usize) {
        let mut i = 0;
        while i < n {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: every x86-64 processor has it, and any address will do.
            unsafe {
                use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
                _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(i).cast());
            }
            i += 64 / size_of::<Self::Key>();
        }
    }

    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    /// Bit i: lane i is less than lane i of the other.
    fn below(self, other: Self) -> u32;

    /// Lane i is lane i ^ X of this one.
    fn xor_lanes<const X: usize>(self) -> Self;
    /// Lanes whose number has the bit B from `high`, the others from `low`.
    fn by_bit<const B: usize>(low: Self, high: Self) -> Self;
    /// The lanes of both in turns.
    fn zip(self, other: Self) -> (Self, Self);
    /// The lanes of the mask first, then the others, each in their order.
    fn divide(self, mask: u32) -> Self;
}

/// For every mask of eight lanes: the lanes of the mask, then the others, a byte each.
#[cfg(target_arch = "x86_64")]
const ORDER8: [u64; 256] = {
    let mut table = [0; 256];
    let mut mask = 0;
    while mask < 256 {
        table[mask] = order(mask, 8, 8);
        mask += 1;
    }
    table
};

/// The same for four lanes of two halves each.
#[cfg(target_arch = "x86_64")]
const ORDER4: [u64; 16] = {
    let mut table = [0; 16];
    let mut mask = 0;
    while mask < 16 {
        let lanes = order(mask, 4, 16);
        // Lane l is the halves 2 l and 2 l + 1.
        table[mask] = (2 * lanes) | ((2 * lanes + 0x0001_0001_0001_0001) << 8);
        mask += 1;
    }
    table
};

#[cfg(target_arch = "x86_64")]
const fn order(mask: usize, n_lanes: usize, step: usize) -> u64 {
    let (mut packed, mut at, mut wanted) = (0, 0, 1);
    while at < n_lanes {
        let mut lane = 0;
        while lane < n_lanes {
            if (mask >> lane) & 1 == wanted {
                packed |= (lane as u64) << (step * at);
                at += 1;
            }
            lane += 1;
        }
        wanted = 1 - wanted;
    }
    packed
}
