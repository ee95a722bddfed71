//! Windows as slices: of their base, or of its elements in another shape.

use super::super::window::{Dims, Walk, Window};

/// A window as a slice of its base.
pub struct View {
    pub offsets: Dims<usize>,
    pub sizes: Dims<usize>,
    pub strides: Dims<isize>,
    /// The base's dimension that each dimension of the window walks along.
    pub along: Dims<Option<usize>>,
    /// Dimensions of the base that the slice keeps.
    pub kept: Dims<usize>,
    /// The kept dimensions in the order of the window.
    pub order: Dims<usize>,
}

impl View {
    /// Some elements of one dimension.
    pub fn stretch(first: usize, n_elements: usize) -> Self {
        Self {
            offsets: Dims::from_elem(first, 1),
            sizes: Dims::from_elem(n_elements, 1),
            strides: Dims::from_elem(1, 1),
            along: Dims::from_elem(Some(0), 1),
            kept: Dims::from_elem(0, 1),
            order: Dims::from_elem(0, 1),
        }
    }

    pub fn of(window: &Window, base: &[usize]) -> Option<Self> {
        let (walks, along) = window.walked(base)?;
        let mut kept: Dims<usize> = (0..base.len()).filter(|dim| walks[*dim].count > 1).collect();
        let order = along.iter().flatten().map(|dim| kept.iter().position(|kept| kept == dim));
        let order: Option<Dims<usize>> = order.collect();
        let mut order = order?;
        if kept.is_empty() {
            // One element stays an array of one dimension: it may lie on any rank.
            kept.extend((!base.is_empty()).then_some(0));
            order.extend((!base.is_empty()).then_some(0));
        }
        let step = |walk: &Walk| if walk.count > 1 { walk.step } else { 1 };
        Some(Self {
            offsets: walks.iter().map(|walk| walk.start).collect(),
            sizes: walks.iter().map(|walk| walk.count).collect(),
            strides: walks.iter().map(step).collect(),
            along,
            kept,
            order,
        })
    }

    pub fn kept_sizes(&self) -> Dims<usize> {
        self.kept.iter().map(|dim| self.sizes[*dim]).collect()
    }

    pub fn slicing(&self) -> String {
        let listed = |numbers: Vec<String>| format!("[{}]", numbers.join(", "));
        let offsets = listed(self.offsets.iter().map(usize::to_string).collect());
        let sizes = listed(self.sizes.iter().map(usize::to_string).collect());
        let strides = listed(self.strides.iter().map(isize::to_string).collect());
        format!("{offsets}{sizes}{strides}")
    }
}

/// A window that walks along no dimension of its base, such as that of a reshaped array: the base's
/// elements in C order, or a stretch of them, have another shape along which it walks.
pub struct Stretch {
    /// The first element of the stretch.
    pub first: usize,
    /// The shape that the stretch has.
    pub shape: Dims<usize>,
    /// The window, as a slice of that.
    pub view: View,
}

impl Stretch {
    /// Nothing if no shape will do.
    pub fn of(window: &Window, n_elements: usize) -> Option<Self> {
        let walks = window.shape.iter().zip(&window.strides).filter(|(n, s)| **n > 1 && **s != 0);
        let mut steps: Vec<usize> = walks.map(|(_, step)| step.unsigned_abs()).collect();
        steps.sort_unstable_by(|a, b| b.cmp(a));
        let (_, longer) = steps.split_last()?;
        // The shortest step of a diagonal divides nothing: it walks along what the others leave.
        Self::along(window, n_elements, &steps).or_else(|| Self::along(window, n_elements, longer))
    }

    /// The stretch whose dimensions, but for the last, have these steps, the longest first.
    fn along(window: &Window, n_elements: usize, steps: &[usize]) -> Option<Self> {
        let Some(&longest) = steps.first() else {
            let shape: Dims<usize> = Dims::from_elem(n_elements, 1);
            let view = View::of(window, &shape)?;
            return Some(Self { first: 0, shape, view });
        };
        let walks =
            || window.shape.iter().zip(&window.strides).filter(|(n, s)| **n > 1 && **s != 0);
        // From the first to the last element that it looks at.
        let reach = |is_back: bool| -> usize {
            let ends = walks().filter(|(_, step)| (**step < 0) == is_back);
            ends.map(|(n, step)| (n - 1) * step.unsigned_abs()).sum()
        };
        let low = usize::try_from(window.offset).ok()?.checked_sub(reach(true))?;
        let n_longest: usize =
            walks().filter(|(_, step)| step.unsigned_abs() == longest).map(|(n, _)| *n).max()?;
        // What one step of the longest walk has to hold, and where such steps may begin.
        let inner = (reach(true) + reach(false) + 1).checked_sub(longest * (n_longest - 1))?;
        let length = longest * n_longest;
        let first = low.min(n_elements.checked_sub(length)?);
        if first + longest < low + inner {
            return None;
        }
        let mut shape: Dims<usize> = Dims::from_elem(n_longest, 1);
        let mut above = longest;
        for &step in &steps[1..] {
            if above % step != 0 {
                return None;
            }
            shape.push(above / step);
            above = step;
        }
        if above > 1 {
            shape.push(above);
        }
        let mut seen = window.clone();
        seen.offset -= first as isize;
        let view = View::of(&seen, &shape)?;
        Some(Self { first, shape, view })
    }
}
