//! Maps: the rule by which one dimension is dealt out to the coordinates of a grid axis.
//!
//! ```
//! use partita_layout::{Block, BlockRule, Halo, Map};
//! let map = Map::Block(Block { rule: BlockRule::Last, halo: Halo::same(1, 2), periodic: false });
//! assert_eq!(map.to_string(), "block(last)+halo(1,2)");
//! ```
//!
//! A map says nothing of extents or ranks; a [`crate::DimMap`] binds it to both.

use std::fmt;
use std::sync::Arc;

use crate::unstructured::Unstructured;

/// Which indices of one dimension each coordinate of a grid axis owns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Map {
    /// Everything on every coordinate: `*`.
    Whole,
    /// One interval per coordinate: `block`.
    Block(Block),
    /// Blocks dealt out in turn: `cyclic(64)`.
    Cyclic {
        /// Indices per block.
        block: u64,
    },
    /// An explicit list per coordinate.
    Unstructured(Arc<Unstructured>),
}

impl Map {
    /// `block` without halo.
    #[must_use]
    pub fn block() -> Self {
        Self::Block(Block::default())
    }

    /// Whether the map spreads its dimension over a grid axis.
    #[must_use]
    pub fn is_distributed(&self) -> bool {
        !matches!(self, Self::Whole)
    }
}

/// Parameters of a block map.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Block {
    /// How the extent is cut.
    pub rule: BlockRule,
    /// What is held beyond what is owned.
    pub halo: Halo,
    /// Whether halos wrap around the ends.
    pub periodic: bool,
}

/// How a block map cuts the extent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum BlockRule {
    /// Even, the extra elements on the first coordinates, as `numpy.array_split`.
    #[default]
    First,
    /// Even, the extra elements on the last coordinates, as the Dist dialect.
    Last,
    /// Blocks of `ceil(n / p)`, as HPF and ScaLAPACK.
    Ceil,
    /// The given sizes; empty blocks allowed.
    Sizes(Arc<[u64]>),
}

/// Width of what a coordinate holds before and behind what it owns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Halo {
    /// The same (left, right) on every coordinate.
    Same(u64, u64),
    /// A (left, right) for each coordinate.
    Each(Arc<[(u64, u64)]>),
}

impl Default for Halo {
    fn default() -> Self {
        Self::Same(0, 0)
    }
}

impl Halo {
    /// The same widths on every coordinate.
    #[must_use]
    pub const fn same(left: u64, right: u64) -> Self {
        Self::Same(left, right)
    }

    /// Widths of one coordinate.
    #[must_use]
    pub fn at(&self, coordinate: u64) -> (u64, u64) {
        match self {
            Self::Same(left, right) => (*left, *right),
            Self::Each(widths) => widths[coordinate as usize],
        }
    }

    /// The widest left and the widest right halo.
    #[must_use]
    pub fn widest(&self) -> (u64, u64) {
        match self {
            Self::Same(left, right) => (*left, *right),
            Self::Each(widths) => {
                widths.iter().fold((0, 0), |(l, r), (left, right)| (l.max(*left), r.max(*right)))
            }
        }
    }

    /// Whether nothing is held beyond what is owned.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.widest() == (0, 0)
    }
}

impl fmt::Display for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("*"),
            Self::Block(block) => block.fmt(f),
            Self::Cyclic { block: 1 } => f.write_str("cyclic"),
            Self::Cyclic { block } => write!(f, "cyclic({block})"),
            Self::Unstructured(lists) => write!(f, "unstructured({} lists)", lists.n_coordinates()),
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule {
            BlockRule::First => f.write_str("block")?,
            BlockRule::Last => f.write_str("block(last)")?,
            BlockRule::Ceil => f.write_str("block(ceil)")?,
            BlockRule::Sizes(sizes) => write!(f, "block({})", joined(sizes, ","))?,
        }
        match &self.halo {
            Halo::Same(0, 0) => {}
            Halo::Same(left, right) => write!(f, "+halo({left},{right})")?,
            Halo::Each(widths) => {
                let pairs: Vec<_> = widths.iter().map(|(l, r)| format!("{l},{r}")).collect();
                write!(f, "+halo({})", pairs.join(";"))?;
            }
        }
        if self.periodic {
            f.write_str("+periodic")?;
        }
        Ok(())
    }
}

/// Numbers with a separator between them.
pub(crate) fn joined<T: ToString>(items: &[T], separator: &str) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(separator)
}
