//! Our operations, one after another, in other dialects' words.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::types::{any_type, change_all, is_plain, to_builtin};
use super::{ATTRS, ENV, EXECUTE_REGION, FORM, GROUPS, HELPER, OP, SAME_VALUES};
use super::{has_marks, lengths};
use crate::attr::{Attr, Attrs, DialectAttr};
use crate::kind::OpKind;
use crate::module::{Block, Module, NewOp, Op, Value};
use crate::text::{Form, attr_text};
use crate::types::Type;

/// Dialects that stock tools do not know.
pub(super) const OWN: [&str; 5] = ["ndarray", "dist", "distruntime", "region", "partition"];

/// The program without an operation of ours; nothing if it has none, or has marks of its own.
pub(crate) fn lower(module: &Module) -> Option<Module> {
    let ops = module.walk(module.top());
    let is_own = |op: &Op| OWN.contains(&module.kind(*op).dialect());
    let has_arrays = any_type(module, &ops, |ty| to_builtin(ty) != *ty);
    if !(has_arrays || ops.iter().any(is_own)) || has_marks(module) {
        return None;
    }
    let names = module.functions().filter_map(|f| module.function_name(f)).map(str::to_string);
    let names = names.collect();
    let mut lowering = Lowering { module: module.clone(), names, callees: HashMap::new() };
    for op in ops {
        lowering.op(op);
    }
    let mut module = lowering.module;
    change_all(&mut module, to_builtin);
    module.attrs.set(FORM, Attr::text("builtin"));
    Some(module)
}

pub(super) struct Lowering {
    pub(super) module: Module,
    /// Names of functions.
    names: HashSet<String>,
    /// The function that is called for an operation of certain types.
    callees: HashMap<(OpKind, Vec<Type>, Vec<Type>), Arc<str>>,
}

impl Lowering {
    fn op(&mut self, op: Op) {
        let kind = self.module.kind(op);
        let fits =
            self.module.operand_ranges(op).is_some() && self.module.result_ranges(op).is_some();
        if !OWN.contains(&kind.dialect()) || !fits {
            return;
        }
        if kind == OpKind::RegionEnvRegion {
            self.environment(op);
        } else if self.module.regions(op).is_empty() && kind != OpKind::RegionEnvRegionYield {
            let done = self.is_local(op) && (self.memory(op) || self.loops(op));
            if !done {
                self.call(op);
            }
        }
    }

    /// Whether all arrays of an operation are memory of this rank.
    fn is_local(&self, op: Op) -> bool {
        let values = self.module.operands(op).iter().chain(self.module.results(op));
        values
            .map(|value| self.module.ty(*value))
            .all(|ty| is_plain(ty) || ty.as_scalar().is_some())
    }

    /// Marks an operation that stands for one of ours, and keeps what it does not say itself.
    pub(super) fn standing_for(&self, op: Op, mut new: NewOp) -> NewOp {
        self.keep_attrs(op, &mut new, &[]);
        self.keep_groups(op, &mut new);
        new.location = self.module.location(op);
        new.attr(OP, Attr::text(self.module.name(op)))
    }

    /// Keeps our operation's attributes, but those that are said.
    pub(super) fn keep_attrs(&self, op: Op, new: &mut NewOp, said: &[&str]) {
        let mut attrs = self.module.attrs(op).clone();
        for name in said {
            attrs.remove(name);
        }
        if !attrs.is_empty() {
            new.attrs.set(ATTRS, Attr::Dict(attrs.into()));
        }
    }

    fn keep_groups(&self, op: Op, new: &mut NewOp) {
        if let Some(given) = self.module.segments(op) {
            let given: Vec<usize> = given.iter().map(|length| *length as usize).collect();
            new.attrs.set(GROUPS, lengths(&given));
        }
    }

    /// Puts an operation that others need before one of ours; gives its result.
    pub(super) fn helper(&mut self, place: Op, new: NewOp) -> Value {
        let helper = self.module.insert_before(place, new.attr(HELPER, Attr::Unit));
        self.module.result(helper)
    }

    /// Lets values stand for the results of one of our operations, which goes.
    pub(super) fn replace(&mut self, op: Op, values: &[Value]) {
        for (old, new) in self.module.results(op).to_vec().into_iter().zip(values) {
            let hint = self.module.hint(old).map(str::to_string);
            self.module.set_hint(*new, hint.as_deref());
        }
        self.module.replace_op(op, values);
    }

    fn types(&self, values: &[Value]) -> Vec<Type> {
        values.iter().map(|value| self.module.ty(*value).clone()).collect()
    }

    fn call(&mut self, op: Op) {
        let operands = self.module.operands(op).to_vec();
        let results = self.types(self.module.results(op));
        let callee = self.callee(self.module.kind(op), self.types(&operands), results.clone());
        let mut new = NewOp::new(OpKind::FuncCall).operands(&operands).results(results);
        new.attrs.set("callee", Attr::Symbol(callee));
        self.keep_attrs(op, &mut new, &[]);
        self.keep_groups(op, &mut new);
        new.location = self.module.location(op);
        let call = self.module.insert_before(op, new);
        let values = self.module.results(call).to_vec();
        self.replace(op, &values);
    }

    /// The function that does what an operation does, declared where it is first needed.
    fn callee(&mut self, kind: OpKind, inputs: Vec<Type>, results: Vec<Type>) -> Arc<str> {
        let key = (kind, inputs, results);
        if let Some(name) = self.callees.get(&key) {
            return Arc::clone(name);
        }
        let base = format!("partita.{}", kind.name());
        let mut name = base.clone();
        for number in 1.. {
            if self.names.insert(name.clone()) {
                break;
            }
            name = format!("{base}_{number}");
        }
        let function = self.module.declare_function(&name, &key.1, &key.2);
        self.module.attrs_mut(function).set(OP, Attr::text(kind.name()));
        let name: Arc<str> = name.into();
        self.callees.insert(key, Arc::clone(&name));
        name
    }

    /// What is nested in an environment stays nested, and sees its arguments under other names.
    fn environment(&mut self, op: Op) {
        let [body] = self.module.regions(op) else { return };
        let body = *body;
        let last = self.module.last_op(body);
        let Some(last) = last.filter(|op| self.module.kind(*op) == OpKind::RegionEnvRegionYield)
        else {
            return;
        };
        let mut attrs = Attrs::new();
        for (name, value) in self.module.attrs(op).iter() {
            attrs.set(name.to_string(), spelled(value));
        }
        self.pass_arguments(op, body);
        self.module.set_kind(last, OpKind::ScfYield);
        self.module.rename(op, EXECUTE_REGION);
        self.module.set_operands(op, &[], None);
        let marks = Attrs::new().with(OP, Attr::text(OpKind::RegionEnvRegion.name()));
        *self.module.attrs_mut(op) = marks.with(ATTRS, Attr::Dict(attrs.into()));
    }

    fn pass_arguments(&mut self, op: Op, body: Block) {
        let operands = self.module.operands(op).to_vec();
        let arguments = self.module.arguments(body).to_vec();
        if operands.is_empty() && arguments.is_empty() {
            return;
        }
        // Stock tools want a result: where the body has no arguments, nobody uses it.
        let (values, mark) = match arguments.is_empty() {
            true => (&operands, Attr::text("operands")),
            false => (&arguments, Attr::Unit),
        };
        let types = self.types(values);
        let new = NewOp::named(SAME_VALUES).operands(&operands).results(types);
        let same = self.module.prepend(body, new.attr(HELPER, mark));
        for (argument, value) in arguments.into_iter().zip(self.module.results(same).to_vec()) {
            let hint = self.module.hint(argument).map(str::to_string);
            self.module.set_hint(value, hint.as_deref());
            self.module.replace_uses(argument, value);
        }
        self.module.clear_arguments(body);
    }
}

/// An environment as a dictionary that any tool can read.
fn spelled(attr: &Attr) -> Attr {
    match attr {
        Attr::Dialect(DialectAttr::Env(_)) => {
            let text = attr_text(attr, Form::Generic);
            Attr::Dict(Arc::new(Attrs::new().with(ENV, Attr::text(&text))))
        }
        other => other.clone(),
    }
}
