//! Operators on local arrays: which kernel operation, in which element type.

use partita_ir::{EwBin, EwUny};
use partita_kernel::{Dtype, Kind, Op, Reduction, Scalar};

use super::problem::{Outcome, problem};
use crate::local::{Array, Engine};

/// An operator of two arrays; `dtype` is the element type of the result.
pub(super) fn binary(
    engine: &Engine,
    op: EwBin,
    lhs: &Array,
    rhs: &Array,
    dtype: Dtype,
) -> Outcome<Array> {
    if op == EwBin::MatMul {
        return matmul(engine, lhs, rhs, dtype);
    }
    let typed = match op {
        EwBin::LogicalAnd | EwBin::LogicalOr | EwBin::LogicalXor => Dtype::Bool,
        EwBin::Complex => dtype.real(),
        op if op.gives_bool() => common(lhs.dtype(), rhs.dtype()),
        // Where integers become floating numbers, they do so before.
        _ => dtype,
    };
    let (lhs, rhs) = (engine.cast(lhs, typed)?, engine.cast(rhs, typed)?);
    let made = engine.apply(kernel_op(op), &[&lhs, &rhs])?;
    Ok(engine.cast(&made, dtype)?)
}

/// The operator of two arrays that a kernel operation is.
pub(crate) fn binary_of(op: Op) -> Option<EwBin> {
    EwBin::ALL.iter().copied().find(|one| *one != EwBin::MatMul && kernel_op(*one) == op)
}

/// The operator of one array that a kernel operation is.
pub(crate) fn unary_of(op: Op) -> Option<EwUny> {
    EwUny::ALL.iter().copied().find(|one| unary_op(*one) == op)
}

fn kernel_op(op: EwBin) -> Op {
    match op {
        EwBin::Add => Op::Add,
        EwBin::Atan2 => Op::Atan2,
        EwBin::BitAnd => Op::BitAnd,
        EwBin::ShiftLeft => Op::ShiftLeft,
        EwBin::BitOr => Op::BitOr,
        EwBin::ShiftRight => Op::ShiftRight,
        EwBin::BitXor => Op::BitXor,
        EwBin::Equal => Op::Equal,
        EwBin::FloorDivide => Op::FloorDivide,
        EwBin::Greater => Op::Greater,
        EwBin::GreaterEqual => Op::GreaterEqual,
        EwBin::Less => Op::Less,
        EwBin::LessEqual => Op::LessEqual,
        EwBin::LogAddExp => Op::LogAddExp,
        EwBin::LogicalAnd => Op::LogicalAnd,
        EwBin::LogicalOr => Op::LogicalOr,
        EwBin::LogicalXor => Op::LogicalXor,
        EwBin::Maximum => Op::Maximum,
        EwBin::Minimum => Op::Minimum,
        EwBin::Modulo => Op::Remainder,
        EwBin::Multiply | EwBin::MatMul => Op::Multiply,
        EwBin::NotEqual => Op::NotEqual,
        EwBin::Power => Op::Power,
        EwBin::Subtract => Op::Subtract,
        EwBin::TrueDivide => Op::Divide,
        EwBin::Hypot => Op::Hypot,
        EwBin::CopySign => Op::CopySign,
        EwBin::NextAfter => Op::NextAfter,
        EwBin::Complex => Op::Complex,
    }
}

/// The type in which numbers of two types are compared.
pub(super) fn common(a: Dtype, b: Dtype) -> Dtype {
    use Kind::{Bool, Complex, Float, Signed, Unsigned};
    if a == b {
        return a;
    }
    let larger = if a.size() >= b.size() { a } else { b };
    match (a.kind(), b.kind()) {
        (Bool, _) => b,
        (_, Bool) => a,
        (Complex, _) | (_, Complex) => {
            let parts = a.real().size().max(b.real().size());
            if parts > 4 { Dtype::Complex128 } else { Dtype::Complex64 }
        }
        // Float16 and bfloat16 have no common type of their size.
        (Float, Float) if a.size() == b.size() => Dtype::Float32,
        (Float, Float) => larger,
        (Float, _) if b.size() < a.size().max(2) => a,
        (_, Float) if a.size() < b.size().max(2) => b,
        (Float, _) | (_, Float) => Dtype::Float64,
        (Signed, Signed) | (Unsigned, Unsigned) => larger,
        _ if a == Dtype::UInt64 || b == Dtype::UInt64 => Dtype::Float64,
        _ => Dtype::Int64,
    }
}

/// An operator of one array.
pub(super) fn unary(engine: &Engine, op: EwUny, array: &Array, dtype: Dtype) -> Outcome<Array> {
    let kind = array.dtype().kind();
    let is_whole = matches!(kind, Kind::Bool | Kind::Signed | Kind::Unsigned);
    let same = |truth: bool| Ok(engine.fill(array.shape(), Scalar::from(truth))?);
    match op {
        EwUny::Positive => return Ok(engine.cast(&engine.copy(array)?, dtype)?),
        EwUny::IsNan | EwUny::IsInf if is_whole => return same(false),
        EwUny::IsFinite if is_whole => return same(true),
        EwUny::Floor | EwUny::Ceil | EwUny::Trunc | EwUny::Round
            if is_whole && dtype == array.dtype() =>
        {
            return Ok(engine.copy(array)?);
        }
        EwUny::Real | EwUny::Conj if kind != Kind::Complex => {
            return Ok(engine.cast(&engine.copy(array)?, dtype)?);
        }
        _ => {}
    }
    let typed = match op {
        EwUny::LogicalNot => Dtype::Bool,
        op if op.gives_bool() => array.dtype(),
        EwUny::Abs | EwUny::Real | EwUny::Imag if kind == Kind::Complex => array.dtype(),
        // Functions that whole numbers do not have are computed in f64 and cut off.
        _ if is_whole && !unary_op(op).takes(dtype) && unary_op(op).takes(Dtype::Float64) => {
            Dtype::Float64
        }
        _ => dtype,
    };
    let made = engine.apply(unary_op(op), &[&engine.cast(array, typed)?])?;
    Ok(engine.cast(&made, dtype)?)
}

fn unary_op(op: EwUny) -> Op {
    match op {
        EwUny::Abs => Op::Absolute,
        EwUny::Acos => Op::Acos,
        EwUny::Acosh => Op::Acosh,
        EwUny::Asin => Op::Asin,
        EwUny::Asinh => Op::Asinh,
        EwUny::Atan => Op::Atan,
        EwUny::Atanh => Op::Atanh,
        EwUny::Ceil => Op::Ceil,
        EwUny::Cos => Op::Cos,
        EwUny::Cosh => Op::Cosh,
        EwUny::Erf => Op::Erf,
        EwUny::Exp => Op::Exp,
        EwUny::Expm1 => Op::Expm1,
        EwUny::Floor => Op::Floor,
        EwUny::IsFinite => Op::IsFinite,
        EwUny::IsInf => Op::IsInf,
        EwUny::IsNan => Op::IsNan,
        EwUny::Log => Op::Log,
        EwUny::Log1p => Op::Log1p,
        EwUny::Log2 => Op::Log2,
        EwUny::Log10 => Op::Log10,
        EwUny::Round => Op::Round,
        EwUny::Sign => Op::Sign,
        EwUny::Sin => Op::Sin,
        EwUny::Sinh => Op::Sinh,
        EwUny::Square => Op::Square,
        EwUny::Sqrt => Op::SquareRoot,
        EwUny::Tan => Op::Tan,
        EwUny::Tanh => Op::Tanh,
        EwUny::Trunc => Op::Trunc,
        EwUny::Negative | EwUny::Positive => Op::Negative,
        EwUny::LogicalNot => Op::LogicalNot,
        EwUny::BitNot => Op::BitNot,
        EwUny::Conj => Op::Conjugate,
        EwUny::Real => Op::Real,
        EwUny::Imag => Op::Imag,
        EwUny::SignBit => Op::SignBit,
        EwUny::Reciprocal => Op::Reciprocal,
        EwUny::Exp2 => Op::Exp2,
        EwUny::Erfc => Op::Erfc,
        EwUny::Cbrt => Op::Cbrt,
    }
}

/// `x` where the condition holds, `y` elsewhere.
pub(super) fn choose(
    engine: &Engine,
    condition: &Array,
    x: &Array,
    y: &Array,
    dtype: Dtype,
) -> Outcome<Array> {
    let condition = engine.cast(condition, Dtype::Bool)?;
    let (x, y) = (engine.cast(x, dtype)?, engine.cast(y, dtype)?);
    Ok(engine.apply(Op::Where, &[&condition, &x, &y])?)
}

/// The product of two matrices: one loop over rows, sums and columns.
fn matmul(engine: &Engine, lhs: &Array, rhs: &Array, dtype: Dtype) -> Outcome<Array> {
    let ([m, k], [other, n]) = (lhs.shape(), rhs.shape()) else {
        return Err(problem("a product of matrices needs two dimensions; reshape the operands"));
    };
    if k != other {
        return Err(problem(format!("{k} columns meet {other} rows; they must be as many")));
    }
    let (m, k, n) = (*m, *k, *n);
    let (lhs, rhs) = (engine.cast(lhs, dtype)?, engine.cast(rhs, dtype)?);
    let lhs = lhs.with_axis(2).broadcast(&[m, k, n])?;
    let rhs = rhs.with_axis(0).broadcast(&[m, k, n])?;
    let products = engine.apply(Op::Multiply, &[&lhs, &rhs])?;
    Ok(engine.reduce(&products, Reduction::Sum, &[1])?.without_axes(&[1]))
}
