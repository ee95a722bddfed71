//! `math`: elementary functions of numbers. On tensors they go element by element.

use super::entry::{Group, OpInfo, Traits, TypeRule, one};
use crate::kind::OpKind;

const FLOAT_OPERAND: &[Group] = &[one("operand", TypeRule::Float)];
const FLOAT_RESULT: &[Group] = &[one("result", TypeRule::Float)];
const TWO_FLOATS: &[Group] = &[one("lhs", TypeRule::Float), one("rhs", TypeRule::Float)];

const fn unary(kind: OpKind, summary: &'static str) -> OpInfo {
    OpInfo::new(kind, summary).takes(FLOAT_OPERAND).gives(FLOAT_RESULT).promises(Traits::PURE)
}

const fn binary(kind: OpKind, summary: &'static str) -> OpInfo {
    OpInfo::new(kind, summary).takes(TWO_FLOATS).gives(FLOAT_RESULT).promises(Traits::PURE)
}

pub(super) const OPS: &[OpInfo] = &[
    OpInfo::new(OpKind::MathAbsi, "Absolute value of a signed integer.")
        .takes(&[one("operand", TypeRule::Integer)])
        .gives(&[one("result", TypeRule::Integer)])
        .promises(Traits::PURE),
    binary(OpKind::MathAtan2, "Angle of the point (rhs, lhs)."),
    binary(OpKind::MathPowf, "Power."),
    unary(OpKind::MathAbsf, "Absolute value."),
    unary(OpKind::MathAtan, "Arc tangent."),
    unary(OpKind::MathCeil, "The next whole number upwards."),
    unary(OpKind::MathCos, "Cosine."),
    unary(OpKind::MathErf, "Error function."),
    unary(OpKind::MathExp, "Exponential."),
    unary(OpKind::MathExpm1, "Exponential less one."),
    unary(OpKind::MathFloor, "The next whole number downwards."),
    unary(OpKind::MathLog, "Natural logarithm."),
    unary(OpKind::MathLog10, "Logarithm to base 10."),
    unary(OpKind::MathLog1p, "Natural logarithm of one more."),
    unary(OpKind::MathLog2, "Logarithm to base 2."),
    unary(OpKind::MathRound, "The nearest whole number, halves away from zero."),
    unary(OpKind::MathSin, "Sine."),
    unary(OpKind::MathSqrt, "Square root."),
    unary(OpKind::MathTan, "Tangent."),
    unary(OpKind::MathTanh, "Hyperbolic tangent."),
    unary(OpKind::MathTrunc, "The whole number towards zero."),
];
