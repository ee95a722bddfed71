//! Arithmetic of single numbers: the dialects `arith` and `math`.

use partita_ir::{Attr, CmpF, CmpI, OpKind, Scalar, Sign};

use super::problem::{Outcome, problem};
use super::value::Number;

/// An `arith` or `math` operation on numbers; `ty` is the type of its result, `from` that of its
/// first operand.
pub(super) fn compute(
    kind: OpKind,
    operands: &[Number],
    predicate: Option<&Attr>,
    from: Scalar,
    ty: Scalar,
) -> Outcome<Number> {
    let x = operands.first().copied().unwrap_or(Number::Int(0));
    let y = operands.get(1).copied().unwrap_or(Number::Int(0));
    let predicate = predicate.and_then(Attr::as_int).unwrap_or(0);
    let number = match kind {
        OpKind::ArithCmpi => Number::Int(compare_ints(predicate, x.int(), y.int(), from)?.into()),
        OpKind::ArithCmpf => Number::Int(compare_floats(predicate, x.float(), y.float())?.into()),
        OpKind::ArithSelect => {
            let z = operands.get(2).copied().unwrap_or(y);
            if x.int() == 0 { z } else { y }
        }
        OpKind::ArithExtui | OpKind::ArithIndexCastui | OpKind::ArithTrunci => {
            Number::Int(unsigned(x.int(), from) as i64)
        }
        OpKind::ArithUitofp => Number::Float(unsigned(x.int(), from) as f64),
        OpKind::ArithIndexCast | OpKind::ArithExtsi | OpKind::ArithFptosi => Number::Int(x.int()),
        OpKind::ArithFptoui => Number::Int(x.float() as u64 as i64),
        OpKind::ArithSitofp | OpKind::ArithExtf | OpKind::ArithTruncf => Number::Float(x.float()),
        _ => match integers(kind, x.int(), y.int(), from)? {
            Some(number) => Number::Int(number),
            None => Number::Float(floats(kind, x.float(), y.float())?),
        },
    };
    Ok(fitted(number, ty))
}

/// A number as its type has it: bits cut, floats rounded.
pub(super) fn fitted(number: Number, ty: Scalar) -> Number {
    match (number, ty) {
        (number, Scalar::Index) => Number::Int(number.int()),
        (number, Scalar::Int { width: 1, .. }) => Number::Int(number.int() & 1),
        (number, Scalar::Int { width, sign }) => {
            let shift = 64 - u32::from(width.clamp(1, 64));
            let bits = number.int() << shift;
            let is_unsigned = sign == Sign::Unsigned;
            Number::Int(if is_unsigned { (bits as u64 >> shift) as i64 } else { bits >> shift })
        }
        (number, Scalar::F32) => Number::Float(f64::from(number.float() as f32)),
        (number, Scalar::F64 | Scalar::F16 | Scalar::Bf16) => Number::Float(number.float()),
        (number, Scalar::Complex32 | Scalar::Complex64) => match number {
            Number::Complex(..) => number,
            other => Number::Complex(other.float(), 0.0),
        },
    }
}

/// The bits of a number without a sign.
fn unsigned(number: i64, ty: Scalar) -> u64 {
    match ty {
        Scalar::Int { width, .. } if width < 64 => number as u64 & ((1 << width) - 1),
        _ => number as u64,
    }
}

fn integers(kind: OpKind, x: i64, y: i64, ty: Scalar) -> Outcome<Option<i64>> {
    use OpKind as K;
    let divides = matches!(
        kind,
        K::ArithDivsi
            | K::ArithDivui
            | K::ArithCeildivsi
            | K::ArithFloordivsi
            | K::ArithRemsi
            | K::ArithRemui
    );
    if divides && y == 0 {
        return Err(problem(format!("{x} is divided by 0; divide by another number")));
    }
    let (ux, uy) = (unsigned(x, ty), unsigned(y, ty));
    let shift = u32::try_from(uy).unwrap_or(u32::MAX);
    let floor = |x: i64, y: i64| {
        let quotient = x.wrapping_div(y);
        if x.wrapping_rem(y) != 0 && (x < 0) != (y < 0) { quotient - 1 } else { quotient }
    };
    Ok(Some(match kind {
        K::ArithAddi => x.wrapping_add(y),
        K::ArithSubi => x.wrapping_sub(y),
        K::ArithMuli => x.wrapping_mul(y),
        K::ArithDivsi => x.wrapping_div(y),
        K::ArithDivui => (ux / uy) as i64,
        K::ArithCeildivsi => floor(x.wrapping_neg(), y).wrapping_neg(),
        K::ArithFloordivsi => floor(x, y),
        K::ArithRemsi => x.wrapping_rem(y),
        K::ArithRemui => (ux % uy) as i64,
        K::ArithAndi => x & y,
        K::ArithOri => x | y,
        K::ArithXori => x ^ y,
        K::ArithShli => x.checked_shl(shift).unwrap_or(0),
        K::ArithShrsi => x >> shift.min(63),
        K::ArithShrui => ux.checked_shr(shift).unwrap_or(0) as i64,
        K::ArithMaxsi => x.max(y),
        K::ArithMinsi => x.min(y),
        K::ArithMaxui => ux.max(uy) as i64,
        K::ArithMinui => ux.min(uy) as i64,
        K::MathAbsi => x.wrapping_abs(),
        _ => return Ok(None),
    }))
}

fn floats(kind: OpKind, x: f64, y: f64) -> Outcome<f64> {
    use OpKind as K;
    let either_nan = x.is_nan() || y.is_nan();
    Ok(match kind {
        K::ArithAddf => x + y,
        K::ArithSubf => x - y,
        K::ArithMulf => x * y,
        K::ArithDivf => x / y,
        K::ArithRemf => x % y,
        K::ArithMaximumf => {
            if either_nan {
                f64::NAN
            } else {
                x.max(y)
            }
        }
        K::ArithMinimumf => {
            if either_nan {
                f64::NAN
            } else {
                x.min(y)
            }
        }
        K::ArithNegf => -x,
        K::MathAbsf => x.abs(),
        K::MathAtan => x.atan(),
        K::MathAtan2 => x.atan2(y),
        K::MathCeil => x.ceil(),
        K::MathCos => x.cos(),
        K::MathExp => x.exp(),
        K::MathExpm1 => x.exp_m1(),
        K::MathFloor => x.floor(),
        K::MathLog => x.ln(),
        K::MathLog10 => x.log10(),
        K::MathLog1p => x.ln_1p(),
        K::MathLog2 => x.log2(),
        K::MathPowf => x.powf(y),
        K::MathRound => x.round(),
        K::MathSin => x.sin(),
        K::MathSqrt => x.sqrt(),
        K::MathTan => x.tan(),
        K::MathTanh => x.tanh(),
        K::MathTrunc => x.trunc(),
        other => {
            return Err(problem(format!(
                "{} of single numbers is not known here; use an array",
                other.name()
            )));
        }
    })
}

fn compare_ints(predicate: i64, x: i64, y: i64, ty: Scalar) -> Outcome<bool> {
    let (ux, uy) = (unsigned(x, ty), unsigned(y, ty));
    let unknown = || problem(format!("comparison {predicate} is not known; use 0 to 9"));
    Ok(match CmpI::from_number(predicate).ok_or_else(unknown)? {
        CmpI::Eq => x == y,
        CmpI::Ne => x != y,
        CmpI::Slt => x < y,
        CmpI::Sle => x <= y,
        CmpI::Sgt => x > y,
        CmpI::Sge => x >= y,
        CmpI::Ult => ux < uy,
        CmpI::Ule => ux <= uy,
        CmpI::Ugt => ux > uy,
        CmpI::Uge => ux >= uy,
    })
}

fn compare_floats(predicate: i64, x: f64, y: f64) -> Outcome<bool> {
    let unordered = x.is_nan() || y.is_nan();
    let unknown = || problem(format!("comparison {predicate} is not known; use 0 to 15"));
    Ok(match CmpF::from_number(predicate).ok_or_else(unknown)? {
        CmpF::AlwaysFalse => false,
        CmpF::Oeq => x == y,
        CmpF::Ogt => x > y,
        CmpF::Oge => x >= y,
        CmpF::Olt => x < y,
        CmpF::Ole => x <= y,
        CmpF::One => !unordered && x != y,
        CmpF::Ord => !unordered,
        CmpF::Ueq => unordered || x == y,
        CmpF::Ugt => unordered || x > y,
        CmpF::Uge => unordered || x >= y,
        CmpF::Ult => unordered || x < y,
        CmpF::Ule => unordered || x <= y,
        CmpF::Une => x != y,
        CmpF::Uno => unordered,
        CmpF::AlwaysTrue => true,
    })
}
