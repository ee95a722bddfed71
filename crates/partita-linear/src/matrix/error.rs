//! What can be wrong with matrices, each with a stable reason code.

/// Result of this module.
pub type Result<T> = std::result::Result<T, MatrixError>;

partita_error::errors! {
    /// Why a matrix was refused, or has no result.
    pub enum MatrixError {
        ShapesDiffer { operation: &'static str, first: [usize; 2], second: [usize; 2] } "shapes-differ" =>
            "{operation}: the shapes {first:?} and {second:?} do not fit; transpose or cut one";
        OutputShape { operation: &'static str, given: [usize; 2], wanted: [usize; 2] } "output-shape" =>
            "{operation}: the output has the shape {given:?}; give one of {wanted:?}";
        StacksDiffer { operation: &'static str, first: Vec<usize>, second: Vec<usize> } "stacks-differ" =>
            "{operation}: stacks of {first:?} and {second:?} matrices; broadcast them to one shape";
        NotSquare { operation: &'static str, shape: [usize; 2] } "not-square" =>
            "{operation}: the matrix has the shape {shape:?}; give as many rows as columns";
        NoElements { operation: &'static str, shape: [usize; 2] } "no-elements" =>
            "{operation}: a matrix of the shape {shape:?} has no value; give one with elements";
        Singular { pivot: usize } "singular" =>
            "the matrix is singular: pivot {pivot}, counted from 0, is zero; use least squares";
        NotPositiveDefinite { minor: usize } "not-positive-definite" =>
            "the matrix is not positive definite: its leading minor of order {minor} is not positive; use LU";
        NoConvergence { operation: &'static str } "no-convergence" =>
            "{operation} did not converge; scale the matrix or look for NaN in it";
        NotFinite { operation: &'static str } "not-finite" =>
            "{operation}: the matrix has NaN or infinite elements; replace them first";
    }
}

#[cfg(test)]
mod tests {
    use super::MatrixError;

    #[test]
    fn every_reason_is_its_variant_and_every_message_has_a_cure() {
        assert_eq!(partita_error::judge(MatrixError::TABLE, "", &[]), [""; 0]);
    }
}
