//! Memory for tests: matrices with strides of every kind.

use super::view::{View, ViewMut};
use crate::sample::Sample;

/// How a matrix lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    C,
    Fortran,
    /// Rows contiguous but far apart.
    Spaced,
    /// No stride is one.
    Sparse,
    /// Both strides negative.
    Backwards,
}

pub const ORDERS: [Order; 5] =
    [Order::C, Order::Fortran, Order::Spaced, Order::Sparse, Order::Backwards];

/// A matrix with its memory.
pub struct Stored<T> {
    memory: Vec<T>,
    start: usize,
    shape: [usize; 2],
    strides: [isize; 2],
}

impl<T: Copy> Stored<T> {
    /// A matrix of `fill`, which also lies around it.
    pub fn new([m, n]: [usize; 2], order: Order, fill: T) -> Stored<T> {
        let strides = match order {
            Order::C => [n, 1],
            Order::Fortran => [1, m],
            Order::Spaced => [n + 3, 1],
            Order::Sparse => [2 * n + 1, 2],
            Order::Backwards => [n, 1],
        };
        let size = if m * n == 0 { 0 } else { (m - 1) * strides[0] + (n - 1) * strides[1] + 1 };
        let [down, across] = strides.map(usize::cast_signed);
        let (start, strides) = match order {
            Order::Backwards => (size.saturating_sub(1), [-down, -across]),
            _ => (0, [down, across]),
        };
        Stored { memory: vec![fill; size], start, shape: [m, n], strides }
    }

    pub fn generated(
        shape: [usize; 2],
        order: Order,
        sample: &mut Sample,
        mut element: impl FnMut(&mut Sample) -> T,
    ) -> Stored<T> {
        let fill = element(sample);
        let mut stored = Stored::new(shape, order, fill);
        stored.view_mut().fill_with(|_, _| element(sample));
        stored
    }

    pub fn view(&self) -> View<'_, T> {
        let data = self.memory.as_ptr().wrapping_add(self.start);
        // SAFETY: `new` made the memory as large as the strides reach.
        unsafe { View::from_raw(data, self.shape, self.strides) }
    }

    pub fn view_mut(&mut self) -> ViewMut<'_, T> {
        let data = self.memory.as_mut_ptr().wrapping_add(self.start);
        // SAFETY: as above.
        unsafe { ViewMut::from_raw(data, self.shape, self.strides) }
    }

    /// All elements in C order.
    pub fn elements(&self) -> Vec<T> {
        let [m, n] = self.shape;
        (0..m * n).map(|i| self.view().at(i / n, i % n)).collect()
    }

    /// The whole memory, with what lies between the elements.
    pub fn memory(&self) -> &[T] {
        &self.memory
    }
}
