//! Which operators are single operations of `arith` and `math`.

use crate::enums::{CmpF, CmpI, EwBin, EwUny, Reduce};
use crate::kind::OpKind;
use crate::types::{Scalar, Sign};

/// What a loop does with the elements it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Gives the first.
    First,
    /// One operation on all of them.
    All(OpKind),
    /// One operation on the first, twice.
    Twice(OpKind),
    /// A comparison with its predicate.
    Compare(OpKind, i64),
}

/// The step of an operator on two elements of a type.
pub(super) fn binary(op: EwBin, element: Scalar) -> Option<Step> {
    match element {
        float if float.is_float() => binary_float(op),
        Scalar::BOOL => bits(op).map(Step::All),
        Scalar::Int { sign: Sign::Signless, .. } => binary_int(op),
        _ => None,
    }
}

fn binary_float(op: EwBin) -> Option<Step> {
    let compare = |predicate: CmpF| Some(Step::Compare(OpKind::ArithCmpf, predicate.number()));
    let kind = match op {
        EwBin::Add => OpKind::ArithAddf,
        EwBin::Subtract => OpKind::ArithSubf,
        EwBin::Multiply => OpKind::ArithMulf,
        EwBin::TrueDivide => OpKind::ArithDivf,
        EwBin::Maximum => OpKind::ArithMaximumf,
        EwBin::Minimum => OpKind::ArithMinimumf,
        EwBin::Power => OpKind::MathPowf,
        EwBin::Atan2 => OpKind::MathAtan2,
        EwBin::Equal => return compare(CmpF::Oeq),
        EwBin::NotEqual => return compare(CmpF::Une),
        EwBin::Greater => return compare(CmpF::Ogt),
        EwBin::GreaterEqual => return compare(CmpF::Oge),
        EwBin::Less => return compare(CmpF::Olt),
        EwBin::LessEqual => return compare(CmpF::Ole),
        _ => return None,
    };
    Some(Step::All(kind))
}

fn bits(op: EwBin) -> Option<OpKind> {
    match op {
        EwBin::BitAnd => Some(OpKind::ArithAndi),
        EwBin::BitOr => Some(OpKind::ArithOri),
        EwBin::BitXor => Some(OpKind::ArithXori),
        _ => None,
    }
}

fn binary_int(op: EwBin) -> Option<Step> {
    let compare = |predicate: CmpI| Some(Step::Compare(OpKind::ArithCmpi, predicate.number()));
    let kind = match op {
        EwBin::Add => OpKind::ArithAddi,
        EwBin::Subtract => OpKind::ArithSubi,
        EwBin::Multiply => OpKind::ArithMuli,
        EwBin::Maximum => OpKind::ArithMaxsi,
        EwBin::Minimum => OpKind::ArithMinsi,
        EwBin::Equal => return compare(CmpI::Eq),
        EwBin::NotEqual => return compare(CmpI::Ne),
        EwBin::Greater => return compare(CmpI::Sgt),
        EwBin::GreaterEqual => return compare(CmpI::Sge),
        EwBin::Less => return compare(CmpI::Slt),
        EwBin::LessEqual => return compare(CmpI::Sle),
        other => bits(other)?,
    };
    Some(Step::All(kind))
}

/// The step of an operator on one element of a type.
pub(super) fn unary(op: EwUny, element: Scalar) -> Option<Step> {
    let is_int = matches!(element, Scalar::Int { width: 2.., sign: Sign::Signless });
    match op {
        EwUny::Positive if element.is_float() || is_int => Some(Step::First),
        EwUny::Square if element.is_float() => Some(Step::Twice(OpKind::ArithMulf)),
        EwUny::Square if is_int => Some(Step::Twice(OpKind::ArithMuli)),
        EwUny::Abs if is_int => Some(Step::All(OpKind::MathAbsi)),
        _ if element.is_float() => unary_float(op).map(Step::All),
        _ => None,
    }
}

fn unary_float(op: EwUny) -> Option<OpKind> {
    Some(match op {
        EwUny::Abs => OpKind::MathAbsf,
        EwUny::Atan => OpKind::MathAtan,
        EwUny::Ceil => OpKind::MathCeil,
        EwUny::Cos => OpKind::MathCos,
        EwUny::Erf => OpKind::MathErf,
        EwUny::Exp => OpKind::MathExp,
        EwUny::Expm1 => OpKind::MathExpm1,
        EwUny::Floor => OpKind::MathFloor,
        EwUny::Log => OpKind::MathLog,
        EwUny::Log10 => OpKind::MathLog10,
        EwUny::Log1p => OpKind::MathLog1p,
        EwUny::Log2 => OpKind::MathLog2,
        EwUny::Negative => OpKind::ArithNegf,
        EwUny::Sin => OpKind::MathSin,
        EwUny::Sqrt => OpKind::MathSqrt,
        EwUny::Tan => OpKind::MathTan,
        EwUny::Tanh => OpKind::MathTanh,
        EwUny::Trunc => OpKind::MathTrunc,
        _ => return None,
    })
}

/// The step of a change of element type that loses nothing but precision.
pub(super) fn cast(from: Scalar, to: Scalar) -> Option<Step> {
    let wide = |int: Scalar| match int {
        Scalar::Int { width, sign: Sign::Signless } if width > 1 => Some(width),
        _ => None,
    };
    if from == to {
        return Some(Step::First);
    }
    let kind = match (from.is_float(), to.is_float()) {
        (true, true) if from.n_bytes() < to.n_bytes() => OpKind::ArithExtf,
        (true, true) if from.n_bytes() > to.n_bytes() => OpKind::ArithTruncf,
        (false, true) => wide(from).map(|_| OpKind::ArithSitofp)?,
        (false, false) if wide(from)? < wide(to)? => OpKind::ArithExtsi,
        _ => return None,
    };
    Some(Step::All(kind))
}

/// The step of a reduction, and the number it begins with.
pub(super) fn reduction(op: Reduce, element: Scalar) -> Option<(Step, u8)> {
    let (operator, start) = match op {
        Reduce::Sum => (EwBin::Add, 0),
        Reduce::Prod => (EwBin::Multiply, 1),
        _ => return None,
    };
    Some((binary(operator, element)?, start))
}
