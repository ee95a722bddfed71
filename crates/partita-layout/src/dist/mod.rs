//! The index arithmetic of the Dist dialect, as plain functions on one dimension.
//!
//! The compiler folds and lowers to these, and the engines call them, so both agree. The
//! decisions where the dialect's text is unclear: [`local_target_of_slice`] answers with offsets
//! relative to the slice, [`local_core`] with offsets relative to the target, and empty targets
//! leave a bounding box as it was.

pub mod wide;

use wide::{Interval, Steps};

use crate::error::{LayoutError, Result};
use crate::slice::Slice;

/// An interval by its first index and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Extent {
    /// First index.
    pub offset: u64,
    /// Number of indices.
    pub size: u64,
}

impl Extent {
    /// An interval.
    #[must_use]
    pub const fn new(offset: u64, size: u64) -> Self {
        Self { offset, size }
    }

    fn stop(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }

    /// What two intervals share; empty at the later start if nothing.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let offset = self.offset.max(other.offset);
        let stop = self.stop().min(other.stop());
        Self { offset, size: stop.saturating_sub(offset) }
    }

    /// The smallest interval with both inside; an empty one adds nothing.
    #[must_use]
    pub fn hull(&self, other: &Self) -> Self {
        if self.size == 0 {
            return *other;
        }
        if other.size == 0 {
            return *self;
        }
        let offset = self.offset.min(other.offset);
        Self { offset, size: self.stop().max(other.stop()) - offset }
    }
}

/// Which bounding box to give when one is given already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The smallest box around both.
    Outer,
    /// What both share.
    Inner,
}

/// Offsets and sizes of a team member's part: cut along the first dimension, extras last.
///
/// ```
/// use partita_layout::dist::{Extent, default_partition};
/// let part = default_partition(3, 1, &[8, 5])?;
/// assert_eq!(part, [Extent::new(2, 3), Extent::new(0, 5)]);
/// # Ok::<(), partita_layout::LayoutError>(())
/// ```
///
/// # Errors
/// A team without members, a member outside it.
pub fn default_partition(n_members: u64, member: u64, shape: &[u64]) -> Result<Vec<Extent>> {
    if n_members == 0 {
        return Err(LayoutError::TeamEmpty);
    }
    if member >= n_members {
        return Err(LayoutError::TeamMember { member, n_members });
    }
    let mut parts: Vec<Extent> = shape.iter().map(|extent| Extent::new(0, *extent)).collect();
    if let Some(first) = parts.first_mut() {
        let (size, n_larger) = (first.size / n_members, first.size % n_members);
        let n_smaller = n_members - n_larger;
        first.offset = member * size + member.saturating_sub(n_smaller);
        first.size = size + u64::from(member >= n_smaller);
    }
    Ok(parts)
}

/// Entries of a slice that fall into the owned part, as an interval of the slice.
///
/// # Errors
/// A slice outside the array.
pub fn local_target_of_slice(extent: u64, owned: Extent, slice: &Slice) -> Result<Extent> {
    slice.check(0, extent)?;
    let (first, count) = slice.entries_in(owned.offset, owned.stop());
    Ok(Extent::new(first, count))
}

/// Indices needed for the entries `target` of a view, joined with a box that is there already.
///
/// # Errors
/// A stride of 0.
pub fn local_bounding_box(
    view: &Slice,
    target: Extent,
    before: Option<Extent>,
    bound: Bound,
) -> Result<Extent> {
    if view.stride == 0 && view.size > 1 {
        return Err(LayoutError::SliceStrideZero { dim: 0 });
    }
    let mut needed = steps(view).needed(target.into());
    if needed.size == 0 {
        needed.offset = needed.offset.max(0);
    }
    wide::joined(needed, before.map(Into::into), bound).try_into()
}

/// Entries of a target whose index is owned, cut with a core that is there already.
///
/// Offsets count from the start of the target.
///
/// # Errors
/// A stride of 0, a slice that reaches below index 0.
pub fn local_core(
    owned: Extent,
    target: Extent,
    slice: &Slice,
    before: Option<Extent>,
) -> Result<Extent> {
    slice.check(0, u64::MAX)?;
    let stride = if slice.stride == 0 { 1 } else { slice.stride };
    let core = Steps::new(slice.offset, slice.size, stride);
    let core = core.core(owned.into(), target.into(), before.map(Into::into));
    core.unwrap_or(Interval { offset: 0, size: 0 }).try_into()
}

fn steps(slice: &Slice) -> Steps {
    Steps::new(slice.offset, slice.size, slice.stride)
}

impl From<Extent> for Interval {
    fn from(extent: Extent) -> Self {
        Self::new(extent.offset, extent.size)
    }
}

impl TryFrom<Interval> for Extent {
    type Error = LayoutError;

    fn try_from(interval: Interval) -> Result<Self> {
        let number = |index: i128| {
            let outside = LayoutError::SliceOutside { dim: 0, index, extent: u64::MAX };
            u64::try_from(index).map_err(|_| outside)
        };
        Ok(Self::new(number(interval.offset)?, number(interval.size)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_partition_gives_the_extras_to_the_last() {
        let sizes = |n, team| -> Vec<u64> {
            (0..team).map(|m| default_partition(team, m, &[n]).expect("a part")[0].size).collect()
        };
        assert_eq!(sizes(8, 4), [2, 2, 2, 2]);
        assert_eq!(sizes(8, 3), [2, 3, 3]);
        assert_eq!(sizes(2, 4), [0, 0, 1, 1]);
        assert_eq!(default_partition(3, 0, &[]).expect("a scalar"), []);
        assert_eq!(default_partition(0, 0, &[1]).expect_err("no team").reason(), "team-empty");
        assert_eq!(default_partition(2, 2, &[1]).expect_err("no member").reason(), "team-member");
    }

    #[test]
    fn targets_count_in_the_slice() {
        // 16 over 3: [0, 5), [5, 10), [10, 16); slice 3, 4, ..., 12.
        let slice = Slice::new(3, 10, 1);
        let parts = [(0, 5), (5, 5), (10, 6)].map(|(o, s)| Extent::new(o, s));
        let targets = parts.map(|part| local_target_of_slice(16, part, &slice).expect("inside"));
        assert_eq!(targets, [(0, 2), (2, 5), (7, 3)].map(|(o, s)| Extent::new(o, s)));
    }

    #[test]
    fn boxes_and_cores_agree_with_sets() {
        for stride in [-3_i64, -1, 1, 2, 5] {
            let slice = Slice::new(if stride < 0 { 30 } else { 2 }, 6, stride);
            for target in (0..5).flat_map(|o| (0..7 - o).map(move |s| Extent::new(o, s))) {
                let entries: Vec<u64> = (target.offset..target.stop()).filter(|e| *e < 6).collect();
                let indices: Vec<u64> = entries.iter().map(|e| slice.index(*e) as u64).collect();
                let found = local_bounding_box(&slice, target, None, Bound::Outer).expect("a box");
                let low = indices.iter().min().copied();
                let high = indices.iter().max().copied();
                assert_eq!(found.size, low.zip(high).map_or(0, |(l, h)| h - l + 1));
                if let Some(low) = low {
                    assert_eq!(found.offset, low);
                }
                let owned = Extent::new(7, 9);
                let core = local_core(owned, target, &slice, None).expect("a core");
                let wanted: Vec<u64> = entries
                    .iter()
                    .filter(|e| (owned.offset..owned.stop()).contains(&(slice.index(**e) as u64)))
                    .map(|e| e - target.offset)
                    .collect();
                let got: Vec<u64> = (core.offset..core.stop()).collect();
                assert_eq!(got, wanted, "{slice:?} {target:?}");
            }
        }
    }

    #[test]
    fn bounds_join_and_cut() {
        let view = Slice::new(4, 10, 1);
        let before = Some(Extent::new(10, 6));
        let outer = local_bounding_box(&view, Extent::new(0, 3), before, Bound::Outer);
        assert_eq!(outer, Ok(Extent::new(4, 12)));
        let inner = local_bounding_box(&view, Extent::new(0, 8), before, Bound::Inner);
        assert_eq!(inner, Ok(Extent::new(10, 2)));
        let empty = local_bounding_box(&view, Extent::new(0, 0), before, Bound::Outer);
        assert_eq!(empty, Ok(Extent::new(10, 6)));
    }
}
