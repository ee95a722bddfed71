//! Indices as windows: integers, slices, ellipsis, new axes.

use smallvec::SmallVec;

use super::error::{ApiError, Result};
use crate::local::{Array, Window};

/// One entry of an index.
#[derive(Debug, Clone)]
pub enum Key {
    /// One position, which takes the dimension away; negative ones count from the end.
    Int(i64),
    /// `start:stop:step`.
    Slice {
        /// First position.
        start: Option<i64>,
        /// Position that is no more part of it.
        stop: Option<i64>,
        /// Distance between positions.
        step: Option<i64>,
    },
    /// A new dimension of size 1.
    NewAxis,
    /// As many full slices as dimensions are left.
    Ellipsis,
}

/// Applies an index.
///
/// # Errors
/// Positions outside, too many entries.
pub fn select(array: &Array, keys: &[Key]) -> Result<Array> {
    let keys = filled(array, keys)?;
    let mut selection = Selection { window: array.window().clone(), dim: 0, given: 0 };
    for key in &keys {
        match key {
            Key::Int(index) => selection.int(*index)?,
            Key::Slice { start, stop, step } => selection.slice(*start, *stop, *step)?,
            Key::NewAxis => selection.new_axis(),
            Key::Ellipsis => {}
        }
    }
    Ok(array.seen(selection.window))
}

/// The keys with full slices for the ellipsis, or behind.
fn filled(array: &Array, keys: &[Key]) -> Result<SmallVec<[Key; 4]>> {
    let taken = |key: &Key| match key {
        Key::NewAxis | Key::Ellipsis => 0,
        _ => 1,
    };
    let (given, ndim) = (keys.iter().map(taken).sum(), array.ndim());
    let missing = ndim.checked_sub(given).ok_or(ApiError::TooManyIndices { given, ndim })?;
    let full = Key::Slice { start: None, stop: None, step: None };
    let ellipses = keys.iter().filter(|key| matches!(key, Key::Ellipsis)).count();
    if ellipses > 1 {
        return Err(ApiError::TwoEllipses {});
    }
    let mut all = SmallVec::new();
    for key in keys {
        match key {
            Key::Ellipsis => {
                all.push(Key::Ellipsis);
                all.extend(std::iter::repeat_n(full.clone(), missing));
            }
            key => all.push(key.clone()),
        }
    }
    if ellipses == 0 {
        all.extend(std::iter::repeat_n(full, missing));
    }
    Ok(all)
}

/// An index on its way through the dimensions.
struct Selection {
    window: Window,
    /// The next dimension of the window.
    dim: usize,
    /// The same of the array that is indexed: users count its dimensions.
    given: usize,
}

impl Selection {
    fn int(&mut self, index: i64) -> Result<()> {
        let at = counted(index, self.given, self.window.shape[self.dim])?;
        self.window.offset += at as isize * self.window.strides[self.dim];
        self.window.shape.remove(self.dim);
        self.window.strides.remove(self.dim);
        self.given += 1;
        Ok(())
    }

    fn slice(&mut self, start: Option<i64>, stop: Option<i64>, step: Option<i64>) -> Result<()> {
        let step = step.unwrap_or(1);
        if step == 0 {
            return Err(ApiError::StepZero { dim: self.given });
        }
        let extent = self.window.shape[self.dim] as i64;
        let (first, count) = range(start, stop, step, extent);
        if count > 0 {
            self.window.offset += first as isize * self.window.strides[self.dim];
        }
        // One element alone needs no step, and a large one would leave the numbers.
        if count > 1 {
            self.window.strides[self.dim] *= step as isize;
        }
        self.window.shape[self.dim] = count as usize;
        self.dim += 1;
        self.given += 1;
        Ok(())
    }

    fn new_axis(&mut self) {
        self.window.shape.insert(self.dim, 1);
        self.window.strides.insert(self.dim, 0);
        self.dim += 1;
    }
}

/// A position counted from the front.
fn counted(index: i64, dim: usize, extent: usize) -> Result<usize> {
    let from_front = if index < 0 { index + extent as i64 } else { index };
    let found = usize::try_from(from_front).ok().filter(|at| *at < extent);
    found.ok_or(ApiError::IndexOutside { index, dim, extent })
}

/// First position and number of positions of a slice, as Python has them.
fn range(start: Option<i64>, stop: Option<i64>, step: i64, extent: i64) -> (i64, i64) {
    let (low, high) = if step > 0 { (0, extent) } else { (-1, extent - 1) };
    let bound = |given: Option<i64>, without: i64| match given {
        None => without,
        Some(at) if at < 0 => at.saturating_add(extent).clamp(low, high),
        Some(at) => at.clamp(low, high),
    };
    let (first, last) = if step > 0 {
        (bound(start, 0), bound(stop, extent))
    } else {
        (bound(start, extent - 1), bound(stop, -1))
    };
    let distance = if step > 0 { last - first } else { first - last };
    let step = step.unsigned_abs().min(i64::MAX as u64) as i64;
    let count = if distance <= 0 { 0 } else { (distance - 1) / step + 1 };
    (first, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_those_of_python() {
        let cases = [
            ((None, None, 1), 5, (0, 5)),
            ((Some(-3), None, 1), 5, (2, 3)),
            ((None, None, -1), 5, (4, 5)),
            ((Some(3), Some(0), -2), 5, (3, 2)),
            ((Some(9), Some(1), 1), 5, (5, 0)),
            ((Some(-99), Some(99), 3), 7, (0, 3)),
            ((Some(4), Some(-99), -1), 3, (2, 3)),
            ((None, None, i64::MIN), 3, (2, 1)),
        ];
        for ((start, stop, step), extent, wanted) in cases {
            assert_eq!(range(start, stop, step, extent), wanted, "{start:?} {stop:?} {step}");
        }
    }
}
