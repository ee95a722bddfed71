//! Why two layouts have no plan between them.

use partita_layout::LayoutError;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, PlanError>;

partita_error::errors! {
    /// Why a plan was refused.
    pub enum PlanError {
        ShapesDiffer { source: Vec<u64>, target: Vec<u64> } "shapes-differ" =>
            "the source has the shape {source:?}, the target {target:?}; plan between layouts of \
             the same shape";
        NotCovered { dim: usize, index: i64 } "source-not-covering" =>
            "the target holds index {index} of dimension {dim} but no source rank owns it; use a \
             source that covers the target";
        NotCoveredBox { rank: u64, n_missing: u128 } "source-not-covering" =>
            "rank {rank} is to hold {n_missing} elements that no source rank owns; use a source \
             whose boxes cover the target";
        DtypeUnknown { dtype: String } "dtype-unknown" =>
            "unknown dtype `{dtype}`; use one of {}", crate::Dtype::ALL.map(crate::Dtype::name).join(", ");
        RankUnknown { rank: u64 } "rank-unknown" =>
            "rank {rank} is in neither layout of the plan; use a rank of the source or the target";
        TooManyRanks { n_ranks: u64, most: u64 } "too-many-ranks" =>
            "totals over {n_ranks} ranks; at most {most} are added up, ask for one rank's part instead";
    }
    passing on Layout(LayoutError)
}

#[cfg(test)]
mod tests {
    use super::PlanError;

    #[test]
    fn every_variant_has_its_own_reason_and_names_a_cure() {
        // Lists and boxes leave gaps in different words, and callers mend both alike.
        let shared =
            [("NotCovered", "source-not-covering"), ("NotCoveredBox", "source-not-covering")];
        assert_eq!(partita_error::judge(PlanError::TABLE, "", &shared), [""; 0]);
    }
}
