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
use crate::local::{Array, Engine};
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

/// A number as an element.
pub(super) fn to_scalar(engine: &Engine, number: Number, dtype: Dtype) -> Outcome<Scalar> {
    let int = number.int();
    Ok(match dtype {
        Dtype::Bool => Scalar::from(int != 0),
        Dtype::Float64 => Scalar::from(number.float()),
        Dtype::Float32 => Scalar::from(number.float() as f32),
        Dtype::Complex64 | Dtype::Complex128 => complex(number, dtype),
        Dtype::Float16 | Dtype::BFloat16 => {
            let wide = engine.fill(&[1], Scalar::from(number.float()))?;
            engine.cast(&wide, dtype)?.to_scalar()?
        }
        _ => {
            let int = if let Number::Float(number) = number { number as i64 } else { int };
            Scalar::from_bytes(dtype, &int.to_le_bytes())
        }
    })
}

fn complex(number: Number, dtype: Dtype) -> Scalar {
    let (real, imaginary) = match number {
        Number::Complex(real, imaginary) => (real, imaginary),
        other => (other.float(), 0.0),
    };
    let mut bytes = Vec::with_capacity(16);
    for part in [real, imaginary] {
        match dtype {
            Dtype::Complex64 => bytes.extend((part as f32).to_le_bytes()),
            _ => bytes.extend(part.to_le_bytes()),
        }
    }
    Scalar::from_bytes(dtype, &bytes)
}

/// An element as a number.
pub(super) fn to_number(engine: &Engine, scalar: Scalar) -> Outcome<Number> {
    let bytes = scalar.bytes;
    let wide = |at: usize| {
        let mut part = [0; 8];
        part.copy_from_slice(&bytes[at..at + 8]);
        part
    };
    let single = |at: usize| {
        f64::from(f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
    };
    Ok(match (scalar.dtype, scalar.dtype.kind()) {
        (Dtype::Float64, _) => Number::Float(f64::from_le_bytes(wide(0))),
        (Dtype::Float32, _) => Number::Float(single(0)),
        (Dtype::Complex128, _) => {
            Number::Complex(f64::from_le_bytes(wide(0)), f64::from_le_bytes(wide(8)))
        }
        (Dtype::Complex64, _) => Number::Complex(single(0), single(4)),
        (Dtype::Float16 | Dtype::BFloat16, _) => {
            let narrow = engine.fill(&[1], scalar)?;
            let wide = engine.cast(&narrow, Dtype::Float64)?.to_scalar()?;
            return to_number(engine, wide);
        }
        (dtype, Kind::Signed) => {
            let shift = 64 - 8 * dtype.size();
            Number::Int(i64::from_le_bytes(wide(0)) << shift >> shift)
        }
        _ => Number::Int(i64::from_le_bytes(wide(0))),
    })
}
