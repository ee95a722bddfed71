//! Snapshots: what a forked child sees of memory that processes share.
//!
//! A child has its parent's mappings. Those of shared files would stay shared: what the child
//! writes would change the parent's array, and what the parent or a neighbour writes later would
//! change the child's. So blocks that somebody uses are copied just before the fork, and the child
//! puts the copies in the place of the blocks, at the same addresses. Parts of a block that nobody
//! has touched cost nothing. Blocks that only the pool keeps are not copied; the child forgets them.
//!
//! The copies are made before the fork and by the parent: afterwards it may write at any moment, and
//! the child can only copy what is there by then.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use crate::memory::{loan, pool};

static SHOWN: Mutex<Blocks> = Mutex::new(BTreeMap::new());
static WATCH: Once = Once::new();

thread_local! {
    /// What the thread that forks holds from before the fork until after.
    static HELD: RefCell<Option<LockedState>> = const { RefCell::new(None) };
}

/// Blocks in use by their addresses, and how many use them.
type Blocks = BTreeMap<usize, (UsedBlock, usize)>;

/// A part of a shared file that is mapped here and in use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UsedBlock {
    pub n_bytes: usize,
    pub file: i32,
    /// Where it lies in the file.
    pub offset: usize,
}

/// Locks that no other thread shall hold in the child's copy, and the copies of what is in use.
struct LockedState {
    shown: MutexGuard<'static, Blocks>,
    pool: pool::LockedPool,
    lenders: loan::LockedLenders,
    /// Address, and where its copy lies; none if there was no memory for it.
    copies: Vec<(usize, UsedBlock, Option<usize>)>,
}

fn shown() -> MutexGuard<'static, Blocks> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes forks safe from now on.
pub(crate) fn watch_forks() {
    WATCH.call_once(|| {
        // SAFETY: the handlers keep what they need in the thread that forks.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
}

/// Says that one more uses a block.
pub(crate) fn show(address: usize, block: UsedBlock) {
    watch_forks();
    shown().entry(address).or_insert((block, 0)).1 += 1;
}

/// Says that one less uses a block, or that it has become private.
pub(crate) fn hide(address: usize) {
    let mut shown = shown();
    let Some((_, n_users)) = shown.get_mut(&address) else { return };
    *n_users -= 1;
    if *n_users == 0 {
        shown.remove(&address);
    }
}

extern "C" fn before() {
    let shown = shown();
    let copies = shown.iter().map(|(at, (block, _))| (*at, *block, copied(*at, *block))).collect();
    let held = LockedState { shown, pool: pool::lock(), lenders: loan::lock(), copies };
    // A thread that ends has no such place any more, and its child no copies.
    let _ = HELD.try_with(|cell| *cell.borrow_mut() = Some(held));
}

extern "C" fn in_parent() {
    let Ok(Some(held)) = HELD.try_with(RefCell::take) else { return };
    for (_, block, copy) in held.copies {
        if let Some(copy) = copy {
            unmap(copy, block.n_bytes);
        }
    }
}

extern "C" fn in_child() {
    let Ok(Some(mut held)) = HELD.try_with(RefCell::take) else { return };
    for (at, block, copy) in &held.copies {
        put(*at, *block, *copy);
    }
    held.shown.clear();
    held.pool.forget_shared();
    held.lenders.forget();
}

/// Lets go of memory that was mapped.
pub(crate) fn unmap(address: usize, n_bytes: usize) {
    // SAFETY: the caller owns the mapping and uses it no more.
    unsafe { libc::munmap(address as *mut libc::c_void, n_bytes) };
}

/// A private copy of a block; none if there is no room for it.
fn copied(address: usize, block: UsedBlock) -> Option<usize> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping at an address of the system's choice.
    let copy = unsafe { libc::mmap(std::ptr::null_mut(), block.n_bytes, access, flags, -1, 0) };
    if copy == libc::MAP_FAILED {
        return None;
    }
    crate::memory::huge_pages::advise(copy as usize, block.n_bytes);
    let end = block.offset + block.n_bytes;
    let mut at = block.offset;
    while let Some((first, last)) = touched(block.file, at, end) {
        let start = first - block.offset;
        // SAFETY: both ranges lie inside their mappings, which are as long as the block.
        unsafe {
            let from = (address + start) as *const u8;
            std::ptr::copy_nonoverlapping(from, copy.cast::<u8>().add(start), last - first);
        }
        at = last;
    }
    Some(copy as usize)
}

/// The next part of a file that has pages, within these bounds; all of it where that is unknown.
#[cfg(target_os = "linux")]
fn touched(file: i32, at: usize, end: usize) -> Option<(usize, usize)> {
    if at >= end {
        return None;
    }
    // SAFETY: asks where data lies; nobody reads the file by its position.
    let data = unsafe { libc::lseek(file, at as libc::off_t, libc::SEEK_DATA) };
    let Ok(first) = usize::try_from(data) else {
        let is_empty = std::io::Error::last_os_error().raw_os_error() == Some(libc::ENXIO);
        return (!is_empty).then_some((at, end));
    };
    // SAFETY: as above.
    let hole = unsafe { libc::lseek(file, data, libc::SEEK_HOLE) };
    let last = usize::try_from(hole).map_or(end, |hole| hole.min(end));
    (first < end).then_some((first, last))
}

#[cfg(not(target_os = "linux"))]
fn touched(_file: i32, at: usize, end: usize) -> Option<(usize, usize)> {
    (at < end).then_some((at, end))
}

/// Puts a copy in the place of a block.
#[cfg(target_os = "linux")]
fn put(address: usize, block: UsedBlock, copy: Option<usize>) {
    let Some(copy) = copy else {
        // Without memory for a copy what is written here stays here, at least.
        map_private(address, block.n_bytes, (block.file, block.offset));
        return;
    };
    if !moved(copy, block.n_bytes, address) && map_private(address, block.n_bytes, (-1, 0)) {
        let (from, to) = (copy as *const u8, address as *mut u8);
        // SAFETY: both are mapped, apart, and as long as the block.
        unsafe { std::ptr::copy_nonoverlapping(from, to, block.n_bytes) };
        unmap(copy, block.n_bytes);
    }
}

/// Moves a mapping to where another one is; false if the system does not.
#[cfg(target_os = "linux")]
fn moved(from: usize, n_bytes: usize, to: usize) -> bool {
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // The system itself is called: communication libraries put functions of their own in the place
    // of `mremap` that forget its last argument.
    // SAFETY: both mappings are this process's, as long as the block, and nobody uses the first.
    let at = unsafe { libc::syscall(libc::SYS_mremap, from, n_bytes, n_bytes, flags, to) };
    at == to as libc::c_long
}

/// Maps private pages of a file, or new ones, where a block is; false if there is no memory.
#[cfg(target_os = "linux")]
fn map_private(address: usize, n_bytes: usize, (file, offset): (i32, usize)) -> bool {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = if file < 0 { libc::MAP_ANONYMOUS } else { 0 };
    let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE | kind;
    let at = address as *mut libc::c_void;
    // SAFETY: the block's mapping is this process's to replace; its file is open while it is used.
    let put = unsafe { libc::mmap(at, n_bytes, access, flags, file, offset as libc::off_t) };
    put != libc::MAP_FAILED
}

/// Nothing to do: there are no shared files.
#[cfg(not(target_os = "linux"))]
fn put(_address: usize, _block: UsedBlock, _copy: Option<usize>) {}
