//! Windows of other processes: looking at what they show, and reading it without their help.
//!
//! A reader looks, reads, and asks whether that is still what is shown; if not, it has read what it
//! must not use. Memory of the arena is mapped: pages that the owner gives back turn to zeros, but
//! can always be touched, even when the owner has ended. Other memory is read by the system, which
//! says if it is gone.

use std::sync::Arc;

use crate::memory::arena::Address;
use crate::memory::other_arena::{Mapping, OtherArena};
use crate::memory::other_memory::{self, Unread};
use crate::memory::process::{Life, Process};
use crate::memory::shown_window::WindowNote;
use crate::memory::window_list::{ArrayList, InFile};
use crate::memory::window_slot::{Slot, page_of};

/// What is shorter is read through the file: mapping it would take longer.
const SHORT_BYTES: usize = 1 << 18;
/// Longer lists are none.
const MOST_LIST_BYTES: u64 = 1 << 30;

/// A window of another process.
#[derive(Debug)]
pub struct SeenWindow {
    arena: Arc<OtherArena>,
    /// That of its slot.
    page: Arc<Mapping>,
    note: WindowNote,
    process: Process,
}

/// What a reader finds.
#[derive(Debug)]
pub enum Look {
    /// What is shown.
    Shown(Listing),
    /// The owner writes at the moment.
    Writing,
    /// The owner shows nothing any more.
    Closed,
    /// The owner's process has ended.
    Ended,
}

/// What a window showed when somebody looked.
#[derive(Debug)]
pub struct Listing {
    sequence: u64,
    list: ArrayList,
}

/// What came of reading bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetched {
    /// They are read; whether they are what was shown, the window tells afterwards.
    Read,
    /// They are not where they were.
    Gone,
    /// The system does not let this process read them.
    Refused,
}

impl Listing {
    /// Counts what the window has shown.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.list.version
    }

    /// What its owner says of the arrays.
    #[must_use]
    pub fn description(&self) -> &[u8] {
        &self.list.description
    }

    /// Bytes of an array; none if there is no such array.
    #[must_use]
    pub fn n_bytes(&self, array: usize) -> Option<usize> {
        self.list.places.get(array).map(|place| place.n_bytes)
    }
}

impl SeenWindow {
    /// Finds a window; none where this process cannot map it.
    #[must_use]
    pub fn open(note: WindowNote) -> Option<Self> {
        let [number, started, file, device, inode, slot, ..] = note.0;
        let process = Process { number, started };
        let arena = OtherArena::shared(Address { process: number, file, device, inode })?;
        let page = arena.map(page_of(usize::try_from(slot).ok()?)?)?;
        Some(Self { arena, page, note, process })
    }

    /// Whether this process may read memory of the owner that it cannot map.
    #[must_use]
    pub fn reads_in_place(&self) -> bool {
        self.owner() == Ok(Life::Runs)
    }

    /// What the owner shows now.
    #[must_use]
    pub fn look(&self) -> Look {
        let has_ended = match self.owner() {
            Ok(life) => life == Life::Ended,
            Err(_) => self.process.life() == Life::Ended,
        };
        if !self.slot().is_of(self.number()) {
            return Look::Closed;
        }
        if has_ended {
            return Look::Ended;
        }
        match self.listing() {
            Some(listing) => Look::Shown(listing),
            None if self.slot().is_of(self.number()) => Look::Writing,
            None => Look::Closed,
        }
    }

    /// Whether it still shows the same.
    #[must_use]
    pub fn still_shows(&self, listing: &Listing) -> bool {
        self.slot().is_still(listing.sequence)
    }

    /// Reads bytes of an array from `start` on.
    ///
    /// # Safety
    /// The target is memory of `n_bytes` that nobody else uses.
    ///
    /// # Panics
    /// If the array does not have these bytes.
    #[must_use]
    pub unsafe fn fetch(
        &self,
        listing: &Listing,
        array: usize,
        (start, n_bytes): (usize, usize),
        target: *mut u8,
    ) -> Fetched {
        let place = listing.list.places[array];
        assert!(start + n_bytes <= place.n_bytes, "bytes of the array");
        if let Some(found) = place.in_file {
            if place.n_bytes <= SHORT_BYTES {
                let at = (found.block.offset + found.start + start) as u64;
                // SAFETY: the caller's promise; bytes of any content are bytes.
                let target = unsafe { std::slice::from_raw_parts_mut(target, n_bytes) };
                return self.arena.read(at, target).map_or(Fetched::Gone, |()| Fetched::Read);
            }
            let Some((mapping, at)) = self.map_place(found) else { return Fetched::Gone };
            // SAFETY: mapped, as long as the place says, and held meanwhile. The owner may write
            // there: bytes are only copied, and used only if the slot says that it did not.
            unsafe {
                std::ptr::copy_nonoverlapping((at + start) as *const u8, target, n_bytes);
            }
            drop(mapping);
            return Fetched::Read;
        }
        let span = (place.address.wrapping_add(start), n_bytes);
        // SAFETY: the caller's promise.
        match unsafe { other_memory::read(self.process, span, target) } {
            Ok(()) => Fetched::Read,
            Err(Unread::Refused) => Fetched::Refused,
            Err(Unread::Ended | Unread::Gone) => Fetched::Gone,
        }
    }

    /// An array where it is; none if it cannot be mapped.
    #[must_use]
    pub fn map(&self, listing: &Listing, array: usize) -> Option<MappedArray> {
        let place = listing.list.places.get(array)?;
        let (mapping, address) = self.map_place(place.in_file?)?;
        mapping.show(&self.arena);
        Some(MappedArray { mapping, address, n_bytes: place.n_bytes })
    }

    fn number(&self) -> u64 {
        self.note.0[6]
    }

    fn slot(&self) -> &Slot {
        let within_page = self.note.0[5] as usize - self.slot_page();
        // SAFETY: the page is mapped as long as this lives, and the slot lies in it.
        unsafe { Slot::at(self.page.address() + within_page) }
    }

    fn slot_page(&self) -> usize {
        page_of(self.note.0[5] as usize).map_or(0, |page| page.offset)
    }

    /// How the owner lives, asked without files; an error where the system does not tell.
    fn owner(&self) -> Result<Life, Unread> {
        // Its memory has a word that no other process has there.
        match other_memory::read_word(self.process, self.note.0[7] as usize) {
            Ok(number) if number == self.number() => Ok(Life::Runs),
            Ok(_) | Err(Unread::Gone) => Ok(self.process.life()),
            Err(Unread::Ended) => Ok(Life::Ended),
            Err(refused) => Err(refused),
        }
    }

    fn listing(&self) -> Option<Listing> {
        let state = self.slot().state()?;
        if state.list_bytes > MOST_LIST_BYTES {
            return None;
        }
        let mut bytes = vec![0; state.list_bytes as usize];
        self.arena.read(state.list_offset, &mut bytes)?;
        // What is no list may be one that has gone meanwhile.
        let list = self.slot().is_still(state.sequence).then(|| ArrayList::decode(&bytes))??;
        Some(Listing { sequence: state.sequence, list })
    }

    fn map_place(&self, place: InFile) -> Option<(Arc<Mapping>, usize)> {
        let mapping = self.arena.map(place.block)?;
        let at = mapping.address() + place.start;
        Some((mapping, at))
    }
}

/// An array of another process, mapped here.
#[derive(Debug)]
pub struct MappedArray {
    mapping: Arc<Mapping>,
    address: usize,
    n_bytes: usize,
}

impl MappedArray {
    /// Where it lies in this process.
    #[must_use]
    pub fn address(&self) -> usize {
        self.address
    }

    /// How long it is.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }
}

impl Drop for MappedArray {
    fn drop(&mut self) {
        self.mapping.hide();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::pool::Memory;
    use crate::memory::shown_window::{Readers, ShownWindow, ShownWords, Unmapped};

    const N_BYTES: usize = 10_000;

    fn shown(look: Look) -> Listing {
        match look {
            Look::Shown(listing) => listing,
            other => panic!("{other:?} where something is shown"),
        }
    }

    fn fetched(window: &SeenWindow, listing: &Listing, array: usize) -> Vec<u8> {
        let mut bytes = vec![0; listing.n_bytes(array).expect("an array")];
        let whole = (0, bytes.len());
        // SAFETY: the bytes are ours.
        let outcome = unsafe { window.fetch(listing, array, whole, bytes.as_mut_ptr()) };
        assert_eq!(outcome, Fetched::Read);
        bytes
    }

    fn show(window: &ShownWindow, version: u64, arrays: &[&[u8]], unmapped: Unmapped) {
        let spans = arrays.iter().map(|bytes| (bytes.as_ptr() as usize, bytes.len())).collect();
        let words = ShownWords { version, description: b"described".to_vec() };
        assert!(window.show(spans, words, unmapped));
    }

    #[test]
    fn what_is_shown_is_read_wherever_it_lies_until_the_window_closes() {
        assert!(Memory::share(), "memory files");
        for unmapped in [Unmapped::ReadInPlace, Unmapped::Copied] {
            let own = ShownWindow::new(Readers::Near).expect("room");
            let other = SeenWindow::open(own.note().expect("room")).expect("a way to it");
            assert!(other.reads_in_place());
            let warm = Memory::new(N_BYTES);
            // SAFETY: the block is ours and as long.
            let in_arena = unsafe {
                std::ptr::write_bytes(warm.address() as *mut u8, 7, N_BYTES);
                std::slice::from_raw_parts(warm.address() as *const u8, N_BYTES)
            };
            let elsewhere = vec![9; 300];
            show(&own, 1, &[in_arena, &[], &elsewhere], unmapped);

            let first = shown(other.look());
            assert_eq!((first.version(), first.description()), (1, &b"described"[..]));
            assert_eq!(fetched(&other, &first, 0), in_arena);
            assert_eq!(fetched(&other, &first, 1), []);
            assert_eq!(fetched(&other, &first, 2), elsewhere);
            let mapped = other.map(&first, 0).expect("it lies in the arena");
            assert_eq!(mapped.n_bytes(), N_BYTES);
            assert_eq!(other.map(&first, 2).is_some(), unmapped == Unmapped::Copied);
            assert!(other.still_shows(&first));

            own.begin_writing();
            assert!(matches!(other.look(), Look::Writing));
            show(&own, 2, &[&elsewhere], unmapped);
            assert!(!other.still_shows(&first));
            let second = shown(other.look());
            assert_eq!((second.version(), fetched(&other, &second, 0)), (2, elsewhere.clone()));

            own.close();
            assert!(matches!(other.look(), Look::Closed));
            assert!(!other.still_shows(&second));
            // Its slot goes to another window, which is not this one.
            let next = ShownWindow::new(Readers::Near).expect("room");
            show(&next, 1, &[], unmapped);
            assert!(matches!(other.look(), Look::Closed));
        }
    }

    #[test]
    fn numbers_of_another_window_find_nothing() {
        assert!(Memory::share(), "memory files");
        let own = ShownWindow::new(Readers::Near).expect("room");
        for (field, wrong) in [(0, u64::MAX), (3, u64::MAX), (4, u64::MAX), (5, 1 << 60), (5, 3)] {
            let mut note = own.note().expect("room");
            note.0[field] = wrong;
            assert!(SeenWindow::open(note).is_none(), "field {field}");
        }
        let mut note = own.note().expect("room");
        note.0[6] += 1;
        assert!(matches!(SeenWindow::open(note).expect("a way").look(), Look::Closed));
    }

    #[test]
    fn an_array_whose_block_becomes_private_is_shown_from_there() {
        assert!(Memory::share(), "memory files");
        let own = ShownWindow::new(Readers::Near).expect("room");
        let other = SeenWindow::open(own.note().expect("room")).expect("a way to it");
        let warm = Memory::new(N_BYTES);
        let at = warm.address();
        // SAFETY: the block is ours, and as long.
        let bytes = unsafe { std::slice::from_raw_parts(at as *const u8, N_BYTES) };
        show(&own, 1, &[bytes], Unmapped::ReadInPlace);
        let arena = crate::memory::arena::Arena::get().expect("shared");
        let block = arena.find((at, at + N_BYTES)).expect("it lies there");
        arena.withdraw(block);
        crate::memory::shown_window::leave_block(block);
        // SAFETY: as above; nobody else writes it.
        unsafe { std::ptr::write_bytes(at as *mut u8, 5, N_BYTES) };
        let listing = shown(other.look());
        assert_eq!(listing.version(), 1, "the same arrays");
        assert_eq!(fetched(&other, &listing, 0), vec![5; N_BYTES]);
    }
}
