//! Arithmetic of constants. What would fail when the program runs (a division by zero, a shift by
//! more than the width) is left to the program.

use crate::attr::{Attr, Attrs, Float};
use crate::enums::{CmpF, CmpI};
use crate::kind::OpKind;
use crate::types::{Scalar, Sign};

/// What an operation of `arith` gives.
pub(crate) fn result(kind: OpKind, operands: &[&Attr], attrs: &Attrs, to: Scalar) -> Option<Attr> {
    match (kind, operands) {
        (OpKind::ArithSelect, [condition, yes, no]) => {
            Some(if condition.as_bool()? { (*yes).clone() } else { (*no).clone() })
        }
        (OpKind::ArithCmpi, [a, b]) => compare_integers(a, b, attrs),
        (OpKind::ArithCmpf, [a, b]) => compare_floats(a, b, attrs),
        (_, [a, b]) if to.is_integer() => integer(kind, number(a)?, number(b)?, to),
        (_, [a, b]) => float(kind, floating(a)?, floating(b)?, to),
        (_, [a]) => cast(kind, a, to),
        _ => None,
    }
}

fn width(scalar: Scalar) -> Option<u32> {
    match scalar {
        Scalar::Index => Some(64),
        Scalar::Int { width, sign: Sign::Signless } => Some(u32::from(width)),
        _ => None,
    }
}

/// The number that the lowest bits are, read with a sign; truth values stay 0 and 1.
fn wrapped(number: i64, scalar: Scalar) -> Option<Attr> {
    let unused = 64 - width(scalar)?;
    Some(match scalar {
        Scalar::BOOL => Attr::Bool(number & 1 != 0),
        _ => Attr::Int(number << unused >> unused, scalar),
    })
}

/// The same bits read without a sign.
fn unsigned(number: i64, scalar: Scalar) -> Option<u64> {
    let unused = 64 - width(scalar)?;
    Some((number as u64) << unused >> unused)
}

/// An integer, sign extended: `true` is -1 where signs count.
fn number(attr: &Attr) -> Option<i64> {
    match attr {
        Attr::Int(..) | Attr::Bool(_) => attr.as_int(),
        _ => None,
    }
}

fn integer(kind: OpKind, a: i64, b: i64, to: Scalar) -> Option<Attr> {
    let bits = width(to)?;
    if to == Scalar::BOOL {
        return truth(kind, a != 0, b != 0).map(Attr::Bool);
    }
    let (ua, ub) = (unsigned(a, to)?, unsigned(b, to)?);
    let shift = u32::try_from(b).ok().filter(|shift| *shift < bits);
    let answer = match kind {
        OpKind::ArithAddi => a.wrapping_add(b),
        OpKind::ArithSubi => a.wrapping_sub(b),
        OpKind::ArithMuli => a.wrapping_mul(b),
        OpKind::ArithDivsi => a.checked_div(b)?,
        OpKind::ArithRemsi => a.checked_rem(b)?,
        OpKind::ArithCeildivsi => rounded(a, b, 1)?,
        OpKind::ArithFloordivsi => rounded(a, b, -1)?,
        OpKind::ArithDivui => ua.checked_div(ub)? as i64,
        OpKind::ArithRemui => ua.checked_rem(ub)? as i64,
        OpKind::ArithAndi => a & b,
        OpKind::ArithOri => a | b,
        OpKind::ArithXori => a ^ b,
        OpKind::ArithShli => a << shift?,
        OpKind::ArithShrsi => a >> shift?,
        OpKind::ArithShrui => (ua >> shift?) as i64,
        OpKind::ArithMaxsi => a.max(b),
        OpKind::ArithMinsi => a.min(b),
        OpKind::ArithMaxui => ua.max(ub) as i64,
        OpKind::ArithMinui => ua.min(ub) as i64,
        _ => return None,
    };
    wrapped(answer, to)
}

fn truth(kind: OpKind, a: bool, b: bool) -> Option<bool> {
    match kind {
        OpKind::ArithAndi | OpKind::ArithMuli => Some(a & b),
        OpKind::ArithOri => Some(a | b),
        OpKind::ArithXori | OpKind::ArithAddi | OpKind::ArithSubi => Some(a ^ b),
        _ => None,
    }
}

/// A quotient, one further in a direction where it is not whole and lies on that side.
fn rounded(a: i64, b: i64, direction: i64) -> Option<i64> {
    let (quotient, rest) = (a.checked_div(b)?, a.checked_rem(b)?);
    let side = if (rest < 0) == (b < 0) { 1 } else { -1 };
    Some(if rest != 0 && side == direction { quotient + direction } else { quotient })
}

fn compare_integers(a: &Attr, b: &Attr, attrs: &Attrs) -> Option<Attr> {
    let scalar = a.scalar()?;
    // Truth values are stored as 0 and 1, but compared with a sign they are 0 and -1.
    let signed = |attr: &Attr| number(attr).map(|n| if scalar == Scalar::BOOL { -n } else { n });
    let (sa, sb) = (signed(a)?, signed(b)?);
    let (ua, ub) = (unsigned(number(a)?, scalar)?, unsigned(number(b)?, scalar)?);
    Some(Attr::Bool(match CmpI::from_number(attrs.get("predicate")?.as_int()?)? {
        CmpI::Eq => sa == sb,
        CmpI::Ne => sa != sb,
        CmpI::Slt => sa < sb,
        CmpI::Sle => sa <= sb,
        CmpI::Sgt => sa > sb,
        CmpI::Sge => sa >= sb,
        CmpI::Ult => ua < ub,
        CmpI::Ule => ua <= ub,
        CmpI::Ugt => ua > ub,
        CmpI::Uge => ua >= ub,
    }))
}

fn floating(attr: &Attr) -> Option<f64> {
    match attr {
        Attr::Float(Float(number), Scalar::F32 | Scalar::F64) => Some(*number),
        _ => None,
    }
}

fn rounded_to(number: f64, scalar: Scalar) -> Option<Attr> {
    match scalar {
        Scalar::F64 => Some(Attr::Float(Float(number), scalar)),
        Scalar::F32 => Some(Attr::Float(Float(f64::from(number as f32)), scalar)),
        _ => None,
    }
}

/// One operation in double precision, rounded once more, is the operation in single precision.
fn float(kind: OpKind, a: f64, b: f64, to: Scalar) -> Option<Attr> {
    let answer = match kind {
        OpKind::ArithAddf => a + b,
        OpKind::ArithSubf => a - b,
        OpKind::ArithMulf => a * b,
        OpKind::ArithDivf => a / b,
        _ => return None,
    };
    rounded_to(answer, to)
}

fn compare_floats(a: &Attr, b: &Attr, attrs: &Attrs) -> Option<Attr> {
    let (a, b) = (floating(a)?, floating(b)?);
    let unordered = a.is_nan() || b.is_nan();
    Some(Attr::Bool(match CmpF::from_number(attrs.get("predicate")?.as_int()?)? {
        CmpF::AlwaysFalse => false,
        CmpF::Oeq => a == b,
        CmpF::Ogt => a > b,
        CmpF::Oge => a >= b,
        CmpF::Olt => a < b,
        CmpF::Ole => a <= b,
        CmpF::One => !unordered && a != b,
        CmpF::Ord => !unordered,
        CmpF::Ueq => unordered || a == b,
        CmpF::Ugt => unordered || a > b,
        CmpF::Uge => unordered || a >= b,
        CmpF::Ult => unordered || a < b,
        CmpF::Ule => unordered || a <= b,
        CmpF::Une => unordered || a != b,
        CmpF::Uno => unordered,
        CmpF::AlwaysTrue => true,
    }))
}

fn cast(kind: OpKind, from: &Attr, to: Scalar) -> Option<Attr> {
    let scalar = from.scalar()?;
    match kind {
        OpKind::ArithNegf => rounded_to(-floating(from)?, to),
        OpKind::ArithExtf | OpKind::ArithTruncf => rounded_to(floating(from)?, to),
        OpKind::ArithIndexCast | OpKind::ArithExtsi if scalar != Scalar::BOOL => {
            wrapped(number(from)?, to)
        }
        OpKind::ArithTrunci if scalar != Scalar::BOOL => wrapped(number(from)?, to),
        OpKind::ArithIndexCastui | OpKind::ArithExtui => {
            wrapped(unsigned(number(from)?, scalar)? as i64, to)
        }
        OpKind::ArithSitofp if scalar != Scalar::BOOL => exact(number(from)?, to),
        OpKind::ArithUitofp => exact(i64::try_from(unsigned(number(from)?, scalar)?).ok()?, to),
        _ => None,
    }
}

/// An integer that the floating type has; others are left, since rounding twice may differ.
fn exact(number: i64, to: Scalar) -> Option<Attr> {
    let limit = if to == Scalar::F32 { 1 << 24 } else { 1 << 53 };
    (number.abs() <= limit).then(|| rounded_to(number as f64, to)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(kind: OpKind, a: i64, b: i64) -> Option<i64> {
        let (a, b) = (Attr::index(a), Attr::index(b));
        result(kind, &[&a, &b], &Attrs::new(), Scalar::Index)?.as_int()
    }

    #[test]
    fn quotients_round_as_their_names_say() {
        for (a, b) in [(7_i64, 2_i64), (-7, 2), (7, -2), (-7, -2), (6, 3), (-6, 3), (0, 5)] {
            let exact = a as f64 / b as f64;
            assert_eq!(fold(OpKind::ArithCeildivsi, a, b), Some(exact.ceil() as i64), "{a}/{b}");
            assert_eq!(fold(OpKind::ArithFloordivsi, a, b), Some(exact.floor() as i64), "{a}/{b}");
            assert_eq!(fold(OpKind::ArithDivsi, a, b), Some(exact.trunc() as i64), "{a}/{b}");
        }
        assert_eq!(fold(OpKind::ArithDivsi, 1, 0), None);
        assert_eq!(fold(OpKind::ArithDivsi, i64::MIN, -1), None);
        assert_eq!(fold(OpKind::ArithShli, 1, 64), None);
    }

    #[test]
    fn narrow_integers_wrap() {
        let byte = Scalar::signless(8);
        let (a, b) = (Attr::Int(100, byte), Attr::Int(100, byte));
        let sum = result(OpKind::ArithAddi, &[&a, &b], &Attrs::new(), byte);
        assert_eq!(sum, Some(Attr::Int(-56, byte)));
        let minus = Attr::Int(-1, byte);
        let wide = result(OpKind::ArithExtui, &[&minus], &Attrs::new(), Scalar::I32);
        assert_eq!(wide, Some(Attr::Int(255, Scalar::I32)));
    }

    #[test]
    fn single_precision_is_rounded() {
        let third = [&Attr::Float(Float(1.0), Scalar::F32), &Attr::Float(Float(3.0), Scalar::F32)];
        let found = result(OpKind::ArithDivf, &third, &Attrs::new(), Scalar::F32);
        assert_eq!(found, Some(Attr::Float(Float(f64::from(1.0_f32 / 3.0)), Scalar::F32)));
    }

    #[test]
    fn comparisons_know_signs_and_nan() {
        let compare = |predicate: CmpI| {
            let attrs = Attrs::new().with("predicate", Attr::i64(predicate.number()));
            let (a, b) = (Attr::index(-1), Attr::index(1));
            result(OpKind::ArithCmpi, &[&a, &b], &attrs, Scalar::BOOL)
        };
        assert_eq!(compare(CmpI::Slt), Some(Attr::Bool(true)));
        assert_eq!(compare(CmpI::Ult), Some(Attr::Bool(false)));
        let attrs = Attrs::new().with("predicate", Attr::i64(CmpF::Une.number()));
        let nan = Attr::f64(f64::NAN);
        let found = result(OpKind::ArithCmpf, &[&nan, &nan], &attrs, Scalar::BOOL);
        assert_eq!(found, Some(Attr::Bool(true)));
    }
}
