//! What can be wrong with a layout, each with a stable reason code.
//!
//! Every message has three parts: what was wrong, the values, what to do.
//! Tests and callers match [`LayoutError::reason`], never the text.

use std::fmt;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, LayoutError>;

/// Why a layout, an index or a rank was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the values named in the message")]
pub enum LayoutError {
    ShapeOverflow { shape: Vec<u64> },
    LocalOverflow { shape: Vec<u64> },
    MapsCount { n_maps: usize, ndim: usize },
    GridMissing { n_distributed: usize },
    GridAxisZero { grid: Vec<u64>, axis: usize },
    GridOverflow { grid: Vec<u64> },
    GridAxes { grid: Vec<u64>, n_distributed: usize },
    RanksCount { n_ranks: usize, grid: Vec<u64> },
    RanksDuplicate { rank: u64 },
    RanksOverflow { rank: u64 },
    PartialAxis { axis: usize, n_axes: usize },
    PartialDuplicate { axis: usize },
    PartialInUse { axis: usize, dim: usize },
    SizesCount { dim: usize, n_sizes: usize, n_coordinates: u64 },
    SizesSum { dim: usize, sum: u128, extent: u64 },
    CyclicBlock { dim: usize },
    HaloCount { dim: usize, n_halos: usize, n_coordinates: u64 },
    HaloWidth { dim: usize, width: u64 },
    IndicesCount { dim: usize, n_lists: usize, n_coordinates: u64 },
    IndicesDuplicate { dim: usize, coordinate: u64, index: i64 },
    IndicesNotOneToOne { dim: usize, index: i64, first: u64, second: u64 },
    IndicesTotal { dim: usize, n_distinct: u64, extent: u64 },
    IndexNdim { n_given: usize, ndim: usize },
    IndexOutOfRange { dim: usize, index: i64, extent: u64, row: usize },
    IndexNotHeld { dim: usize, index: i64, row: usize },
    LocalOutOfRange { dim: usize, index: i64, length: u64, rank: u64, row: usize },
    RankUnknown { rank: u64, n_ranks: u64 },
    PieceUnknown { rank: u64, piece: usize, n_pieces: usize },
    CoordinateOutOfRange { axis: usize, coordinate: u64, length: u64 },
    BoxNdim { rank: u64, piece: usize, n_given: usize, ndim: usize },
    BoxOutside { rank: u64, piece: usize, dim: usize, start: u64, length: u64, extent: u64 },
    BoxOwnedOutside { rank: u64, piece: usize, dim: usize },
    BoxOverlap { rank: u64, first: usize, second: usize },
    SliceStrideZero { dim: usize },
    SliceOutside { dim: usize, index: i128, extent: u64 },
    SliceNdim { n_given: usize, ndim: usize },
    TeamEmpty,
    TeamMember { member: u64, n_members: u64 },
    Notation { notation: String, column: usize, width: usize, problem: NotationProblem },
}

/// What the parser of the notation met.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the values named in the message")]
pub enum NotationProblem {
    UnknownMap { word: String },
    ObjectsOnly { word: String },
    UnknownSuffix { word: String },
    Unexpected { found: String, expected: &'static str },
    NumberTooLarge { digits: String },
    HaloNeedsBlock,
    PeriodicNeedsHalo,
    Repeated { word: &'static str },
    RangeReversed { start: u64, stop: u64 },
    CyclicZero,
    GridZero,
}

impl NotationProblem {
    fn reason(&self) -> &'static str {
        match self {
            Self::UnknownMap { .. } => "notation-unknown-map",
            Self::ObjectsOnly { .. } => "notation-objects-only",
            Self::UnknownSuffix { .. } => "notation-unknown-suffix",
            Self::Unexpected { .. } => "notation-unexpected",
            Self::NumberTooLarge { .. } => "notation-number-too-large",
            Self::HaloNeedsBlock => "notation-halo-needs-block",
            Self::PeriodicNeedsHalo => "notation-periodic-needs-block",
            Self::Repeated { .. } => "notation-repeated",
            Self::RangeReversed { .. } => "notation-range-reversed",
            Self::CyclicZero => "cyclic-block",
            Self::GridZero => "grid-axis-zero",
        }
    }
}

impl fmt::Display for NotationProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownMap { word } => write!(
                f,
                "unknown map `{word}`; use *, block, block(last), block(ceil), block(3,0,4) or cyclic(64)"
            ),
            Self::ObjectsOnly { word } => write!(
                f,
                "`{word}` has no notation; build the layout from map objects or boxes instead"
            ),
            Self::UnknownSuffix { word } => {
                write!(f, "unknown suffix `+{word}`; use +halo(l,r) or +periodic")
            }
            Self::Unexpected { found, expected } => write!(f, "found {found}; expected {expected}"),
            Self::NumberTooLarge { digits } => {
                write!(f, "the number {digits} is too large; use at most {}", u64::MAX)
            }
            Self::HaloNeedsBlock => {
                write!(f, "a halo needs a block map; write it after block, not after * or cyclic")
            }
            Self::PeriodicNeedsHalo => {
                write!(f, "periodic needs a block map; write it after block, not after * or cyclic")
            }
            Self::Repeated { word } => write!(f, "`{word}` is given twice; give it once"),
            Self::CyclicZero => write!(f, "the cyclic block is 0; use cyclic(1) or larger"),
            Self::GridZero => write!(f, "a grid axis of 0 ranks; use at least 1"),
            Self::RangeReversed { start, stop } => {
                write!(f, "the range {start}..{stop} runs backwards; write the smaller rank first")
            }
        }
    }
}

impl LayoutError {
    /// Stable code of the error, such as `shape-overflow`.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::ShapeOverflow { .. } | Self::LocalOverflow { .. } => "shape-overflow",
            Self::MapsCount { .. } => "maps-count",
            Self::GridMissing { .. } => "grid-missing",
            Self::GridAxisZero { .. } => "grid-axis-zero",
            Self::GridOverflow { .. } => "grid-overflow",
            Self::GridAxes { .. } => "grid-axes",
            Self::RanksCount { .. } => "ranks-count",
            Self::RanksDuplicate { .. } => "ranks-duplicate",
            Self::RanksOverflow { .. } => "ranks-overflow",
            Self::PartialAxis { .. } => "partial-axis",
            Self::PartialDuplicate { .. } => "partial-duplicate",
            Self::PartialInUse { .. } => "partial-in-use",
            Self::SizesCount { .. } => "sizes-count",
            Self::SizesSum { .. } => "sizes-sum",
            Self::CyclicBlock { .. } => "cyclic-block",
            Self::HaloCount { .. } => "halo-count",
            Self::HaloWidth { .. } => "halo-width",
            Self::IndicesCount { .. } => "indices-count",
            Self::IndicesDuplicate { .. } => "indices-duplicate",
            Self::IndicesNotOneToOne { .. } => "indices-not-one-to-one",
            Self::IndicesTotal { .. } => "indices-total",
            Self::IndexNdim { .. } => "index-ndim",
            Self::IndexOutOfRange { .. } => "index-out-of-range",
            Self::IndexNotHeld { .. } => "index-not-held",
            Self::LocalOutOfRange { .. } => "local-out-of-range",
            Self::RankUnknown { .. } => "rank-unknown",
            Self::PieceUnknown { .. } => "piece-unknown",
            Self::CoordinateOutOfRange { .. } => "coordinate-out-of-range",
            Self::BoxNdim { .. } => "box-ndim",
            Self::BoxOutside { .. } => "box-outside",
            Self::BoxOwnedOutside { .. } => "box-owned-outside",
            Self::BoxOverlap { .. } => "box-overlap",
            Self::SliceStrideZero { .. } => "slice-stride-zero",
            Self::SliceOutside { .. } => "slice-outside",
            Self::SliceNdim { .. } => "slice-ndim",
            Self::TeamEmpty => "team-empty",
            Self::TeamMember { .. } => "team-member",
            Self::Notation { problem, .. } => problem.reason(),
        }
    }
}

impl std::error::Error for LayoutError {}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Notation { notation, column, width, problem } => {
                write_pointed(f, notation, *column, *width, problem)
            }
            Self::SliceStrideZero { .. }
            | Self::SliceOutside { .. }
            | Self::SliceNdim { .. }
            | Self::IndexNdim { .. }
            | Self::IndexOutOfRange { .. }
            | Self::IndexNotHeld { .. }
            | Self::LocalOutOfRange { .. }
            | Self::RankUnknown { .. }
            | Self::PieceUnknown { .. }
            | Self::CoordinateOutOfRange { .. }
            | Self::TeamEmpty
            | Self::TeamMember { .. } => self.write_question(f),
            Self::BoxNdim { .. }
            | Self::BoxOutside { .. }
            | Self::BoxOwnedOutside { .. }
            | Self::BoxOverlap { .. } => self.write_box(f),
            Self::SizesCount { .. }
            | Self::SizesSum { .. }
            | Self::CyclicBlock { .. }
            | Self::HaloCount { .. }
            | Self::HaloWidth { .. }
            | Self::IndicesCount { .. }
            | Self::IndicesDuplicate { .. }
            | Self::IndicesNotOneToOne { .. }
            | Self::IndicesTotal { .. } => self.write_map(f),
            _ => self.write_grid(f),
        }
    }
}

/// The message, the notation, and a caret under the place.
fn write_pointed(
    f: &mut fmt::Formatter<'_>,
    notation: &str,
    column: usize,
    width: usize,
    problem: &NotationProblem,
) -> fmt::Result {
    let pad = " ".repeat(column.saturating_sub(1));
    let caret = "^".repeat(width.max(1));
    write!(f, "column {column}: {problem}\n  {notation}\n  {pad}{caret}")
}

impl LayoutError {
    /// Wrong shape, grid, ranks or partial axes.
    fn write_grid(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShapeOverflow { shape } => write!(
                f,
                "the shape {shape:?} is too large; an extent is at most 2^63 and the product of the \
                 extents at most 2^64 - 1"
            ),
            Self::LocalOverflow { shape } => write!(
                f,
                "a local buffer of the shape {shape:?} with its halos is too large; use narrower \
                 halos: at most 2^63 along a dimension and 2^64 - 1 elements"
            ),
            Self::MapsCount { n_maps, ndim } => write!(
                f,
                "{n_maps} maps for {ndim} dimensions; give one map per dimension, * for a whole one"
            ),
            Self::GridMissing { n_distributed } => write!(
                f,
                "no grid for {n_distributed} distributed dimensions; say how many ranks, such as \
                 `@ 4` or `@ 2x2`"
            ),
            Self::GridAxisZero { grid, axis } => write!(
                f,
                "axis {axis} of the grid {grid:?} is 0; every axis of a grid has at least one rank"
            ),
            Self::GridOverflow { grid } => {
                write!(f, "the grid {grid:?} has more than 2^63 ranks; use a smaller grid")
            }
            Self::GridAxes { grid, n_distributed } => write!(
                f,
                "the grid {grid:?} has too few axes for {n_distributed} distributed dimensions; give \
                 one axis per distributed dimension besides the partial ones"
            ),
            Self::RanksCount { n_ranks, grid } => write!(
                f,
                "{n_ranks} ranks for the grid {grid:?}; name as many ranks as the grid has places"
            ),
            Self::RanksDuplicate { rank } => {
                write!(f, "rank {rank} is named twice; name every rank once")
            }
            Self::RanksOverflow { rank } => {
                write!(f, "rank {rank} is too large; use ranks below 2^63")
            }
            Self::PartialAxis { axis, n_axes } => write!(
                f,
                "partial axis {axis} of a grid with {n_axes} axes; use an axis below {n_axes}"
            ),
            Self::PartialDuplicate { axis } => {
                write!(f, "partial axis {axis} is named twice; name it once")
            }
            Self::PartialInUse { axis, dim } => write!(
                f,
                "grid axis {axis} is partial but distributes dimension {dim}; make the dimension \
                 whole (*) or add an axis to the grid"
            ),
            _ => f.write_str(self.reason()),
        }
    }

    /// Wrong parameters of one dimension's map.
    fn write_map(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SizesCount { dim, n_sizes, n_coordinates } => write!(
                f,
                "{n_sizes} block sizes for dimension {dim} on {n_coordinates} ranks; give one size \
                 per rank of its grid axis"
            ),
            Self::SizesSum { dim, sum, extent } => write!(
                f,
                "the block sizes of dimension {dim} add up to {sum}, its extent is {extent}; make \
                 them equal"
            ),
            Self::CyclicBlock { dim } => {
                write!(f, "the cyclic block of dimension {dim} is 0; use cyclic(1) or larger")
            }
            Self::HaloCount { dim, n_halos, n_coordinates } => write!(
                f,
                "{n_halos} halos for dimension {dim} on {n_coordinates} ranks; give one (l, r) for \
                 all or one per rank of its grid axis"
            ),
            Self::HaloWidth { dim, width } => write!(
                f,
                "the halo width {width} of dimension {dim} is too large; use at most 2^60"
            ),
            Self::IndicesCount { dim, n_lists, n_coordinates } => write!(
                f,
                "{n_lists} index lists for dimension {dim} on {n_coordinates} ranks; give one list \
                 per rank of its grid axis"
            ),
            Self::IndicesDuplicate { dim, coordinate, index } => write!(
                f,
                "index {index} stands twice in list {coordinate} of dimension {dim}; list every \
                 index once per rank"
            ),
            Self::IndicesNotOneToOne { dim, index, first, second } => write!(
                f,
                "index {index} of dimension {dim} stands in lists {first} and {second} but the map \
                 is one-to-one; list it once or drop one_to_one"
            ),
            Self::IndicesTotal { dim, n_distinct, extent } => write!(
                f,
                "the lists of dimension {dim} hold {n_distinct} distinct indices, its extent is \
                 {extent}; make them equal"
            ),
            _ => f.write_str(self.reason()),
        }
    }

    /// Wrong boxes.
    fn write_box(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BoxNdim { rank, piece, n_given, ndim } => write!(
                f,
                "piece {piece} of rank {rank} has {n_given} dimensions, the array {ndim}; give as \
                 many starts and lengths as the array has dimensions"
            ),
            Self::BoxOutside { rank, piece, dim, start, length, extent } => write!(
                f,
                "piece {piece} of rank {rank} covers [{start}, {}) in dimension {dim} of extent \
                 {extent}; keep it inside the array",
                u128::from(*start) + u128::from(*length)
            ),
            Self::BoxOwnedOutside { rank, piece, dim } => write!(
                f,
                "the owned box of piece {piece} of rank {rank} leaves the piece in dimension {dim}; \
                 keep it inside"
            ),
            Self::BoxOverlap { rank, first, second } => {
                write!(f, "pieces {first} and {second} of rank {rank} overlap; cut one of them")
            }
            _ => f.write_str(self.reason()),
        }
    }

    /// Wrong index, rank or slice in a question to a layout.
    fn write_question(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IndexNdim { n_given, ndim } => write!(
                f,
                "an index of {n_given} numbers for an array of {ndim} dimensions; give {ndim}"
            ),
            Self::IndexOutOfRange { dim, index, extent, row } => write!(
                f,
                "index {index} of dimension {dim} (entry {row}) is outside [0, {extent}); use an \
                 index inside"
            ),
            Self::IndexNotHeld { dim, index, row } => write!(
                f,
                "index {index} of dimension {dim} (entry {row}) is held by no rank; use an index \
                 that some rank holds"
            ),
            Self::LocalOutOfRange { dim, index, length, rank, row } => write!(
                f,
                "local index {index} of dimension {dim} (entry {row}) is outside [0, {length}) on \
                 rank {rank}; use a local index inside"
            ),
            Self::RankUnknown { rank, n_ranks } => write!(
                f,
                "rank {rank} is not one of the {n_ranks} ranks of the layout; use one of them"
            ),
            Self::PieceUnknown { rank, piece, n_pieces } => write!(
                f,
                "piece {piece} of rank {rank}, which has {n_pieces} buffers; use a number below"
            ),
            Self::CoordinateOutOfRange { axis, coordinate, length } => write!(
                f,
                "coordinate {coordinate} on grid axis {axis} of length {length}; use one below"
            ),
            Self::SliceStrideZero { dim } => write!(
                f,
                "the slice's stride in dimension {dim} is 0; use a positive or negative stride"
            ),
            Self::SliceOutside { dim, index, extent } => write!(
                f,
                "the slice reaches index {index} of dimension {dim} of extent {extent}; keep it \
                 inside the array"
            ),
            Self::SliceNdim { n_given, ndim } => {
                write!(f, "{n_given} numbers where {ndim} dimensions need one each; give {ndim}")
            }
            Self::TeamEmpty => write!(f, "a team of 0 members; use at least 1"),
            Self::TeamMember { member, n_members } => write!(
                f,
                "member {member} of a team of {n_members}; use a number below {n_members}"
            ),
            _ => f.write_str(self.reason()),
        }
    }
}
