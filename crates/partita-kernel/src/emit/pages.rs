//! Memory for code: written first, then executable, never both.

use std::ptr::NonNull;

/// Pages that hold machine code.
#[derive(Debug)]
pub struct Pages {
    start: NonNull<libc::c_void>,
    n_bytes: usize,
}

// SAFETY: nobody writes the pages any more.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// Copies code into pages of its own; nothing where the system forbids executing them.
    pub fn new(code: &[u8]) -> Option<Pages> {
        let n_bytes = code.len().next_multiple_of(4096);
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping anywhere.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), n_bytes, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        let pages = Pages { start: NonNull::new(start)?, n_bytes };
        // SAFETY: the mapping is ours, writable, and long enough.
        let outcome = unsafe {
            std::ptr::copy_nonoverlapping(code.as_ptr(), start.cast(), code.len());
            libc::mprotect(start, n_bytes, libc::PROT_READ | libc::PROT_EXEC)
        };
        (outcome == 0).then_some(pages)
    }

    /// Where the code begins.
    pub fn start(&self) -> *const u8 {
        self.start.as_ptr().cast()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nobody runs it any more.
        unsafe { libc::munmap(self.start.as_ptr(), self.n_bytes) };
    }
}
