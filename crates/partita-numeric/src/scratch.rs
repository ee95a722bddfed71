//! Memory that algorithms need besides their results.
//!
//! Who calls often keeps one: fresh memory costs more than many an algorithm.

use std::alloc::{Layout, alloc, dealloc};
use std::mem::MaybeUninit;

use partita_kernel::room::no_room;

/// From here on, large pages are worth asking for.
const LARGE: usize = 4 << 20;
const ALIGN: usize = 64;

/// Memory that grows with what is asked of it, and is kept for the next call.
///
/// ```
/// let mut scratch = partita_numeric::Scratch::default();
/// assert_eq!(scratch.take::<f64>(100).len(), 100);
/// ```
#[derive(Debug, Default)]
pub struct Scratch {
    memory: Option<Memory>,
}

#[derive(Debug)]
struct Memory {
    data: *mut u8,
    layout: Layout,
}

// SAFETY: the memory belongs to the scratch alone.
unsafe impl Send for Memory {}
// SAFETY: it is only reached through `&mut`.
unsafe impl Sync for Memory {}

impl Scratch {
    /// Room for n elements, aligned to 64 bytes; what is in it has no meaning.
    ///
    /// # Panics
    /// If no address space has room for it; with [`NoRoom`](partita_kernel::room::NoRoom) if the
    /// system has none left.
    pub fn take<T: Copy>(&mut self, n: usize) -> &mut [MaybeUninit<T>] {
        let bytes = n.checked_mul(size_of::<T>()).expect("no array is larger than memory").max(1);
        if self.memory.as_ref().is_none_or(|memory| memory.layout.size() < bytes) {
            self.memory = None;
            self.memory = Some(Memory::new(bytes));
        }
        let data = self.memory.as_ref().map_or(std::ptr::null_mut(), |memory| memory.data);
        // SAFETY: the memory has that many bytes, and `self` is borrowed while they are used.
        unsafe { std::slice::from_raw_parts_mut(data.cast(), n) }
    }
}

/// Elements that have been written.
///
/// # Safety
/// All of them have.
pub(crate) unsafe fn written<T>(memory: &[MaybeUninit<T>]) -> &[T] {
    // SAFETY: the caller's; both have the same layout.
    unsafe { &*(std::ptr::from_ref(memory) as *const [T]) }
}

/// Copies elements into memory of the same length.
pub(crate) fn copy<T: Copy>(from: &[T], to: &mut [MaybeUninit<T>]) {
    assert_eq!(from.len(), to.len(), "as many elements as room");
    // SAFETY: the lengths are equal, and memory that is borrowed alone overlaps nothing.
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to.as_mut_ptr().cast(), from.len()) }
}

impl Memory {
    fn new(bytes: usize) -> Memory {
        let align = if bytes < LARGE { ALIGN } else { 2 << 20 };
        let layout = Layout::from_size_align(bytes, align).expect("no array is larger than memory");
        // SAFETY: the size is not zero.
        let data = unsafe { alloc(layout) };
        if data.is_null() {
            no_room(bytes);
        }
        if bytes >= LARGE {
            advise(data, bytes);
        }
        Memory { data, layout }
    }
}

/// Asks for large pages; without them the memory is only slower.
fn advise(data: *mut u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    // SAFETY: the memory is ours, and the advice changes nothing in it.
    unsafe {
        libc::madvise(data.cast(), bytes, libc::MADV_HUGEPAGE);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (data, bytes);
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.data, self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::Scratch;

    #[test]
    fn is_kept_and_grows() {
        let mut scratch = Scratch::default();
        let first = scratch.take::<u64>(1000).as_ptr().cast::<u8>();
        assert_eq!(first.addr() % 64, 0);
        assert_eq!(scratch.take::<u8>(8000).as_ptr().cast::<u8>(), first);
        let large = scratch.take::<u64>(1 << 20);
        assert_eq!(large.len(), 1 << 20);
        large[(1 << 20) - 1].write(7);
        assert_eq!(scratch.take::<u8>(0).len(), 0);
    }
}
