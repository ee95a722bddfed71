//! Arrays of any number of axes in somebody else's memory.

use std::marker::PhantomData;

/// An array to read: where it starts, its extents, its strides in elements.
#[derive(Debug, Clone, Copy)]
pub struct Array<'a, T> {
    pub(super) data: *const T,
    pub(super) extents: &'a [usize],
    pub(super) strides: &'a [isize],
    lent: PhantomData<&'a T>,
}

/// The same, to write.
#[derive(Debug)]
pub struct ArrayMut<'a, T> {
    pub(super) data: *mut T,
    pub(super) extents: &'a [usize],
    pub(super) strides: &'a [isize],
    lent: PhantomData<&'a mut T>,
}

// SAFETY: as a shared slice.
unsafe impl<T: Sync> Send for Array<'_, T> {}
// SAFETY: as a shared slice.
unsafe impl<T: Sync> Sync for Array<'_, T> {}
// SAFETY: as a slice of one's own.
unsafe impl<T: Send> Send for ArrayMut<'_, T> {}

impl<'a, T> Array<'a, T> {
    /// An array with any strides.
    ///
    /// # Safety
    /// Every element may be read for `'a`, and nobody writes it meanwhile.
    ///
    /// # Panics
    /// If there is not a stride per extent.
    #[must_use]
    pub unsafe fn new(data: *const T, extents: &'a [usize], strides: &'a [isize]) -> Self {
        assert_eq!(extents.len(), strides.len(), "strides of the array");
        Array { data, extents, strides, lent: PhantomData }
    }
}

impl<'a, T> ArrayMut<'a, T> {
    /// An array with any strides.
    ///
    /// # Safety
    /// Every element may be read and written for `'a`, nobody else uses it meanwhile, and no two
    /// positions are the same element.
    ///
    /// # Panics
    /// If there is not a stride per extent.
    #[must_use]
    pub unsafe fn new(data: *mut T, extents: &'a [usize], strides: &'a [isize]) -> Self {
        assert_eq!(extents.len(), strides.len(), "strides of the array");
        ArrayMut { data, extents, strides, lent: PhantomData }
    }
}
