//! What can be wrong with a layout, each with a stable reason code.
//!
//! Every message has three parts: what was wrong, the values, what to do.
//! Tests and callers match [`LayoutError::reason`], never the text.

use std::fmt;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, LayoutError>;

partita_error::errors! {
    /// Why a layout, an index or a rank was refused.
    pub enum LayoutError {
        ShapeOverflow { shape: Vec<u64> } "shape-overflow" =>
            "the shape {shape:?} is too large; an extent is at most 2^63 and the product of the \
             extents at most 2^64 - 1";
        LocalOverflow { shape: Vec<u64> } "shape-overflow" =>
            "a local buffer of the shape {shape:?} with its halos is too large; use narrower \
             halos: at most 2^63 along a dimension and 2^64 - 1 elements";
        MapsCount { n_maps: usize, ndim: usize } "maps-count" =>
            "{n_maps} maps for {ndim} dimensions; give one map per dimension, * for a whole one";
        GridMissing { n_distributed: usize } "grid-missing" =>
            "no grid for {n_distributed} distributed dimensions; say how many ranks, such as \
             `@ 4` or `@ 2x2`";
        GridAxisZero { grid: Vec<u64>, axis: usize } "grid-axis-zero" =>
            "axis {axis} of the grid {grid:?} is 0; every axis of a grid has at least one rank";
        GridOverflow { grid: Vec<u64> } "grid-overflow" =>
            "the grid {grid:?} has more than 2^63 ranks; use a smaller grid";
        GridAxes { grid: Vec<u64>, n_distributed: usize } "grid-axes" =>
            "the grid {grid:?} has too few axes for {n_distributed} distributed dimensions; give \
             one axis per distributed dimension besides the partial ones";
        RanksCount { n_ranks: usize, grid: Vec<u64> } "ranks-count" =>
            "{n_ranks} ranks for the grid {grid:?}; name as many ranks as the grid has places";
        RanksDuplicate { rank: u64 } "ranks-duplicate" =>
            "rank {rank} is named twice; name every rank once";
        RanksOverflow { rank: u64 } "ranks-overflow" =>
            "rank {rank} is too large; use ranks below 2^63";
        PartialAxis { axis: usize, n_axes: usize } "partial-axis" =>
            "partial axis {axis} of a grid with {n_axes} axes; use an axis below {n_axes}";
        PartialDuplicate { axis: usize } "partial-duplicate" =>
            "partial axis {axis} is named twice; name it once";
        PartialInUse { axis: usize, dim: usize } "partial-in-use" =>
            "grid axis {axis} is partial but distributes dimension {dim}; make the dimension \
             whole (*) or add an axis to the grid";
        SizesCount { dim: usize, n_sizes: usize, n_coordinates: u64 } "sizes-count" =>
            "{n_sizes} block sizes for dimension {dim} on {n_coordinates} ranks; give one size \
             per rank of its grid axis";
        SizesSum { dim: usize, sum: u128, extent: u64 } "sizes-sum" =>
            "the block sizes of dimension {dim} add up to {sum}, its extent is {extent}; make \
             them equal";
        CyclicBlock { dim: usize } "cyclic-block" =>
            "the cyclic block of dimension {dim} is 0; use cyclic(1) or larger";
        HaloCount { dim: usize, n_halos: usize, n_coordinates: u64 } "halo-count" =>
            "{n_halos} halos for dimension {dim} on {n_coordinates} ranks; give one (l, r) for \
             all or one per rank of its grid axis";
        HaloWidth { dim: usize, width: u64 } "halo-width" =>
            "the halo width {width} of dimension {dim} is too large; use at most 2^60";
        IndicesCount { dim: usize, n_lists: usize, n_coordinates: u64 } "indices-count" =>
            "{n_lists} index lists for dimension {dim} on {n_coordinates} ranks; give one list \
             per rank of its grid axis";
        IndicesDuplicate { dim: usize, coordinate: u64, index: i64 } "indices-duplicate" =>
            "index {index} stands twice in list {coordinate} of dimension {dim}; list every \
             index once per rank";
        IndicesNotOneToOne { dim: usize, index: i64, first: u64, second: u64 } "indices-not-one-to-one" =>
            "index {index} of dimension {dim} stands in lists {first} and {second} but the map \
             is one-to-one; list it once or drop one_to_one";
        IndicesTotal { dim: usize, n_distinct: u64, extent: u64 } "indices-total" =>
            "the lists of dimension {dim} hold {n_distinct} distinct indices, its extent is \
             {extent}; make them equal";
        IndexNdim { n_given: usize, ndim: usize } "index-ndim" =>
            "an index of {n_given} numbers for an array of {ndim} dimensions; give {ndim}";
        IndexOutOfRange { dim: usize, index: i64, extent: u64, row: usize } "index-out-of-range" =>
            "index {index} of dimension {dim} (entry {row}) is outside [0, {extent}); use an \
             index inside";
        IndexNotHeld { dim: usize, index: i64, row: usize } "index-not-held" =>
            "index {index} of dimension {dim} (entry {row}) is held by no rank; use an index \
             that some rank holds";
        LocalOutOfRange { dim: usize, index: i64, length: u64, rank: u64, row: usize } "local-out-of-range" =>
            "local index {index} of dimension {dim} (entry {row}) is outside [0, {length}) on \
             rank {rank}; use a local index inside";
        RankUnknown { rank: u64, n_ranks: u64 } "rank-unknown" =>
            "rank {rank} is not one of the {n_ranks} ranks of the layout; use one of them";
        PieceUnknown { rank: u64, piece: usize, n_pieces: usize } "piece-unknown" =>
            "piece {piece} of rank {rank}, which has {n_pieces} buffers; use a number below";
        BoxNdim { rank: u64, piece: usize, n_given: usize, ndim: usize } "box-ndim" =>
            "piece {piece} of rank {rank} has {n_given} dimensions, the array {ndim}; give as \
             many starts and lengths as the array has dimensions";
        BoxOutside { rank: u64, piece: usize, dim: usize, start: u64, length: u64, extent: u64 } "box-outside" =>
            "piece {piece} of rank {rank} covers [{start}, {}) in dimension {dim} of extent \
             {extent}; keep it inside the array", u128::from(*start) + u128::from(*length);
        BoxOwnedOutside { rank: u64, piece: usize, dim: usize } "box-owned-outside" =>
            "the owned box of piece {piece} of rank {rank} leaves the piece in dimension {dim}; \
             keep it inside";
        BoxOverlap { rank: u64, first: usize, second: usize } "box-overlap" =>
            "pieces {first} and {second} of rank {rank} overlap; cut one of them";
        SliceStrideZero { dim: usize } "slice-stride-zero" =>
            "the slice's stride in dimension {dim} is 0; use a positive or negative stride";
        SliceOutside { dim: usize, index: i128, extent: u64 } "slice-outside" =>
            "the slice reaches index {index} of dimension {dim} of extent {extent}; keep it \
             inside the array";
        SliceNdim { n_given: usize, ndim: usize } "slice-ndim" =>
            "{n_given} numbers where {ndim} dimensions need one each; give {ndim}";
        TeamEmpty "team-empty" =>
            "a team of 0 members; use at least 1";
        TeamMember { member: u64, n_members: u64 } "team-member" =>
            "member {member} of a team of {n_members}; use a number below {n_members}";
    }
    passing on Notation(NotationError)
}

partita_error::errors! {
    /// What the parser of the notation met.
    pub enum NotationProblem {
        UnknownMap { word: String } "notation-unknown-map" =>
            "unknown map `{word}`; use *, block, block(last), block(ceil), block(3,0,4) or cyclic(64)";
        ObjectsOnly { word: String } "notation-objects-only" =>
            "`{word}` has no notation; build the layout from map objects or boxes instead";
        UnknownSuffix { word: String } "notation-unknown-suffix" =>
            "unknown suffix `+{word}`; use +halo(l,r) or +periodic";
        Unexpected { found: String, expected: &'static str } "notation-unexpected" =>
            "found {found}; expected {expected}";
        NumberTooLarge { digits: String } "notation-number-too-large" =>
            "the number {digits} is too large; use at most {}", u64::MAX;
        HaloNeedsBlock "notation-halo-needs-block" =>
            "a halo needs a block map; write it after block, not after * or cyclic";
        PeriodicNeedsBlock "notation-periodic-needs-block" =>
            "periodic needs a block map; write it after block, not after * or cyclic";
        Repeated { word: &'static str } "notation-repeated" =>
            "`{word}` is given twice; give it once";
        RangeReversed { start: u64, stop: u64 } "notation-range-reversed" =>
            "the range {start}..{stop} runs backwards; write the smaller rank first";
        CyclicZero "cyclic-block" =>
            "the cyclic block is 0; use cyclic(1) or larger";
        GridZero "grid-axis-zero" =>
            "a grid axis of 0 ranks; use at least 1";
    }
}

/// A problem of the notation, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are the values shown in the message")]
pub struct NotationError {
    pub notation: String,
    pub column: usize,
    pub width: usize,
    pub problem: NotationProblem,
}

impl NotationError {
    /// Stable code of the problem.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.problem.reason()
    }
}

/// The message, the notation, and a caret under the place.
impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { notation, column, width, problem } = self;
        let pad = " ".repeat(column.saturating_sub(1));
        let caret = "^".repeat((*width).max(1));
        write!(f, "column {column}: {problem}\n  {notation}\n  {pad}{caret}")
    }
}

impl std::error::Error for NotationError {}

#[cfg(test)]
mod tests {
    use super::{LayoutError, NotationProblem};

    #[test]
    fn every_variant_has_its_own_reason_and_names_a_cure() {
        let shared = [("LocalOverflow", "shape-overflow")];
        assert_eq!(partita_error::judge(LayoutError::TABLE, "", &shared), [""; 0]);
    }

    #[test]
    fn every_problem_of_the_notation_has_its_own_reason_and_names_a_cure() {
        // The same is found in objects, without a notation.
        let shared = [("CyclicZero", "cyclic-block"), ("GridZero", "grid-axis-zero")];
        assert_eq!(partita_error::judge(NotationProblem::TABLE, "notation-", &shared), [""; 0]);
    }
}
