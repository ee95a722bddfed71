//! Large tables on huge pages.
//!
//! Looking up ten million random indices misses the translation cache on nearly every access when
//! the table lies on 4 KiB pages. NumPy asks for huge pages for its arrays; this allocator asks for
//! them for ours. It changes nothing else, and a system that refuses is not asked twice.

use std::alloc::{GlobalAlloc, Layout, System};

/// From this size on the advice is worth its system call.
const LARGE_BYTES: usize = 4 << 20;
const PAGE_BYTES: usize = 4096;

/// The system's allocator, with advice for large blocks.
#[derive(Debug)]
pub(crate) struct HugePages;

fn advise(block: *mut u8, size: usize) {
    if size < LARGE_BYTES || block.is_null() {
        return;
    }
    let start = (block as usize).next_multiple_of(PAGE_BYTES);
    let length = (block as usize + size - start) / PAGE_BYTES * PAGE_BYTES;
    // SAFETY: the pages lie wholly inside the block just allocated, and the advice does not change
    // their content. A failure means ordinary pages.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::madvise(start as *mut libc::c_void, length, libc::MADV_HUGEPAGE);
    }
}

// SAFETY: every block comes from and goes back to `System` with the caller's layout.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`, which is passed on unchanged.
        let block = unsafe { System.alloc(layout) };
        advise(block, layout.size());
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as for `alloc`.
        let block = unsafe { System.alloc_zeroed(layout) };
        advise(block, layout.size());
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as for `alloc`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as for `alloc`.
        unsafe { System.realloc(block, layout, size) }
    }
}
