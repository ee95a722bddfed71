//! The operations that `math` computes.

use super::Function;
use crate::dtype::{Dtype, Kind};
use crate::math::{self, Binary, Level, Number, Unary};
use crate::program::Op;

/// The tile function of `math` for an operation, where it has one for the type.
pub fn find(op: Op, dtype: Dtype, level: Level) -> Option<Function> {
    let number = number(dtype)?;
    let complex = dtype.kind() == Kind::Complex;
    if let Some(function) = unary(op).or_else(|| unary_of_complex(op).filter(|_| complex)) {
        return math::unary(level, function, number).map(Function::Unary);
    }
    math::binary(level, binary(op)?, number).map(Function::Binary)
}

/// Whether half precision computes this operation in float32, by three steps.
pub fn is_function(op: Op) -> bool {
    op != Op::NextAfter && (unary(op).is_some() || binary(op).is_some())
}

fn number(dtype: Dtype) -> Option<Number> {
    match dtype {
        Dtype::Float32 => Some(Number::F32),
        Dtype::Float64 => Some(Number::F64),
        Dtype::Complex64 => Some(Number::C64),
        Dtype::Complex128 => Some(Number::C128),
        _ => None,
    }
}

fn unary(op: Op) -> Option<Unary> {
    Some(match op {
        Op::Exp => Unary::Exp,
        Op::Exp2 => Unary::Exp2,
        Op::Expm1 => Unary::Expm1,
        Op::Log => Unary::Log,
        Op::Log2 => Unary::Log2,
        Op::Log10 => Unary::Log10,
        Op::Log1p => Unary::Log1p,
        Op::Sin => Unary::Sin,
        Op::Cos => Unary::Cos,
        Op::Tan => Unary::Tan,
        Op::Asin => Unary::Asin,
        Op::Acos => Unary::Acos,
        Op::Atan => Unary::Atan,
        Op::Sinh => Unary::Sinh,
        Op::Cosh => Unary::Cosh,
        Op::Tanh => Unary::Tanh,
        Op::Asinh => Unary::Asinh,
        Op::Acosh => Unary::Acosh,
        Op::Atanh => Unary::Atanh,
        Op::Erf => Unary::Erf,
        Op::Erfc => Unary::Erfc,
        Op::Cbrt => Unary::Cbrt,
        Op::SquareRoot => Unary::Sqrt,
        _ => return None,
    })
}

/// What is simple for real numbers and a function for complex ones.
fn unary_of_complex(op: Op) -> Option<Unary> {
    Some(match op {
        Op::Absolute => Unary::Abs,
        Op::Reciprocal => Unary::Reciprocal,
        Op::Round => Unary::Round,
        Op::Sign => Unary::Sign,
        _ => return None,
    })
}

fn binary(op: Op) -> Option<Binary> {
    Some(match op {
        Op::Power => Binary::Pow,
        Op::Atan2 => Binary::Atan2,
        Op::Hypot => Binary::Hypot,
        Op::LogAddExp => Binary::Logaddexp,
        Op::CopySign => Binary::Copysign,
        Op::NextAfter => Binary::Nextafter,
        _ => return None,
    })
}
