//! Slots: where a process says what its windows show at the moment, for others to look at.
//!
//! A slot lies in pages of the arena that are never used for anything else, so that whoever has
//! mapped one finds a slot there, whatever has become of its window. The sequence is a lock that
//! readers never take: it is odd while the owner changes something, and whoever finds the same even
//! number before and after has read what belongs together.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::memory::arena::{Arena, Block, PAGE_BYTES};

const SLOT_BYTES: usize = size_of::<Slot>();

static FREE: Mutex<FreeSlots> = Mutex::new(FreeSlots { offsets: Vec::new(), next_number: 0 });

/// What a process says of one window.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Slot {
    /// Zero if there is none. No other window has it, not even of an earlier process.
    number: AtomicU64,
    /// Odd while the owner writes; never starts anew.
    sequence: AtomicU64,
    /// Where in the arena's file the list of its arrays begins, and how long it is.
    list_offset: AtomicU64,
    list_bytes: AtomicU64,
}

/// Slots of this process that no window uses.
struct FreeSlots {
    offsets: Vec<usize>,
    next_number: u64,
}

/// A slot as it was at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SlotState {
    pub sequence: u64,
    pub list_offset: u64,
    pub list_bytes: u64,
}

fn free() -> MutexGuard<'static, FreeSlots> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A slot for a new window: where it lies in the arena, and the window's number.
pub(super) fn take(arena: &Arena) -> Option<(usize, u64)> {
    let mut free = free();
    if free.offsets.is_empty() {
        let page = arena.take(PAGE_BYTES)?;
        let slots = (page.offset..page.offset + page.n_bytes).step_by(SLOT_BYTES);
        free.offsets.extend(slots.rev());
    }
    if free.next_number == 0 {
        free.next_number = (RandomState::new().build_hasher().finish() >> 2) + 1;
    }
    let number = free.next_number;
    free.next_number += 1;
    Some((free.offsets.pop()?, number))
}

/// Gives a slot back for the next window.
pub(super) fn give(offset: usize) {
    free().offsets.push(offset);
}

/// The page in which a slot lies; none where no slot can lie.
pub(super) fn page_of(offset: usize) -> Option<Block> {
    let start = offset / PAGE_BYTES * PAGE_BYTES;
    let block = Block { offset: start, n_bytes: PAGE_BYTES };
    offset.is_multiple_of(SLOT_BYTES).then_some(block)
}

impl Slot {
    /// The slot at an address.
    ///
    /// # Safety
    /// A page of slots is mapped there as long as the result is used.
    pub(super) unsafe fn at<'a>(address: usize) -> &'a Self {
        // SAFETY: the caller's promise; slots are aligned, zeroed at first, and only atomics.
        unsafe { &*(address as *const Self) }
    }

    pub(super) fn open(&self, number: u64) {
        self.number.store(number, Ordering::SeqCst);
    }

    /// Says that the window is no more. Nothing that it showed is let go of before.
    pub(super) fn close(&self) {
        self.begin();
        self.number.store(0, Ordering::SeqCst);
        self.end();
    }

    pub(super) fn is_of(&self, number: u64) -> bool {
        self.number.load(Ordering::SeqCst) == number
    }

    /// Says that the owner writes. What it writes from now on, nobody takes for what was.
    pub(super) fn begin(&self) {
        let sequence = self.sequence.load(Ordering::Relaxed);
        if sequence.is_multiple_of(2) {
            self.sequence.store(sequence + 1, Ordering::Relaxed);
        }
        // Stores that follow, also those of whoever gets freed memory next, are seen later.
        fence(Ordering::SeqCst);
    }

    /// Says that it has written.
    pub(super) fn end(&self) {
        let sequence = self.sequence.load(Ordering::Relaxed);
        if !sequence.is_multiple_of(2) {
            self.sequence.store(sequence + 1, Ordering::SeqCst);
        }
    }

    /// Where the list is, between `begin` and `end`.
    pub(super) fn set_list(&self, offset: usize, n_bytes: usize) {
        self.list_offset.store(offset as u64, Ordering::Relaxed);
        self.list_bytes.store(n_bytes as u64, Ordering::Relaxed);
    }

    /// What it says now; none while the owner writes.
    pub(super) fn state(&self) -> Option<SlotState> {
        let sequence = self.sequence.load(Ordering::Acquire);
        let state = SlotState {
            sequence,
            list_offset: self.list_offset.load(Ordering::Relaxed),
            list_bytes: self.list_bytes.load(Ordering::Relaxed),
        };
        (sequence.is_multiple_of(2) && self.is_still(sequence)).then_some(state)
    }

    /// Whether nothing was written since: all that was read meanwhile belongs together.
    pub(super) fn is_still(&self, sequence: u64) -> bool {
        fence(Ordering::SeqCst);
        self.sequence.load(Ordering::SeqCst) == sequence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_is_odd_while_its_owner_writes() {
        let page: [AtomicU64; 16] = std::array::from_fn(|_| AtomicU64::new(0));
        let address = (page.as_ptr() as usize).next_multiple_of(SLOT_BYTES);
        // SAFETY: the page is zeroed and lives until the end.
        let slot = unsafe { Slot::at(address) };
        slot.open(5);
        let before = slot.state().expect("nobody writes");
        slot.begin();
        slot.begin();
        assert_eq!(slot.state(), None);
        slot.set_list(4096, 10);
        slot.end();
        slot.end();
        let after = slot.state().expect("nobody writes");
        assert_eq!((after.sequence, after.list_offset, after.list_bytes), (2, 4096, 10));
        assert!(!slot.is_still(before.sequence) && slot.is_still(after.sequence));
        slot.close();
        assert!(!slot.is_of(5) && !slot.is_still(after.sequence));
    }
}
