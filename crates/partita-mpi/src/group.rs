//! Choosing members of a communicator and renumbering ranks.

use super::{Comm, Handle, Library, Number, Predefined, Result, chunks::as_int, handle::Slot};
use std::ffi::{c_int, c_void};

/// A group of MPI, freed when dropped.
struct Group {
    library: Library,
    handle: Handle,
}

impl Group {
    fn make(library: &Library, call: impl FnOnce(*mut c_void) -> Result<()>) -> Result<Self> {
        let mut slot = Slot::new(library.width(), library.handle(Predefined::GroupNull));
        call(slot.as_mut_ptr())?;
        Ok(Self { library: library.clone(), handle: slot.get() })
    }

    fn of(comm: &Comm) -> Result<Self> {
        // SAFETY: the communicator is live; `new` is a slot of the right width.
        Self::make(comm.library(), |new| unsafe { comm.calls().comm_group(comm.handle(), new) })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let mut slot = Slot::new(self.library.width(), self.handle);
        // SAFETY: the group is ours; after MPI_Finalize no call is made.
        let _ = unsafe { self.library.calls().group_free(slot.as_mut_ptr()) };
    }
}

impl Comm {
    /// A communicator of some of the ranks, in this order.
    ///
    /// Only these ranks call it, all with the same list and tag; a rank that
    /// is not on the list and calls it gets `None`.
    ///
    /// # Errors
    /// If a rank does not exist or occurs twice, or MPI refuses.
    pub fn create_group(&self, ranks: &[usize], tag: i32) -> Result<Option<Self>> {
        let members = self.to_ranks("MPI_Group_incl", ranks)?;
        if !ranks.contains(&self.rank()) {
            return Ok(None);
        }
        let n = as_int("MPI_Group_incl", members.len())?;
        let all = Group::of(self)?;
        let chosen = Group::make(self.library(), |new| {
            // SAFETY: `members` has `n` entries, `new` is a slot.
            unsafe { self.calls().group_incl(all.handle, n, members.as_ptr(), new) }
        })?;
        // SAFETY: communicator and group are live; `new` is a slot.
        self.make(|new| unsafe {
            self.calls().comm_create_group(self.handle(), chosen.handle, tag, new)
        })
    }

    /// The ranks that these ranks have in another communicator.
    ///
    /// # Errors
    /// If a rank does not exist here, or MPI refuses.
    pub fn translate_ranks(&self, ranks: &[usize], to: &Self) -> Result<Vec<Option<usize>>> {
        let call = "MPI_Group_translate_ranks";
        let given = self.to_ranks(call, ranks)?;
        let n = as_int(call, given.len())?;
        let mut found = vec![0; given.len()];
        let (here, there) = (Group::of(self)?, Group::of(to)?);
        // SAFETY: both arrays have `n` entries; both groups are live.
        unsafe {
            let out = found.as_mut_ptr();
            self.calls().group_translate_ranks(
                here.handle,
                n,
                given.as_ptr(),
                there.handle,
                out,
            )?;
        }
        let undefined = self.library().number(Number::Undefined);
        let known = |rank: c_int| (rank != undefined).then_some(rank as usize);
        Ok(found.into_iter().map(known).collect())
    }

    fn to_ranks(&self, call: &'static str, ranks: &[usize]) -> Result<Vec<c_int>> {
        ranks.iter().map(|rank| self.to_rank(call, *rank)).collect()
    }
}
