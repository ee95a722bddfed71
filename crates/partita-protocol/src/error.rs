//! What a protocol cannot express.

use std::fmt;

use partita_layout::LayoutError;

/// Why a layout or a table was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the values named in the message")]
pub enum ProtocolError {
    /// `__partitioned__` knows boxes only.
    Unstructured { dim: usize },
    /// Neither protocol knows summands.
    Partial { axis: usize },
    /// Boxes that leave holes, overlap or stand askew.
    NotAGrid { why: String },
    /// `__distarray__` wants one buffer per rank.
    SeveralPieces { rank: u64, n_pieces: usize },
    /// `__distarray__` numbers ranks in C order.
    RankOrder { ranks: String },
    /// `__distarray__` has no axis for replicas beyond the dimensions.
    Replicated { axis: usize },
    /// Halo widths that differ on the two sides of a cut.
    HaloUneven { dim: usize, coordinate: u64, right: u64, left: u64 },
    /// A halo wider than what the neighbour owns.
    HaloWide { dim: usize, coordinate: u64, width: u64, n_owned: u64 },
    /// What the layout itself refuses.
    Layout(LayoutError),
}

impl ProtocolError {
    /// Stable code of the error.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Unstructured { .. } => "layout-unstructured",
            Self::Partial { .. } => "layout-partial",
            Self::NotAGrid { .. } => "layout-not-a-grid",
            Self::SeveralPieces { .. } => "layout-several-pieces",
            Self::RankOrder { .. } => "layout-rank-order",
            Self::Replicated { .. } => "layout-replicated",
            Self::HaloUneven { .. } | Self::HaloWide { .. } => "layout-halo",
            Self::Layout(error) => error.reason(),
        }
    }
}

impl From<LayoutError> for ProtocolError {
    fn from(error: LayoutError) -> Self {
        Self::Layout(error)
    }
}

impl std::error::Error for ProtocolError {}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unstructured { dim } => write!(
                f,
                "dimension {dim} is unstructured and __partitioned__ knows boxes only; redistribute \
                 to block or cyclic, or use __distarray__()"
            ),
            Self::Partial { axis } => write!(
                f,
                "the ranks along grid axis {axis} hold summands, which no protocol can say; \
                 redistribute to a layout without partial axes"
            ),
            Self::NotAGrid { why } => write!(
                f,
                "the boxes form no grid: {why}; redistribute to a block layout, such as \
                 `block, * @ {{ranks}}x1`"
            ),
            Self::SeveralPieces { rank, n_pieces } => write!(
                f,
                "rank {rank} has {n_pieces} buffers and __distarray__ hands over one; redistribute \
                 to block or cyclic, or use __partitioned__"
            ),
            Self::RankOrder { ranks } => write!(
                f,
                "the grid holds the ranks {ranks} and __distarray__ numbers all ranks of the team \
                 in C order; redistribute to a layout without a list of ranks, or use a subteam"
            ),
            Self::Replicated { axis } => write!(
                f,
                "grid axis {axis} replicates and serves no dimension, which __distarray__ cannot \
                 say; give the grid one axis per dimension, or use __partitioned__"
            ),
            Self::HaloUneven { dim, coordinate, right, left } => write!(
                f,
                "dimension {dim}: coordinate {coordinate} holds {right} indices of its right \
                 neighbour, which holds {left} of it, and __distarray__ wants both equal; use \
                 halo(w,w)"
            ),
            Self::HaloWide { dim, coordinate, width, n_owned } => write!(
                f,
                "dimension {dim}: coordinate {coordinate} holds {width} indices of a neighbour that \
                 owns {n_owned}, and __distarray__ wants no more than it owns; use a narrower halo"
            ),
            Self::Layout(error) => error.fmt(f),
        }
    }
}
