//! Matrices in somebody else's memory.

use std::marker::PhantomData;
use std::ops::Range;

/// A matrix to read: where it starts, its shape, its strides in elements.
///
/// ```
/// use partita_linear::matrix::View;
/// let numbers = [1, 2, 3, 4, 5, 6];
/// let a = View::new(&numbers, 2, 3);
/// assert_eq!(a.at(1, 0), 4);
/// assert_eq!(a.transposed().at(0, 1), 4);
/// ```
#[derive(Debug)]
pub struct View<'a, T> {
    data: *const T,
    shape: [usize; 2],
    strides: [isize; 2],
    lent: PhantomData<&'a T>,
}

/// A matrix to write; otherwise as [`View`].
#[derive(Debug)]
pub struct ViewMut<'a, T> {
    data: *mut T,
    shape: [usize; 2],
    strides: [isize; 2],
    lent: PhantomData<&'a mut T>,
}

impl<T> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for View<'_, T> {}

// SAFETY: as a shared slice.
unsafe impl<T: Sync> Send for View<'_, T> {}
// SAFETY: as a shared slice.
unsafe impl<T: Sync> Sync for View<'_, T> {}
// SAFETY: as a slice of one's own.
unsafe impl<T: Send> Send for ViewMut<'_, T> {}

impl<'a, T> View<'a, T> {
    /// A matrix in C order.
    ///
    /// # Panics
    /// If the slice has not as many elements as the matrix.
    #[must_use]
    pub fn new(elements: &'a [T], n_rows: usize, n_columns: usize) -> View<'a, T> {
        assert_eq!(elements.len(), n_rows * n_columns, "elements of the matrix");
        // SAFETY: every position lies within the slice.
        unsafe {
            View::from_raw(elements.as_ptr(), [n_rows, n_columns], [n_columns.cast_signed(), 1])
        }
    }

    /// A matrix with any strides.
    ///
    /// # Safety
    /// Every element may be read for `'a`, and nobody writes it meanwhile.
    #[must_use]
    pub unsafe fn from_raw(data: *const T, shape: [usize; 2], strides: [isize; 2]) -> View<'a, T> {
        View { data, shape, strides, lent: PhantomData }
    }

    /// Where the first element lies.
    #[must_use]
    pub fn data(self) -> *const T {
        self.data
    }

    /// Rows and columns.
    #[must_use]
    pub fn shape(self) -> [usize; 2] {
        self.shape
    }

    /// Elements from one row to the next, and from one column to the next.
    #[must_use]
    pub fn strides(self) -> [isize; 2] {
        self.strides
    }

    /// The same memory with rows as columns.
    #[must_use]
    pub fn transposed(self) -> View<'a, T> {
        let ([m, n], [along, across]) = (self.shape, self.strides);
        View { shape: [n, m], strides: [across, along], ..self }
    }

    /// Some of the rows and columns.
    ///
    /// # Panics
    /// If they are not all there.
    #[must_use]
    pub fn part(self, rows: Range<usize>, columns: Range<usize>) -> View<'a, T> {
        let data = part(self.data.cast_mut(), self.shape, self.strides, &rows, &columns);
        View { data, shape: [rows.len(), columns.len()], ..self }
    }

    /// One element.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn at(self, row: usize, column: usize) -> T
    where
        T: Copy,
    {
        assert!(row < self.shape[0] && column < self.shape[1], "({row}, {column}) is outside");
        // SAFETY: just checked.
        unsafe { *self.data.offset(offset(self.strides, row, column)) }
    }
}

impl<'a, T> ViewMut<'a, T> {
    /// A matrix in C order.
    ///
    /// # Panics
    /// If the slice has not as many elements as the matrix.
    #[must_use]
    pub fn new(elements: &'a mut [T], n_rows: usize, n_columns: usize) -> ViewMut<'a, T> {
        assert_eq!(elements.len(), n_rows * n_columns, "elements of the matrix");
        let (shape, strides) = ([n_rows, n_columns], [n_columns.cast_signed(), 1]);
        // SAFETY: every position lies within the slice, once.
        unsafe { ViewMut::from_raw(elements.as_mut_ptr(), shape, strides) }
    }

    /// A matrix with any strides.
    ///
    /// # Safety
    /// Every element may be read and written for `'a`, nobody else uses it meanwhile, and no two
    /// positions are the same element.
    #[must_use]
    pub unsafe fn from_raw(data: *mut T, shape: [usize; 2], strides: [isize; 2]) -> Self {
        ViewMut { data, shape, strides, lent: PhantomData }
    }

    /// Where the first element lies.
    #[must_use]
    pub fn data(&self) -> *mut T {
        self.data
    }

    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// Elements from one row to the next, and from one column to the next.
    #[must_use]
    pub fn strides(&self) -> [isize; 2] {
        self.strides
    }

    /// The same memory with rows as columns.
    #[must_use]
    pub fn transposed(self) -> ViewMut<'a, T> {
        let ([m, n], [along, across]) = (self.shape, self.strides);
        ViewMut { shape: [n, m], strides: [across, along], ..self }
    }

    /// The same matrix, lent for a while.
    #[must_use]
    pub fn lend(&mut self) -> ViewMut<'_, T> {
        ViewMut { data: self.data, shape: self.shape, strides: self.strides, lent: PhantomData }
    }

    /// The same matrix, to read.
    #[must_use]
    pub fn as_view(&self) -> View<'_, T> {
        View { data: self.data, shape: self.shape, strides: self.strides, lent: PhantomData }
    }

    /// Some of the rows and columns.
    ///
    /// # Panics
    /// If they are not all there.
    #[must_use]
    pub fn part(self, rows: Range<usize>, columns: Range<usize>) -> ViewMut<'a, T> {
        let data = part(self.data, self.shape, self.strides, &rows, &columns);
        ViewMut { data, shape: [rows.len(), columns.len()], ..self }
    }

    /// Writes one element.
    ///
    /// # Panics
    /// If there is none.
    pub fn put(&mut self, row: usize, column: usize, value: T) {
        assert!(row < self.shape[0] && column < self.shape[1], "({row}, {column}) is outside");
        // SAFETY: just checked.
        unsafe { self.data.offset(offset(self.strides, row, column)).write(value) };
    }

    /// Writes every element.
    pub fn fill_with(&mut self, mut value: impl FnMut(usize, usize) -> T) {
        for row in 0..self.shape[0] {
            for column in 0..self.shape[1] {
                // SAFETY: both are within the shape.
                unsafe {
                    let place = self.data.offset(offset(self.strides, row, column));
                    place.write(value(row, column));
                }
            }
        }
    }
}

fn offset(strides: [isize; 2], row: usize, column: usize) -> isize {
    row.cast_signed() * strides[0] + column.cast_signed() * strides[1]
}

fn part<T>(
    data: *mut T,
    shape: [usize; 2],
    strides: [isize; 2],
    rows: &Range<usize>,
    columns: &Range<usize>,
) -> *mut T {
    let within = |range: &Range<usize>, n| range.start <= range.end && range.end <= n;
    assert!(within(rows, shape[0]) && within(columns, shape[1]), "{rows:?}, {columns:?}");
    if rows.is_empty() || columns.is_empty() {
        return data;
    }
    // SAFETY: the first element of the part is one of the matrix.
    unsafe { data.offset(offset(strides, rows.start, columns.start)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_transposes_name_the_same_elements() {
        let numbers: Vec<i32> = (0..12).collect();
        let a = View::new(&numbers, 3, 4);
        let part = a.part(1..3, 2..4);
        assert_eq!([part.at(0, 0), part.at(0, 1), part.at(1, 0), part.at(1, 1)], [6, 7, 10, 11]);
        assert_eq!(a.transposed().part(2..4, 1..3).at(1, 0), 7);
        assert_eq!(a.part(3..3, 0..4).shape(), [0, 4]);
    }

    #[test]
    #[should_panic = "is outside"]
    fn nothing_is_read_outside() {
        let _ = View::new(&[1, 2], 1, 2).at(0, 2);
    }

    #[test]
    fn writes_through_strides() {
        let mut numbers = [0; 6];
        let mut a = ViewMut::new(&mut numbers, 2, 3).transposed();
        a.fill_with(|row, column| 10 * row + column);
        a.put(2, 1, 99);
        assert_eq!(numbers, [0, 10, 20, 1, 11, 99]);
    }
}
