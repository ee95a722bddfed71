//! What the values of a program are while it runs.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use partita_ir::Scalar as ScalarType;
use partita_ir::Sign;
use partita_kernel::{Dtype, Kind, Scalar};

use super::dist::DistArray;
use super::partitioned::Partitioned;
use super::problem::{Outcome, problem};
use crate::api;
use crate::local::Array;
use crate::sparse::SparseTensor;

/// A single number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Integers, indices, truth values; unsigned ones of 64 bits wrap around.
    Int(i64),
    /// Floating numbers.
    Float(f64),
    /// Complex numbers.
    Complex(f64, f64),
}

/// A value of a program.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Number(Number),
    Array(Array),
    Dist(Rc<DistArray>),
    /// A sparse tensor of this rank.
    Sparse(Rc<SparseTensor>),
    /// A tensor in slices.
    Partitioned(Rc<Partitioned>),
    /// Communication under way, by its number; whether somebody has waited.
    Handle(Rc<Cell<Option<u64>>>),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(int) => write!(f, "{int}"),
            Self::Float(float) => write!(f, "{float:?}"),
            Self::Complex(real, imaginary) => write!(f, "{real:?}{imaginary:+?}j"),
        }
    }
}

impl Number {
    pub(super) fn int(self) -> i64 {
        match self {
            Self::Int(number) => number,
            Self::Float(number) | Self::Complex(number, _) => number as i64,
        }
    }

    /// As a floating number; of a complex one the real part.
    #[must_use]
    pub fn as_float(self) -> f64 {
        self.float()
    }

    pub(super) fn float(self) -> f64 {
        match self {
            Self::Int(number) => number as f64,
            Self::Float(number) | Self::Complex(number, _) => number,
        }
    }
}

/// The element type of the kernels for a type of the program, if there is one.
#[must_use]
pub fn dtype_of_type(scalar: ScalarType) -> Option<Dtype> {
    dtype_of(scalar).ok()
}

/// The element type of the kernels for a type of the program.
pub(super) fn dtype_of(scalar: ScalarType) -> Outcome<Dtype> {
    let int = |width: u8, sign: Sign| match (width, sign) {
        (1, _) => Some(Dtype::Bool),
        (8, Sign::Unsigned) => Some(Dtype::UInt8),
        (16, Sign::Unsigned) => Some(Dtype::UInt16),
        (32, Sign::Unsigned) => Some(Dtype::UInt32),
        (64, Sign::Unsigned) => Some(Dtype::UInt64),
        (8, _) => Some(Dtype::Int8),
        (16, _) => Some(Dtype::Int16),
        (32, _) => Some(Dtype::Int32),
        (64, _) => Some(Dtype::Int64),
        _ => None,
    };
    let dtype = match scalar {
        ScalarType::Index => Some(Dtype::Int64),
        ScalarType::Int { width, sign } => int(width, sign),
        ScalarType::F16 => Some(Dtype::Float16),
        ScalarType::Bf16 => Some(Dtype::BFloat16),
        ScalarType::F32 => Some(Dtype::Float32),
        ScalarType::F64 => Some(Dtype::Float64),
        ScalarType::Complex32 => Some(Dtype::Complex64),
        ScalarType::Complex64 => Some(Dtype::Complex128),
    };
    dtype.ok_or_else(|| {
        problem(format!(
            "elements of {scalar} cannot be computed with; use i1, i8, i16, i32 or i64"
        ))
    })
}

/// A number as an element; integers wrap around.
pub(super) fn to_scalar(number: Number, dtype: Dtype) -> Outcome<Scalar> {
    let exact = match (dtype.kind(), number) {
        (Kind::Bool, _) => return Ok(Scalar::from(number.int() != 0)),
        (Kind::Signed | Kind::Unsigned, _) => {
            return Ok(Scalar::from_bytes(dtype, &number.int().to_le_bytes()));
        }
        (Kind::Complex, Number::Complex(real, imaginary)) => api::Number::Complex(real, imaginary),
        _ => api::Number::Float(number.float()),
    };
    exact.to_scalar(dtype).map_err(|error| problem(error.to_string()))
}

/// An element as a number; unsigned integers of 64 bits wrap around.
pub(super) fn to_number(scalar: Scalar) -> Number {
    match api::Number::from_scalar(scalar) {
        api::Number::Bool(truth) => Number::Int(truth.into()),
        api::Number::Int(int) => Number::Int(int as i64),
        api::Number::Float(float) => Number::Float(float),
        api::Number::Complex(real, imaginary) => Number::Complex(real, imaginary),
    }
}
