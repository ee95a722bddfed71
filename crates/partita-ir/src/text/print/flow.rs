//! Functions, loops, choices and arithmetic, as MLIR writes them.
//!
//! What such a form cannot say (a loop whose body ends in something else, an attribute of the
//! wrong kind) is left to the generic form, so that any program can be written.

use super::Printer;
use super::attrs::{complex_parts, dict_text, symbol_text};
use super::types::type_text;
use crate::attr::{Attr, Attrs};
use crate::enums::{CmpF, CmpI};
use crate::kind::OpKind;
use crate::module::{Block, Op, Value};
use crate::types::{Scalar, Type};

impl Printer<'_> {
    /// Writes an operation if its form can say it; else writes nothing.
    pub(super) fn upstream(&mut self, op: Op) -> bool {
        let kind = self.module.kind(op);
        match kind {
            OpKind::FuncFunc => self.function(op),
            OpKind::FuncReturn => self.ending(op, "return"),
            OpKind::ScfYield => self.ending(op, "scf.yield"),
            OpKind::FuncCall => self.call(op),
            OpKind::ScfFor => self.for_loop(op),
            OpKind::ScfIf => self.choice(op),
            OpKind::ArithConstant => self.constant(op),
            _ => self.arithmetic(op),
        }
    }

    fn rest_of_attrs(&self, op: Op, shown: &[&str]) -> String {
        let mut attrs = self.module.attrs(op).clone();
        for name in shown {
            attrs.remove(name);
        }
        if attrs.is_empty() { String::new() } else { format!(" {}", dict_text(&attrs, self.form)) }
    }

    fn ending(&mut self, op: Op, word: &str) -> bool {
        let values = self.module.operands(op);
        if !self.module.results(op).is_empty() || !self.module.regions(op).is_empty() {
            return false;
        }
        let attrs = self.rest_of_attrs(op, &[]);
        let text = match values {
            [] => format!("{word}{attrs}"),
            _ => format!("{word} {}{attrs} : {}", self.values(values), self.types(values)),
        };
        self.out.push_str(&text);
        true
    }

    fn call(&mut self, op: Op) -> bool {
        let Some(Attr::Symbol(callee)) = self.module.attr(op, "callee") else { return false };
        if !self.module.regions(op).is_empty() {
            return false;
        }
        let callee = symbol_text(callee);
        let operands = self.values(self.module.operands(op));
        let attrs = self.rest_of_attrs(op, &["callee"]);
        let signature = self.signature(op);
        self.results(op);
        // Inside a loop, other tools do not take a bare `call` for that of `func`.
        self.out.push_str(&format!("func.call {callee}({operands}){attrs} : {signature}"));
        true
    }

    fn function(&mut self, op: Op) -> bool {
        let Some(plain) = self.plain_function(op) else { return false };
        let name = symbol_text(self.module.function_name(op).unwrap_or_default());
        let Some(ty) = self.module.function_type(op) else { return false };
        let dicts = |attr: &str, n: usize| match self.module.attr(op, attr) {
            Some(Attr::Array(dicts)) => dicts.iter().map(|dict| self.dict_behind(dict)).collect(),
            _ => vec![String::new(); n],
        };
        let (on_inputs, on_results) =
            (dicts("arg_attrs", ty.inputs.len()), dicts("res_attrs", ty.results.len()));
        self.names.enter();
        let arguments = match self.module.body(op) {
            Some(body) => self.module.arguments(body).to_vec(),
            None => Vec::new(),
        };
        let mut inputs = Vec::new();
        for (place, ty) in ty.inputs.iter().enumerate() {
            let text = type_text(ty, self.form);
            let name = arguments.get(place).map(|value| self.names.argument(self.module, *value));
            let name = name.map_or(String::new(), |name| format!("{name}: "));
            inputs.push(format!("{name}{text}{}", on_inputs[place]));
        }
        let results = self.function_results(&ty.results, &on_results);
        let visibility = plain.visibility.map_or(String::new(), |word| format!("{word} "));
        let text =
            format!("func.func {visibility}{name}({}){results}{}", inputs.join(", "), plain.attrs);
        self.out.push_str(&text);
        if let Some(body) = self.module.body(op) {
            self.out.push_str(" {\n");
            self.nested(body);
            self.start();
            self.out.push('}');
        }
        self.names.leave();
        true
    }

    fn dict_behind(&self, attr: &Attr) -> String {
        match attr {
            Attr::Dict(dict) if !dict.is_empty() => format!(" {}", dict_text(dict, self.form)),
            _ => String::new(),
        }
    }

    fn function_results(&self, types: &[Type], dicts: &[String]) -> String {
        let is_single = types.len() == 1 && dicts[0].is_empty();
        match types {
            [] => String::new(),
            [one] if is_single && !matches!(one, Type::Function(_)) => {
                format!(" -> {}", type_text(one, self.form))
            }
            _ => {
                let words = types.iter().zip(dicts);
                let words = words.map(|(ty, dict)| format!("{}{dict}", type_text(ty, self.form)));
                format!(" -> ({})", words.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// What the header of a function shows besides its type; nothing if it cannot say it all.
    fn plain_function(&self, op: Op) -> Option<PlainFunction> {
        let ty = self.module.function_type(op)?;
        self.module.function_name(op)?;
        let is_bare = self.module.operands(op).is_empty() && self.module.results(op).is_empty();
        let body_fits = match self.module.regions(op) {
            [] => true,
            [body] => {
                let arguments = self.module.arguments(*body);
                arguments.iter().map(|v| self.module.ty(*v)).eq(ty.inputs.iter())
            }
            _ => false,
        };
        let dicts_fit = |attr: &str, n: usize| match self.module.attr(op, attr) {
            None => true,
            Some(Attr::Array(dicts)) => {
                let has_some = dicts.iter().any(|d| matches!(d, Attr::Dict(d) if !d.is_empty()));
                let are_dicts = dicts.iter().all(|d| matches!(d, Attr::Dict(_)));
                dicts.len() == n && are_dicts && has_some
            }
            Some(_) => false,
        };
        let fits = is_bare
            && body_fits
            && dicts_fit("arg_attrs", ty.inputs.len())
            && dicts_fit("res_attrs", ty.results.len());
        let visibility = match self.module.attr(op, "sym_visibility") {
            None => None,
            Some(Attr::Str(word)) => {
                let known = ["private", "public", "nested"].into_iter().find(|w| *w == &**word);
                Some(known?)
            }
            Some(_) => return None,
        };
        let mut attrs: Attrs = self.module.attrs(op).clone();
        for name in ["sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"] {
            attrs.remove(name);
        }
        let attrs = match attrs.is_empty() {
            true => String::new(),
            false => format!(" attributes {}", dict_text(&attrs, self.form)),
        };
        fits.then_some(PlainFunction { visibility, attrs })
    }

    /// Whether a block ends in `scf.yield`; gives whether that yields nothing and can be left out.
    fn yields(&self, block: Block) -> Option<bool> {
        let last = self.module.last_op(block)?;
        let is_yield = self.module.kind(last) == OpKind::ScfYield
            && self.module.results(last).is_empty()
            && self.module.regions(last).is_empty();
        is_yield
            .then(|| self.module.operands(last).is_empty() && self.module.attrs(last).is_empty())
    }

    fn scf_block(&mut self, block: Block) {
        let leaves_out = self.yields(block) == Some(true);
        let module = self.module;
        let last = module.last_op(block);
        self.out.push_str(" {\n");
        self.indent += 1;
        for op in module.ops(block).filter(|op| !(leaves_out && Some(*op) == last)) {
            self.op(op);
        }
        self.indent -= 1;
        self.start();
        self.out.push('}');
    }

    fn for_loop(&mut self, op: Op) -> bool {
        let [body] = self.module.regions(op) else { return false };
        let body = *body;
        let operands = self.module.operands(op).to_vec();
        let arguments = self.module.arguments(body).to_vec();
        if operands.len() < 3 || self.yields(body).is_none() || !self.loop_types_fit(op, body) {
            return false;
        }
        let (bounds, initial) = operands.split_at(3);
        let bounds: Vec<String> = bounds.iter().map(|v| self.value(*v).to_string()).collect();
        let initial: Vec<String> = initial.iter().map(|v| self.value(*v).to_string()).collect();
        let types = self.types(self.module.results(op));
        self.results(op);
        self.names.enter();
        let names: Vec<String> =
            arguments.iter().map(|v| self.names.argument(self.module, *v)).collect();
        let header = format!("scf.for {} = {}", names[0], bounds[0]);
        self.out.push_str(&format!("{header} to {} step {}", bounds[1], bounds[2]));
        if !initial.is_empty() {
            let pairs: Vec<String> =
                names[1..].iter().zip(&initial).map(|(a, b)| format!("{a} = {b}")).collect();
            self.out.push_str(&format!(" iter_args({}) -> ({types})", pairs.join(", ")));
        }
        if *self.module.ty(arguments[0]) != Type::INDEX {
            let ty = self.ty(arguments[0]);
            self.out.push_str(&format!(" : {ty}"));
        }
        self.scf_block(body);
        self.names.leave();
        let attrs = self.rest_of_attrs(op, &[]);
        self.out.push_str(&attrs);
        true
    }

    /// Whether counter and carried values have the types that the header implies.
    fn loop_types_fit(&self, op: Op, body: Block) -> bool {
        let tys = |values: &[Value]| -> Vec<&Type> {
            values.iter().map(|value| self.module.ty(*value)).collect()
        };
        let operands = tys(self.module.operands(op));
        let arguments = tys(self.module.arguments(body));
        let (bounds, initial) = operands.split_at(3);
        let Some((counter, carried)) = arguments.split_first() else { return false };
        bounds.iter().all(|ty| ty == counter)
            && carried == initial
            && tys(self.module.results(op)) == initial
    }

    fn choice(&mut self, op: Op) -> bool {
        let regions = self.module.regions(op).to_vec();
        let [condition] = self.module.operands(op) else { return false };
        let condition = self.value(*condition).to_string();
        let blocks_fit = regions
            .iter()
            .all(|block| self.yields(*block).is_some() && self.module.arguments(*block).is_empty());
        if !blocks_fit || !matches!(regions.len(), 1 | 2) {
            return false;
        }
        let types = self.types(self.module.results(op));
        let has_results = !self.module.results(op).is_empty();
        self.results(op);
        self.out.push_str(&format!("scf.if {condition}"));
        if has_results {
            self.out.push_str(&format!(" -> ({types})"));
        }
        for (number, block) in regions.into_iter().enumerate() {
            self.out.push_str(if number == 0 { "" } else { " else" });
            self.names.enter();
            self.scf_block(block);
            self.names.leave();
        }
        let attrs = self.rest_of_attrs(op, &[]);
        self.out.push_str(&attrs);
        true
    }

    fn constant(&mut self, op: Op) -> bool {
        let [result] = self.module.results(op) else { return false };
        let ty = self.module.ty(*result);
        let Some(value) = self.module.attr(op, "value") else { return false };
        let attrs = self.rest_of_attrs(op, &["value"]);
        let text = match value {
            Attr::Complex(_, _, scalar) if *ty == Type::Scalar(*scalar) && attrs.is_empty() => {
                format!("complex.constant [{}] : {scalar}", complex_parts(value))
            }
            Attr::Dense(_, dense) if dense == ty => {
                format!("arith.constant{attrs} {}", self.attr(value))
            }
            Attr::Int(..) | Attr::Float(..) if value.scalar() == ty.as_scalar() => {
                format!("arith.constant{attrs} {}", self.attr(value))
            }
            Attr::Bool(truth) if *self.module.ty(*result) == Type::BOOL => {
                format!("arith.constant{attrs} {truth}")
            }
            _ => return false,
        };
        if !self.module.operands(op).is_empty() || !self.module.regions(op).is_empty() {
            return false;
        }
        self.results(op);
        self.out.push_str(&text);
        true
    }

    fn arithmetic(&mut self, op: Op) -> bool {
        let Some(text) = self.arithmetic_text(op) else { return false };
        self.results(op);
        self.out.push_str(&text);
        true
    }

    fn arithmetic_text(&self, op: Op) -> Option<String> {
        self.module.operand_ranges(op)?;
        let [result] = self.module.results(op) else { return None };
        let operands = self.module.operands(op);
        let (kind, result) = (self.module.kind(op), self.module.ty(*result));
        let name = kind.name();
        let values = self.values(operands);
        let (condition, operands) = match kind {
            OpKind::ArithSelect => (Some(operands[0]), &operands[1..]),
            _ => (None, operands),
        };
        let ty = self.module.ty(*operands.first()?);
        let are_alike = operands.iter().all(|value| self.module.ty(*value) == ty);
        let tail = type_text(ty, self.form);
        let predicate = match self.module.attr(op, "predicate") {
            Some(Attr::Int(number, Scalar::I64)) if kind == OpKind::ArithCmpi => {
                format!(" {},", CmpI::from_number(*number)?.name())
            }
            Some(Attr::Int(number, Scalar::I64)) if kind == OpKind::ArithCmpf => {
                format!(" {},", CmpF::from_number(*number)?.name())
            }
            None if !matches!(kind, OpKind::ArithCmpi | OpKind::ArithCmpf) => String::new(),
            _ => return None,
        };
        let attrs = self.rest_of_attrs(op, &["predicate"]);
        let head = format!("{name}{predicate} {values}{attrs}");
        let is_comparison = !predicate.is_empty();
        let condition_type = condition.map(|value| self.module.ty(value));
        let fits = are_alike && self.module.regions(op).is_empty();
        let text = match condition_type {
            Some(Type::Scalar(Scalar::BOOL)) | None if is_comparison || result == ty => {
                format!("{head} : {tail}")
            }
            Some(other) if result == ty => {
                format!("{head} : {}, {tail}", type_text(other, self.form))
            }
            None => format!("{head} : {tail} to {}", type_text(result, self.form)),
            Some(_) => return None,
        };
        let comparison_fits = !is_comparison || result.element() == Some(Scalar::BOOL);
        (fits && comparison_fits).then_some(text)
    }
}

struct PlainFunction {
    visibility: Option<&'static str>,
    attrs: String,
}
