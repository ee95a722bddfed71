//! The oracle: dense arrays of complex numbers and views of them, computed at once.

use std::cell::RefCell;
use std::rc::Rc;

use partita_array::local::{Window, broadcast_shapes};

/// A number; of real arrays the second part is 0.
pub type Number = (f64, f64);

/// A dense array or a view of one.
#[derive(Clone)]
pub struct Dense {
    data: Rc<RefCell<Vec<Number>>>,
    window: Window,
}

/// A strided slice.
#[derive(Clone, Debug)]
pub struct Slice {
    pub offsets: Vec<i64>,
    pub sizes: Vec<i64>,
    pub strides: Vec<i64>,
}

impl Dense {
    pub fn new(shape: &[usize], data: Vec<Number>) -> Self {
        Self { data: Rc::new(RefCell::new(data)), window: Window::dense(shape) }
    }

    pub fn shape(&self) -> &[usize] {
        &self.window.shape
    }

    fn places(&self) -> Vec<usize> {
        let mut places = vec![self.window.offset];
        for (size, stride) in self.window.shape.iter().zip(&self.window.strides) {
            let steps = |at: isize| (0..*size as isize).map(move |i| at + i * stride);
            places = places.into_iter().flat_map(steps).collect();
        }
        places.into_iter().map(|at| at as usize).collect()
    }

    pub fn values(&self) -> Vec<Number> {
        let data = self.data.borrow();
        self.places().into_iter().map(|at| data[at]).collect()
    }

    pub fn write(&self, values: &[Number]) {
        let mut data = self.data.borrow_mut();
        let from = |at: usize| values[at % values.len()];
        self.places().into_iter().enumerate().for_each(|(i, at)| data[at] = from(i));
    }

    pub fn copy(&self) -> Self {
        Self::new(self.shape(), self.values())
    }

    pub fn view(&self, slice: &Slice) -> Self {
        let sizes: Vec<usize> = slice.sizes.iter().map(|s| *s as usize).collect();
        if sizes.contains(&0) {
            return Self::new(&sizes, Vec::new());
        }
        let offsets: Vec<usize> = slice.offsets.iter().map(|o| *o as usize).collect();
        let strides: Vec<isize> = slice.strides.iter().map(|s| *s as isize).collect();
        let window = self.window.slice(&offsets, &sizes, &strides);
        Self { data: Rc::clone(&self.data), window }
    }

    /// The elements with sizes of 1 repeated.
    fn repeated(&self, shape: &[usize]) -> Vec<Number> {
        let window = self.window.broadcast(shape).expect("shapes that fit");
        Self { data: Rc::clone(&self.data), window }.values()
    }

    /// Element by element; nothing if the shapes do not go together.
    pub fn combined(&self, other: &Self, compute: fn(Number, Number) -> Number) -> Option<Self> {
        let shape = broadcast_shapes(self.shape(), other.shape())?;
        let pairs = self.repeated(&shape).into_iter().zip(other.repeated(&shape));
        Some(Self::new(&shape, pairs.map(|(a, b)| compute(a, b)).collect()))
    }

    /// Dimensions in another order, as a new array.
    pub fn permuted(&self, axes: &[usize]) -> Self {
        let turned = Self { data: Rc::clone(&self.data), window: self.window.permute(axes) };
        turned.copy()
    }

    pub fn reshaped(&self, shape: &[usize]) -> Self {
        Self::new(shape, self.values())
    }

    /// Groups of elements that become one each, in C order of what is left.
    fn groups(&self, axes: &[usize]) -> (Vec<usize>, Vec<Vec<Number>>) {
        let shape = self.shape().to_vec();
        let left: Vec<usize> =
            shape.iter().enumerate().map(|(d, n)| if axes.contains(&d) { 1 } else { *n }).collect();
        let mut groups = vec![Vec::new(); left.iter().product()];
        for (number, value) in self.values().into_iter().enumerate() {
            let (mut rest, mut place, mut step) = (number, 0, 1);
            for dim in (0..shape.len()).rev() {
                place += if axes.contains(&dim) { 0 } else { rest % shape[dim] * step };
                rest /= shape[dim];
                step *= left[dim];
            }
            groups[place].push(value);
        }
        (left, groups)
    }

    /// A reduction along dimensions; they stay with size 1, or go.
    pub fn reduced(&self, axes: &[usize], keeps: bool, how: fn(&[Number]) -> Number) -> Self {
        let (left, groups) = self.groups(axes);
        let stays = |(dim, _): &(usize, &usize)| keeps || !axes.contains(dim);
        let shape: Vec<usize> = left.iter().enumerate().filter(stays).map(|(_, n)| *n).collect();
        Self::new(&shape, groups.iter().map(|group| how(group)).collect())
    }

    /// Running sums along a dimension.
    pub fn running_sum(&self, axis: usize) -> Self {
        let mut values = self.values();
        let inner: usize = self.shape()[axis + 1..].iter().product();
        let size = self.shape()[axis];
        for at in 0..values.len() {
            if !(at / inner.max(1)).is_multiple_of(size.max(1)) {
                let before = values[at - inner];
                values[at] = (values[at].0 + before.0, values[at].1 + before.1);
            }
        }
        Self::new(self.shape(), values)
    }
}
