//! Rows of a dense operand: one's own first, those fetched from others behind them.
//!
//! They lie in two places, and row j is looked up without a branch that could be mispredicted:
//! the second place is known by where its row 0 would lie.

use crate::error::Result;
use crate::matrix::expect_length;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Rows of `width` numbers, to read.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a, T> {
    own: *const T,
    /// Where row 0 would lie if the others' rows began with it.
    ghosts: *const T,
    n_own: usize,
    n_rows: usize,
    width: usize,
    _memory: PhantomData<&'a [T]>,
}

// SAFETY: it stands for two shared slices.
unsafe impl<T: Sync> Send for Rows<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Rows<'_, T> {}

impl<'a, T> Rows<'a, T> {
    /// Own rows and those of others; `width` numbers each.
    ///
    /// # Errors
    /// `lengths-differ`.
    pub fn new(
        own: &'a [T],
        ghosts: &'a [T],
        [n_own, n_ghosts, width]: [usize; 3],
    ) -> Result<Self> {
        expect_length("numbers of own rows", own.len(), n_own.saturating_mul(width))?;
        expect_length("numbers of others' rows", ghosts.len(), n_ghosts.saturating_mul(width))?;
        let shifted = ghosts.as_ptr().wrapping_sub(own.len());
        let n_rows = n_own + n_ghosts;
        // Rows are found by addresses alone.
        own.as_ptr().expose_provenance();
        ghosts.as_ptr().expose_provenance();
        Ok(Self { own: own.as_ptr(), ghosts: shifted, n_own, n_rows, width, _memory: PhantomData })
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Where the first rows lie one behind the other, and how many those are: often all.
    pub(crate) fn first_place(&self) -> (*const T, usize) {
        match self.n_own {
            0 => (self.ghosts, self.n_rows),
            _ if self.own == self.ghosts => (self.own, self.n_rows),
            n_own => (self.own, n_own),
        }
    }

    /// The same rows, copied to one place.
    pub(crate) fn joined(&self, room: &'a mut [MaybeUninit<T>]) -> Rows<'a, T>
    where
        T: Copy,
    {
        let n_own = self.n_own * self.width;
        assert_eq!(room.len(), self.n_rows * self.width, "room for all rows");
        let ghosts = self.ghosts.wrapping_add(n_own);
        // SAFETY: both places have that many numbers, and so has the room, which is another.
        let all = unsafe {
            let to: *mut T = room.as_mut_ptr().cast();
            std::ptr::copy_nonoverlapping(self.own, to, n_own);
            std::ptr::copy_nonoverlapping(ghosts, to.add(n_own), room.len() - n_own);
            std::slice::from_raw_parts(to, room.len())
        };
        let start = all.as_ptr();
        start.expose_provenance();
        Rows { own: start, ghosts: start, n_own: self.n_rows, ..*self }
    }

    /// Where a row lies; the address means nothing for rows that are outside.
    #[inline(always)]
    pub(crate) fn address(&self, row: usize) -> *const T {
        // All bits are set for others' rows: a choice, which the compiler would make a branch.
        let is_other = usize::from(row >= self.n_own).wrapping_neg();
        let (own, ghosts) = (self.own.addr(), self.ghosts.addr());
        let base = own ^ ((own ^ ghosts) & is_other);
        std::ptr::with_exposed_provenance::<T>(base).wrapping_add(row.wrapping_mul(self.width))
    }
}

/// Rows of `width` numbers, to add to.
#[derive(Debug)]
pub struct RowsMut<'a, T> {
    rows: Rows<'a, T>,
    _memory: PhantomData<&'a mut [T]>,
}

impl<'a, T> RowsMut<'a, T> {
    /// As [`Rows::new`].
    ///
    /// # Errors
    /// `lengths-differ`.
    pub fn new(
        own: &'a mut [T],
        ghosts: &'a mut [T],
        [n_own, n_ghosts, width]: [usize; 3],
    ) -> Result<Self> {
        let addresses = (own.as_mut_ptr(), ghosts.as_mut_ptr());
        let rows = Rows::new(own, ghosts, [n_own, n_ghosts, width])?;
        addresses.0.expose_provenance();
        addresses.1.expose_provenance();
        Ok(Self { rows, _memory: PhantomData })
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.rows.n_rows
    }

    pub(crate) fn width(&self) -> usize {
        self.rows.width
    }

    #[inline(always)]
    pub(crate) fn address(&self, row: usize) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.rows.address(row).addr())
    }
}

// SAFETY: it stands for two slices that belong to it; pieces that share it write rows of their own.
unsafe impl<T: Send + Sync> Sync for RowsMut<'_, T> {}
