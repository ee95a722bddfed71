//! Which operators elements of a type have: those that there are loops for.

use super::arrays::shape_of;
use super::{Check, VerifyError};
use crate::enums::{EwBin, EwUny};
use crate::types::{Scalar, Size, shapes_may_equal};

/// What sort of number an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Bool,
    Whole,
    Float,
    Complex,
}

fn sort(element: Scalar) -> Sort {
    match element {
        Scalar::BOOL => Sort::Bool,
        Scalar::Index | Scalar::Int { .. } => Sort::Whole,
        Scalar::F16 | Scalar::Bf16 | Scalar::F32 | Scalar::F64 => Sort::Float,
        Scalar::Complex32 | Scalar::Complex64 => Sort::Complex,
    }
}

impl Check<'_> {
    /// An operator of two arrays, computed in the type of the result, or compared in a common one.
    pub(super) fn binary_operator(&mut self, operator: EwBin) {
        let elements = [self.single("lhs"), self.single("rhs")].map(|ty| ty.element());
        let complex = elements.into_iter().flatten().find(|one| sort(*one) == Sort::Complex);
        let computed = match operator.gives_bool() {
            true => complex.or(elements[0]),
            false => self.result().element(),
        };
        if let Some(element) = computed.filter(|element| !has_binary(operator, sort(*element))) {
            self.no_operator(operator.name(), element);
        }
        if operator == EwBin::MatMul {
            self.matmul();
        }
    }

    pub(super) fn unary_operator(&mut self, operator: EwUny) {
        let (Some(from), Some(to)) = (self.single("source").element(), self.result().element())
        else {
            return;
        };
        if !has_unary(operator, (from, to)) {
            let asked = operator.gives_bool() || sort(from) == Sort::Complex;
            self.no_operator(operator.name(), if asked { from } else { to });
        }
    }

    fn no_operator(&mut self, operator: &str, element: Scalar) {
        let (op, operator, element) = (self.name(), operator.to_string(), element.to_string());
        self.report(VerifyError::OperatorType { op, operator, element });
    }

    /// Rows of the first meet columns of the second.
    fn matmul(&mut self) {
        let (lhs, rhs) = (shape_of(self.single("lhs")), shape_of(self.single("rhs")));
        let ([m, k], [other, n]) = (&lhs[..], &rhs[..]) else {
            let any = [Size::Dynamic; 2];
            let odd = if lhs.len() == 2 { &rhs } else { &lhs };
            return self.same_shape("an operand", odd, &any);
        };
        if !shapes_may_equal(&[*k], &[*other]) {
            return self.same_shape("the second operand", &rhs, &[*k, *n]);
        }
        let (result, wanted) = (shape_of(self.result()), [*m, *n]);
        self.same_shape("the result", &result, &wanted);
    }
}

fn has_binary(operator: EwBin, sort: Sort) -> bool {
    use Sort::{Bool, Complex, Float, Whole};
    match operator {
        EwBin::Add | EwBin::Subtract | EwBin::Multiply | EwBin::Power | EwBin::MatMul => {
            sort != Bool
        }
        EwBin::TrueDivide => matches!(sort, Float | Complex),
        EwBin::Atan2 | EwBin::Hypot | EwBin::LogAddExp | EwBin::CopySign | EwBin::NextAfter => {
            sort == Float
        }
        EwBin::FloorDivide | EwBin::Modulo => matches!(sort, Float | Whole),
        EwBin::Maximum
        | EwBin::Minimum
        | EwBin::Less
        | EwBin::LessEqual
        | EwBin::Greater
        | EwBin::GreaterEqual => sort != Complex,
        EwBin::BitAnd | EwBin::BitOr | EwBin::BitXor => matches!(sort, Whole | Bool),
        EwBin::ShiftLeft | EwBin::ShiftRight => sort == Whole,
        EwBin::Complex => sort == Complex,
        EwBin::Equal
        | EwBin::NotEqual
        | EwBin::LogicalAnd
        | EwBin::LogicalOr
        | EwBin::LogicalXor => true,
    }
}

fn has_unary(operator: EwUny, (from, to): (Scalar, Scalar)) -> bool {
    use Sort::{Bool, Complex, Float, Whole};
    let (source, result) = (sort(from), sort(to));
    match operator {
        EwUny::Positive | EwUny::LogicalNot | EwUny::Real | EwUny::Conj => true,
        EwUny::IsNan | EwUny::IsInf | EwUny::IsFinite => true,
        EwUny::SignBit => source == Float,
        EwUny::Imag => source == Complex,
        EwUny::Abs if source == Complex => true,
        // Whole numbers are rounded already.
        EwUny::Floor | EwUny::Ceil | EwUny::Trunc | EwUny::Round
            if from == to && matches!(source, Whole | Bool) =>
        {
            true
        }
        EwUny::Abs | EwUny::Negative | EwUny::Sign | EwUny::Square | EwUny::Round => result != Bool,
        EwUny::Floor | EwUny::Ceil | EwUny::Trunc => matches!(result, Float | Whole),
        EwUny::Erf | EwUny::Erfc | EwUny::Exp2 | EwUny::Cbrt => matches!(result, Float | Whole),
        EwUny::BitNot => matches!(result, Whole | Bool),
        // Functions of whole numbers are computed in f64 and cut off.
        _ => result != Bool,
    }
}
