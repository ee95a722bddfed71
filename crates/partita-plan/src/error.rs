//! Why two layouts have no plan between them.

use std::fmt;

use partita_layout::LayoutError;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, PlanError>;

/// Why a plan was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the values named in the message")]
pub enum PlanError {
    Layout(LayoutError),
    ShapesDiffer { source: Vec<u64>, target: Vec<u64> },
    NotCovered { dim: usize, index: i64 },
    NotCoveredBox { rank: u64, n_missing: u128 },
    DtypeUnknown { dtype: String },
    RankUnknown { rank: u64 },
    TooManyRanks { n_ranks: u64, most: u64 },
}

impl PlanError {
    /// Stable code of the error.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Layout(error) => error.reason(),
            Self::ShapesDiffer { .. } => "shapes-differ",
            Self::NotCovered { .. } | Self::NotCoveredBox { .. } => "source-not-covering",
            Self::DtypeUnknown { .. } => "dtype-unknown",
            Self::RankUnknown { .. } => "rank-unknown",
            Self::TooManyRanks { .. } => "too-many-ranks",
        }
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout(error) => error.fmt(f),
            Self::ShapesDiffer { source, target } => write!(
                f,
                "the source has the shape {source:?}, the target {target:?}; plan between layouts of \
                 the same shape"
            ),
            Self::NotCovered { dim, index } => write!(
                f,
                "the target holds index {index} of dimension {dim} but no source rank owns it; use a \
                 source that covers the target"
            ),
            Self::NotCoveredBox { rank, n_missing } => write!(
                f,
                "rank {rank} is to hold {n_missing} elements that no source rank owns; use a source \
                 whose boxes cover the target"
            ),
            Self::DtypeUnknown { dtype } => write!(
                f,
                "unknown dtype `{dtype}`; use one of {}",
                crate::Dtype::ALL.map(crate::Dtype::name).join(", ")
            ),
            Self::TooManyRanks { n_ranks, most } => write!(
                f,
                "totals over {n_ranks} ranks; at most {most} are added up, ask for one rank's part instead"
            ),
            Self::RankUnknown { rank } => write!(
                f,
                "rank {rank} is in neither layout of the plan; use a rank of the source or the target"
            ),
        }
    }
}

impl std::error::Error for PlanError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Layout(error) => Some(error),
            _ => None,
        }
    }
}

impl From<LayoutError> for PlanError {
    fn from(error: LayoutError) -> Self {
        Self::Layout(error)
    }
}
