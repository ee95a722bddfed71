//! What a protocol cannot express.

use partita_layout::LayoutError;

partita_error::errors! {
    /// Why a layout or a table was refused.
    pub enum ProtocolError {
        /// `__partitioned__` knows boxes only.
        Unstructured { dim: usize } "layout-unstructured" =>
            "dimension {dim} is unstructured and __partitioned__ knows boxes only; redistribute \
             to block or cyclic, or use __distarray__()";
        /// Neither protocol knows summands.
        Partial { axis: usize } "layout-partial" =>
            "the ranks along grid axis {axis} hold summands, which no protocol can say; \
             redistribute to a layout without partial axes";
        /// Boxes that leave holes, overlap or stand askew.
        NotAGrid { why: String } "layout-not-a-grid" =>
            "the boxes form no grid: {why}; redistribute to a block layout, such as \
             `block, * @ {{ranks}}x1`";
        /// `__distarray__` wants one buffer per rank.
        SeveralPieces { rank: u64, n_pieces: usize } "layout-several-pieces" =>
            "rank {rank} has {n_pieces} buffers and __distarray__ hands over one; redistribute \
             to block or cyclic, or use __partitioned__";
        /// `__distarray__` numbers ranks in C order.
        RankOrder { ranks: String } "layout-rank-order" =>
            "the grid holds the ranks {ranks} and __distarray__ numbers all ranks of the team \
             in C order; redistribute to a layout without a list of ranks, or use a subteam";
        /// `__distarray__` has no axis for replicas beyond the dimensions.
        Replicated { axis: usize } "layout-replicated" =>
            "grid axis {axis} replicates and serves no dimension, which __distarray__ cannot \
             say; give the grid one axis per dimension, or use __partitioned__";
        /// Halo widths that differ on the two sides of a cut.
        HaloUneven { dim: usize, coordinate: u64, right: u64, left: u64 } "layout-halo" =>
            "dimension {dim}: coordinate {coordinate} holds {right} indices of its right \
             neighbour, which holds {left} of it, and __distarray__ wants both equal; use \
             halo(w,w)";
        /// A halo wider than what the neighbour owns.
        HaloWide { dim: usize, coordinate: u64, width: u64, n_owned: u64 } "layout-halo" =>
            "dimension {dim}: coordinate {coordinate} holds {width} indices of a neighbour that \
             owns {n_owned}, and __distarray__ wants no more than it owns; use a narrower halo";
    }
    passing on Layout(LayoutError)
}

#[cfg(test)]
mod tests {
    use super::ProtocolError;

    #[test]
    fn every_variant_has_its_own_reason_and_names_a_cure() {
        // Both say that `__distarray__` cannot express the halo, and callers mend both alike.
        let shared = [("HaloUneven", "layout-halo"), ("HaloWide", "layout-halo")];
        assert_eq!(partita_error::judge(ProtocolError::TABLE, "layout-", &shared), [""; 0]);
    }
}
