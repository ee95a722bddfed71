//! Why an array program was refused.

use partita_kernel::Dtype;

use crate::error::LocalError;

/// Result of this module.
pub type Result<T> = std::result::Result<T, ApiError>;

partita_error::errors! {
    /// Why an operation of an array program was refused.
    pub enum ApiError {
        Local { error: LocalError } "local" => "{error}";
        TypesApart { first: Dtype, second: Dtype } "types-apart" =>
            "elements of {first} and {second} have no common type; use astype on one of them";
        TypeRefused { function: String, given: Dtype, wanted: String } "type-refused" =>
            "{function} does not take elements of {given}; use {wanted}";
        ResultType { function: String, made: Dtype, dtype: Dtype } "result-type" =>
            "{function} gives {made}, which the array of {dtype} cannot hold; use astype";
        NumberOutside { number: String, dtype: Dtype } "number-outside" =>
            "{number} does not fit into {dtype}; use astype on the array or another number";
        NumberComplex { number: String, dtype: Dtype } "number-complex" =>
            "the complex number {number} is none of {dtype}; use its real part";
        NumberNan { dtype: Dtype } "number-nan" =>
            "cannot convert float NaN to integer: {dtype} has none; use a floating type";
        NegativePower { number: String } "negative-power" =>
            "integers to the power {number} are no integers; use a floating type";
        AxisOutside { axis: i64, ndim: usize } "axis-outside" =>
            "axis {axis} of an array of {ndim} dimensions; {}",
            inside(*ndim, "give no axis");
        AxisTwice { axis: i64 } "axis-twice" => "axis {axis} is given twice; give it once";
        AxisNeeded { function: String, ndim: usize } "axis-needed" =>
            "{function} of an array of {ndim} dimensions; give an axis";
        NothingToReduce { function: String, shape: Vec<usize> } "nothing-to-reduce" =>
            "{function} of no elements (shape {shape:?}); use an array that has some";
        TooManyIndices { given: usize, ndim: usize } "too-many-indices" =>
            "{given} indices for an array of {ndim} dimensions; use at most {ndim}";
        TwoEllipses {} "two-ellipses" => "two ellipses in one index; use one";
        IndexOutside { index: i64, dim: usize, extent: usize } "index-outside" =>
            "index {index} of dimension {dim} of size {extent}; {}",
            inside(*extent, "it has no entries");
        StepZero { dim: usize } "step-zero" =>
            "a slice of dimension {dim} with step 0; use another step";
    }
}

/// Which positions there are among so many, counted from both ends.
fn inside(count: usize, otherwise: &str) -> String {
    match count {
        0 => otherwise.into(),
        _ => format!("use -{count} to {}", count - 1),
    }
}

impl From<LocalError> for ApiError {
    fn from(error: LocalError) -> Self {
        Self::Local { error }
    }
}
