//! Stacks: many matrices of one shape, with a stride per leading axis.

use super::view::{View, ViewMut};
use partita_kernel::threads;
use std::sync::Mutex;
use std::sync::PoisonError;

/// Matrices of one shape behind leading axes; a stride of zero repeats a matrix.
///
/// ```
/// use partita_linear::matrix::{Stack, View};
/// let numbers = [1, 2, 3, 4, 5, 6, 7, 8];
/// let first = View::new(&numbers[..4], 2, 2);
/// // SAFETY: the second matrix lies behind the first.
/// let stack = unsafe { Stack::new(first, &[2], &[4]) };
/// assert_eq!(stack.matrix(1).at(0, 1), 6);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Stack<'a, T> {
    first: View<'a, T>,
    extents: &'a [usize],
    strides: &'a [isize],
}

/// The same, to write.
#[derive(Debug)]
pub struct StackMut<'a, T> {
    data: *mut T,
    shape: [usize; 2],
    matrix_strides: [isize; 2],
    extents: &'a [usize],
    strides: &'a [isize],
}

// SAFETY: matrices of a stack are apart, and `matrix` says that each has one user.
unsafe impl<T: Send> Sync for StackMut<'_, T> {}

impl<'a, T> Stack<'a, T> {
    /// The stack whose first matrix is `first`.
    ///
    /// # Safety
    /// Every matrix may be read as `first` may.
    ///
    /// # Panics
    /// If there is not a stride per extent.
    #[must_use]
    pub unsafe fn new(first: View<'a, T>, extents: &'a [usize], strides: &'a [isize]) -> Self {
        assert_eq!(extents.len(), strides.len(), "strides of the stack");
        Stack { first, extents, strides }
    }

    /// Leading axes.
    #[must_use]
    pub fn extents(&self) -> &'a [usize] {
        self.extents
    }

    /// Shape of each matrix.
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        self.first.shape()
    }

    /// How many matrices there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.extents.iter().product()
    }

    /// Whether there is no matrix.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A matrix by its position in C order of the leading axes.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn matrix(&self, position: usize) -> View<'a, T> {
        assert!(position < self.len(), "matrix {position} of {}", self.len());
        let data = self.first.data().wrapping_offset(shift(self.extents, self.strides, position));
        // SAFETY: it is one of the stack's.
        unsafe { View::from_raw(data, self.first.shape(), self.first.strides()) }
    }
}

impl<'a, T> StackMut<'a, T> {
    /// The stack whose first matrix is `first`.
    ///
    /// # Safety
    /// Every matrix may be written as `first` may, and no two have an element in common.
    ///
    /// # Panics
    /// If there is not a stride per extent.
    #[must_use]
    #[allow(clippy::needless_pass_by_value, reason = "the stack takes the matrix over")]
    pub unsafe fn new(first: ViewMut<'a, T>, extents: &'a [usize], strides: &'a [isize]) -> Self {
        assert_eq!(extents.len(), strides.len(), "strides of the stack");
        let (data, shape, matrix_strides) = (first.data(), first.shape(), first.strides());
        StackMut { data, shape, matrix_strides, extents, strides }
    }

    /// Leading axes.
    #[must_use]
    pub fn extents(&self) -> &'a [usize] {
        self.extents
    }

    /// Shape of each matrix.
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// How many matrices there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.extents.iter().product()
    }

    /// Whether there is no matrix.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A matrix by its position in C order of the leading axes.
    ///
    /// # Safety
    /// Nobody else uses this matrix as long as the result lives.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub unsafe fn matrix(&self, position: usize) -> ViewMut<'_, T> {
        assert!(position < self.len(), "matrix {position} of {}", self.len());
        let data = self.data.wrapping_offset(shift(self.extents, self.strides, position));
        // SAFETY: it is one of the stack's, and the caller's alone.
        unsafe { ViewMut::from_raw(data, self.shape, self.matrix_strides) }
    }
}

fn shift(extents: &[usize], strides: &[isize], mut position: usize) -> isize {
    let mut total = 0;
    for (&extent, &stride) in extents.iter().zip(strides).rev() {
        total += (position % extent).cast_signed() * stride;
        position /= extent;
    }
    total
}

/// Calls `work` with the position of every matrix and the threads it may use, on several at once.
///
/// Few matrices share the threads; many are divided among them.
///
/// ```
/// use partita_linear::matrix::each_matrix;
/// let outcome = each_matrix(5, 2, |position, _| if position < 3 { Ok(()) } else { Err(position) });
/// assert_eq!(outcome, Err(3));
/// ```
///
/// # Errors
/// That of the first matrix that has one; the others are still worked on.
pub fn each_matrix<E: Send>(
    n_matrices: usize,
    n_threads: usize,
    work: impl Fn(usize, usize) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let first: Mutex<Option<(usize, E)>> = Mutex::new(None);
    let run = |position: usize, n_threads: usize| {
        if let Err(error) = work(position, n_threads) {
            let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
            if first.as_ref().is_none_or(|(other, _)| position < *other) {
                *first = Some((position, error));
            }
        }
    };
    if n_matrices < n_threads {
        (0..n_matrices).for_each(|position| run(position, n_threads));
    } else {
        let n_pieces = n_matrices.min(8 * n_threads);
        threads::divide(n_threads, n_pieces, &|piece| {
            let bound = |piece: usize| piece * n_matrices / n_pieces;
            (bound(piece)..bound(piece + 1)).for_each(|position| run(position, 1));
        });
    }
    match first.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn positions_follow_c_order_and_zero_strides_repeat() {
        let numbers: Vec<usize> = (0..24).collect();
        let first = View::new(&numbers[..4], 2, 2);
        // SAFETY: the largest offset is 12 + 8, and the matrix has four elements.
        let stack = unsafe { Stack::new(first, &[2, 3, 2], &[12, 4, 0]) };
        for position in 0..12 {
            let expected = 12 * (position / 6) + 4 * (position / 2 % 3) + 3;
            assert_eq!(stack.matrix(position).at(1, 1), expected);
        }
    }

    #[test]
    fn every_matrix_once_and_the_first_error() {
        for n_threads in [1, 2, 3] {
            for n_matrices in [0, 1, 2, 3, 17, 100] {
                let counts: Vec<_> = (0..n_matrices).map(|_| AtomicUsize::new(0)).collect();
                let outcome = each_matrix(n_matrices, n_threads, |position, _| {
                    counts[position].fetch_add(1, Ordering::Relaxed);
                    if position % 7 == 2 { Err(position) } else { Ok(()) }
                });
                assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1));
                assert_eq!(outcome.err(), (n_matrices > 2).then_some(2));
            }
        }
    }
}
