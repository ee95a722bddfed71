//! How a loop meets memory, beyond what its program says.

/// A version of a loop. Bits stand for places in the first list of `Fused::slots`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Access {
    /// Results go past the cache in whole lines; the first output decides where lines begin.
    pub streams: bool,
    /// Slots of which lines further on are asked for.
    pub ahead: u32,
    /// Slots of which one element serves a whole row.
    pub repeated: u32,
    /// [`GROUP`] rows at once; the number of rows is a multiple of it.
    pub grouped: bool,
    /// Slots whose step from row to row is the second of two, where rows are grouped.
    pub second: u32,
}

/// Rows that are gone through at once.
pub const GROUP: usize = 4;
