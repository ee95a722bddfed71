//! The formulas, on numbers that are wide enough for every index and every mistake.
//!
//! Values of a program may be negative where nothing is needed, layouts never are. Both the
//! functions of this module's parent and the compiler, which folds programs, call these.

use super::Bound;

/// An interval by its first index and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// First index.
    pub offset: i128,
    /// Number of indices.
    pub size: i128,
}

/// The indices `offset, offset + stride, ..`, so many of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// First index.
    pub offset: i128,
    /// Number of indices.
    pub size: i128,
    /// Distance between two of them.
    pub stride: i128,
}

impl Interval {
    /// An interval.
    pub fn new(offset: impl Into<i128>, size: impl Into<i128>) -> Self {
        Self { offset: offset.into(), size: size.into() }
    }

    /// One more than the last index.
    #[must_use]
    pub fn stop(self) -> i128 {
        self.offset + self.size
    }

    /// What both share; empty at the later start if nothing.
    #[must_use]
    pub fn cut(self, other: Self) -> Self {
        let offset = self.offset.max(other.offset);
        Self { offset, size: (self.stop().min(other.stop()) - offset).max(0) }
    }

    /// The smallest interval around both; an empty one adds nothing.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        match (self.size, other.size) {
            (0, _) => other,
            (_, 0) => self,
            _ => {
                let offset = self.offset.min(other.offset);
                Self { offset, size: self.stop().max(other.stop()) - offset }
            }
        }
    }
}

impl Steps {
    /// A slice.
    pub fn new(offset: impl Into<i128>, size: impl Into<i128>, stride: impl Into<i128>) -> Self {
        Self { offset: offset.into(), size: size.into(), stride: stride.into() }
    }

    /// Index of an entry.
    #[must_use]
    pub fn index(self, entry: i128) -> i128 {
        self.offset + entry * self.stride
    }

    /// Entries whose index lies in an interval; nothing for a stride of 0 or a negative size.
    #[must_use]
    pub fn entries_in(self, inside: Interval) -> Option<Interval> {
        if self.stride == 0 || self.size < 0 {
            return None;
        }
        let ends = [inside.offset, inside.stop()].map(|end| {
            let distance = end - self.offset;
            let entry = match self.stride > 0 {
                true => (distance + self.stride - 1).div_euclid(self.stride),
                false => (-distance).div_euclid(-self.stride) + 1,
            };
            entry.clamp(0, self.size)
        });
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        Some(Interval { offset: low, size: high - low })
    }

    /// Indices that the entries of a target need; for none of them, an empty interval.
    #[must_use]
    pub fn needed(self, target: Interval) -> Interval {
        let entries = Interval { offset: 0, size: self.size.max(0) }.cut(target);
        if entries.size == 0 {
            return Interval { offset: self.index(target.offset), size: 0 };
        }
        let (first, last) = (self.index(entries.offset), self.index(entries.stop() - 1));
        Interval { offset: first.min(last), size: (last - first).abs() + 1 }
    }

    /// Entries of a target whose index is owned, counted from the target, cut with an earlier core.
    #[must_use]
    pub fn core(
        self,
        owned: Interval,
        target: Interval,
        before: Option<Interval>,
    ) -> Option<Interval> {
        let found = self.entries_in(owned)?.cut(target);
        let core = Interval { offset: (found.offset - target.offset).max(0), size: found.size };
        Some(before.map_or(core, |before| before.cut(core)))
    }
}

/// What is needed, joined with an earlier box or cut with it.
#[must_use]
pub fn joined(needed: Interval, before: Option<Interval>, bound: Bound) -> Interval {
    match (before, bound) {
        (None, _) => needed,
        (Some(before), Bound::Inner) => before.cut(needed),
        (Some(before), Bound::Outer) if needed.size == 0 => before,
        (Some(before), Bound::Outer) => before.hull(needed),
    }
}
