//! Warm memory: blocks that were used before are used again.
//!
//! Touching fresh memory costs two to seven times the copy into it. Results therefore come from a
//! pool: what is dropped stays there, up to a limit, on huge pages where the system grants them.
//! Once other processes take part, new blocks come from the arena, where those can reach them.
//!
//! ```
//! use partita_team::Memory;
//! let block = Memory::new(4 << 20);
//! let address = block.address();
//! drop(block);
//! assert_eq!(Memory::new(4 << 20).address(), address, "the same block again");
//! ```

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::memory::arena::{self, Arena, PAGE_BYTES};
use crate::memory::huge_pages::{HUGE_PAGE_BYTES, advise};
use crate::memory::machine::{Machine, machine};
use crate::memory::snapshot;

/// Smaller blocks are the system allocator's business.
const POOLED_FROM_BYTES: usize = 1 << 20;
const LINE_BYTES: usize = 64;
/// Programs like powers of two, and what lies inside their borders: blocks from this size on have
/// some room more, so that both have one size and take each other's place.
const NEAR_FROM_BYTES: usize = 12 << 20;
const NEAR_BYTES: usize = 1 << 20;
/// Smaller blocks are not compared with what the machine has.
const VAST_BYTES: usize = 1 << 30;
/// Blocks that the pool keeps at most: it looks through them one by one.
const MOST_BLOCKS: usize = 1024;
/// What the pool keeps at most, unless told otherwise.
const USUAL_LIMIT_BYTES: usize = 2 << 30;

static POOL: Mutex<Pool> = Mutex::new(Pool {
    blocks: Vec::new(),
    kept_bytes: 0,
    limit_bytes: USUAL_LIMIT_BYTES,
    used_bytes: 0,
    n_limits: 0,
    all_limits: 0,
});

/// Blocks that nobody uses, newest last.
struct Pool {
    blocks: Vec<PoolBlock>,
    kept_bytes: usize,
    limit_bytes: usize,
    /// What large blocks that are in use have.
    used_bytes: usize,
    /// How many limits there are for what is used, and their sum: what is kept counts with it.
    n_limits: usize,
    all_limits: usize,
}

/// Memory by its address: the pool is the owner.
#[derive(Debug, Clone, Copy)]
struct PoolBlock {
    address: usize,
    capacity: usize,
    origin: Origin,
}

/// Where a block came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    System,
    /// At this offset.
    Arena(usize),
}

fn pool() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The pool, held while this process forks.
pub(crate) struct LockedPool(MutexGuard<'static, Pool>);

/// Holds the pool, so that no other thread does in a forked child.
pub(crate) fn lock() -> LockedPool {
    LockedPool(pool())
}

impl LockedPool {
    /// In a forked child: what the pool keeps of shared memory is its parent's.
    pub(crate) fn forget_shared(&mut self) {
        let pool = &mut *self.0;
        pool.blocks.retain(|block| block.origin == Origin::System);
        pool.kept_bytes = pool.blocks.iter().map(|block| block.capacity).sum();
    }
}

/// A block of memory for results; its content is whatever was there.
#[derive(Debug)]
pub struct Memory {
    block: PoolBlock,
    n_bytes: usize,
    reach: Reach,
}

/// Who shall reach a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// All processes of the node, once there are others.
    All,
    /// This process.
    Own,
}

impl Reach {
    /// Whether a block that is kept is of use.
    fn fits(self, origin: Origin) -> bool {
        let is_shared = self == Self::All && Arena::get().is_some();
        is_shared == matches!(origin, Origin::Arena(_))
    }
}

impl Memory {
    /// A block of at least this size, warm if there is one.
    ///
    /// The process ends if the system has no more; [`Memory::try_new`] says so instead.
    #[must_use]
    pub fn new(n_bytes: usize) -> Self {
        Self::try_new(n_bytes).unwrap_or_else(|| handle_alloc_error(Layout::new::<u8>()))
    }

    /// The same; none if the system has no more memory.
    #[must_use]
    pub fn try_new(n_bytes: usize) -> Option<Self> {
        Self::for_reach(n_bytes, Reach::All)
    }

    /// The same for what will be written: none if it is more than the machine has, either. Memory
    /// that processes share has any size, and whoever fills one that is too large is ended.
    #[must_use]
    pub fn try_filled(n_bytes: usize) -> Option<Self> {
        let is_beyond =
            |machine: Machine| n_bytes as u64 > machine.all.saturating_add(machine.swap);
        if n_bytes >= VAST_BYTES && machine().is_some_and(is_beyond) {
            return None;
        }
        Self::try_new(n_bytes)
    }

    /// The same for work that no other process looks at: it costs nothing until it is touched.
    /// None if the system has no more memory.
    #[must_use]
    pub fn try_private(n_bytes: usize) -> Option<Self> {
        Self::for_reach(n_bytes, Reach::Own)
    }

    /// The same; the process ends if the system has no more.
    pub(crate) fn private(n_bytes: usize) -> Self {
        Self::try_private(n_bytes).unwrap_or_else(|| handle_alloc_error(Layout::new::<u8>()))
    }

    fn for_reach(n_bytes: usize, reach: Reach) -> Option<Self> {
        // What no address space holds would overflow when rounded up.
        if n_bytes > isize::MAX as usize - HUGE_PAGE_BYTES {
            return None;
        }
        snapshot::watch_forks();
        let capacity = capacity_for(n_bytes);
        let found =
            if is_pooled(capacity) { pool().take_or_make_room(capacity, reach) } else { None };
        let block = found.or_else(|| PoolBlock::fresh(capacity, reach))?;
        if is_large(block.capacity) {
            pool().used_bytes += block.capacity;
        }
        if let Some((arena, shared)) = block.in_arena() {
            arena.show(shared);
        }
        Some(Self { block, n_bytes, reach })
    }

    /// Lets blocks come from memory that other processes can map; false if there is none.
    pub fn share() -> bool {
        if Arena::get().is_none() && Arena::open().is_some() {
            // What is kept cannot be shared: let it go.
            let mut pool = pool();
            let limit_bytes = std::mem::replace(&mut pool.limit_bytes, 0);
            pool.shrink();
            pool.limit_bytes = limit_bytes;
        }
        Arena::get().is_some()
    }

    /// Says that somebody may use so many bytes, or another number than before: what the pool
    /// keeps then counts with what is used.
    pub fn change_limit(before: Option<usize>, now: Option<usize>) {
        let mut pool = pool();
        if let Some(limit) = before {
            pool.n_limits = pool.n_limits.saturating_sub(1);
            pool.all_limits = pool.all_limits.saturating_sub(limit);
        }
        if let Some(limit) = now {
            pool.n_limits += 1;
            pool.all_limits = pool.all_limits.saturating_add(limit);
        }
        pool.shrink();
    }

    /// Where it lies.
    #[must_use]
    pub fn address(&self) -> usize {
        self.block.address
    }

    /// The size that was asked for.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Sets how many bytes the pool keeps; what is above goes back to the system.
    pub fn set_pool_limit(limit_bytes: usize) {
        let mut pool = pool();
        pool.limit_bytes = limit_bytes;
        pool.shrink();
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let is_shareable = matches!(self.block.origin, Origin::Arena(_));
        if is_shareable {
            snapshot::hide(self.block.address);
        }
        if is_large(self.block.capacity) {
            let mut pool = pool();
            pool.used_bytes = pool.used_bytes.saturating_sub(self.block.capacity);
        }
        if !self.reach.fits(self.block.origin)
            || !is_pooled(self.block.capacity)
            || self.block.is_withdrawn()
        {
            self.block.free();
            return;
        }
        let mut pool = pool();
        pool.blocks.push(self.block);
        pool.kept_bytes += self.block.capacity;
        pool.shrink();
    }
}

impl Pool {
    /// A block that was kept; where there is none, room for a fresh one.
    fn take_or_make_room(&mut self, capacity: usize, reach: Reach) -> Option<PoolBlock> {
        let found = self.take(capacity, reach);
        if found.is_none() {
            self.shrink_for(capacity);
        }
        found
    }

    /// The smallest block that fits without wasting more than a quarter.
    fn take(&mut self, capacity: usize, reach: Reach) -> Option<PoolBlock> {
        let range = capacity..=capacity + capacity / 4;
        let fits = |block: &PoolBlock| range.contains(&block.capacity) && reach.fits(block.origin);
        let candidates = self.blocks.iter().enumerate().filter(|(_, block)| fits(block));
        // Among equals the newest: its pages are the likeliest in the cache.
        let (at, _) = candidates.min_by_key(|(at, block)| (block.capacity, usize::MAX - at))?;
        let block = self.blocks.remove(at);
        self.kept_bytes -= block.capacity;
        Some(block)
    }

    fn shrink(&mut self) {
        self.shrink_for(0);
    }

    /// Gives back what is too much, once so many bytes more are used.
    fn shrink_for(&mut self, more_bytes: usize) {
        let rest = self.all_limits.saturating_sub(self.used_bytes.saturating_add(more_bytes));
        let most = if self.n_limits > 0 { self.limit_bytes.min(rest) } else { self.limit_bytes };
        while self.kept_bytes > most || self.blocks.len() > MOST_BLOCKS {
            let oldest = self.blocks.remove(0);
            self.kept_bytes -= oldest.capacity;
            oldest.free();
        }
    }
}

impl PoolBlock {
    fn fresh(capacity: usize, reach: Reach) -> Option<Self> {
        let is_shared = reach == Reach::All && capacity >= PAGE_BYTES;
        let arena = Arena::get().filter(|_| is_shared);
        if let Some((arena, block)) = arena.and_then(|arena| Some((arena, arena.take(capacity)?))) {
            let origin = Origin::Arena(block.offset);
            return Some(Self { address: arena.at(block), capacity: block.n_bytes, origin });
        }
        let layout = layout(capacity);
        // SAFETY: the layout has a size above zero.
        let address = unsafe { alloc(layout) };
        if address.is_null() {
            return None;
        }
        advise(address as usize, capacity);
        Some(Self { address: address as usize, capacity, origin: Origin::System })
    }

    fn in_arena(self) -> Option<(&'static Arena, arena::Block)> {
        match self.origin {
            Origin::System => None,
            Origin::Arena(offset) => {
                Some((Arena::get()?, arena::Block { offset, n_bytes: self.capacity }))
            }
        }
    }

    fn is_withdrawn(self) -> bool {
        let span = (self.address, self.address + self.capacity);
        self.in_arena().is_some_and(|(arena, _)| arena.find(span).is_none())
    }

    fn free(self) {
        match self.in_arena() {
            Some((arena, block)) => arena.give(block),
            // A forked child's copy of its parent's block.
            None if self.origin != Origin::System => snapshot::unmap(self.address, self.capacity),
            // SAFETY: allocated in `fresh` with this layout, and nobody has it any more.
            None => unsafe { dealloc(self.address as *mut u8, layout(self.capacity)) },
        }
    }
}

fn is_pooled(capacity: usize) -> bool {
    let from = if Arena::get().is_some() { PAGE_BYTES } else { POOLED_FROM_BYTES };
    capacity >= from
}

/// Blocks that the pool keeps in every process.
fn is_large(capacity: usize) -> bool {
    capacity >= POOLED_FROM_BYTES
}

fn capacity_for(n_bytes: usize) -> usize {
    let n_bytes = n_bytes.max(1);
    if n_bytes >= NEAR_FROM_BYTES {
        return (n_bytes + NEAR_BYTES).next_multiple_of(HUGE_PAGE_BYTES);
    }
    if n_bytes >= POOLED_FROM_BYTES {
        return n_bytes.next_multiple_of(HUGE_PAGE_BYTES);
    }
    if n_bytes >= PAGE_BYTES && Arena::get().is_some() {
        return n_bytes.next_multiple_of(PAGE_BYTES);
    }
    n_bytes.next_multiple_of(LINE_BYTES)
}

fn layout(capacity: usize) -> Layout {
    let align = if capacity < POOLED_FROM_BYTES { LINE_BYTES } else { HUGE_PAGE_BYTES };
    Layout::from_size_align(capacity, align).unwrap_or_else(|_| {
        // Larger than the address space: the allocator's own error says so.
        handle_alloc_error(Layout::new::<u8>())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_and_their_insides_have_blocks_of_one_size() {
        for side in [1448_usize, 2048, 4096, 8192] {
            let sizes = [side, side - 2].map(|side| capacity_for(side * side * 8 + PAGE_BYTES));
            assert_eq!(sizes[0], sizes[1], "{side}");
        }
    }

    #[test]
    fn what_is_kept_counts_with_a_limit() {
        let mut pool = Pool {
            blocks: Vec::new(),
            kept_bytes: 0,
            limit_bytes: USUAL_LIMIT_BYTES,
            used_bytes: 4 << 20,
            n_limits: 1,
            all_limits: 9 << 20,
        };
        for _ in 0..3 {
            let block = PoolBlock::fresh(2 << 20, Reach::Own).expect("memory");
            pool.kept_bytes += block.capacity;
            pool.blocks.push(block);
            pool.shrink();
        }
        assert_eq!((pool.blocks.len(), pool.kept_bytes), (2, 4 << 20));
        assert!(pool.take_or_make_room(4 << 20, Reach::Own).is_none());
        assert_eq!(pool.blocks.len(), 0, "room for what comes");
    }

    #[test]
    fn private_blocks_come_back_to_those_who_want_such_and_never_lie_in_the_arena() {
        assert!(Memory::share(), "memory files");
        let is_shared = |memory: &Memory| memory.block.in_arena().is_some();
        let n_bytes = 37 << 20;
        let private = Memory::try_private(n_bytes).expect("memory");
        let shared = Memory::new(n_bytes);
        assert!(!is_shared(&private) && is_shared(&shared));
        let (own, others) = (private.address(), shared.address());
        drop((private, shared));
        assert_eq!(Memory::new(n_bytes).address(), others);
        assert_eq!(Memory::try_private(n_bytes).expect("memory").address(), own);
    }
}
