//! Windows: arrays of this process that others of the node read whenever they like.
//!
//! The owner says in a slot where its arrays are (`window_slot.rs`), as a list in memory of the
//! arena (`window_list.rs`). Showing others writes a new list and then one slot; what was shown
//! before is let go of only after. `seen_window.rs` is the reader; it never stops the owner, and
//! notices by the slot if it was overtaken. `mpi/README.md` has the races. Those who can map nothing
//! of this process ask for the arrays over a connection (`served_window.rs`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::memory::arena::{Address, Arena, Block, PAGE_BYTES};
use crate::memory::pool::Memory;
use crate::memory::process::Process;
use crate::memory::served_window::ServedWindow;
use crate::memory::window_list::{ArrayList, ArrayPlace, InFile};
use crate::memory::window_slot::{self, Slot};

static WINDOWS: Mutex<Vec<Weak<Window>>> = Mutex::new(Vec::new());

/// Arrays of this process that others can read.
#[derive(Debug)]
pub struct ShownWindow {
    /// For those who can map memory of this process.
    near: Option<Arc<Window>>,
    /// For those who cannot.
    far: Option<Arc<ServedWindow>>,
}

/// Who reads a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Processes that share memory with this one.
    Near,
    /// Others, too.
    All,
}

/// How another process finds a window: plain numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowNote(pub [u64; 8]);

/// What is done with arrays that others cannot map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmapped {
    /// Everybody reads them where they are.
    ReadInPlace,
    /// Somebody cannot: they are copied to where all can.
    Copied,
}

/// What is shown, by memory of this process: address and bytes of each array.
pub type Spans = Vec<(usize, usize)>;

/// What the owner says of its arrays, for the layers above.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownWords {
    /// Counts what the window has shown.
    pub version: u64,
    /// What the arrays are.
    pub description: Vec<u8>,
}

#[derive(Debug)]
struct Window {
    arena: &'static Arena,
    address: Address,
    process: Process,
    slot_offset: usize,
    number: u64,
    content: Mutex<Content>,
}

#[derive(Debug, Default)]
struct Content {
    is_closed: bool,
    spans: Spans,
    unmapped: Option<Unmapped>,
    list: ArrayList,
    /// Where the list and copies of arrays lie.
    #[allow(dead_code, reason = "held for its drop")]
    memory: Vec<Memory>,
}

impl ShownWindow {
    /// A window that shows nothing yet; none where no reader could reach it.
    #[must_use]
    pub fn new(readers: Readers) -> Option<Self> {
        let near = Window::new();
        let far = (readers == Readers::All).then(ServedWindow::new);
        (near.is_some() || far.is_some()).then_some(Self { near, far })
    }

    /// How processes that share memory with this one find it; none where nobody can.
    #[must_use]
    pub fn note(&self) -> Option<WindowNote> {
        self.near.as_ref().map(|near| near.note())
    }

    /// Its number among those that are served; none if it is for near readers only.
    #[must_use]
    pub fn served_number(&self) -> Option<u64> {
        self.far.as_ref().map(|far| far.number())
    }

    /// Shows arrays from now on, instead of those before, which may go once this has returned.
    ///
    /// False if there is no memory to do so; then all is as it was.
    #[must_use]
    pub fn show(&self, spans: Spans, words: ShownWords, unmapped: Unmapped) -> bool {
        let is_shown = match &self.near {
            Some(near) => near.show_unless_closed((spans.clone(), unmapped), words.clone()),
            None => true,
        };
        if let Some(far) = self.far.as_ref().filter(|_| is_shown) {
            far.show(spans, words);
        }
        is_shown
    }

    /// Says that the owner writes to what it shows, until it shows it again.
    pub fn begin_writing(&self) {
        if let Some(near) = &self.near {
            near.begin_writing();
        }
        if let Some(far) = &self.far {
            far.begin_writing();
        }
    }

    /// Shows nothing any more; what was shown may go once this has returned.
    pub fn close(&self) {
        if let Some(near) = &self.near {
            near.close();
        }
        if let Some(far) = &self.far {
            far.close();
        }
    }
}

impl Drop for ShownWindow {
    fn drop(&mut self) {
        self.close();
    }
}

impl Window {
    /// None where others can map nothing of this process.
    fn new() -> Option<Arc<Self>> {
        let arena = Arena::get()?;
        let (address, process) = (arena.address()?, Process::own()?);
        let (slot_offset, number) = window_slot::take(arena)?;
        let content = Mutex::default();
        let window = Arc::new(Self { arena, address, process, slot_offset, number, content });
        window.slot().open(number);
        let mut windows = windows();
        windows.retain(|one| one.strong_count() > 0);
        windows.push(Arc::downgrade(&window));
        Some(window)
    }

    fn note(&self) -> WindowNote {
        let Address { process, file, device, inode } = self.address;
        let (slot, number) = (self.slot_offset as u64, self.number);
        let at = self.slot_address() as u64;
        WindowNote([process, self.process.started, file, device, inode, slot, number, at])
    }

    /// In a forked child the window is its parent's, who goes on with it. Looked at before any
    /// lock, which another thread may have held when the process forked.
    fn is_parents(&self) -> bool {
        self.arena.is_parents()
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slot_address(&self) -> usize {
        self.arena.at(Block { offset: self.slot_offset, n_bytes: 0 })
    }

    fn slot(&self) -> &Slot {
        // SAFETY: pages of slots stay mapped as long as the process lives.
        unsafe { Slot::at(self.slot_address()) }
    }

    fn show_unless_closed(&self, spans: (Spans, Unmapped), words: ShownWords) -> bool {
        if self.is_parents() {
            return true;
        }
        let mut content = self.content();
        content.is_closed || self.show(&mut content, spans, words)
    }

    fn begin_writing(&self) {
        if self.is_parents() {
            return;
        }
        let content = self.content();
        if !content.is_closed {
            self.slot().begin();
        }
    }

    fn show(
        &self,
        content: &mut Content,
        (spans, unmapped): (Spans, Unmapped),
        words: ShownWords,
    ) -> bool {
        let mut memory = Vec::new();
        let ShownWords { version, description } = words;
        let mut list = ArrayList { version, description, places: Vec::new() };
        for span in &spans {
            let Some(place) = self.place(*span, unmapped, &mut memory) else { return false };
            list.places.push(place);
        }
        let Some((offset, n_bytes)) = self.put(&list.encode(), &mut memory) else { return false };
        self.slot().begin();
        self.slot().set_list(offset, n_bytes);
        self.slot().end();
        // What was shown before goes here, when nobody takes it for what is shown.
        *content = Content { is_closed: false, spans, unmapped: Some(unmapped), list, memory };
        true
    }

    /// Where others find bytes; a copy of them if they must.
    fn place(
        &self,
        (address, n_bytes): (usize, usize),
        unmapped: Unmapped,
        memory: &mut Vec<Memory>,
    ) -> Option<ArrayPlace> {
        if n_bytes == 0 {
            return Some(ArrayPlace { address: 0, n_bytes, in_file: None });
        }
        let in_file = self.find((address, n_bytes));
        if in_file.is_some() || unmapped == Unmapped::ReadInPlace {
            return Some(ArrayPlace { address, n_bytes, in_file });
        }
        let copy = Memory::try_new(n_bytes.max(PAGE_BYTES))?;
        let (from, to) = (address as *const u8, copy.address() as *mut u8);
        // SAFETY: the caller of `show` has this memory; the copy is new and as long.
        unsafe { std::ptr::copy_nonoverlapping(from, to, n_bytes) };
        let address = copy.address();
        let in_file = self.find((address, n_bytes));
        memory.push(copy);
        in_file.map(|found| ArrayPlace { address, n_bytes, in_file: Some(found) })
    }

    fn find(&self, (address, n_bytes): (usize, usize)) -> Option<InFile> {
        let block = self.arena.find((address, address + n_bytes))?;
        Some(InFile { block, start: address - self.arena.at(block) })
    }

    /// Writes a list down; where it lies in the file.
    fn put(&self, bytes: &[u8], memory: &mut Vec<Memory>) -> Option<(usize, usize)> {
        let place = self.place((bytes.as_ptr() as usize, bytes.len()), Unmapped::Copied, memory)?;
        let found = place.in_file?;
        Some((found.block.offset + found.start, bytes.len()))
    }

    fn close(&self) {
        if self.is_parents() {
            return;
        }
        let mut content = self.content();
        if content.is_closed {
            return;
        }
        self.slot().close();
        *content = Content { is_closed: true, ..Content::default() };
        window_slot::give(self.slot_offset);
    }

    /// Shows the same arrays again if one of them lay in a block that others cannot map any more.
    fn leave(&self, block: Block) {
        let mut content = self.content();
        let lies_there =
            |place: &ArrayPlace| place.in_file.is_some_and(|found| found.block == block);
        let Some(unmapped) = content.unmapped else { return };
        if content.is_closed || !content.list.places.iter().any(lies_there) {
            return;
        }
        let spans = content.spans.clone();
        let ArrayList { version, description, .. } = content.list.clone();
        let words = ShownWords { version, description };
        if !self.show(&mut content, (spans, unmapped), words) {
            // Without memory nobody can be shown what the arrays hold now.
            drop(content);
            self.close();
        }
    }
}

fn windows() -> MutexGuard<'static, Vec<Weak<Window>>> {
    WINDOWS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A block has become private to this process: windows show the private pages from now on.
pub(crate) fn leave_block(block: Block) {
    let all: Vec<_> = windows().iter().filter_map(Weak::upgrade).collect();
    for window in all {
        window.leave(block);
    }
}
