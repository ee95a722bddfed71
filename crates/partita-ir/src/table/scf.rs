//! `scf`: loops and choices.

use super::entry::{OpInfo, Traits, TypeRule, any, one};
use crate::kind::OpKind;

pub(super) const OPS: &[OpInfo] = &[
    OpInfo::new(
        OpKind::ScfFor,
        "Counts from a lower bound to below an upper one, carrying values along.",
    )
    .takes(&[
        one("lower", TypeRule::Integer),
        one("upper", TypeRule::Integer),
        one("step", TypeRule::Integer),
        any("initial", TypeRule::Any),
    ])
    .gives(&[any("results", TypeRule::Any)])
    .nests(1, 1),
    OpInfo::new(OpKind::ScfIf, "One of two blocks, as a condition says.")
        .takes(&[one("condition", TypeRule::OneBool)])
        .gives(&[any("results", TypeRule::Any)])
        .nests(1, 2),
    OpInfo::new(OpKind::ScfYield, "Ends a nested block and gives its values.")
        .takes(&[any("results", TypeRule::Any)])
        .promises(Traits::PURE.and(Traits::TERMINATOR)),
];
