//! Loans: bytes of this process that others of the machine may read for a while.
//!
//! For engines whose tasks hand bytes on without meeting. The lender fills a block of an arena of
//! its own and sends a *note* of where it is; a borrower enters itself in the lender's table
//! (`loan_table.rs`), then maps the block. A lender that ends a loan first closes its entry: who
//! enters itself later sees that, and learns that the bytes are gone. The block is used again only
//! when all borrowers have taken themselves out, or their processes have ended. Nothing is ever
//! read that is not what was lent.
//!
//! A note comes from another process and is not trusted: the table says where the bytes of a loan
//! lie and how many they are, a note that says otherwise is refused, and so is a table that tells
//! of memory that its arena does not have.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use partita_mpi::n_forks;

use crate::error::{Result, TeamError};
use crate::memory::arena::{Address, Arena, Block};
use crate::memory::loan_table::{LoanEntry, LoanTable, N_ENTRIES, TABLE_BYTES, has_reader};
use crate::memory::other_arena::{Mapping, OtherArena};
use crate::memory::process::{Life, machine};
use crate::memory::snapshot;

/// Bytes of blocks that are kept for the next loans, warm, and of mappings of others' blocks.
static MOST_KEPT_BYTES: AtomicUsize = AtomicUsize::new(1 << 30);

static OWN_LOANS: OnceLock<Option<OwnLoans>> = OnceLock::new();
static LENDERS: Mutex<Vec<Arc<Lender>>> = Mutex::new(Vec::new());

/// The lenders, held while this process forks.
pub(crate) struct LockedLenders(MutexGuard<'static, Vec<Arc<Lender>>>);

/// Holds the lenders, so that no other thread does in a forked child.
pub(crate) fn lock() -> LockedLenders {
    LockedLenders(LENDERS.lock().unwrap_or_else(PoisonError::into_inner))
}

impl LockedLenders {
    /// In a forked child: finds lenders anew, since another thread may have been at work on these.
    pub(crate) fn forget(&mut self) {
        std::mem::forget(std::mem::take(&mut *self.0));
    }
}

/// This process as a lender.
#[derive(Debug)]
struct OwnLoans {
    arena: Arena,
    address: Address,
    table: LoanTable,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free_entries: Vec<usize>,
    /// Blocks for the next loans.
    kept: Vec<Block>,
    /// Ended loans that somebody may still read.
    waiting: Vec<(usize, Block)>,
    next_number: u64,
}

impl OwnLoans {
    /// None where the system has no such memory, and in a forked child: they are its parent's.
    fn get() -> Option<&'static Self> {
        let own = OWN_LOANS.get_or_init(Self::make).as_ref()?;
        (!own.arena.is_parents()).then_some(own)
    }

    fn make() -> Option<Self> {
        let arena = Arena::make()?;
        // The table lies where the arena begins, so that everybody finds it.
        let table = arena.take(TABLE_BYTES)?;
        // Not those of an earlier process of the same number, whose notes may still be about.
        let next_number = (RandomState::new().build_hasher().finish() >> 2) + 1;
        let state = State {
            free_entries: (1..N_ENTRIES).rev().collect(),
            kept: Vec::new(),
            waiting: Vec::new(),
            next_number,
        };
        let (address, table) = (arena.address()?, LoanTable(arena.at(table)));
        table.mark();
        Some(Self { arena, address, table, state: Mutex::new(state) })
    }

    /// Whether the file can be opened by others as they would do it.
    fn is_reachable(&self) -> bool {
        OtherArena::open(self.address).is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes back what nobody reads any more.
    fn sweep(&self, state: &mut State) {
        let waiting = std::mem::take(&mut state.waiting);
        for (entry, block) in waiting {
            if self.table.entry(entry).borrowers.iter().any(has_reader) {
                state.waiting.push((entry, block));
                continue;
            }
            state.free_entries.push(entry);
            state.kept.push(block);
        }
        let mut kept_bytes: usize = state.kept.iter().map(|block| block.n_bytes).sum();
        while kept_bytes > MOST_KEPT_BYTES.load(Ordering::Relaxed) {
            let block = state.kept.remove(0);
            kept_bytes -= block.n_bytes;
            self.arena.give(block);
        }
    }
}

/// Bytes that this process lends.
#[derive(Debug)]
pub struct Loan {
    own: &'static OwnLoans,
    entry: usize,
    number: u64,
    block: Block,
    n_bytes: usize,
}

/// Where lent bytes are: plain numbers, to be sent to others of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoanNote(pub [u64; 9]);

impl Loan {
    /// Bytes to fill; none where there is no such memory, or too many loans at a time.
    #[must_use]
    pub fn new(n_bytes: usize) -> Option<Self> {
        let own = OwnLoans::get()?;
        let mut state = own.state();
        own.sweep(&mut state);
        let entry = state.free_entries.pop()?;
        let fits = |block: &&Block| block.n_bytes >= n_bytes && block.n_bytes / 2 <= n_bytes;
        let best = state.kept.iter().filter(fits).min_by_key(|block| block.n_bytes).copied();
        state.kept.retain(|block| Some(*block) != best);
        let Some(block) = best.or_else(|| own.arena.take(n_bytes)) else {
            state.free_entries.push(entry);
            return None;
        };
        let number = state.next_number;
        state.next_number += 1;
        own.table.entry(entry).open(number, block, n_bytes);
        own.arena.show(block);
        Some(Self { own, entry, number, block, n_bytes })
    }

    /// Where the bytes lie in this process.
    #[must_use]
    pub fn address(&self) -> usize {
        self.own.arena.at(self.block)
    }

    /// The size that was asked for.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// How others find the bytes.
    #[must_use]
    pub fn note(&self) -> LoanNote {
        let Address { process, file, device, inode } = self.own.address;
        let (offset, capacity) = (self.block.offset as u64, self.block.n_bytes as u64);
        let (entry, n_bytes) = (self.entry as u64, self.n_bytes as u64);
        LoanNote([process, file, device, inode, entry, self.number, offset, capacity, n_bytes])
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        if self.own.arena.is_parents() {
            // A forked child's copy; the loan goes on until its parent ends it.
            snapshot::unmap(self.address(), self.block.n_bytes);
            return;
        }
        snapshot::hide(self.address());
        self.own.table.entry(self.entry).number.store(0, Ordering::SeqCst);
        let mut state = self.own.state();
        state.waiting.push((self.entry, self.block));
        self.own.sweep(&mut state);
    }
}

/// Another process as a lender.
#[derive(Debug)]
struct Lender {
    arena: OtherArena,
    /// Those of its table.
    pages: Arc<Mapping>,
}

impl Lender {
    fn find(address: Address) -> Option<Arc<Self>> {
        let mut known = LENDERS.lock().unwrap_or_else(PoisonError::into_inner);
        // What has ended is kept only while something of it is read.
        known.retain(|one| Arc::strong_count(one) > 1 || one.arena.life() != Life::Ended);
        if let Some(one) = known.iter().find(|one| one.arena.address() == address) {
            return Some(Arc::clone(one));
        }
        let arena = OtherArena::open(address)?;
        let pages = arena.map(Block { offset: 0, n_bytes: TABLE_BYTES })?;
        let made = Arc::new(Self { arena, pages });
        // Any other file of that process has no such table.
        if !made.table().is_marked() {
            return None;
        }
        known.push(Arc::clone(&made));
        Some(made)
    }

    fn table(&self) -> LoanTable {
        LoanTable(self.pages.address())
    }
}

/// This process's name among the borrowers of a loan.
#[derive(Debug)]
struct BorrowerEntry {
    lender: Arc<Lender>,
    entry: usize,
    at: usize,
    /// Where it is another, a parent has entered.
    n_forks: u64,
}

impl BorrowerEntry {
    /// Enters this process; none where there is no place left.
    fn new(lender: Arc<Lender>, entry: usize) -> Option<Self> {
        let own = u64::from(std::process::id());
        let takes = |word: &AtomicU64| {
            word.compare_exchange(0, own, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        };
        let at = lender.table().entry(entry).borrowers.iter().position(takes)?;
        Some(Self { lender, entry, at, n_forks: n_forks() })
    }

    fn entry(&self) -> &LoanEntry {
        self.lender.table().entry(self.entry)
    }

    /// Whether this process is a forked child of the one that entered.
    fn is_parents(&self) -> bool {
        self.n_forks != n_forks()
    }
}

impl Drop for BorrowerEntry {
    fn drop(&mut self) {
        if self.is_parents() {
            return;
        }
        self.entry().borrowers[self.at].store(0, Ordering::SeqCst);
    }
}

/// Bytes that another process lends to this one.
#[derive(Debug)]
pub struct Borrowed {
    mapping: Arc<Mapping>,
    note: LoanNote,
    borrower: BorrowerEntry,
}

impl Borrowed {
    /// Borrows; none where the bytes are gone or out of reach.
    ///
    /// # Errors
    /// A note that says something else than its lender's table, or a table that makes no sense.
    pub fn new(note: LoanNote) -> Result<Option<Self>> {
        let [process, file, device, inode, entry, number, .., n_bytes] = note.0;
        let Some(entry) =
            usize::try_from(entry).ok().filter(|entry| (1..N_ENTRIES).contains(entry))
        else {
            let problem =
                format!("says entry {entry}, loan tables have entries 1 to {}", N_ENTRIES - 1);
            return Err(TeamError::LoanNote { problem });
        };
        let lender = Lender::find(Address { process, file, device, inode });
        let Some(borrower) = lender.and_then(|lender| BorrowerEntry::new(lender, entry)) else {
            return Ok(None);
        };
        // Entered first, looked second; the lender closes first and looks second. So either it
        // sees the entry, or this sees that the loan has ended, and takes itself out.
        if borrower.entry().number.load(Ordering::SeqCst) != number {
            return Ok(None);
        }
        let block = borrower.entry().block(note)?;
        let is_lent = block.offset >= TABLE_BYTES && n_bytes <= block.n_bytes as u64;
        let arena = &borrower.lender.arena;
        if !is_lent || !arena.has(block) {
            return Err(TeamError::LoanBook { process });
        }
        let Some(mapping) = arena.map(block) else { return Ok(None) };
        mapping.show(arena);
        Ok(Some(Self { mapping, note, borrower }))
    }

    /// Where the bytes lie in this process.
    #[must_use]
    pub fn address(&self) -> usize {
        self.mapping.address()
    }

    /// How many they are.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.note.0[8] as usize
    }

    /// How others find the bytes, as long as the lender lends them.
    #[must_use]
    pub fn note(&self) -> LoanNote {
        self.note
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        if self.borrower.is_parents() {
            return;
        }
        self.mapping.hide();
        // Its own mapping goes a moment later; the next to be dropped counts it.
        self.borrower.lender.arena.trim(MOST_KEPT_BYTES.load(Ordering::Relaxed));
    }
}

/// Sets how many bytes are kept for the next loans, and of mappings for the next that are borrowed.
pub fn set_kept_loans(n_bytes: usize) {
    MOST_KEPT_BYTES.store(n_bytes, Ordering::Relaxed);
}

/// Names the processes that can borrow from each other; none where this one cannot lend.
#[must_use]
pub fn machine_name() -> Option<String> {
    // Process numbers mean something within one namespace, files within one user's processes.
    let numbers = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let own = OwnLoans::get()?;
    // SAFETY: the call only tells.
    let user = unsafe { libc::geteuid() };
    (machine() != 0 && own.is_reachable())
        .then(|| format!("{:x} {} {user}", machine(), numbers.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::loan_table::N_BORROWERS;

    fn bytes(address: usize, n_bytes: usize) -> &'static mut [u8] {
        // SAFETY: callers give a loan or what was borrowed, alive while they look.
        unsafe { std::slice::from_raw_parts_mut(address as *mut u8, n_bytes) }
    }

    // One test: the table belongs to the process, and what it does next depends on what was done.
    #[test]
    fn a_block_is_lent_again_only_when_nobody_reads_it() {
        let loan = Loan::new(3 << 20).expect("memory files");
        bytes(loan.address(), 3 << 20).fill(7);
        let (at, note) = (loan.address(), loan.note());
        let borrow = |note: LoanNote| Borrowed::new(note).expect("a note as it was sent");
        let borrowed = borrow(note).expect("lent");
        assert_eq!(borrowed.n_bytes(), 3 << 20);
        assert_eq!(borrow(borrowed.note()).expect("lent").n_bytes(), 3 << 20);
        drop(loan);
        assert!(borrow(note).is_none(), "the loan has ended");

        let other = Loan::new(3 << 20).expect("room");
        assert_ne!(other.address(), at, "somebody still reads the first");
        bytes(other.address(), 3 << 20).fill(9);
        assert!(bytes(borrowed.address(), 3 << 20).iter().all(|byte| *byte == 7));

        drop(borrowed);
        let third = Loan::new(3 << 20).expect("room");
        assert_eq!(third.address(), at, "the same block again");
        assert!(borrow(note).is_none(), "it is another loan");
        assert!(borrow(third.note()).is_some());

        // A borrower whose process has ended does not keep a block for ever.
        let entry = third.own.table.entry(third.entry);
        entry.borrowers[3].store(u64::from(u32::MAX), Ordering::SeqCst);
        drop(third);
        assert_eq!(Loan::new(3 << 20).expect("room").address(), at);

        // An entry has room for so many.
        let wanted = Loan::new(1).expect("room");
        let many: Vec<_> = (0..N_BORROWERS + 2).map(|_| borrow(wanted.note())).collect();
        assert_eq!(many.iter().flatten().count(), N_BORROWERS);

        let mut wrong = wanted.note();
        wrong.0[3] += 1;
        assert!(borrow(wrong).is_none(), "another file");
        drop(many);
        let reason = |note: LoanNote| Borrowed::new(note).map_err(|error| error.reason()).err();
        for field in [4, 6, 7, 8] {
            let mut wrong = wanted.note();
            wrong.0[field] = 1 << 40;
            assert_eq!(reason(wrong), Some("loan-note"), "field {field}");
        }
        // A table that somebody has spoilt.
        let entry = wanted.own.table.entry(wanted.entry);
        for (offset, capacity, n_bytes) in
            [(1 << 60, 4096, 1), (u64::MAX - 4095, 4096, 1), (0, 4096, 1), (1 << 20, 4096, 4097)]
        {
            entry.offset.store(offset, Ordering::SeqCst);
            entry.capacity.store(capacity, Ordering::SeqCst);
            entry.n_bytes.store(n_bytes, Ordering::SeqCst);
            let mut note = wanted.note();
            note.0[6..].copy_from_slice(&[offset, capacity, n_bytes]);
            assert_eq!(reason(note), Some("loan-book"), "offset {offset}");
        }
        assert!(Loan::new(usize::MAX - (2 << 20) + 1).is_none(), "more than there is");
        assert_eq!(machine_name(), machine_name());
        assert!(machine_name().is_some());
    }
}
