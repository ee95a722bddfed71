//! `func`: functions, calls and returns.

use super::entry::{AttrRule, OpInfo, Traits, TypeRule, any, may, must};
use crate::kind::OpKind;

pub(super) const OPS: &[OpInfo] = &[
    OpInfo::new(OpKind::FuncFunc, "A function; without a body it is defined elsewhere.")
        .knows(&[
            must("sym_name", AttrRule::Text, "its name"),
            must("function_type", AttrRule::FunctionType, "types of arguments and results"),
            may("sym_visibility", AttrRule::Text, "`private` where it is not for others"),
        ])
        .nests(0, 1),
    OpInfo::new(OpKind::FuncReturn, "Ends a function and gives its results.")
        .takes(&[any("results", TypeRule::Any)])
        .promises(Traits::PURE.and(Traits::TERMINATOR)),
    OpInfo::new(OpKind::FuncCall, "Calls a function of the module.")
        .takes(&[any("arguments", TypeRule::Any)])
        .gives(&[any("results", TypeRule::Any)])
        .knows(&[must("callee", AttrRule::Symbol, "the function")])
        .promises(Traits::UNKNOWN),
];
