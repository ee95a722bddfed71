//! Rules of functions, loops and choices.

use std::collections::HashSet;

use super::{Check, VerifyError, shown, shown_all};
use crate::attr::Attr;
use crate::diagnostic::Diagnostics;
use crate::kind::OpKind;
use crate::module::{Block, Module};
use crate::text::{Form, type_text};
use crate::types::Type;

/// What concerns all functions together.
pub(super) fn functions(module: &Module, found: &mut Diagnostics) {
    let mut names = HashSet::new();
    for function in module.functions() {
        let name = module.function_name(function).unwrap_or_default();
        if !names.insert(name) {
            let error = VerifyError::FunctionRepeated { name: name.into() };
            found.push(error, module.location(function));
        }
    }
}

impl Check<'_> {
    pub(super) fn flow(&mut self) {
        let at_top = self.module.block_of(self.op) == Some(self.module.top());
        let kind = self.module.kind(self.op);
        if at_top != (kind == OpKind::FuncFunc) {
            let op = self.name();
            return self.report(VerifyError::Placement { op });
        }
        match kind {
            OpKind::FuncFunc => self.function(),
            OpKind::FuncCall => self.call(),
            OpKind::ScfFor => self.for_loop(),
            OpKind::ScfIf => self.choice(),
            OpKind::RegionEnvRegion => {
                let wanted = types(self.module, self.module.results(self.op));
                let block = self.module.regions(self.op)[0];
                self.block_gives(block, OpKind::RegionEnvRegionYield, &wanted);
            }
            _ => {}
        }
    }

    fn function(&mut self) {
        let Some(body) = self.module.body(self.op) else { return };
        let Some(ty) = self.module.function_type(self.op).cloned() else { return };
        if types(self.module, self.module.arguments(body)) != ty.inputs {
            let name = self.module.function_name(self.op).unwrap_or_default().to_string();
            self.report(VerifyError::FunctionArguments { name });
        }
        self.block_gives(body, OpKind::FuncReturn, &ty.results);
    }

    fn call(&mut self) {
        let Some(Attr::Symbol(callee)) = self.module.attr(self.op, "callee") else { return };
        let name = callee.to_string();
        let Some(function) = self.module.function(&name) else {
            return self.report(VerifyError::CalleeUnknown { name });
        };
        let Some(ty) = self.module.function_type(function) else { return };
        let fits = types(self.module, self.module.operands(self.op)) == ty.inputs
            && types(self.module, self.module.results(self.op)) == ty.results;
        if !fits {
            let wanted = type_text(&Type::from(ty.clone()), Form::Rfc);
            self.report(VerifyError::CalleeTypes { name, wanted });
        }
    }

    fn for_loop(&mut self) {
        let body = self.module.regions(self.op)[0];
        let carried = types(self.module, self.module.operand_group(self.op, 3));
        let counter = self.single("lower").clone();
        let mut wanted = vec![counter.clone(); 1];
        wanted.extend(carried.iter().cloned());
        let bounds = [self.single("upper").clone(), self.single("step").clone()];
        let odd = bounds.iter().find(|ty| **ty != counter).cloned();
        let arguments = types(self.module, self.module.arguments(body));
        let results = types(self.module, self.module.results(self.op));
        let op = self.name();
        if let Some(found) = odd {
            let (found, wanted) = (shown(&found), shown(&counter));
            self.report(VerifyError::TypesDiffer { op, found, wanted });
        } else if arguments != wanted {
            let (found, wanted) = (shown_all(&arguments), shown_all(&wanted));
            self.report(VerifyError::TypesDiffer { op, found, wanted });
        } else if results != carried {
            let (found, wanted) = (shown_all(&results), shown_all(&carried));
            self.report(VerifyError::TypesDiffer { op, found, wanted });
        }
        self.block_gives(body, OpKind::ScfYield, &carried);
    }

    fn choice(&mut self) {
        let wanted = types(self.module, self.module.results(self.op));
        let blocks = self.module.regions(self.op).to_vec();
        if blocks.len() == 1 && !wanted.is_empty() {
            self.report(VerifyError::ElseMissing);
        }
        for block in blocks {
            self.block_gives(block, OpKind::ScfYield, &wanted);
        }
    }

    /// A block ends in an operation of a kind that has values of these types.
    fn block_gives(&mut self, block: Block, end: OpKind, wanted: &[Type]) {
        let op = self.name();
        let last = self.module.last_op(block).filter(|last| self.module.kind(*last) == end);
        let Some(last) = last else {
            return self.report(VerifyError::BlockEnd { op, wanted: end.name().into() });
        };
        let found = types(self.module, self.module.operands(last));
        if found != wanted {
            let (found, wanted) = (shown_all(&found), shown_all(wanted));
            let location = self.module.location(last);
            self.found.push(VerifyError::ReturnTypes { owner: op, found, wanted }, location);
        }
    }
}

fn types(module: &Module, values: &[crate::module::Value]) -> Vec<Type> {
    values.iter().map(|value| module.ty(*value).clone()).collect()
}
