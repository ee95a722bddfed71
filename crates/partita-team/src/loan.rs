//! Loans: bytes of this process that others of the machine may read for a while.
//!
//! For engines whose tasks hand bytes on without meeting. The lender fills a block of an arena of
//! its own and sends a *note* of where it is; a borrower signs in the lender's *book*, then maps
//! the block. A lender that ends a loan first closes its line in the book: whoever signs later
//! sees that, and learns that the bytes are gone. The block is used again only when all who have
//! signed before are crossed out, or their processes have ended. Nothing is ever read that is not
//! what was lent.
//!
//! A note comes from another process and is not trusted: the book says where the bytes of a loan
//! lie and how many they are, a note that says otherwise is refused, and so is a book that tells
//! of memory that its arena does not have.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use partita_mpi::n_forks;

use crate::arena::{Address, Arena, Block};
use crate::error::{Result, TeamError};
use crate::foreign::{Foreign, Life, Mapping, life_of, machine};
use crate::snapshot;

/// Borrowers of a loan at a time.
const N_BORROWERS: usize = 12;
/// Lines of a book: its title, and as many loans of a process at a time.
const N_LINES: usize = 4096;
const BOOK_BYTES: usize = N_LINES * size_of::<Line>();
/// The number of the first line of every book of this version; no loan's number is so large.
const TITLE: u64 = u64::from_le_bytes(*b"loans  \xff");
/// Bytes of blocks that are kept for the next loans, warm, and of mappings of others' blocks.
static MOST_KEPT_BYTES: AtomicUsize = AtomicUsize::new(1 << 30);

static SHOP: OnceLock<Option<Shop>> = OnceLock::new();
static LENDERS: Mutex<Vec<Arc<Lender>>> = Mutex::new(Vec::new());

/// What a book says of one loan.
#[derive(Debug)]
#[repr(C)]
struct Line {
    /// Zero if there is none; then all that follows is that of this loan.
    number: AtomicU64,
    offset: AtomicU64,
    /// Bytes of its block.
    capacity: AtomicU64,
    /// Bytes that are lent.
    n_bytes: AtomicU64,
    /// Processes that read.
    borrowers: [AtomicU64; N_BORROWERS],
}

impl Line {
    fn open(&self, number: u64, block: Block, n_bytes: usize) {
        self.offset.store(block.offset as u64, Ordering::SeqCst);
        self.capacity.store(block.n_bytes as u64, Ordering::SeqCst);
        self.n_bytes.store(n_bytes as u64, Ordering::SeqCst);
        self.number.store(number, Ordering::SeqCst);
    }

    /// Where the bytes of a loan lie, if a note says the same.
    fn block(&self, note: Note) -> Result<Block> {
        let [.., offset, capacity, n_bytes] = note.0;
        let told = [("offset", offset), ("capacity", capacity), ("n_bytes", n_bytes)];
        let written = [&self.offset, &self.capacity, &self.n_bytes];
        for ((field, told), word) in told.into_iter().zip(written) {
            let written = word.load(Ordering::SeqCst);
            if told != written {
                let problem = format!("says {field} {told}, its lender's book {written}");
                return Err(TeamError::LoanNote { problem });
            }
        }
        Ok(Block { offset: offset as usize, n_bytes: capacity as usize })
    }
}

/// The lenders, held while this process forks.
pub(crate) struct Locked(MutexGuard<'static, Vec<Arc<Lender>>>);

/// Holds the lenders, so that no other thread does in a forked child.
pub(crate) fn lock() -> Locked {
    Locked(LENDERS.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Locked {
    /// In a forked child: finds lenders anew, since another thread may have been at work on these.
    pub(crate) fn forget(&mut self) {
        std::mem::forget(std::mem::take(&mut *self.0));
    }
}

/// This process as a lender.
#[derive(Debug)]
struct Shop {
    arena: Arena,
    address: Address,
    book: Book,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free_lines: Vec<usize>,
    /// Blocks for the next loans.
    kept: Vec<Block>,
    /// Ended loans that somebody may still read.
    waiting: Vec<(usize, Block)>,
    next_number: u64,
}

/// The lines of all loans of a lender, by the address of its mapping.
#[derive(Debug, Clone, Copy)]
struct Book(usize);

impl Book {
    fn line(self, at: usize) -> &'static Line {
        assert!(at < N_LINES, "a line of the book");
        // SAFETY: whoever has a book keeps it mapped while it looks at a line; it is aligned to
        // pages, zeroed at first, and accessed through atomics only.
        unsafe { &*((self.0 as *const Line).add(at)) }
    }
}

impl Shop {
    /// None where the system has no such memory, and in a forked child, whose shop is its parent's.
    fn get() -> Option<&'static Self> {
        let shop = SHOP.get_or_init(Self::make).as_ref()?;
        (!shop.arena.is_parents()).then_some(shop)
    }

    fn make() -> Option<Self> {
        let arena = Arena::make()?;
        // The book lies where the arena begins, so that everybody finds it.
        let book = arena.take(BOOK_BYTES)?;
        // Not those of an earlier process of the same number, whose notes may still be about.
        let next_number = (RandomState::new().build_hasher().finish() >> 2) + 1;
        let state = State {
            free_lines: (1..N_LINES).rev().collect(),
            kept: Vec::new(),
            waiting: Vec::new(),
            next_number,
        };
        let (address, book) = (arena.address()?, Book(arena.at(book)));
        book.line(0).number.store(TITLE, Ordering::SeqCst);
        Some(Self { arena, address, book, state: Mutex::new(state) })
    }

    /// Whether the file can be opened by others as they would do it.
    fn is_reachable(&self) -> bool {
        Foreign::open(self.address).is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes back what nobody reads any more.
    fn sweep(&self, state: &mut State) {
        let waiting = std::mem::take(&mut state.waiting);
        for (line, block) in waiting {
            if self.book.line(line).borrowers.iter().any(is_signed) {
                state.waiting.push((line, block));
                continue;
            }
            state.free_lines.push(line);
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

/// Whether a living process has signed here; others are crossed out.
fn is_signed(word: &AtomicU64) -> bool {
    let process = word.load(Ordering::SeqCst);
    if process != 0 && life_of(process) == Life::Ended {
        // Nobody else writes here: the process that signed has ended.
        word.store(0, Ordering::SeqCst);
        return false;
    }
    process != 0
}

/// Bytes that this process lends.
#[derive(Debug)]
pub struct Loan {
    shop: &'static Shop,
    line: usize,
    number: u64,
    block: Block,
    n_bytes: usize,
}

/// Where lent bytes are: plain numbers, to be sent to others of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note(pub [u64; 9]);

impl Loan {
    /// Bytes to fill; none where there is no such memory, or too many loans at a time.
    #[must_use]
    pub fn new(n_bytes: usize) -> Option<Self> {
        let shop = Shop::get()?;
        let mut state = shop.state();
        shop.sweep(&mut state);
        let line = state.free_lines.pop()?;
        let fits = |block: &&Block| block.n_bytes >= n_bytes && block.n_bytes / 2 <= n_bytes;
        let best = state.kept.iter().filter(fits).min_by_key(|block| block.n_bytes).copied();
        state.kept.retain(|block| Some(*block) != best);
        let Some(block) = best.or_else(|| shop.arena.take(n_bytes)) else {
            state.free_lines.push(line);
            return None;
        };
        let number = state.next_number;
        state.next_number += 1;
        shop.book.line(line).open(number, block, n_bytes);
        shop.arena.show(block);
        Some(Self { shop, line, number, block, n_bytes })
    }

    /// Where the bytes lie in this process.
    #[must_use]
    pub fn address(&self) -> usize {
        self.shop.arena.at(self.block)
    }

    /// The size that was asked for.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// How others find the bytes.
    #[must_use]
    pub fn note(&self) -> Note {
        let Address { process, file, device, inode } = self.shop.address;
        let (offset, capacity) = (self.block.offset as u64, self.block.n_bytes as u64);
        let (line, n_bytes) = (self.line as u64, self.n_bytes as u64);
        Note([process, file, device, inode, line, self.number, offset, capacity, n_bytes])
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        if self.shop.arena.is_parents() {
            // A forked child's copy; the loan goes on until its parent ends it.
            snapshot::unmap(self.address(), self.block.n_bytes);
            return;
        }
        snapshot::hide(self.address());
        self.shop.book.line(self.line).number.store(0, Ordering::SeqCst);
        let mut state = self.shop.state();
        state.waiting.push((self.line, self.block));
        self.shop.sweep(&mut state);
    }
}

/// Another process as a lender.
#[derive(Debug)]
struct Lender {
    arena: Foreign,
    /// Those of its book.
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
        let arena = Foreign::open(address)?;
        let pages = arena.map(Block { offset: 0, n_bytes: BOOK_BYTES })?;
        let made = Arc::new(Self { arena, pages });
        // Any other file of that process has no such book.
        if made.book().line(0).number.load(Ordering::SeqCst) != TITLE {
            return None;
        }
        known.push(Arc::clone(&made));
        Some(made)
    }

    fn book(&self) -> Book {
        Book(self.pages.address())
    }
}

/// This process's name among the borrowers of a loan.
#[derive(Debug)]
struct Signature {
    lender: Arc<Lender>,
    line: usize,
    at: usize,
    /// Where it is another, a parent has signed.
    n_forks: u64,
}

impl Signature {
    /// Signs; none where the line is full.
    fn new(lender: Arc<Lender>, line: usize) -> Option<Self> {
        let own = u64::from(std::process::id());
        let signs = |word: &AtomicU64| {
            word.compare_exchange(0, own, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        };
        let at = lender.book().line(line).borrowers.iter().position(signs)?;
        Some(Self { lender, line, at, n_forks: n_forks() })
    }

    fn line(&self) -> &Line {
        self.lender.book().line(self.line)
    }

    /// Whether this process is a forked child of the one that signed.
    fn is_parents(&self) -> bool {
        self.n_forks != n_forks()
    }
}

impl Drop for Signature {
    fn drop(&mut self) {
        if self.is_parents() {
            return;
        }
        self.line().borrowers[self.at].store(0, Ordering::SeqCst);
    }
}

/// Bytes that another process lends to this one.
#[derive(Debug)]
pub struct Borrowed {
    mapping: Arc<Mapping>,
    note: Note,
    signature: Signature,
}

impl Borrowed {
    /// Borrows; none where the bytes are gone or out of reach.
    ///
    /// # Errors
    /// A note that says something else than its lender's book, or a book that makes no sense.
    pub fn new(note: Note) -> Result<Option<Self>> {
        let [process, file, device, inode, line, number, .., n_bytes] = note.0;
        let Some(line) = usize::try_from(line).ok().filter(|line| (1..N_LINES).contains(line))
        else {
            let problem = format!("says line {line}, books have lines 1 to {}", N_LINES - 1);
            return Err(TeamError::LoanNote { problem });
        };
        let lender = Lender::find(Address { process, file, device, inode });
        let Some(signature) = lender.and_then(|lender| Signature::new(lender, line)) else {
            return Ok(None);
        };
        // Signed first, looked second; the lender closes first and looks second. So either it
        // sees the signature, or this sees that the loan has ended, and crosses itself out.
        if signature.line().number.load(Ordering::SeqCst) != number {
            return Ok(None);
        }
        let block = signature.line().block(note)?;
        let is_lent = block.offset >= BOOK_BYTES && n_bytes <= block.n_bytes as u64;
        let arena = &signature.lender.arena;
        if !is_lent || !arena.has(block) {
            return Err(TeamError::LoanBook { process });
        }
        let Some(mapping) = arena.map(block) else { return Ok(None) };
        mapping.show(arena);
        Ok(Some(Self { mapping, note, signature }))
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
    pub fn note(&self) -> Note {
        self.note
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        if self.signature.is_parents() {
            return;
        }
        self.mapping.hide();
        // Its own mapping goes a moment later; the next to be dropped counts it.
        self.signature.lender.arena.trim(MOST_KEPT_BYTES.load(Ordering::Relaxed));
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
    let shop = Shop::get()?;
    // SAFETY: the call only tells.
    let user = unsafe { libc::geteuid() };
    (machine() != 0 && shop.is_reachable())
        .then(|| format!("{:x} {} {user}", machine(), numbers.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(address: usize, n_bytes: usize) -> &'static mut [u8] {
        // SAFETY: callers give a loan or what was borrowed, alive while they look.
        unsafe { std::slice::from_raw_parts_mut(address as *mut u8, n_bytes) }
    }

    // One test: the shop belongs to the process, and what it does next depends on what was done.
    #[test]
    fn a_block_is_lent_again_only_when_nobody_reads_it() {
        let loan = Loan::new(3 << 20).expect("memory files");
        bytes(loan.address(), 3 << 20).fill(7);
        let (at, note) = (loan.address(), loan.note());
        let borrow = |note: Note| Borrowed::new(note).expect("a note as it was sent");
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
        let line = third.shop.book.line(third.line);
        line.borrowers[3].store(u64::from(u32::MAX), Ordering::SeqCst);
        drop(third);
        assert_eq!(Loan::new(3 << 20).expect("room").address(), at);

        // A line has room for so many.
        let wanted = Loan::new(1).expect("room");
        let many: Vec<_> = (0..N_BORROWERS + 2).map(|_| borrow(wanted.note())).collect();
        assert_eq!(many.iter().flatten().count(), N_BORROWERS);

        let mut wrong = wanted.note();
        wrong.0[3] += 1;
        assert!(borrow(wrong).is_none(), "another file");
        drop(many);
        let reason = |note: Note| Borrowed::new(note).map_err(|error| error.reason()).err();
        for field in [4, 6, 7, 8] {
            let mut wrong = wanted.note();
            wrong.0[field] = 1 << 40;
            assert_eq!(reason(wrong), Some("loan-note"), "field {field}");
        }
        // A book that somebody has spoilt.
        let line = wanted.shop.book.line(wanted.line);
        for (offset, capacity, n_bytes) in
            [(1 << 60, 4096, 1), (u64::MAX - 4095, 4096, 1), (0, 4096, 1), (1 << 20, 4096, 4097)]
        {
            line.offset.store(offset, Ordering::SeqCst);
            line.capacity.store(capacity, Ordering::SeqCst);
            line.n_bytes.store(n_bytes, Ordering::SeqCst);
            let mut note = wanted.note();
            note.0[6..].copy_from_slice(&[offset, capacity, n_bytes]);
            assert_eq!(reason(note), Some("loan-book"), "offset {offset}");
        }
        assert!(Loan::new(usize::MAX - (2 << 20) + 1).is_none(), "more than there is");
        assert_eq!(machine_name(), machine_name());
        assert!(machine_name().is_some());
    }
}
