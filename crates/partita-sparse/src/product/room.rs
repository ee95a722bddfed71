//! Room for entries whose number is not known before.

use crate::Cores;
use crate::error::Result;
use crate::index::Index;
use crate::memory::{Array, Memory};
use partita_numeric::Shared;
use std::mem::MaybeUninit;

/// Columns and values that grow together.
pub(super) struct Room<M, I, T> {
    indices: Array<M, I>,
    data: Array<M, T>,
    length: usize,
}

impl<M: Memory, I: Index, T: Copy + Send + Sync> Room<M, I, T> {
    pub(super) fn new(n: usize) -> Result<Self> {
        Ok(Self { indices: Array::new(n)?, data: Array::new(n)?, length: 0 })
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Lets there be room for so many more entries.
    #[inline(always)]
    pub(super) fn reserve(&mut self, n: usize) -> Result<()> {
        if self.indices.room().len() - self.length < n { self.grow(n) } else { Ok(()) }
    }

    #[cold]
    fn grow(&mut self, n: usize) -> Result<()> {
        let capacity = self.length + n.max(self.length / 2);
        self.indices = grown(&mut self.indices, self.length, capacity)?;
        self.data = grown(&mut self.data, self.length, capacity)?;
        Ok(())
    }

    /// Where the next entries belong.
    #[inline(always)]
    pub(super) fn next(&mut self) -> (&mut [MaybeUninit<I>], &mut [MaybeUninit<T>]) {
        (&mut self.indices.room()[self.length..], &mut self.data.room()[self.length..])
    }

    /// Keeps entries that were written next.
    ///
    /// # Safety
    /// So many were written.
    #[inline(always)]
    pub(super) unsafe fn keep(&mut self, n: usize) {
        self.length += n;
    }
}

fn grown<M: Memory, T: Copy>(
    array: &mut Array<M, T>,
    length: usize,
    capacity: usize,
) -> Result<Array<M, T>> {
    let mut larger = Array::<M, T>::new(capacity)?;
    larger.room()[..length].copy_from_slice(&array.room()[..length]);
    Ok(larger)
}

/// What pieces have, one behind the other.
pub(super) fn joined<M: Memory, I: Index, T: Copy + Send + Sync>(
    mut parts: Vec<Room<M, I, T>>,
    n_entries: usize,
    cores: Cores,
) -> Result<(Array<M, I>, Array<M, T>)> {
    if parts.len() == 1 {
        let Some(Room { indices, data, length }) = parts.pop() else { unreachable!("one part") };
        return Ok((indices.cut(length)?, data.cut(length)?));
    }
    let (mut indices, mut data) = (Array::<M, I>::new(n_entries)?, Array::<M, T>::new(n_entries)?);
    let mut starts = Vec::with_capacity(parts.len());
    let mut next = 0;
    for part in &parts {
        starts.push(next);
        next += part.length;
    }
    let (to_indices, to_data) = (Shared::new(indices.room()), Shared::new(data.room()));
    cores.each(parts.len(), |part| {
        let (start, part) = (starts[part], &parts[part]);
        // SAFETY: parts lie one behind the other, and as many entries were written of each.
        unsafe {
            let from = part.indices.elements().as_ptr();
            std::ptr::copy_nonoverlapping(from, to_indices.at(start).cast(), part.length);
            let from = part.data.elements().as_ptr();
            std::ptr::copy_nonoverlapping(from, to_data.at(start).cast(), part.length);
        }
    });
    Ok((indices, data))
}
