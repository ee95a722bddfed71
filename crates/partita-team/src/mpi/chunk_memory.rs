//! Memory that chunks are packed into and arrive in: pieces of huge pages.
//!
//! Between processes of one machine MPI lets the system copy from one's memory into the other's, and
//! the system looks up every page of it. On small pages that takes as long as the copy.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::memory::huge_pages::HUGE_PAGE_BYTES;
use crate::memory::pool::Memory;

/// Smaller chunks are rare, or alone: they have memory of their own.
const PIECES_FROM_BYTES: usize = 128 << 10;
/// Pieces begin at lines of the cache.
const LINE_BYTES: usize = 64;

/// The memory of one chunk.
#[derive(Debug, Default)]
pub(crate) struct ChunkMemory {
    /// What it is a piece of; none if it is empty.
    whole: Option<Arc<Memory>>,
    start: usize,
    n_bytes: usize,
}

impl ChunkMemory {
    /// Memory for chunks of this size: for one, and for others where there is room beside it.
    pub(crate) fn for_several(n_bytes: usize) -> Vec<Self> {
        let n_bytes = n_bytes.max(1).next_multiple_of(LINE_BYTES);
        let n_pieces = match n_bytes {
            PIECES_FROM_BYTES.. => (HUGE_PAGE_BYTES / n_bytes).max(1),
            _ => 1,
        };
        let n_whole = n_pieces * n_bytes;
        let whole = Arc::new(Memory::private(n_whole));
        // SAFETY: the memory is fresh, nobody else's, and has this size.
        unsafe { (whole.address() as *mut u8).write_bytes(0, n_whole) };
        let piece = |number: usize| {
            let (whole, start) = (Arc::clone(&whole), whole.address() + number * n_bytes);
            Self { whole: Some(whole), start, n_bytes }
        };
        (0..n_pieces).map(piece).collect()
    }
}

impl Deref for ChunkMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        if self.whole.is_none() {
            return &[];
        }
        // SAFETY: the piece lies in memory that is kept and was written once; pieces do not overlap.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, self.n_bytes) }
    }
}

impl DerefMut for ChunkMemory {
    fn deref_mut(&mut self) -> &mut [u8] {
        if self.whole.is_none() {
            return &mut [];
        }
        // SAFETY: as above, and this is the only one that has the piece.
        unsafe { std::slice::from_raw_parts_mut(self.start as *mut u8, self.n_bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_share_a_huge_page_and_do_not_overlap() {
        for (n_bytes, n_pieces) in
            [(1, 1), (100 << 10, 1), (512 << 10, 4), (600_000, 3), (3 << 20, 1)]
        {
            let mut pieces = ChunkMemory::for_several(n_bytes);
            assert_eq!(pieces.len(), n_pieces, "{n_bytes} bytes");
            for (number, piece) in (1..).zip(&mut pieces) {
                assert!(piece.len() >= n_bytes && piece.iter().all(|byte| *byte == 0));
                piece.fill(number);
            }
            for (number, piece) in (1..).zip(&pieces) {
                assert!(piece.iter().all(|byte| *byte == number));
            }
        }
        assert!(ChunkMemory::default().is_empty());
    }
}
