//! Memory that the ranks of one node share.

use super::{Comm, Handle, Library, MpiError, Number, Predefined, Result, handle::Slot};
use std::ffi::c_int;

/// Memory of several ranks that each of them can read and write.
///
/// # Why dropping does not free it
/// `MPI_Win_free` waits for all ranks. A rank that leaves because of an error
/// would wait for ranks that never come, and its neighbours may still read its
/// memory. So the memory stays until [`free`](Self::free) or the process ends.
#[derive(Debug)]
pub struct Window {
    library: Library,
    handle: Handle,
    segments: Vec<Segment>,
    rank: usize,
}

/// The memory of one rank in a [`Window`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Where it is in this process.
    pub pointer: *mut u8,
    /// How long it is.
    pub n_bytes: usize,
}

// SAFETY: the memory is mapped until `free`; who reads and writes when is
// decided by the callers, in `unsafe` code.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Window {
    /// Allocates `n_bytes` on this rank; every rank of the node calls it.
    ///
    /// `node` is made by [`Comm::split_shared`]. Each rank says how much it
    /// wants; zero is allowed.
    ///
    /// # Errors
    /// [`MpiError::CountTooLarge`]; what MPI reports, for example if the ranks
    /// do not share memory.
    pub fn allocate(node: &Comm, n_bytes: usize) -> Result<Self> {
        let call = "MPI_Win_allocate_shared";
        let limit = isize::MAX as usize;
        let size = isize::try_from(n_bytes).map_err(|_| MpiError::CountTooLarge {
            call,
            count: n_bytes,
            limit,
        })?;
        let library = node.library().clone();
        let mut slot = Slot::new(library.width(), library.handle(Predefined::WinNull));
        let mut base: *mut u8 = std::ptr::null_mut();
        let (info, out) = (library.handle(Predefined::InfoNull), (&raw mut base).cast());
        // SAFETY: MPI stores an address into `base` and a handle into the slot.
        unsafe {
            let (calls, new) = (library.calls(), slot.as_mut_ptr());
            calls.win_allocate_shared(size, 1, info, node.handle(), out, new)?;
        }
        let handle = slot.get();
        let mut window = Self { library, handle, segments: Vec::new(), rank: node.rank() };
        window.return_errors()?;
        let all = (0..node.size()).map(|rank| window.query(rank as c_int));
        window.segments = all.collect::<Result<_>>()?;
        Ok(window)
    }

    fn return_errors(&self) -> Result<()> {
        let handler = self.library.handle(Predefined::ErrorsReturn);
        // SAFETY: the window is live.
        unsafe { self.library.calls().win_set_errhandler(self.handle, handler) }
    }

    fn query(&self, rank: c_int) -> Result<Segment> {
        let (mut size, mut unit) = (0isize, 0);
        let mut pointer: *mut u8 = std::ptr::null_mut();
        let out = (&raw mut pointer).cast();
        // SAFETY: the window is live; MPI stores an address into `pointer`.
        unsafe {
            self.library.calls().win_shared_query(self.handle, rank, &mut size, &mut unit, out)?;
        }
        Ok(Segment { pointer, n_bytes: usize::try_from(size).unwrap_or(0) })
    }

    /// The memory of one rank of the node.
    ///
    /// # Errors
    /// [`MpiError::RankUnknown`].
    pub fn segment(&self, rank: usize) -> Result<Segment> {
        let call = "MPI_Win_shared_query";
        let unknown = MpiError::RankUnknown { call, rank, n_ranks: self.segments.len() };
        self.segments.get(rank).copied().ok_or(unknown)
    }

    /// The memory of this rank.
    pub fn mine(&self) -> Segment {
        self.segments[self.rank]
    }

    /// Opens the epoch in which the memory may be read and written directly.
    ///
    /// # Errors
    /// What MPI reports.
    pub fn lock_all(&self) -> Result<()> {
        let mode = self.library.number(Number::ModeNocheck);
        // SAFETY: the window is live.
        unsafe { self.library.calls().win_lock_all(mode, self.handle) }
    }

    /// Closes the epoch.
    ///
    /// # Errors
    /// What MPI reports, for example if no epoch is open.
    pub fn unlock_all(&self) -> Result<()> {
        // SAFETY: the window is live.
        unsafe { self.library.calls().win_unlock_all(self.handle) }
    }

    /// Makes writes before it visible to reads of others after theirs.
    ///
    /// The order between ranks is made by something else: a barrier, a message.
    ///
    /// # Errors
    /// What MPI reports.
    pub fn sync(&self) -> Result<()> {
        // SAFETY: the window is live.
        unsafe { self.library.calls().win_sync(self.handle) }
    }

    /// Frees the memory; every rank calls it, and waits for the others.
    ///
    /// # Safety
    /// Nobody uses a pointer of a [`Segment`] of this window any more.
    ///
    /// # Errors
    /// What MPI reports; the memory then stays.
    pub unsafe fn free(self) -> Result<()> {
        let mut slot = Slot::new(self.library.width(), self.handle);
        // SAFETY: the window is ours, and it is gone after this call.
        unsafe { self.library.calls().win_free(slot.as_mut_ptr()) }
    }
}
