//! Writing programs.

mod attrs;
mod flow;
mod names;
mod own;
mod types;

use std::ops::Range;

use super::Form;
use crate::attr::Attr;
use crate::builtin;
use crate::kind::OpKind;
use crate::module::{Block, Module, Op, Value};
use crate::table::{Group, OpInfo};
use crate::types::Type;
pub(crate) use attrs::attr_text;
use attrs::dict_text;
use names::Names;

pub use types::type_text;

/// Dialects whose operations are written as MLIR writes them, in every form.
const UPSTREAM: [&str; 4] = ["func", "arith", "math", "scf"];

struct Printer<'m> {
    module: &'m Module,
    form: Form,
    out: String,
    indent: usize,
    names: Names,
}

/// The text of a program in a form.
///
/// Reading it again gives the same program.
#[must_use]
pub fn print(module: &Module, form: Form) -> String {
    let lowered = if form == Form::Builtin { builtin::lower(module) } else { None };
    let module = lowered.as_ref().unwrap_or(module);
    let mut printer =
        Printer { module, form, out: String::new(), indent: 0, names: Names::default() };
    if module.attrs.is_empty() {
        printer.block(module.top());
        return printer.out;
    }
    let attrs = dict_text(&module.attrs, form);
    printer.line(&format!("module attributes {attrs} {{"));
    printer.nested(module.top());
    printer.line("}");
    printer.out
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        self.start();
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn start(&mut self) {
        self.out.extend(std::iter::repeat_n("  ", self.indent));
    }

    fn nested(&mut self, block: Block) {
        self.indent += 1;
        self.block(block);
        self.indent -= 1;
    }

    fn block(&mut self, block: Block) {
        let module = self.module;
        for op in module.ops(block) {
            self.op(op);
        }
    }

    fn op(&mut self, op: Op) {
        let kind = self.module.kind(op);
        if kind == OpKind::FuncFunc && self.module.block_of(op) == Some(self.module.top()) {
            self.names = Names::default();
        }
        self.start();
        let is_own = self.form == Form::Rfc && !UPSTREAM.contains(&kind.dialect());
        let is_written = match is_own {
            true => self.own(op),
            false => UPSTREAM.contains(&kind.dialect()) && self.upstream(op),
        };
        if !is_written {
            self.generic(op);
        }
        self.out.push('\n');
    }

    fn generic(&mut self, op: Op) {
        self.results(op);
        let operands = self.values(self.module.operands(op));
        self.out.push_str(&format!("{}({operands})", super::lexer::quoted(self.module.name(op))));
        self.regions(op);
        let attrs = self.generic_attrs(op);
        if !attrs.is_empty() {
            self.out.push_str(&format!(" {attrs}"));
        }
        let ty = self.signature(op);
        self.out.push_str(&format!(" : {ty}"));
    }

    fn regions(&mut self, op: Op) {
        let regions = self.module.regions(op);
        if regions.is_empty() {
            return;
        }
        self.out.push_str(" (");
        for (number, block) in regions.iter().enumerate() {
            self.out.push_str(if number == 0 { "{\n" } else { ", {\n" });
            self.names.enter();
            self.block_header(*block);
            self.nested(*block);
            self.names.leave();
            self.start();
            self.out.push('}');
        }
        self.out.push(')');
    }

    fn block_header(&mut self, block: Block) {
        let arguments = self.module.arguments(block);
        let is_bare = self.module.ops(block).next().is_none();
        if arguments.is_empty() && !is_bare {
            return;
        }
        let list = self.typed_arguments(arguments);
        let header = if list.is_empty() { "^bb0:".into() } else { format!("^bb0({list}):") };
        self.line(&header);
    }

    fn typed_arguments(&mut self, arguments: &[Value]) -> String {
        let mut words = Vec::new();
        for value in arguments {
            let name = self.names.argument(self.module, *value);
            words.push(format!("{name}: {}", self.ty(*value)));
        }
        words.join(", ")
    }

    /// `%a = `, `%a:2 = `, `%a, %b = `
    fn results(&mut self, op: Op) {
        let text = self.names.results(self.module, self.module.results(op));
        self.out.push_str(&text);
    }

    fn value(&self, value: Value) -> &str {
        self.names.get(value)
    }

    fn values(&self, values: &[Value]) -> String {
        values.iter().map(|value| self.value(*value)).collect::<Vec<_>>().join(", ")
    }

    fn ty(&self, value: Value) -> String {
        type_text(self.module.ty(value), self.form)
    }

    fn types(&self, values: &[Value]) -> String {
        values.iter().map(|value| self.ty(*value)).collect::<Vec<_>>().join(", ")
    }

    fn signature(&self, op: Op) -> String {
        let operands = self.types(self.module.operands(op));
        format!("({operands}) -> {}", self.result_types(op))
    }

    /// `T` or `(T, U)`.
    fn result_types(&self, op: Op) -> String {
        let results = self.module.results(op);
        let types = self.types(results);
        let is_plain = match results {
            [one] => !matches!(self.module.ty(*one), Type::Function(_)),
            _ => false,
        };
        if is_plain { types } else { format!("({types})") }
    }

    /// The attributes, with group sizes under both names that tools know.
    fn generic_attrs(&self, op: Op) -> String {
        let mut attrs = self.module.attrs(op).clone();
        let lengths = |groups: &[Group], ranges: Option<Vec<Range<usize>>>| {
            let lengths: Vec<usize> = ranges?.into_iter().map(|range| range.len()).collect();
            let written = OpInfo::irdl_lengths(groups, &lengths)?;
            Some(Attr::I32s(written.iter().map(|length| *length as i32).collect()))
        };
        // Upstream operations go without: their groups follow from the number of values.
        let info = self.module.info(op).filter(|info| !UPSTREAM.contains(&info.kind.dialect()));
        if let Some(info) = info {
            if let Some(sizes) = lengths(info.operands, self.module.operand_ranges(op)) {
                attrs.set("operandSegmentSizes", sizes.clone());
                attrs.set("operand_segment_sizes", sizes);
            }
            if let Some(sizes) = lengths(info.results, self.module.result_ranges(op)) {
                attrs.set("resultSegmentSizes", sizes.clone());
                attrs.set("result_segment_sizes", sizes);
            }
        }
        if attrs.is_empty() { String::new() } else { dict_text(&attrs, self.form) }
    }

    fn attr(&self, attr: &Attr) -> String {
        attr_text(attr, self.form)
    }
}
