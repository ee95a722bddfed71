//! Sizes that may be known only when the program runs.

use std::fmt;

/// How MLIR writes a size or an offset that is not known yet into plain integers.
pub const DYNAMIC: i64 = i64::MIN;

/// A size or an offset: a number, or `?`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Size {
    /// Known.
    Known(u64),
    /// Known when the program runs: `?`.
    Dynamic,
}

impl Size {
    /// The number, if it is known.
    #[must_use]
    pub fn known(self) -> Option<u64> {
        match self {
            Self::Known(size) => Some(size),
            Self::Dynamic => None,
        }
    }

    /// The number, or [`DYNAMIC`].
    #[must_use]
    pub fn as_i64(self) -> i64 {
        self.known().and_then(|size| i64::try_from(size).ok()).unwrap_or(DYNAMIC)
    }

    /// The size that [`Size::as_i64`] gave; nothing for other negative numbers.
    #[must_use]
    pub fn from_i64(number: i64) -> Option<Self> {
        if number == DYNAMIC {
            return Some(Self::Dynamic);
        }
        u64::try_from(number).ok().map(Self::Known)
    }

    /// Whether the two can be the same number.
    #[must_use]
    pub fn may_equal(self, other: Self) -> bool {
        self == other || self == Self::Dynamic || other == Self::Dynamic
    }
}

impl From<u64> for Size {
    fn from(size: u64) -> Self {
        Self::Known(size)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(size) => size.fmt(f),
            Self::Dynamic => f.write_str("?"),
        }
    }
}

/// Whether two shapes can be the same: as long, and no two known sizes that differ.
#[must_use]
pub fn shapes_may_equal(a: &[Size], b: &[Size]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.may_equal(*b))
}

/// Sizes with `x` between them, as in `4x?`.
#[must_use]
pub fn by_x(sizes: &[Size]) -> String {
    let words: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    words.join("x")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_back() {
        for size in [Size::Known(0), Size::Known(7), Size::Dynamic] {
            assert_eq!(Size::from_i64(size.as_i64()), Some(size));
        }
        assert_eq!(Size::from_i64(-1), None);
    }

    #[test]
    fn shapes_compare_where_both_are_known() {
        let (any, four, five) = (Size::Dynamic, Size::Known(4), Size::Known(5));
        assert!(shapes_may_equal(&[any, four], &[five, four]));
        assert!(!shapes_may_equal(&[five], &[four]));
        assert!(!shapes_may_equal(&[any], &[any, any]));
    }
}
