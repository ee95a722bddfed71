//! Our views as faer's, and back.

use super::view::{View, ViewMut};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use partita_kernel::room;
use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

/// Bytes that faer's products keep on every thread that makes one.
const WORKSPACE: usize = 64 << 20;

/// From this size on, factorisations are made of products.
const LARGE: usize = 128;

/// Looks, once on each thread, whether there is memory for products, and takes it.
pub fn expect_workspace() {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    thread_local! {
        static HAS_WORKSPACE: Cell<bool> = const { Cell::new(false) };
    }
    if HAS_WORKSPACE.get() {
        return;
    }
    let one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    room::expect(WORKSPACE);
    // The first product takes the memory, before another thread finds it free.
    let (zeros, mut out) = (Mat::<f64>::zeros(LARGE, LARGE), Mat::<f64>::zeros(LARGE, LARGE));
    let (zeros, out) = (zeros.as_ref(), out.as_mut());
    faer::linalg::matmul::matmul(out, Accum::Replace, zeros, zeros, 1.0, Par::Seq);
    drop(one);
    HAS_WORKSPACE.set(true);
}

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
    made([a.nrows(), a.ncols()], |i, j| a[(i, j)])
}

/// A matrix of faer's; unwinds where the system has no memory for it.
pub fn made<T>([m, n]: [usize; 2], element: impl FnMut(usize, usize) -> T) -> Mat<T> {
    if m.min(n) >= LARGE {
        expect_workspace();
    }
    // Columns begin at multiples of a few elements.
    room::expect(m.saturating_add(16).saturating_mul(n).saturating_mul(size_of::<T>()));
    Mat::from_fn(m, n, element)
}

/// Writes a matrix of faer's into an output of its shape.
pub fn write<T: Copy>(out: &mut ViewMut<'_, T>, from: MatRef<'_, T>) {
    out.fill_with(|i, j| from[(i, j)]);
}

/// Calls `work` with as much memory as faer says it needs.
pub fn scratch<R>(needs: StackReq, work: impl FnOnce(&mut MemStack) -> R) -> R {
    let memory = MemBuffer::try_new(needs);
    let mut memory = memory.unwrap_or_else(|_| room::no_room(needs.unaligned_bytes_required()));
    work(MemStack::new(&mut memory))
}
