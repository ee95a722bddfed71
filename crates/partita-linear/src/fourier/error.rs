//! What can be wrong with a transform, each with a stable reason code.

/// Result of this module.
pub type Result<T> = std::result::Result<T, FourierError>;

partita_error::errors! {
    /// Why a transform was refused.
    pub enum FourierError {
        AxisUnknown { axis: usize, ndim: usize } "axis-unknown" =>
            "axis {axis} does not exist; use one of the {ndim} of the array, counted from 0";
        NoAxes "no-axes" =>
            "a transform of real numbers needs an axis; give at least one";
        NoPoints { axis: usize } "no-points" =>
            "axis {axis} has no points to transform; pad it to at least one";
        OutputExtents { given: Vec<usize>, wanted: Vec<usize> } "output-extents" =>
            "the output has the extents {given:?}; give {wanted:?}";
    }
}

#[cfg(test)]
mod tests {
    use super::FourierError;

    #[test]
    fn every_reason_is_its_variant_and_every_message_has_a_cure() {
        assert_eq!(partita_error::judge(FourierError::TABLE, "", &[]), [""; 0]);
    }
}
