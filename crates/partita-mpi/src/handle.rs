//! Handles of MPI objects, independent of their width in the loaded library.
//!
//! A handle is an `int` in the MPICH ABI and a pointer in the other two. All
//! code above [`table`](super::table) sees one [`Handle`]; [`Slot`] and
//! [`HandleArray`] are the memory that MPI itself reads and writes.

use std::ffi::{c_int, c_void};

/// An MPI object, as the integer that mpi4py's `MPI._handleof` returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Handle(pub u64);

/// How wide a handle is in the loaded library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// A C `int` (MPICH ABI).
    Int,
    /// A pointer (Open MPI and the standard ABI).
    Pointer,
}

/// A handle as the C functions take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Pointer(pub(super) *mut c_void);

// SAFETY: the pointer is a name that only MPI follows; MPI decides by its
// thread level who may use it when.
unsafe impl Send for Pointer {}
// SAFETY: as above.
unsafe impl Sync for Pointer {}

/// What a by-value handle is in C: `int` or a pointer.
pub(super) trait Native: Copy {
    fn from_handle(handle: Handle) -> Self;
    fn to_handle(self) -> Handle;
}

impl Native for c_int {
    fn from_handle(handle: Handle) -> Self {
        // The low half is the handle: foreign integers may be sign-extended.
        handle.0 as u32 as c_int
    }

    fn to_handle(self) -> Handle {
        Handle(u64::from(self as u32))
    }
}

impl Native for Pointer {
    fn from_handle(handle: Handle) -> Self {
        Self(handle.0 as usize as *mut c_void)
    }

    fn to_handle(self) -> Handle {
        Handle(self.0 as usize as u64)
    }
}

/// Turns an argument of our calls into the argument of the C function.
pub(super) trait Pass<T> {
    fn pass(self) -> T;
}

impl<H: Native> Pass<H> for Handle {
    fn pass(self) -> H {
        H::from_handle(self)
    }
}

impl Pass<c_int> for c_int {
    fn pass(self) -> c_int {
        self
    }
}

impl Pass<i64> for i64 {
    fn pass(self) -> i64 {
        self
    }
}

impl<T> Pass<*mut T> for *mut T {
    fn pass(self) -> *mut T {
        self
    }
}

impl<T> Pass<*const T> for *const T {
    fn pass(self) -> *const T {
        self
    }
}

/// Handles side by side in memory, as MPI wants an array of them.
#[derive(Debug, Clone)]
pub(super) enum HandleArray {
    Int(Vec<c_int>),
    Pointer(Vec<Pointer>),
}

impl HandleArray {
    pub(super) fn new(width: Width) -> Self {
        match width {
            Width::Int => Self::Int(Vec::new()),
            Width::Pointer => Self::Pointer(Vec::new()),
        }
    }

    pub(super) fn push(&mut self, handle: Handle) {
        match self {
            Self::Int(array) => array.push(Native::from_handle(handle)),
            Self::Pointer(array) => array.push(Native::from_handle(handle)),
        }
    }

    pub(super) fn get(&self, index: usize) -> Handle {
        match self {
            Self::Int(array) => array[index].to_handle(),
            Self::Pointer(array) => array[index].to_handle(),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Handle> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Int(array) => array.len(),
            Self::Pointer(array) => array.len(),
        }
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut c_void {
        match self {
            Self::Int(array) => array.as_mut_ptr().cast(),
            Self::Pointer(array) => array.as_mut_ptr().cast(),
        }
    }
}

/// One handle that MPI reads and writes through a pointer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Slot {
    Int(c_int),
    Pointer(Pointer),
}

impl Slot {
    pub(super) fn new(width: Width, handle: Handle) -> Self {
        match width {
            Width::Int => Self::Int(Native::from_handle(handle)),
            Width::Pointer => Self::Pointer(Native::from_handle(handle)),
        }
    }

    pub(super) fn get(self) -> Handle {
        match self {
            Self::Int(handle) => handle.to_handle(),
            Self::Pointer(handle) => handle.to_handle(),
        }
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut c_void {
        match self {
            Self::Int(handle) => (handle as *mut c_int).cast(),
            Self::Pointer(handle) => (handle as *mut Pointer).cast(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_int_handle_may_be_sign_extended() {
        let positive = Slot::new(Width::Int, Handle(0x8400_0002)).get();
        let negative = Slot::new(Width::Int, Handle(0x8400_0002u32 as i32 as i64 as u64)).get();
        assert_eq!(positive, negative);
        assert_eq!(positive, Handle(0x8400_0002));
    }

    #[test]
    fn arrays_have_the_stride_of_their_width() {
        for (width, stride) in [(Width::Int, 4), (Width::Pointer, size_of::<usize>())] {
            let mut array = HandleArray::new(width);
            array.push(Handle(7));
            array.push(Handle(9));
            assert_eq!(array.iter().collect::<Vec<_>>(), [Handle(7), Handle(9)]);
            let second = array.as_mut_ptr() as usize + stride;
            // SAFETY: `second` is the address of the second element.
            let low = unsafe { *(second as *const u32) };
            assert_eq!(low, 9);
        }
    }

    #[test]
    fn a_slot_is_written_through_its_pointer() {
        let mut slot = Slot::new(Width::Int, Handle(0));
        // SAFETY: the slot of an int handle is one c_int.
        unsafe { *slot.as_mut_ptr().cast::<c_int>() = 0x4400_0000 };
        assert_eq!(slot.get(), Handle(0x4400_0000));
    }
}
