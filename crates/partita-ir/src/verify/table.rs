//! Operations held against the table.

use super::{Check, VerifyError, shown, value_text};
use crate::attr::Attr;
use crate::enums::{CmpF, CmpI, DType, EwBin, EwUny, Reduce};
use crate::table::{AttrRule, AttrSpec, Count, Group, OpInfo, TypeRule};
use crate::types::{Scalar, Type};

impl Check<'_> {
    pub(super) fn against_table(&mut self, info: &'static OpInfo) {
        self.operands(info);
        self.results(info);
        for spec in info.attrs {
            self.attribute(spec);
        }
        let n_regions = self.module.regions(self.op).len();
        let (fewest, most) = info.n_regions;
        if !(fewest..=most).contains(&n_regions) {
            let wanted =
                if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
            let op = self.name();
            self.report(VerifyError::RegionCount { op, found: n_regions, wanted });
        }
    }

    fn operands(&mut self, info: &OpInfo) {
        let operands = self.module.operands(self.op);
        let Some(ranges) = self.module.operand_ranges(self.op) else {
            let (op, found) = (self.name(), operands.len());
            let wanted = groups_text(info.operands);
            self.report(VerifyError::OperandCount {
                op,
                group: "all groups".into(),
                found,
                wanted,
            });
            return;
        };
        for (group, range) in info.operands.iter().zip(ranges) {
            for value in &operands[range] {
                let ty = self.module.ty(*value);
                if !allows(group.rule, ty) {
                    let error = VerifyError::OperandType {
                        op: self.name(),
                        group: group.name.into(),
                        value: value_text(self.module, *value),
                        found: shown(ty),
                        wanted: group.rule.words().into(),
                    };
                    self.report(error);
                }
            }
        }
    }

    fn results(&mut self, info: &OpInfo) {
        let results = self.module.results(self.op);
        let Some(ranges) = self.module.result_ranges(self.op) else {
            let (op, found) = (self.name(), results.len());
            self.report(VerifyError::ResultCount { op, found, wanted: groups_text(info.results) });
            return;
        };
        for (group, range) in info.results.iter().zip(ranges) {
            for value in &results[range] {
                let ty = self.module.ty(*value);
                if !allows(group.rule, ty) {
                    let (op, found) = (self.name(), shown(ty));
                    let wanted = group.rule.words().into();
                    self.report(VerifyError::ResultType { op, found, wanted });
                }
            }
        }
    }

    fn attribute(&mut self, spec: &AttrSpec) {
        let (op, name) = (self.name(), spec.name.to_string());
        let wanted = spec.rule.words().to_string();
        match self.module.attr(self.op, spec.name) {
            None if spec.required => self.report(VerifyError::AttrMissing { op, name, wanted }),
            Some(attr) if !attr_allows(spec.rule, attr) => {
                self.report(VerifyError::AttrKind { op, name, wanted });
            }
            _ => {}
        }
    }
}

fn groups_text(groups: &[Group]) -> String {
    if groups.is_empty() {
        return "none".into();
    }
    let word = |group: &Group| match group.count {
        Count::One => format!("one for {}", group.name),
        Count::Optional => format!("none or one for {}", group.name),
        Count::Any => format!("any number for {}", group.name),
    };
    groups.iter().map(word).collect::<Vec<_>>().join(", ")
}

fn allows(rule: TypeRule, ty: &Type) -> bool {
    let is_value = matches!(ty, Type::Scalar(_) | Type::Tensor(_));
    let element = ty.element();
    match rule {
        TypeRule::Any => true,
        TypeRule::Index => *ty == Type::INDEX,
        TypeRule::OneBool => *ty == Type::BOOL,
        TypeRule::Bool => is_value && element == Some(Scalar::BOOL),
        TypeRule::Integer => is_value && element.is_some_and(Scalar::is_integer),
        TypeRule::Float => is_value && element.is_some_and(Scalar::is_float),
        TypeRule::Number => matches!(ty, Type::Scalar(_)),
        TypeRule::Array => ty.as_array().is_some(),
        TypeRule::DistArray => ty.dist().is_some(),
        TypeRule::LocalArray => match ty {
            Type::Array(array) => array.dist().is_none(),
            Type::MemRef(_) | Type::Tensor(_) => true,
            _ => false,
        },
        TypeRule::MemRef => matches!(ty, Type::MemRef(_)),
        TypeRule::Tensor => matches!(ty, Type::Tensor(_)),
        TypeRule::Handle => *ty == Type::Handle,
    }
}

fn attr_allows(rule: AttrRule, attr: &Attr) -> bool {
    let number = match attr {
        Attr::Int(number, _) => Some(*number),
        _ => None,
    };
    match rule {
        AttrRule::Any => true,
        AttrRule::Int => number.is_some(),
        AttrRule::Bool => attr.as_bool().is_some(),
        AttrRule::Text => attr.as_str().is_some(),
        AttrRule::Unit => *attr == Attr::Unit,
        AttrRule::I64s => attr.as_i64s().is_some(),
        AttrRule::EwBin => number.and_then(EwBin::from_number).is_some(),
        AttrRule::EwUny => number.and_then(EwUny::from_number).is_some(),
        AttrRule::Reduce => number.and_then(Reduce::from_number).is_some(),
        AttrRule::CmpI => number.and_then(CmpI::from_number).is_some(),
        AttrRule::CmpF => number.and_then(CmpF::from_number).is_some(),
        AttrRule::DType => number.and_then(DType::from_number).is_some(),
        AttrRule::FunctionType => matches!(attr, Attr::Type(Type::Function(_))),
        AttrRule::Symbol => matches!(attr, Attr::Symbol(_)),
        AttrRule::Number => matches!(attr, Attr::Int(..) | Attr::Float(..)),
    }
}
