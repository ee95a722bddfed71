//! The table of a process's loans: it lies where its arena begins, so that everybody finds it.
//!
//! An entry says where the bytes of a loan lie and which processes read them. The lender writes the
//! first, borrowers the second; both only through atomics.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Result, TeamError};
use crate::memory::arena::Block;
use crate::memory::loan::LoanNote;
use crate::memory::process::{Life, life_of};

/// Borrowers of a loan at a time.
pub(super) const N_BORROWERS: usize = 12;
/// Entries of a table: its mark, and as many loans of a process at a time.
pub(super) const N_ENTRIES: usize = 4096;
pub(super) const TABLE_BYTES: usize = N_ENTRIES * size_of::<LoanEntry>();
/// The number of the first entry of every table of this version; no loan's number is so large.
const TABLE_MARK: u64 = u64::from_le_bytes(*b"loans  \xff");

/// What a table says of one loan.
#[derive(Debug)]
#[repr(C)]
pub(super) struct LoanEntry {
    /// Zero if there is none; then all that follows is that of this loan.
    pub number: AtomicU64,
    pub offset: AtomicU64,
    /// Bytes of its block.
    pub capacity: AtomicU64,
    /// Bytes that are lent.
    pub n_bytes: AtomicU64,
    /// Processes that read.
    pub borrowers: [AtomicU64; N_BORROWERS],
}

impl LoanEntry {
    pub(super) fn open(&self, number: u64, block: Block, n_bytes: usize) {
        self.offset.store(block.offset as u64, Ordering::SeqCst);
        self.capacity.store(block.n_bytes as u64, Ordering::SeqCst);
        self.n_bytes.store(n_bytes as u64, Ordering::SeqCst);
        self.number.store(number, Ordering::SeqCst);
    }

    /// Where the bytes of a loan lie, if a note says the same.
    pub(super) fn block(&self, note: LoanNote) -> Result<Block> {
        let [.., offset, capacity, n_bytes] = note.0;
        let told = [("offset", offset), ("capacity", capacity), ("n_bytes", n_bytes)];
        let written = [&self.offset, &self.capacity, &self.n_bytes];
        for ((field, told), word) in told.into_iter().zip(written) {
            let written = word.load(Ordering::SeqCst);
            if told != written {
                let problem = format!("says {field} {told}, its lender's table {written}");
                return Err(TeamError::LoanNote { problem });
            }
        }
        Ok(Block { offset: offset as usize, n_bytes: capacity as usize })
    }
}

/// The entries of all loans of a lender, by the address of its mapping.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoanTable(pub usize);

impl LoanTable {
    pub(super) fn entry(self, at: usize) -> &'static LoanEntry {
        assert!(at < N_ENTRIES, "an entry of the table");
        // SAFETY: whoever has a table keeps it mapped while it looks at an entry; it is aligned to
        // pages, zeroed at first, and accessed through atomics only.
        unsafe { &*((self.0 as *const LoanEntry).add(at)) }
    }

    /// Marks it as a table of this version.
    pub(super) fn mark(self) {
        self.entry(0).number.store(TABLE_MARK, Ordering::SeqCst);
    }

    /// Whether it is one: any other memory of a process has no such mark.
    pub(super) fn is_marked(self) -> bool {
        self.entry(0).number.load(Ordering::SeqCst) == TABLE_MARK
    }
}

/// Whether a living process has entered itself here; others are taken out.
pub(super) fn has_reader(word: &AtomicU64) -> bool {
    let process = word.load(Ordering::SeqCst);
    if process != 0 && life_of(process) == Life::Ended {
        // Nobody else writes here: the process that did has ended.
        word.store(0, Ordering::SeqCst);
        return false;
    }
    process != 0
}
