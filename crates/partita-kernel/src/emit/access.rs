//! How a loop meets memory, beyond what its program says.

/// A version of a loop. Bits stand for places in the first list of `Fused::slots`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Access {
    /// Results go past the cache in whole lines; the first output decides where lines begin.
    pub streams: bool,
    /// Slots of which lines further on are asked for.
    pub ahead: u16,
    /// Slots of which one element serves a whole row.
    pub repeated: u16,
}
