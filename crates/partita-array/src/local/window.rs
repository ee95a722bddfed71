//! Windows: which elements of a base an array looks at, and whether two windows meet.

use std::cell::Cell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use rustc_hash::FxHasher;
use smallvec::SmallVec;

/// Numbers per dimension; those of four dimensions or fewer need no memory of their own.
pub type Dims<T> = SmallVec<[T; 4]>;

/// A strided window of a base, counted in elements.
///
/// Every recorded operation has several windows, most of which other operations have, too: they are
/// shared until one is changed, and know their hash.
#[derive(Clone)]
pub struct Window(Rc<Form>);

/// What a window is.
#[derive(Debug, Clone)]
pub struct Form {
    /// Place of the element at position zero of every dimension.
    pub offset: isize,
    /// Elements per dimension.
    pub shape: Dims<usize>,
    /// Distance between neighbours per dimension; zero repeats an element.
    pub strides: Dims<isize>,
    /// Of all of it; zero if it is not known.
    hash: Cell<u64>,
}

impl Deref for Window {
    type Target = Form;

    fn deref(&self) -> &Form {
        &self.0
    }
}

impl DerefMut for Window {
    fn deref_mut(&mut self) -> &mut Form {
        let form = Rc::make_mut(&mut self.0);
        form.hash.set(0);
        form
    }
}

impl PartialEq for Window {
    fn eq(&self, other: &Self) -> bool {
        let (one, two) = (&*self.0, &*other.0);
        std::ptr::eq(one, two)
            || one.offset == two.offset && one.shape == two.shape && one.strides == two.strides
    }
}

impl Eq for Window {}

impl Hash for Window {
    fn hash<H: Hasher>(&self, state: &mut H) {
        if self.0.hash.get() == 0 {
            let mut hasher = FxHasher::default();
            (self.offset, &self.shape, &self.strides).hash(&mut hasher);
            self.0.hash.set(hasher.finish().max(1));
        }
        state.write_u64(self.0.hash.get());
    }
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Form { offset, shape, strides, .. } = &**self;
        write!(f, "{shape:?} from {offset} by {strides:?}")
    }
}

/// A step along one dimension of the base: where it starts, how far it goes, how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Walk {
    pub start: usize,
    pub step: isize,
    pub count: usize,
}

impl Walk {
    fn ends(&self) -> (isize, isize) {
        let last = self.start as isize + self.step * (self.count as isize - 1);
        (last.min(self.start as isize), last.max(self.start as isize))
    }

    fn meets(&self, other: &Self) -> bool {
        let (a, b) = (self.ends(), other.ends());
        if a.1 < b.0 || b.1 < a.0 {
            return false;
        }
        let common = gcd(self.step.unsigned_abs(), other.step.unsigned_abs());
        let distance = self.start.abs_diff(other.start);
        if common == 0 { distance == 0 } else { distance.is_multiple_of(common) }
    }
}

impl Window {
    /// A window by its parts.
    #[must_use]
    pub fn new(offset: isize, shape: Dims<usize>, strides: Dims<isize>) -> Self {
        Self(Rc::new(Form { offset, shape, strides, hash: Cell::new(0) }))
    }

    /// All of a dense array in C order.
    #[must_use]
    pub fn dense(shape: &[usize]) -> Self {
        Self::new(0, shape.into(), c_strides(shape))
    }

    /// Whether both are one window, not only alike.
    pub(super) fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Number of elements.
    #[must_use]
    pub fn n_elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the elements lie one after another in C order.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        let wanted = c_strides(&self.shape);
        let alike = |dim: usize| self.shape[dim] == 1 || self.strides[dim] == wanted[dim];
        self.n_elements() == 0 || (0..self.shape.len()).all(alike)
    }

    /// Whether it is all of a base.
    pub(super) fn is_all_of(&self, base: &[usize]) -> bool {
        self.offset == 0 && self.shape[..] == *base && self.is_dense()
    }

    /// How often each element is there.
    pub(super) fn n_repeats(&self) -> usize {
        let repeated = self.shape.iter().zip(&self.strides).filter(|(_, stride)| **stride == 0);
        repeated.map(|(size, _)| *size).product()
    }

    /// Whether these are so many different elements.
    pub(super) fn covers(&self, n_elements: usize) -> bool {
        self.n_elements() == n_elements && self.n_repeats() <= 1
    }

    /// Every `strides[d]`-th element from `offsets[d]` on, `sizes[d]` of them. All must be inside.
    #[must_use]
    pub fn slice(&self, offsets: &[usize], sizes: &[usize], strides: &[isize]) -> Self {
        let (mut offset, mut steps) = (self.offset, self.strides.clone());
        for dim in 0..self.shape.len() {
            if sizes[dim] > 0 {
                offset += offsets[dim] as isize * self.strides[dim];
            }
            steps[dim] *= strides[dim];
        }
        Self::new(offset, sizes.into(), steps)
    }

    /// Dimensions in another order: dimension `axes[d]` becomes dimension `d`.
    #[must_use]
    pub fn permute(&self, axes: &[usize]) -> Self {
        let shape = axes.iter().map(|a| self.shape[*a]).collect();
        let strides = axes.iter().map(|a| self.strides[*a]).collect();
        Self::new(self.offset, shape, strides)
    }

    /// The window with elements repeated to a shape; none if the shapes do not fit.
    #[must_use]
    pub fn broadcast(&self, shape: &[usize]) -> Option<Self> {
        if self.shape[..] == *shape {
            return Some(self.clone());
        }
        let n_new = shape.len().checked_sub(self.shape.len())?;
        let mut strides = Dims::from_elem(0, shape.len());
        for (dim, &size) in self.shape.iter().enumerate() {
            if size == shape[n_new + dim] {
                strides[n_new + dim] = self.strides[dim];
            } else if size != 1 {
                return None;
            }
        }
        Some(Self::new(self.offset, shape.into(), strides))
    }

    /// The same elements in another shape, where no copy is needed for it.
    #[must_use]
    pub fn reshape(&self, shape: &[usize]) -> Option<Self> {
        if self.n_elements() == 0 {
            return Some(Self::new(self.offset, shape.into(), c_strides(shape)));
        }
        let runs = self.runs();
        let mut strides = Dims::from_elem(0, shape.len());
        let mut dim = shape.len();
        // Each run is filled by the last dimensions that are left; those of size 1 fit anywhere.
        for (n_elements, step) in runs.into_iter().rev() {
            let mut n_filled = 1;
            while n_filled < n_elements && dim > 0 {
                dim -= 1;
                strides[dim] = step * n_filled as isize;
                n_filled *= shape[dim];
            }
            if n_filled != n_elements {
                return None;
            }
        }
        shape[..dim].iter().all(|n| *n == 1).then(|| Self::new(self.offset, shape.into(), strides))
    }

    /// Dimensions whose elements follow each other with one step, as (elements, step).
    fn runs(&self) -> Dims<(usize, isize)> {
        let mut runs = Dims::new();
        for (&size, &stride) in self.shape.iter().zip(&self.strides) {
            if size == 1 {
                continue;
            }
            match runs.last_mut() {
                Some((n, step)) if *step == stride * size as isize => {
                    (*n, *step) = (*n * size, stride);
                }
                _ => runs.push((size, stride)),
            }
        }
        runs
    }

    /// First and last place of its elements; only for windows that have some.
    pub(super) fn ends(&self) -> (isize, isize) {
        let (mut low, mut high) = (self.offset, self.offset);
        for (size, stride) in self.shape.iter().zip(&self.strides) {
            let reach = (*size as isize - 1) * stride;
            low += reach.min(0);
            high += reach.max(0);
        }
        (low, high)
    }

    /// The window as a product of walks along the dimensions of its base; none if it is no product.
    pub(super) fn walks(&self, base: &[usize]) -> Option<Vec<Walk>> {
        self.walked(base).map(|(walks, _)| walks)
    }

    /// The same, and along which dimension of the base each of its own goes; none for those that
    /// stand still.
    pub(super) fn walked(&self, base: &[usize]) -> Option<(Vec<Walk>, Dims<Option<usize>>)> {
        let base_strides = c_strides(base);
        let mut rest = usize::try_from(self.offset).ok()?;
        let mut walks = Vec::with_capacity(base.len());
        for (dim, &size) in base.iter().enumerate() {
            let stride = base_strides[dim].unsigned_abs().max(1);
            let start = if dim + 1 == base.len() { rest } else { rest / stride };
            rest -= start * stride;
            if start >= size {
                return None;
            }
            walks.push(Walk { start, step: 0, count: 1 });
        }
        let mut along = Dims::from_elem(None, self.shape.len());
        for (axis, (&size, &stride)) in self.shape.iter().zip(&self.strides).enumerate() {
            if size > 1 && stride != 0 {
                let dim = dim_of(base, &base_strides, stride)?;
                along[axis] = Some(dim);
                let walk = &mut walks[dim];
                if walk.count > 1 {
                    return None;
                }
                *walk = Walk { step: stride / base_strides[dim], count: size, ..*walk };
                let (low, high) = walk.ends();
                if low < 0 || high >= base[dim] as isize {
                    return None;
                }
            }
        }
        Some((walks, along))
    }

    /// Whether both may share an element of a base; never denied wrongly.
    pub(super) fn meets(&self, other: &Self, base: &[usize]) -> bool {
        if self.n_elements() == 0 || other.n_elements() == 0 {
            return false;
        }
        let (a, b) = (self.ends(), other.ends());
        if a.1 < b.0 || b.1 < a.0 {
            return false;
        }
        if self.apart_by_period(other) {
            return false;
        }
        match (self.walks(base), other.walks(base)) {
            (Some(a), Some(b)) => a.iter().zip(&b).all(|(a, b)| a.meets(b)),
            _ => true,
        }
    }

    /// Whether a kernel that writes one and reads the other is sure that they have nothing in common.
    pub(super) fn plainly_apart(&self, other: &Self) -> bool {
        if self.n_elements() == 0 || other.n_elements() == 0 {
            return true;
        }
        let (a, b) = (self.ends(), other.ends());
        a.1 < b.0 || b.1 < a.0 || self.apart_by_period(other)
    }

    /// Both repeat with a common period in which they take different places.
    fn apart_by_period(&self, other: &Self) -> bool {
        let period = other.period(self.period(0));
        period > 0 && !self.offset.abs_diff(other.offset).is_multiple_of(period)
    }

    fn period(&self, start: usize) -> usize {
        let steps = self.shape.iter().zip(&self.strides).filter(|(size, _)| **size > 1);
        steps.fold(start, |period, (_, stride)| gcd(period, stride.unsigned_abs()))
    }
}

/// The base's dimension along which a stride walks.
fn dim_of(base: &[usize], base_strides: &[isize], stride: isize) -> Option<usize> {
    let fits = |dim: &usize| base[*dim] > 1 && stride.abs() >= base_strides[*dim];
    let dim = (0..base.len()).find(fits)?;
    (stride % base_strides[dim] == 0).then_some(dim)
}

/// Strides of a dense array in C order, in elements.
#[must_use]
pub fn c_strides(shape: &[usize]) -> Dims<isize> {
    let mut strides = Dims::from_elem(1, shape.len());
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim].max(1) as isize;
    }
    strides
}

/// The shape that two shapes have together, sizes of 1 repeated; none if they do not fit.
#[must_use]
pub fn broadcast_shapes(a: &[usize], b: &[usize]) -> Option<Dims<usize>> {
    if a == b {
        return Some(a.into());
    }
    let ndim = a.len().max(b.len());
    let size = |shape: &[usize], dim: usize| {
        (dim + shape.len()).checked_sub(ndim).map_or(1, |dim| shape[dim])
    };
    let one = |dim: usize| match (size(a, dim), size(b, dim)) {
        (1, n) | (n, 1) => Some(n),
        (m, n) => (m == n).then_some(m),
    };
    (0..ndim).map(one).collect()
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_slices_find_their_walks() {
        let all = Window::dense(&[7, 9]);
        let view = all.slice(&[1, 8], &[3, 4], &[2, -2]);
        let walks = view.walks(&[7, 9]).expect("a product");
        assert_eq!(walks[0], Walk { start: 1, step: 2, count: 3 });
        assert_eq!(walks[1], Walk { start: 8, step: -2, count: 4 });
        let part = view.slice(&[1, 1], &[2, 2], &[1, 2]);
        assert_eq!(part.walks(&[7, 9]).expect("a product")[1].start, 6);
    }

    #[test]
    fn meeting_is_that_of_sets() {
        let base = [6, 8];
        let places = |w: &Window| -> Vec<isize> {
            let rows = (0..w.shape[0] as isize).map(|i| w.offset + i * w.strides[0]);
            rows.flat_map(|at| (0..w.shape[1] as isize).map(move |j| at + j * w.strides[1]))
                .collect()
        };
        let all = Window::dense(&base);
        let mut windows = Vec::new();
        for (o, s, t) in [(0, 6, 1), (1, 2, 1), (3, 2, 2), (5, 3, -2), (0, 3, 2), (2, 0, 1)] {
            for (p, q, u) in [(0, 8, 1), (1, 3, 2), (0, 4, 2), (7, 4, -2), (7, 1, 1), (4, 4, 1)] {
                windows.push(all.slice(&[o, p], &[s, q], &[t, u]));
            }
        }
        for a in &windows {
            for b in &windows {
                let common = places(a).iter().any(|at| places(b).contains(at));
                assert_eq!(a.meets(b, &base), common, "{a:?} {b:?}");
                assert!(!(common && a.plainly_apart(b)));
            }
        }
    }

    #[test]
    fn reshaped_windows_have_the_same_elements_in_order() {
        let places = |w: &Window| {
            let mut places = vec![w.offset];
            for (size, stride) in w.shape.iter().zip(&w.strides) {
                let steps = |at: isize| (0..*size as isize).map(move |i| at + i * stride);
                places = places.into_iter().flat_map(steps).collect();
            }
            places
        };
        let all = Window::dense(&[4, 6]);
        let cases: [(Window, &[usize], bool); 7] = [
            (all.clone(), &[2, 2, 3, 2], true),
            (all.clone(), &[24], true),
            (all.slice(&[0, 0], &[4, 3], &[1, 2]), &[4, 1, 3], true),
            (all.slice(&[0, 0], &[4, 3], &[1, 2]), &[12], true),
            (all.slice(&[0, 0], &[4, 5], &[1, 1]), &[20], false),
            (all.permute(&[1, 0]), &[24], false),
            (all.permute(&[1, 0]), &[3, 2, 4], true),
        ];
        for (window, shape, fits) in cases {
            let made = window.reshape(shape);
            assert_eq!(made.is_some(), fits, "{window:?} {shape:?}");
            made.iter().for_each(|made| assert_eq!(places(made), places(&window)));
        }
    }

    #[test]
    fn shapes_are_repeated_as_in_numpy() {
        assert_eq!(broadcast_shapes(&[3, 1], &[4]), Some(Dims::from_slice(&[3, 4])));
        assert_eq!(broadcast_shapes(&[3], &[4]), None);
        let column = Window::dense(&[3, 1]).broadcast(&[2, 3, 4]).expect("fits");
        assert_eq!(column.strides[..], [0, 1, 0]);
    }
}
