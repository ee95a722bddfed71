//! Our views as faer's, and back.

use super::view::{View, ViewMut};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::{Mat, MatMut, MatRef};

/// The same matrix for faer.
pub fn as_faer<T>(a: View<'_, T>) -> MatRef<'_, T> {
    let ([m, n], [down, across]) = (a.shape(), a.strides());
    // SAFETY: a view may be read wherever its shape and strides reach.
    unsafe { MatRef::from_raw_parts(a.data(), m, n, down, across) }
}

/// The same matrix for faer, to write.
pub fn as_faer_mut<'a, T>(a: &'a mut ViewMut<'_, T>) -> MatMut<'a, T> {
    let ([m, n], [down, across]) = (a.shape(), a.strides());
    // SAFETY: a view may be written wherever its shape and strides reach, and it is lent to us.
    unsafe { MatMut::from_raw_parts_mut(a.data(), m, n, down, across) }
}

/// A copy in faer's order, whose alignment, and with it the bits of results, is always the same.
pub fn copy<T: Copy>(a: View<'_, T>) -> Mat<T> {
    let a = as_faer(a);
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)])
}

/// Writes a matrix of faer's into an output of its shape.
pub fn write<T: Copy>(out: &mut ViewMut<'_, T>, from: MatRef<'_, T>) {
    out.fill_with(|i, j| from[(i, j)]);
}

/// Calls `work` with as much memory as faer says it needs.
pub fn scratch<R>(needs: StackReq, work: impl FnOnce(&mut MemStack) -> R) -> R {
    work(MemStack::new(&mut MemBuffer::new(needs)))
}
