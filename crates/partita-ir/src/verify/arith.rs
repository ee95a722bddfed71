//! Rules of `arith` and `math`.

use super::{Check, VerifyError, shown};
use crate::attr::Attr;
use crate::kind::OpKind;
use crate::types::{Scalar, Type};

impl Check<'_> {
    pub(super) fn arith(&mut self) {
        let kind = self.module.kind(self.op);
        match kind {
            OpKind::ArithConstant => self.constant_type(),
            OpKind::ArithSelect => self.all_alike(1, true),
            OpKind::ArithCmpi | OpKind::ArithCmpf => self.all_alike(0, false),
            _ if is_cast(kind) => self.cast(kind),
            _ => self.all_alike(0, true),
        }
    }

    fn constant_type(&mut self) {
        let wanted = match self.module.attr(self.op, "value") {
            Some(Attr::Dense(_, ty)) => ty.clone(),
            Some(value) => value.scalar().map_or(Type::None, Type::Scalar),
            None => return,
        };
        if *self.result() != wanted {
            let (found, wanted) = (shown(self.result()), shown(&wanted));
            self.report(VerifyError::ConstantType { found, wanted });
        }
    }

    /// Operands from one on have one type, and the result too if it is asked for.
    fn all_alike(&mut self, from: usize, with_result: bool) {
        let types = self.operand_types();
        let Some(wanted) = types.get(from).copied() else { return };
        let result = with_result.then(|| self.result());
        let found = types[from..].iter().copied().chain(result).find(|ty| *ty != wanted);
        if let Some(found) = found {
            let (found, wanted) = (shown(found), shown(wanted));
            let op = self.name();
            self.report(VerifyError::TypesDiffer { op, found, wanted });
        }
    }

    fn cast(&mut self, kind: OpKind) {
        let (from, to) = (self.single("in").clone(), self.result().clone());
        let fits = match (from.element(), to.element()) {
            (Some(a), Some(b)) => cast_fits(kind, a, b) && from.shape() == to.shape(),
            _ => false,
        };
        if !fits {
            let (op, from, to) = (self.name(), shown(&from), shown(&to));
            self.report(VerifyError::CastWidth { op, from, to });
        }
    }
}

fn is_cast(kind: OpKind) -> bool {
    kind.info().is_some_and(|info| info.operands.len() == 1 && info.operands[0].name == "in")
}

fn cast_fits(kind: OpKind, from: Scalar, to: Scalar) -> bool {
    let width = |scalar: Scalar| match scalar {
        Scalar::Int { width, .. } => u32::from(width),
        other => 8 * other.n_bytes() as u32,
    };
    let has_index = from == Scalar::Index || to == Scalar::Index;
    match kind {
        OpKind::ArithIndexCast | OpKind::ArithIndexCastui => has_index && from != to,
        _ if has_index => false,
        OpKind::ArithExtsi | OpKind::ArithExtui | OpKind::ArithExtf => width(from) < width(to),
        OpKind::ArithTrunci | OpKind::ArithTruncf => width(from) > width(to),
        _ => true,
    }
}
