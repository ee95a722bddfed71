//! Results in warm memory.

use partita_sparse::{Array, Csr, Index, Memory};
use pyo3::prelude::*;

use super::given::sparse_error;
use crate::buffers::WarmMemory;

/// A block of the pool.
pub(super) struct Warm(partita_team::Memory);

// SAFETY: a block of the pool belongs to its holder, is aligned to cache lines, and stays.
unsafe impl Memory for Warm {
    fn block(n_bytes: usize) -> Option<Warm> {
        partita_team::Memory::try_new(n_bytes).map(Warm)
    }

    fn scratch(n_bytes: usize) -> Option<Warm> {
        partita_team::Memory::try_private(n_bytes).map(Warm)
    }

    fn address(&self) -> *mut u8 {
        self.0.address() as *mut u8
    }
}

/// The memory of row pointers, columns and values, and the number of entries.
pub(super) type Made = (WarmMemory, WarmMemory, WarmMemory, usize);

/// A result as Python takes it.
pub(super) fn made<I: Index, T: Copy + Send + Sync>(
    result: partita_sparse::Result<Csr<Warm, I, T>>,
) -> PyResult<Made> {
    let Csr { indptr, indices, data } = result.map_err(sparse_error)?;
    let (indptr, _) = made_row(indptr);
    let (indices, n_entries) = made_row(indices);
    let (data, _) = made_row(data);
    Ok((indptr, indices, data, n_entries))
}

/// One array as Python takes it, and its length.
pub(super) fn made_row<T: Copy + Send + Sync>(array: Array<Warm, T>) -> (WarmMemory, usize) {
    let (length, Warm(memory)) = array.into_memory();
    (WarmMemory { memory }, length)
}
