//! `arith`: arithmetic of numbers. On tensors it goes element by element, as in MLIR.

use super::entry::{AttrRule, Group, OpInfo, Traits, TypeRule, must, one};
use crate::kind::OpKind;

const TWO_INTEGERS: &[Group] = &[one("lhs", TypeRule::Integer), one("rhs", TypeRule::Integer)];
const INTEGER_RESULT: &[Group] = &[one("result", TypeRule::Integer)];
const TWO_FLOATS: &[Group] = &[one("lhs", TypeRule::Float), one("rhs", TypeRule::Float)];
const FLOAT_RESULT: &[Group] = &[one("result", TypeRule::Float)];
const INTEGER_IN: &[Group] = &[one("in", TypeRule::Integer)];
const INTEGER_OUT: &[Group] = &[one("out", TypeRule::Integer)];
const FLOAT_IN: &[Group] = &[one("in", TypeRule::Float)];
const FLOAT_OUT: &[Group] = &[one("out", TypeRule::Float)];

const fn integers(kind: OpKind, summary: &'static str) -> OpInfo {
    OpInfo::new(kind, summary).takes(TWO_INTEGERS).gives(INTEGER_RESULT).promises(Traits::PURE)
}

const fn floats(kind: OpKind, summary: &'static str) -> OpInfo {
    OpInfo::new(kind, summary).takes(TWO_FLOATS).gives(FLOAT_RESULT).promises(Traits::PURE)
}

const fn between_integers(kind: OpKind, summary: &'static str) -> OpInfo {
    OpInfo::new(kind, summary).takes(INTEGER_IN).gives(INTEGER_OUT).promises(Traits::PURE)
}

const fn between_floats(kind: OpKind, summary: &'static str) -> OpInfo {
    OpInfo::new(kind, summary).takes(FLOAT_IN).gives(FLOAT_OUT).promises(Traits::PURE)
}

const fn to_float(kind: OpKind, summary: &'static str) -> OpInfo {
    OpInfo::new(kind, summary).takes(INTEGER_IN).gives(FLOAT_OUT).promises(Traits::PURE)
}

const fn to_integer(kind: OpKind, summary: &'static str) -> OpInfo {
    OpInfo::new(kind, summary).takes(FLOAT_IN).gives(INTEGER_OUT).promises(Traits::PURE)
}

pub(super) const OPS: &[OpInfo] = &[
    OpInfo::new(OpKind::ArithConstant, "A number that is known.")
        .gives(&[one("result", TypeRule::Any)])
        .knows(&[must("value", AttrRule::Any, "the number")])
        .promises(Traits::PURE),
    integers(OpKind::ArithAddi, "Sum."),
    integers(OpKind::ArithSubi, "Difference."),
    integers(OpKind::ArithMuli, "Product."),
    integers(OpKind::ArithDivsi, "Signed quotient, towards zero."),
    integers(OpKind::ArithDivui, "Unsigned quotient."),
    integers(OpKind::ArithCeildivsi, "Signed quotient, rounded up."),
    integers(OpKind::ArithFloordivsi, "Signed quotient, rounded down."),
    integers(OpKind::ArithRemsi, "Signed remainder, with the sign of the dividend."),
    integers(OpKind::ArithRemui, "Unsigned remainder."),
    integers(OpKind::ArithAndi, "Bits of both."),
    integers(OpKind::ArithOri, "Bits of either."),
    integers(OpKind::ArithXori, "Bits of one but not both."),
    integers(OpKind::ArithShli, "Shift to the left."),
    integers(OpKind::ArithShrsi, "Shift to the right, keeping the sign."),
    integers(OpKind::ArithShrui, "Shift to the right, filling with zeros."),
    integers(OpKind::ArithMaxsi, "Larger signed number."),
    integers(OpKind::ArithMinsi, "Smaller signed number."),
    integers(OpKind::ArithMaxui, "Larger unsigned number."),
    integers(OpKind::ArithMinui, "Smaller unsigned number."),
    floats(OpKind::ArithAddf, "Sum."),
    floats(OpKind::ArithSubf, "Difference."),
    floats(OpKind::ArithMulf, "Product."),
    floats(OpKind::ArithDivf, "Quotient."),
    floats(OpKind::ArithRemf, "Remainder, with the sign of the dividend."),
    floats(OpKind::ArithMaximumf, "Larger number; NaN if either is."),
    floats(OpKind::ArithMinimumf, "Smaller number; NaN if either is."),
    OpInfo::new(OpKind::ArithNegf, "The number with the other sign.")
        .takes(&[one("operand", TypeRule::Float)])
        .gives(&[one("result", TypeRule::Float)])
        .promises(Traits::PURE),
    OpInfo::new(OpKind::ArithCmpi, "Compares integers.")
        .takes(&[one("lhs", TypeRule::Integer), one("rhs", TypeRule::Integer)])
        .gives(&[one("result", TypeRule::Bool)])
        .knows(&[must("predicate", AttrRule::CmpI, "the comparison")])
        .promises(Traits::PURE),
    OpInfo::new(OpKind::ArithCmpf, "Compares floating numbers.")
        .takes(&[one("lhs", TypeRule::Float), one("rhs", TypeRule::Float)])
        .gives(&[one("result", TypeRule::Bool)])
        .knows(&[must("predicate", AttrRule::CmpF, "the comparison")])
        .promises(Traits::PURE),
    OpInfo::new(OpKind::ArithSelect, "One of two values, as a condition says.")
        .takes(&[
            one("condition", TypeRule::Bool),
            one("true_value", TypeRule::Any),
            one("false_value", TypeRule::Any),
        ])
        .gives(&[one("result", TypeRule::Any)])
        .promises(Traits::PURE),
    between_integers(OpKind::ArithIndexCast, "Between index and integers, keeping the sign."),
    between_integers(OpKind::ArithIndexCastui, "Between index and integers, filling with zeros."),
    between_integers(OpKind::ArithExtsi, "To a wider integer, keeping the sign."),
    between_integers(OpKind::ArithExtui, "To a wider integer, filling with zeros."),
    between_integers(OpKind::ArithTrunci, "To a narrower integer."),
    between_floats(OpKind::ArithExtf, "To a wider floating number."),
    between_floats(OpKind::ArithTruncf, "To a narrower floating number."),
    to_float(OpKind::ArithSitofp, "A signed integer as a floating number."),
    to_float(OpKind::ArithUitofp, "An unsigned integer as a floating number."),
    to_integer(OpKind::ArithFptosi, "A floating number cut to a signed integer."),
    to_integer(OpKind::ArithFptoui, "A floating number cut to an unsigned integer."),
];
