//! Memory of results.
//!
//! Fresh memory costs as much as many an algorithm, so callers say where it comes from: a pool of
//! memory that was used before, or the heap.

use crate::error::{Result, SparseError};
use partita_numeric::Scratch;
use std::alloc::{Layout, alloc_zeroed};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A block of memory that belongs to its holder.
///
/// # Safety
/// The address is aligned to 16 bytes and stays the same as long as the block lives; as many bytes
/// as were asked for lie there, and nobody else touches them.
pub unsafe trait Memory: Sized + Send + Sync {
    /// A block of so many bytes; none if the system has no more.
    fn block(n_bytes: usize) -> Option<Self>;
    /// The same for what is dropped before a call ends; such memory may lie elsewhere.
    fn scratch(n_bytes: usize) -> Option<Self> {
        Self::block(n_bytes)
    }
    /// Where it lies.
    fn address(&self) -> *mut u8;
}

/// Memory of the heap, for those who keep no pool.
#[derive(Debug)]
pub struct Heap {
    address: *mut u8,
    _keeper: Scratch,
}

// SAFETY: the memory belongs to the scratch, which belongs to the heap's block alone.
unsafe impl Send for Heap {}
// SAFETY: it is only written through `&mut` of the array around it.
unsafe impl Sync for Heap {}

// SAFETY: a scratch keeps its memory until more is asked of it, aligned to 64 bytes.
unsafe impl Memory for Heap {
    fn block(n_bytes: usize) -> Option<Heap> {
        let mut keeper = Scratch::default();
        let address = keeper.take::<u8>(n_bytes).as_mut_ptr().cast();
        Some(Heap { address, _keeper: keeper })
    }

    fn address(&self) -> *mut u8 {
        self.address
    }
}

/// Elements in a block of memory, which may be longer.
#[derive(Debug)]
pub struct Array<M, T> {
    memory: M,
    length: usize,
    _elements: PhantomData<T>,
}

impl<M: Memory, T: Copy> Array<M, T> {
    /// Room for elements, which are written before they are read.
    pub(crate) fn new(length: usize) -> Result<Array<M, T>> {
        Self::over(M::block, length)
    }

    /// The same for elements that are dropped before a call ends.
    pub(crate) fn scratch(length: usize) -> Result<Array<M, T>> {
        Self::over(M::scratch, length)
    }

    fn over(block: impl Fn(usize) -> Option<M>, length: usize) -> Result<Array<M, T>> {
        let n_bytes = length.saturating_mul(size_of::<T>());
        let memory = block(n_bytes).ok_or(SparseError::NoMemory { n_bytes })?;
        Ok(Array { memory, length, _elements: PhantomData })
    }

    /// All elements.
    #[must_use]
    pub fn elements(&self) -> &[T] {
        // SAFETY: functions of this crate hand out arrays whose elements are all written.
        unsafe { std::slice::from_raw_parts(self.memory.address().cast(), self.length) }
    }

    /// All elements, to write.
    pub(crate) fn room(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: the block has room for them, and is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.memory.address().cast(), self.length) }
    }

    /// All elements, to change.
    ///
    /// # Safety
    /// All of them have been written.
    pub(crate) unsafe fn elements_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `room`, and the caller's.
        unsafe { std::slice::from_raw_parts_mut(self.memory.address().cast(), self.length) }
    }

    /// The same with fewer elements; memory that would lie idle is given back.
    pub(crate) fn cut(mut self, length: usize) -> Result<Array<M, T>> {
        assert!(length <= self.length, "cut to fewer elements");
        let wasteful = length < self.length / 4 * 3;
        self.length = length;
        if !wasteful {
            return Ok(self);
        }
        let mut exact = Array::<M, T>::new(length)?;
        // SAFETY: both have that many elements, in different blocks.
        unsafe {
            let from: *const T = self.memory.address().cast();
            std::ptr::copy_nonoverlapping(from, exact.room().as_mut_ptr().cast(), length);
        }
        Ok(exact)
    }

    /// The number of elements, and the block, which may be longer.
    pub fn into_memory(self) -> (usize, M) {
        (self.length, self.memory)
    }
}

/// Room for so many elements in a list without any.
fn make_room<T>(list: &mut Vec<T>, length: usize) -> Result<()> {
    let n_bytes = length.saturating_mul(size_of::<T>());
    list.try_reserve_exact(length).map_err(|_| SparseError::NoMemory { n_bytes })
}

/// Integers, whose zero is a zero in every bit.
pub(crate) trait Bits: Copy {}
impl Bits for u32 {}
impl Bits for u64 {}
impl Bits for usize {}

/// A list of so many zeros, which are touched only by whoever writes them: several threads may.
pub(crate) fn zeros<T: Bits>(length: usize) -> Result<Vec<T>> {
    let n_bytes = length.saturating_mul(size_of::<T>());
    let none = SparseError::NoMemory { n_bytes };
    if length == 0 {
        return Ok(Vec::new());
    }
    let Ok(layout) = Layout::array::<T>(length) else { return Err(none) };
    // SAFETY: the layout has a size above zero.
    let address = unsafe { alloc_zeroed(layout) };
    if address.is_null() {
        return Err(none);
    }
    // SAFETY: allocated with the layout of such a list, and zeros are integers.
    Ok(unsafe { Vec::from_raw_parts(address.cast(), length, length) })
}

/// A list of so many elements that nobody has written.
pub(crate) fn unwritten<T>(length: usize) -> Result<Vec<MaybeUninit<T>>> {
    let mut list = Vec::new();
    make_room(&mut list, length)?;
    list.resize_with(length, MaybeUninit::uninit);
    Ok(list)
}

/// Lets a list have so many elements of one value; what it had before is gone.
pub(crate) fn refill<T: Copy>(list: &mut Vec<T>, length: usize, value: T) -> Result<()> {
    list.clear();
    make_room(list, length)?;
    list.resize(length, value);
    Ok(())
}

/// A matrix compressed by rows that a function of this crate has made.
#[derive(Debug)]
pub struct Csr<M, I, T> {
    /// Where each row begins, and where the last one ends.
    pub indptr: Array<M, I>,
    /// The column of each entry.
    pub indices: Array<M, I>,
    /// The value of each entry.
    pub data: Array<M, T>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_has_is_an_error() {
        let mut list = vec![1_u64, 2, 3];
        assert_eq!(refill(&mut list, 2, 7), Ok(()));
        assert_eq!(list, [7, 7]);
        let n_bytes = usize::MAX;
        assert_eq!(refill(&mut list, usize::MAX / 2, 7), Err(SparseError::NoMemory { n_bytes }));
        assert_eq!(zeros(3), Ok(vec![0_u64; 3]));
        assert_eq!(zeros::<u64>(usize::MAX / 2), Err(SparseError::NoMemory { n_bytes }));
        assert_eq!(unwritten::<u64>(3).map(|list| list.len()), Ok(3));
    }
}
