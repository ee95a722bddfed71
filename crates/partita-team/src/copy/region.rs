//! What a copy is asked for: a region, and a strided buffer on each side.

use partita_layout::Run;

/// A product over dimensions of position pairs.
///
/// An empty list of dimensions is a single element; a dimension without runs makes the region
/// empty.
#[derive(Debug, Clone, Copy)]
pub struct Region<'a> {
    /// For each dimension the pairs of source and target positions.
    pub runs: &'a [&'a [Run]],
    /// Size of one element.
    pub item_bytes: usize,
}

/// A strided buffer that is read.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The element at position zero of every dimension.
    pub pointer: *const u8,
    /// Distance in bytes between neighbours, per dimension; negative and odd ones are fine.
    pub strides: &'a [isize],
}

/// A strided buffer that is written.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The element at position zero of every dimension.
    pub pointer: *mut u8,
    /// Distance in bytes between neighbours, per dimension; negative and odd ones are fine.
    pub strides: &'a [isize],
}

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stores {
    /// Through the cache: for results that fit there.
    Cached,
    /// Around the cache: saves reading the target first, but leaves nothing in the cache.
    Streaming,
}

impl Stores {
    /// From this size of a rank's target buffer on, stores go around the cache.
    pub const STREAMING_FROM_BYTES: usize = 2 << 20;

    /// What suits a rank whose whole target buffer has this size.
    ///
    /// ```
    /// use partita_team::copy::Stores;
    /// assert_eq!(Stores::for_bytes(4096), Stores::Cached);
    /// assert_eq!(Stores::for_bytes(1 << 30), Stores::Streaming);
    /// ```
    #[must_use]
    pub const fn for_bytes(target_bytes: usize) -> Self {
        if target_bytes > Self::STREAMING_FROM_BYTES { Self::Streaming } else { Self::Cached }
    }
}
