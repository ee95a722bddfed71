//! Which bytes a view reaches, and whether two views meet.

use super::View;
use crate::program::MAX_NDIM;

/// The bytes of a view: from the first to behind the last, and its steps.
pub struct Reach<'a> {
    view: View<'a>,
    extents: &'a [usize],
    size: usize,
    skipped: u16,
    first: i128,
    end: i128,
}

impl<'a> Reach<'a> {
    /// Nothing if the view leaves the address space.
    pub fn new(
        view: &View<'a>,
        extents: &'a [usize],
        size: usize,
        skipped: u16,
    ) -> Option<Reach<'a>> {
        let (mut below, mut above) = (0_isize, size as isize);
        for (axis, (&stride, &extent)) in view.strides.iter().zip(extents).enumerate() {
            if skipped >> axis & 1 == 0 {
                let span = stride.checked_mul(extent as isize - 1)?;
                below = below.checked_add(span.min(0))?;
                above = above.checked_add(span.max(0))?;
            }
        }
        let data = view.data as usize as i128;
        let (first, end) = (data + below as i128, data + above as i128);
        let inside = first >= 0 && end <= usize::MAX as i128;
        inside.then_some(Reach { view: *view, extents, size, skipped, first, end })
    }

    /// Whether both step alike and have elements of one size.
    pub fn same_steps(&self, other: &Reach<'_>) -> bool {
        let alike = |axis: usize| {
            self.extents[axis] == 1 || self.view.strides[axis] == other.view.strides[axis]
        };
        self.size == other.size
            && self.skipped == other.skipped
            && (0..self.extents.len()).all(alike)
    }

    /// The axis along which two points fall on common bytes, as far as steps show.
    pub fn meets_itself(&self) -> Option<usize> {
        let mut span = self.size;
        for step in self.steps().as_slice() {
            if step.stride < span {
                return Some(step.axis);
            }
            span += step.stride * (step.extent - 1);
        }
        None
    }

    /// Whether both may have a byte in common; never denied wrongly.
    pub fn meets(&self, other: &Reach<'_>) -> bool {
        if self.end <= other.first || other.end <= self.first {
            return false;
        }
        !self.apart_by_period(other) && !self.apart_by_steps(other)
    }

    /// Both repeat with a common period in which they take different places.
    fn apart_by_period(&self, other: &Reach<'_>) -> bool {
        let both = self.steps();
        let period = both.as_slice().iter().fold(0, |g, s| gcd(g, s.stride));
        let period = other.steps().as_slice().iter().fold(period, |g, s| gcd(g, s.stride));
        if period == 0 {
            return false;
        }
        let delta = (other.view.data as isize).wrapping_sub(self.view.data as isize);
        let delta = delta.rem_euclid(period as isize) as usize;
        delta >= self.size && delta + other.size <= period
    }

    /// Both step alike and no number of steps leads from one to the other.
    fn apart_by_steps(&self, other: &Reach<'_>) -> bool {
        if !self.same_steps(other) || self.meets_itself().is_some() {
            return false;
        }
        let delta = (other.view.data as isize).wrapping_sub(self.view.data as isize);
        !reachable(delta.abs(), self.steps().as_slice(), self.size as isize)
    }

    /// The steps that are taken at all, smallest first.
    fn steps(&self) -> Steps {
        let mut steps = Steps { all: [Step { stride: 0, extent: 0, axis: 0 }; MAX_NDIM], n: 0 };
        for (axis, (&stride, &extent)) in self.view.strides.iter().zip(self.extents).enumerate() {
            if extent > 1 && self.skipped >> axis & 1 == 0 {
                steps.all[steps.n] = Step { stride: stride.unsigned_abs(), extent, axis };
                steps.n += 1;
            }
        }
        steps.all[..steps.n].sort_unstable_by_key(|s| s.stride);
        steps
    }
}

#[derive(Clone, Copy)]
struct Step {
    stride: usize,
    extent: usize,
    axis: usize,
}

struct Steps {
    all: [Step; MAX_NDIM],
    n: usize,
}

impl Steps {
    fn as_slice(&self) -> &[Step] {
        &self.all[..self.n]
    }
}

/// Whether a distance is a sum of steps, each taken fewer times than its extent, either way.
///
/// The steps do not overlap, so that only two counts come into question for each.
fn reachable(delta: isize, steps: &[Step], size: isize) -> bool {
    let Some((last, rest)) = steps.split_last() else {
        return delta.abs() < size;
    };
    let stride = last.stride as isize;
    let count = delta.div_euclid(stride);
    [count, count + 1]
        .iter()
        .any(|&c| c.unsigned_abs() < last.extent && reachable(delta - c * stride, rest, size))
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
