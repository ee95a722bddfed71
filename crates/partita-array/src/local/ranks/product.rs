//! Windows as products: each dimension of a window walks along one dimension of its base, or
//! along none.

use partita_layout::IndexBox;

use super::super::window::{Dims, Window, c_strides};

/// A window of a base: where it begins, and which way each of its dimensions goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Product {
    /// Index of the base at position zero of every dimension of the window.
    start: Dims<i64>,
    /// For each dimension of the window the base's dimension and the step; none if it repeats.
    along: Dims<Option<(usize, i64)>>,
    shape: Dims<usize>,
}

impl Product {
    /// The window as a product; none if it has no elements or is none.
    pub fn of(window: &Window, base: &[usize]) -> Option<Self> {
        let (walks, along) = window.walked(base)?;
        let with_step = |dim: usize| (dim, walks[dim].step as i64);
        Some(Self {
            along: along.into_iter().map(|dim| dim.map(with_step)).collect(),
            start: walks.iter().map(|walk| walk.start as i64).collect(),
            shape: window.shape.clone(),
        })
    }

    /// The points of the window whose elements lie in a box of the base, if there are some.
    pub fn points_in(&self, part: &IndexBox) -> Option<IndexBox> {
        let mut points = everything(&self.shape);
        let is_walked = |dim: usize| self.along.iter().flatten().any(|(at, _)| *at == dim);
        let lies_in = |dim: usize| {
            let at = self.start[dim];
            part.start[dim] as i64 <= at && at < part.stop(dim) as i64
        };
        if !(0..self.start.len()).all(|dim| is_walked(dim) || lies_in(dim)) {
            return None;
        }
        for (axis, along) in self.along.iter().enumerate() {
            let &Some((dim, step)) = along else { continue };
            let (low, high) = (part.start[dim] as i64, part.stop(dim) as i64);
            let start = self.start[dim];
            // The first and the last position whose element lies in the part.
            let (first, last) = match step > 0 {
                true => (div_up(low - start, step), (high - 1 - start).div_euclid(step)),
                false => (div_up(start - high + 1, -step), (start - low).div_euclid(-step)),
            };
            let first = first.max(0);
            let last = last.min(self.shape[axis] as i64 - 1);
            if last < first || high <= low {
                return None;
            }
            points.start[axis] = first as u64;
            points.shape[axis] = (last - first + 1) as u64;
        }
        Some(points)
    }

    /// The smallest box of the base with the elements of some points.
    pub fn reached(&self, points: &IndexBox) -> IndexBox {
        let mut start: Vec<u64> = self.start.iter().map(|at| *at as u64).collect();
        let mut shape = vec![1; start.len()];
        for (axis, along) in self.along.iter().enumerate() {
            let &Some((dim, step)) = along else { continue };
            let first = self.start[dim] + step * points.start[axis] as i64;
            let last = first + step * (points.shape[axis] as i64 - 1);
            start[dim] = first.min(last) as u64;
            shape[dim] = first.abs_diff(last) + 1;
        }
        IndexBox { start, shape }
    }

    /// The window of some points in memory that has a box of the base.
    pub fn window(&self, points: &IndexBox, held: &IndexBox) -> Window {
        let held_shape: Dims<usize> = held.shape.iter().map(|n| *n as usize).collect();
        let held_strides = c_strides(&held_shape);
        let mut offset = 0;
        for (dim, at) in self.start.iter().enumerate() {
            offset += (*at - held.start[dim] as i64) as isize * held_strides[dim];
        }
        let mut strides = Dims::from_elem(0, self.along.len());
        for (axis, along) in self.along.iter().enumerate() {
            if let &Some((dim, step)) = along {
                strides[axis] = step as isize * held_strides[dim];
                offset += points.start[axis] as isize * strides[axis];
            }
        }
        let shape = points.shape.iter().map(|n| *n as usize).collect();
        Window::new(offset, shape, strides)
    }
}

/// The box of everything.
pub(super) fn everything(shape: &[usize]) -> IndexBox {
    let sizes = shape.iter().map(|n| *n as u64).collect();
    IndexBox { start: vec![0; shape.len()], shape: sizes }
}

/// A box without elements, of at least one dimension.
pub(super) fn nothing(ndim: usize) -> IndexBox {
    IndexBox { start: vec![0; ndim], shape: vec![0; ndim] }
}

/// The smallest box with both; one without elements has no place.
pub(super) fn hull(a: &IndexBox, b: &IndexBox) -> IndexBox {
    if a.n_elements() == 0 {
        return b.clone();
    }
    if b.n_elements() == 0 {
        return a.clone();
    }
    let start: Vec<u64> = a.start.iter().zip(&b.start).map(|(a, b)| *a.min(b)).collect();
    let size = |dim: usize| a.stop(dim).max(b.stop(dim)) - start[dim];
    let shape = (0..start.len()).map(size).collect();
    IndexBox { start, shape }
}

/// Whether a box lies in another.
pub(super) fn lies_in(inner: &IndexBox, outer: &IndexBox) -> bool {
    let inside =
        |dim: usize| outer.start[dim] <= inner.start[dim] && inner.stop(dim) <= outer.stop(dim);
    inner.n_elements() == 0 || (0..inner.start.len()).all(inside)
}

/// How many elements two boxes share.
pub(super) fn n_shared(a: &IndexBox, b: &IndexBox) -> u64 {
    a.intersection(b).map_or(0, |both| both.n_elements())
}

fn div_up(a: i64, b: i64) -> i64 {
    -(-a).div_euclid(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_and_boxes_answer_each_other() {
        let base = [7, 9];
        let all = Window::dense(&base);
        let views = [
            all.clone(),
            all.slice(&[1, 8], &[3, 4], &[2, -2]),
            all.slice(&[6, 0], &[7, 3], &[-1, 3]),
            all.slice(&[3, 2], &[1, 5], &[1, 1]),
            all.slice(&[3, 2], &[1, 5], &[1, 1]).broadcast(&[4, 5]).expect("fits"),
            all.permute(&[1, 0]),
        ];
        let parts = [
            IndexBox::new(&[0, 0], &[7, 9]),
            IndexBox::new(&[2, 1], &[3, 5]),
            IndexBox::new(&[6, 8], &[1, 1]),
            IndexBox::new(&[4, 4], &[0, 2]),
        ];
        for view in &views {
            let product = Product::of(view, &base).expect("a product");
            for part in &parts {
                let points = product.points_in(part).unwrap_or_else(|| nothing(2));
                let mut n_inside = 0;
                for i in 0..view.shape[0] {
                    for j in 0..view.shape[1] {
                        let at = view.offset
                            + i as isize * view.strides[0]
                            + j as isize * view.strides[1];
                        let element = IndexBox::new(&[at as u64 / 9, at as u64 % 9], &[1, 1]);
                        let point = IndexBox::new(&[i as u64, j as u64], &[1, 1]);
                        assert_eq!(lies_in(&element, part), lies_in(&point, &points));
                        n_inside += u64::from(lies_in(&element, part));
                    }
                }
                assert_eq!(n_inside, points.n_elements());
                if n_inside > 0 {
                    assert!(lies_in(&product.reached(&points), part));
                    let window = product.window(&points, part);
                    let (low, high) = window.ends();
                    assert!(low >= 0 && high < part.n_elements() as isize);
                }
            }
        }
    }
}
