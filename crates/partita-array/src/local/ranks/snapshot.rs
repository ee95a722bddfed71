//! Copies of arrays that have no memory of their own in their layout.
//!
//! A rank's part of a reshaped array is no box of its base: another rank may have half of a row. Who
//! looks at such an array is shown a copy. The copy stays the array's, since layouts and addresses
//! are known from then on, so it has to follow what is written to the base, through any array.

use std::cell::Cell;

use super::super::array::Array;
use super::super::engine::Engine;
use crate::error::Result;

/// What is shown of an array instead of its memory.
#[derive(Debug)]
pub struct Snapshot {
    copy: Array,
    /// How often the base had been written when the copy was made.
    n_seen: Cell<u64>,
}

impl Snapshot {
    /// What [`Array::share_here`] has just shown of an array; none if that is its own memory.
    #[must_use]
    pub fn of(array: &Array, shown: &Array) -> Option<Self> {
        let made = || Self { copy: shown.clone(), n_seen: Cell::new(array.n_writes()) };
        (!shown.is_of(array)).then(made)
    }

    /// The copy alone.
    #[must_use]
    pub fn into_copy(self) -> Array {
        self.copy
    }

    /// Computes what is pending and brings the copy up to date, in the same memory. Collective.
    ///
    /// # Cost
    /// A copy if the array was written since, or others can see its memory: they write unnoticed.
    ///
    /// # Errors
    /// As [`Engine::flush`].
    pub fn refresh(
        &self,
        array: &Array,
        compute: impl FnOnce(&Engine) -> Result<()>,
    ) -> Result<()> {
        let n_writes = array.n_writes();
        if n_writes != self.n_seen.get() || array.base.is_shared.get() {
            self.copy.write(array)?;
        }
        compute(array.engine())?;
        self.n_seen.set(n_writes);
        Ok(())
    }
}
