//! Communicators: ranks that talk to each other and to no one else.

use super::{
    Handle, Library, MpiError, Number, Predefined, Result, chunks::SMALL_COUNT_LIMIT_BYTES,
    handle::Slot,
};
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

/// A communicator of MPI.
///
/// One that we made ([`dup`](Self::dup)) returns errors instead of ending the job, and is freed when dropped, unless MPI was
/// finalized before. One that is lent (the world, mpi4py's) is never freed,
/// and its error handler is left alone.
#[derive(Debug)]
pub struct Comm {
    library: Library,
    handle: Handle,
    rank: usize,
    size: usize,
    ownership: Ownership,
    is_freed: AtomicBool,
    max_message_bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ownership {
    Ours,
    Lent,
}

impl Comm {
    /// Uses a communicator that somebody else owns.
    ///
    /// `handle` is what mpi4py's `MPI._handleof(comm)` returns. It is not
    /// freed, and its error handler stays: [`dup`](Self::dup) it before use.
    ///
    /// # Safety
    /// `handle` is a live communicator of this very library, and stays alive
    /// as long as the value returned.
    ///
    /// # Errors
    /// The null communicator and inter-communicators are refused.
    pub unsafe fn from_raw(library: &Library, handle: u64) -> Result<Self> {
        let comm = Slot::new(library.width(), Handle(handle)).get();
        if comm == library.handle(Predefined::CommNull) || comm == Handle(0) {
            return Err(MpiError::CommNull { handle });
        }
        let mut inter = 0;
        // SAFETY: the caller vouches for the handle; `inter` is a live int.
        unsafe { library.calls().comm_test_inter(comm, &mut inter)? };
        if inter != 0 {
            return Err(MpiError::InterComm { handle });
        }
        Self::lent(library, comm)
    }

    pub(super) fn lent(library: &Library, handle: Handle) -> Result<Self> {
        Self::new(library, handle, Ownership::Lent)
    }

    fn new(library: &Library, handle: Handle, ownership: Ownership) -> Result<Self> {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the callers give a live communicator; both are live ints.
        unsafe {
            library.calls().comm_rank(handle, &mut rank)?;
            library.calls().comm_size(handle, &mut size)?;
        }
        let max_message_bytes = match library.has_large_counts() {
            true => isize::MAX as usize,
            false => SMALL_COUNT_LIMIT_BYTES,
        };
        let (rank, size) = (rank as usize, size as usize);
        let (library, is_freed) = (library.clone(), AtomicBool::new(false));
        Ok(Self { library, handle, rank, size, ownership, is_freed, max_message_bytes })
    }

    /// This rank, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The library it belongs to.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// The handle, as mpi4py knows it.
    pub fn raw(&self) -> u64 {
        self.handle().0
    }

    /// The longest message that is sent in one piece.
    ///
    /// Longer ones are cut; both ends must have the same limit and length.
    pub fn max_message_bytes(&self) -> usize {
        self.max_message_bytes
    }

    /// Cuts messages at another length; the same on every rank, before use.
    ///
    /// A limit above what the library can count is lowered to that.
    pub fn set_max_message_bytes(&mut self, n_bytes: usize) {
        let largest = match self.library.has_large_counts() {
            true => isize::MAX as usize,
            false => SMALL_COUNT_LIMIT_BYTES,
        };
        self.max_message_bytes = n_bytes.clamp(1, largest);
    }

    /// A communicator of the same ranks whose messages meet no others.
    ///
    /// # Errors
    /// If MPI is not active or refuses.
    pub fn dup(&self) -> Result<Self> {
        let null = self.library.handle(Predefined::CommNull);
        let mut slot = Slot::new(self.library.width(), null);
        // SAFETY: `self` is live; the slot has the right width.
        unsafe { self.calls().comm_dup(self.handle(), slot.as_mut_ptr())? };
        self.library.return_errors(slot.get())?;
        let mut comm = Self::new(&self.library, slot.get(), Ownership::Ours)?;
        comm.max_message_bytes = self.max_message_bytes;
        Ok(comm)
    }

    /// The largest tag that messages may have.
    ///
    /// # Errors
    /// If MPI is not active.
    pub fn max_tag(&self) -> Result<i32> {
        let mut value: *const c_int = std::ptr::null();
        let mut found = 0;
        let key = self.library.number(Number::TagUb);
        let world = self.library.handle(Predefined::CommWorld);
        let out = (&raw mut value).cast();
        // SAFETY: MPI stores a pointer to an int into `value`.
        unsafe { self.calls().comm_get_attr(world, key, out, &mut found)? };
        if found == 0 || value.is_null() {
            // What the standard promises at least.
            return Ok(32767);
        }
        // SAFETY: MPI found the attribute and pointed `value` at it.
        Ok(unsafe { *value })
    }

    /// Frees it now, though others still have it; every member calls it.
    ///
    /// To them it is the null communicator from now on.
    ///
    /// # Errors
    /// If MPI is not active or refuses.
    pub fn release(&self) -> Result<()> {
        if self.ownership == Ownership::Lent || self.is_freed.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let mut slot = Slot::new(self.library.width(), self.handle);
        // SAFETY: we own the communicator, and only once, as just marked.
        unsafe { self.calls().comm_free(slot.as_mut_ptr()) }
    }

    pub(super) fn handle(&self) -> Handle {
        match self.is_freed.load(Ordering::Relaxed) {
            true => self.library.handle(Predefined::CommNull),
            false => self.handle,
        }
    }

    pub(super) fn calls(&self) -> &super::table::Calls {
        self.library.calls()
    }

    /// A rank as MPI takes it, checked: MPICH may crash on a wrong one.
    pub(super) fn to_rank(&self, call: &'static str, rank: usize) -> Result<c_int> {
        if rank >= self.size {
            return Err(MpiError::RankUnknown { call, rank, n_ranks: self.size });
        }
        Ok(rank as c_int)
    }
}

impl Drop for Comm {
    fn drop(&mut self) {
        // After MPI_Finalize the call is refused before it reaches MPI.
        let _ = self.release();
    }
}
