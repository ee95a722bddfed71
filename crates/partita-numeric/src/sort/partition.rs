//! Dividing keys by a pivot, in place.
//!
//! A few registers are read from both ends, which leaves a gap at either. Then registers are read
//! where the gap is smaller, so that afterwards both gaps have room for all that was read. A
//! register is permuted so that its lesser keys come first, and stored twice: where the lesser
//! keys end and where the others begin. What is too much there lies in a gap and is overwritten
//! later. At the end the gaps meet; what is left of them is a whole number of registers, so the
//! two stores either do not overlap or are the same.

use super::vector::Vector;

/// Registers read at once.
const GROUP: usize = 8;

/// How many groups ahead keys are asked for: where the next are read is known only when the last
/// have been compared.
const AHEAD: usize = 3;

/// The fewest registers of keys that [`partition`] takes.
pub(super) const LEAST: usize = 2 * GROUP;

/// Which keys go to the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// Those less than the pivot.
    Less,
    /// Those not greater.
    AtMost,
}

/// Moves the keys of the left to the front; how many those are.
///
/// # Safety
/// There are n keys, at least [`LEAST`] registers of them.
#[inline(always)]
pub(super) unsafe fn partition<V: Vector>(
    keys: *mut V::Key,
    n: usize,
    pivot: V::Key,
    left: Left,
) -> usize {
    debug_assert!(n >= LEAST * V::W);
    // SAFETY: the caller's.
    unsafe {
        match left {
            Left::Less => divide::<V, false>(keys, n, pivot),
            Left::AtMost => divide::<V, true>(keys, n, pivot),
        }
    }
}

/// Where keys are read and written next; the gaps are between.
///
/// What is computed with vectors is in functions that are always inlined, never in closures: those
/// would be compiled without the instructions.
struct Gaps<V: Vector> {
    low: *mut V::Key,
    low_read: *mut V::Key,
    high_read: *mut V::Key,
    high: *mut V::Key,
    pivot: V,
}

impl<V: Vector> Gaps<V> {
    /// # Safety
    /// The gaps have room for a register each, or together for no more than one.
    #[inline(always)]
    unsafe fn store<const AT_MOST: bool>(&mut self, keys: V) {
        let lanes = ((1_u64 << V::W) - 1) as u32;
        let left = if AT_MOST { !self.pivot.below(keys) } else { keys.below(self.pivot) } & lanes;
        let n_left = left.count_ones() as usize;
        let ordered = keys.divide(left);
        // SAFETY: the caller's.
        unsafe {
            ordered.store(self.low);
            ordered.store(self.high.sub(V::W));
            self.low = self.low.add(n_left);
            self.high = self.high.sub(V::W - n_left);
        }
    }

    /// # Safety
    /// The gaps have room for a group each, or together for no more than one.
    #[inline(always)]
    unsafe fn store_all<const AT_MOST: bool>(&mut self, keys: [V; GROUP]) {
        let mut i = 0;
        while i < GROUP {
            // SAFETY: the caller's.
            unsafe { self.store::<AT_MOST>(keys[i]) };
            i += 1;
        }
    }

    /// Where the next `n` keys are read.
    ///
    /// # Safety
    /// As many have not been read.
    #[inline(always)]
    unsafe fn next(&mut self, n: usize) -> *const V::Key {
        let low_gap = self.low_read.addr() - self.low.addr();
        let high_gap = self.high.addr() - self.high_read.addr();
        // SAFETY: the caller's.
        unsafe {
            if low_gap < high_gap {
                let at = self.low_read;
                self.low_read = at.add(n);
                V::prefetch(at.wrapping_add(AHEAD * n), n);
                at
            } else {
                self.high_read = self.high_read.sub(n);
                V::prefetch(self.high_read.wrapping_sub(AHEAD * n), n);
                self.high_read
            }
        }
    }
}

#[inline(always)]
unsafe fn load<V: Vector>(from: *const V::Key) -> [V; GROUP] {
    let mut keys = [V::splat(V::LAST); GROUP];
    let mut i = 0;
    while i < GROUP {
        // SAFETY: the caller has a group of keys there.
        keys[i] = unsafe { V::load(from.add(i * V::W)) };
        i += 1;
    }
    keys
}

/// # Safety
/// As for [`partition`].
#[inline(always)]
unsafe fn divide<V: Vector, const AT_MOST: bool>(
    keys: *mut V::Key,
    n: usize,
    pivot: V::Key,
) -> usize {
    let group = GROUP * V::W;
    // What is no whole register; 16 is the most lanes.
    let n_odd = n % V::W;
    let mut odd = [pivot; 16];
    // SAFETY: every access is below n: see the module's documentation.
    unsafe {
        std::ptr::copy_nonoverlapping(keys, odd.as_mut_ptr(), n_odd);
        let (low_read, high_read) = (keys.add(n_odd + group), keys.add(n - group));
        let first = load::<V>(keys.add(n_odd));
        let last = load::<V>(high_read);
        let pivots = V::splat(pivot);
        let mut gaps = Gaps { low: keys, low_read, high_read, high: keys.add(n), pivot: pivots };
        for key in odd.into_iter().take(n_odd) {
            let is_left = if AT_MOST { key <= pivot } else { key < pivot };
            *gaps.low = key;
            *gaps.high.sub(1) = key;
            gaps.low = gaps.low.add(usize::from(is_left));
            gaps.high = gaps.high.sub(usize::from(!is_left));
        }
        let mut n_left = n - n_odd - 2 * group;
        while n_left >= group {
            let next = load::<V>(gaps.next(group));
            gaps.store_all::<AT_MOST>(next);
            n_left -= group;
        }
        while n_left > 0 {
            let next = V::load(gaps.next(V::W));
            gaps.store::<AT_MOST>(next);
            n_left -= V::W;
        }
        gaps.store_all::<AT_MOST>(first);
        gaps.store_all::<AT_MOST>(last);
        gaps.low.offset_from_unsigned(keys)
    }
}
