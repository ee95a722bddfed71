//! The arena: memory of this process that other processes of the node can map.
//!
//! It is one nameless file in memory, mapped once and so large that it never has to grow; pages
//! cost nothing until they are touched. Others open the file through `/proc` and map the block they
//! are told of. Nothing has a name, so nothing is left behind, however the process ends.
//!
//! A block that is given back loses its pages, even where another process still has them mapped.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use partita_mpi::n_forks;

use crate::memory::huge_pages::{self, HUGE_PAGE_BYTES};
use crate::memory::snapshot::{self, UsedBlock};

/// Blocks start at multiples of this.
pub(crate) const PAGE_BYTES: usize = 4096;
/// What is reserved at first try, then ever less.
const LARGEST_RESERVATION: usize = 1 << 42;
const SMALLEST_RESERVATION: usize = 1 << 30;

static ARENA: OnceLock<Option<Arena>> = OnceLock::new();

/// The process's shareable memory.
#[derive(Debug)]
pub(crate) struct Arena {
    file: i32,
    base: usize,
    n_bytes: usize,
    /// Where it is another, the arena is a parent's.
    n_forks: u64,
    state: Mutex<State>,
}

/// Which parts are in use.
#[derive(Debug, Default)]
struct State {
    /// Free parts, offset to length.
    free: BTreeMap<usize, usize>,
    /// Blocks in use, offset to length; withdrawn ones are not listed.
    used: BTreeMap<usize, usize>,
}

/// A part of an arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    pub offset: usize,
    pub n_bytes: usize,
}

/// How another process finds the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address {
    pub process: u64,
    pub file: u64,
    /// Tells whether what was opened is what was meant.
    pub device: u64,
    pub inode: u64,
}

impl Arena {
    /// Makes the arena if there is none; none where the system cannot.
    pub(crate) fn open() -> Option<&'static Self> {
        ARENA.get_or_init(Self::make).as_ref()
    }

    /// The arena, if it was opened by this very process.
    pub(crate) fn get() -> Option<&'static Self> {
        ARENA.get()?.as_ref().filter(|arena| !arena.is_parents())
    }

    /// Whether this process was forked from that of the arena, and must not hand out its blocks.
    pub(crate) fn is_parents(&self) -> bool {
        self.n_forks != n_forks()
    }

    /// Makes an arena of its own.
    #[cfg(target_os = "linux")]
    pub(crate) fn make() -> Option<Self> {
        // SAFETY: a name and a flag; the result is checked.
        let file = unsafe { libc::memfd_create(c"partita".as_ptr(), libc::MFD_CLOEXEC) };
        if file < 0 {
            return None;
        }
        let mut n_bytes = LARGEST_RESERVATION;
        while n_bytes >= SMALLEST_RESERVATION {
            // SAFETY: the file is ours; a failure is handled below.
            let grown = unsafe { libc::ftruncate(file, n_bytes as libc::off_t) } == 0;
            if let Some(base) = grown.then(|| map(file, 0, n_bytes)).flatten() {
                let state = State { free: [(0, n_bytes)].into(), used: BTreeMap::new() };
                return Some(Self {
                    file,
                    base,
                    n_bytes,
                    n_forks: n_forks(),
                    state: Mutex::new(state),
                });
            }
            n_bytes /= 4;
        }
        // SAFETY: the file is ours and nobody else has it.
        unsafe { libc::close(file) };
        None
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn make() -> Option<Self> {
        None
    }

    /// How others find it.
    pub(crate) fn address(&self) -> Option<Address> {
        let (device, inode) = identity(self.file)?;
        Some(Address {
            process: u64::from(std::process::id()),
            file: self.file as u64,
            device,
            inode,
        })
    }

    /// Where a block lies in this process.
    pub(crate) fn at(&self, block: Block) -> usize {
        self.base + block.offset
    }

    /// Says that a block is in use: a forked child gets a copy of it.
    pub(crate) fn show(&self, block: Block) {
        let Block { offset, n_bytes } = block;
        snapshot::show(self.at(block), UsedBlock { n_bytes, file: self.file, offset });
    }

    /// A block of at least this size; none if there is no room.
    pub(crate) fn take(&self, n_bytes: usize) -> Option<Block> {
        let align = if n_bytes >= HUGE_PAGE_BYTES { HUGE_PAGE_BYTES } else { PAGE_BYTES };
        let n_bytes = n_bytes.max(1).checked_next_multiple_of(align)?;
        if n_bytes > self.n_bytes {
            return None;
        }
        let mut state = self.state();
        let (&start, &length) = state.free.iter().find(|(start, length)| {
            start.next_multiple_of(align) + n_bytes <= **start + **length
        })?;
        let offset = start.next_multiple_of(align);
        state.free.remove(&start);
        if offset > start {
            state.free.insert(start, offset - start);
        }
        let end = start + length;
        if end > offset + n_bytes {
            state.free.insert(offset + n_bytes, end - offset - n_bytes);
        }
        state.used.insert(offset, n_bytes);
        drop(state);
        huge_pages::join(self.base + offset, n_bytes);
        Some(Block { offset, n_bytes })
    }

    /// Gives a block back, pages and all.
    pub(crate) fn give(&self, block: Block) {
        self.punch(block);
        let mut state = self.state();
        if state.used.remove(&block.offset).is_none() {
            // Withdrawn: other pages lie at its address now, so it is not used again.
            drop(state);
            let at = self.at(block) as *mut libc::c_void;
            // SAFETY: the pages are private to this process, and nobody uses them any more.
            unsafe { libc::madvise(at, block.n_bytes, libc::MADV_DONTNEED) };
            return;
        }
        let mut joined = block;
        if let Some((&start, &length)) = state.free.range(..block.offset).next_back()
            && start + length == block.offset
        {
            state.free.remove(&start);
            joined = Block { offset: start, n_bytes: length + block.n_bytes };
        }
        let end = block.offset + block.n_bytes;
        if let Some(length) = state.free.remove(&end) {
            joined.n_bytes += length;
        }
        state.free.insert(joined.offset, joined.n_bytes);
    }

    /// The block in which these addresses lie, if they lie in one.
    pub(crate) fn find(&self, (first, end): (usize, usize)) -> Option<Block> {
        let offset = first.checked_sub(self.base)?;
        if offset >= self.n_bytes {
            return None;
        }
        let state = self.state();
        let (&start, &n_bytes) = state.used.range(..=offset).next_back()?;
        let ends = end - self.base <= start + n_bytes;
        ends.then_some(Block { offset: start, n_bytes })
    }

    /// Puts private pages with the same content where a block lies.
    ///
    /// Processes that still write the block write what nobody sees.
    pub(crate) fn withdraw(&self, block: Block) {
        if self.state().used.remove(&block.offset).is_none() {
            return;
        }
        let at = self.at(block);
        snapshot::hide(at);
        // SAFETY: the block is mapped and in use by this process.
        let content =
            unsafe { std::slice::from_raw_parts(at as *const u8, block.n_bytes) }.to_vec();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the range is a block of ours; what lay there was just saved, and is put back.
        unsafe {
            let put = libc::mmap(at as *mut libc::c_void, block.n_bytes, access, flags, -1, 0);
            if put != libc::MAP_FAILED {
                std::ptr::copy_nonoverlapping(content.as_ptr(), at as *mut u8, block.n_bytes);
            }
        }
    }

    fn punch(&self, block: Block) {
        #[cfg(target_os = "linux")]
        // SAFETY: the range is a block of this file that nobody uses any more.
        unsafe {
            let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
            libc::fallocate(
                self.file,
                mode,
                block.offset as libc::off_t,
                block.n_bytes as libc::off_t,
            );
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Maps a part of a file for reading and writing, so that its huge pages are huge here too.
pub(crate) fn map(file: i32, offset: usize, n_bytes: usize) -> Option<usize> {
    let none = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // Room for all of it wherever a huge page starts; the rest is given back.
    let reserved = put(0, n_bytes.checked_add(HUGE_PAGE_BYTES)?, none, (-1, 0))?;
    let start = reserved.next_multiple_of(HUGE_PAGE_BYTES);
    let (before, end) = (start - reserved, start + n_bytes.next_multiple_of(PAGE_BYTES));
    if before > 0 {
        snapshot::unmap(reserved, before);
    }
    if reserved + n_bytes + HUGE_PAGE_BYTES > end {
        snapshot::unmap(end, reserved + n_bytes + HUGE_PAGE_BYTES - end);
    }
    let shared = libc::MAP_SHARED | libc::MAP_NORESERVE | libc::MAP_FIXED;
    let mapped = put(start, n_bytes, (libc::PROT_READ | libc::PROT_WRITE, shared), (file, offset));
    if mapped.is_none() {
        snapshot::unmap(start, n_bytes);
    }
    mapped
}

/// A mapping with these rights and flags; none if the system refuses.
fn put(
    at: usize,
    n_bytes: usize,
    (access, flags): (i32, i32),
    (file, offset): (i32, usize),
) -> Option<usize> {
    let (at, offset) = (at as *mut libc::c_void, offset as libc::off_t);
    // SAFETY: an address of the system's choice, or one that was reserved for this.
    let put = unsafe { libc::mmap(at, n_bytes, access, flags, file, offset) };
    (put != libc::MAP_FAILED).then_some(put as usize)
}

/// Device and inode of an open file.
pub(crate) fn identity(file: i32) -> Option<(u64, u64)> {
    // SAFETY: a zeroed `stat` is valid, and is filled by the call.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the file is open and the structure ours.
    let status = unsafe { libc::fstat(file, &raw mut stat) };
    #[allow(clippy::useless_conversion, reason = "the widths differ between systems")]
    (status == 0).then(|| (stat.st_dev.into(), stat.st_ino.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_apart_come_back_empty_and_join() {
        let arena = Arena::make().expect("memory files");
        let (a, b) = (arena.take(5000).expect("room"), arena.take(3 << 20).expect("room"));
        assert_eq!((a.n_bytes, b.n_bytes, b.offset % HUGE_PAGE_BYTES), (8192, 4 << 20, 0));
        let byte = arena.at(a) as *mut u8;
        // SAFETY: the block is in use.
        unsafe { byte.write(7) };
        assert_eq!(arena.find((arena.at(a), arena.at(a) + 8192)), Some(a));
        assert_eq!(arena.find((arena.at(a), arena.at(a) + 8193)), None);
        arena.give(a);
        // SAFETY: still mapped; the pages are new.
        assert_eq!(unsafe { byte.read() }, 0);
        arena.give(b);
        assert_eq!(arena.state().free, [(0, arena.n_bytes)].into());
    }

    #[test]
    fn a_withdrawn_block_keeps_its_content_and_is_not_found() {
        let arena = Arena::make().expect("memory files");
        let block = arena.take(4096).expect("room");
        let byte = arena.at(block) as *mut u8;
        let other = map(arena.file, block.offset, block.n_bytes).expect("a mapping") as *mut u8;
        // SAFETY: both mappings are alive.
        unsafe {
            byte.write(7);
            assert_eq!(other.read(), 7);
            arena.withdraw(block);
            other.write(9);
            assert_eq!(byte.read(), 7);
        }
        assert_eq!(arena.find((arena.at(block), arena.at(block) + 1)), None);
        arena.give(block);
        assert_ne!(arena.take(4096), Some(block));
    }
}
