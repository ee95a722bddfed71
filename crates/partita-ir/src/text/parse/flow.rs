//! Functions, loops, choices and arithmetic, as MLIR writes them.

use super::super::error::SyntaxError;
use super::super::lexer::Kind;
use super::names::ArgumentName;
use super::{Parsed, Parser};
use crate::attr::{Attr, Attrs};
use crate::enums::{CmpF, CmpI};
use crate::kind::OpKind;
use crate::module::{Block, NewOp, Op, Value};
use crate::types::{FunctionType, Type};

type Argument<'t> = (&'t str, usize, Type);
type FunctionArgument<'t> = (Option<ArgumentName<'t>>, Type, Attrs);

impl<'t> Parser<'t> {
    /// `%a: T`
    pub(super) fn argument(&mut self) -> Parsed<Argument<'t>> {
        if self.token.kind != Kind::Percent {
            return Err(self.expected("an argument such as %a: index"));
        }
        let (name, at) = (self.token_name(), self.token.start);
        self.advance()?;
        self.mark(':')?;
        Ok((name, at, self.ty()?))
    }

    pub(super) fn func_op(&mut self, block: Block, kind: OpKind) -> Parsed<Op> {
        match kind {
            OpKind::FuncFunc => self.function(block),
            OpKind::FuncCall => self.call(block),
            _ => self.ending(block, OpKind::FuncReturn),
        }
    }

    /// `return %a, %b : T, U`
    fn ending(&mut self, block: Block, kind: OpKind) -> Parsed<Op> {
        let has_values = self.token.kind == Kind::Percent;
        let values = if has_values { self.operands()? } else { Vec::new() };
        self.build(block, NewOp::new(kind).operands(&values), |parser, op| {
            parser.attr_dict(op)?;
            if values.is_empty() {
                return Ok(());
            }
            let at = parser.token.start;
            parser.mark(':')?;
            let mut types = vec![parser.ty()?];
            while parser.take(',')? {
                types.push(parser.ty()?);
            }
            parser.check_types(&values, &types, at)
        })
    }

    fn call(&mut self, block: Block) -> Parsed<Op> {
        let callee = self.symbol()?;
        self.mark('(')?;
        let operands = self.list_until(')', Self::operand)?;
        let new = NewOp::new(OpKind::FuncCall).operands(&operands);
        self.build(block, new.attr("callee", Attr::Symbol(callee)), |parser, op| {
            parser.attr_dict(op)?;
            let at = parser.token.start;
            parser.mark(':')?;
            let ty = parser.function_type()?;
            parser.check_types(&operands, &ty.inputs, at)?;
            for result in ty.results {
                parser.module.add_result(op, result);
            }
            Ok(())
        })
    }

    fn function(&mut self, block: Block) -> Parsed<Op> {
        let visibility = match self.token_text() {
            word @ ("private" | "public" | "nested") if self.token.kind == Kind::Word => {
                self.advance()?;
                Some(Attr::text(word))
            }
            _ => None,
        };
        let name = self.symbol()?;
        self.mark('(')?;
        let arguments = self.list_until(')', Self::function_argument)?;
        let results = match self.token.kind {
            Kind::Arrow => {
                self.advance()?;
                self.function_results()?
            }
            _ => Vec::new(),
        };
        let mut attrs = Attrs::new();
        if self.take_word("attributes")? {
            attrs = self.dict()?;
        }
        attrs.set("sym_name", Attr::Str(name));
        if let Some(visibility) = visibility {
            attrs.set("sym_visibility", visibility);
        }
        keep_dicts(&mut attrs, "arg_attrs", arguments.iter().map(|one| &one.2));
        keep_dicts(&mut attrs, "res_attrs", results.iter().map(|one| &one.1));
        let inputs: Vec<Type> = arguments.iter().map(|one| one.1.clone()).collect();
        let results = results.into_iter().map(|one| one.0).collect();
        let ty = FunctionType { inputs: inputs.clone(), results };
        attrs.set("function_type", Attr::Type(ty.into()));
        let mut new = NewOp::new(OpKind::FuncFunc);
        new.attrs = attrs;
        self.build(block, new, |parser, op| {
            if !parser.is_mark('{') {
                return Ok(());
            }
            let body = parser.module.add_region(op, &inputs);
            let named: Option<Vec<(&str, usize)>> = arguments.iter().map(|one| one.0).collect();
            let Some(names) = named else {
                return Err(parser.expected("names for the arguments of a function with a body"));
            };
            parser.nested(body, &names)
        })
    }

    /// `%a: T {attributes}`, or the type alone where the function has no body.
    fn function_argument(&mut self) -> Parsed<FunctionArgument<'t>> {
        let (name, ty) = match self.token.kind {
            Kind::Percent => {
                let (name, at, ty) = self.argument()?;
                (Some((name, at)), ty)
            }
            _ => (None, self.ty()?),
        };
        let attrs = if self.is_mark('{') { self.dict()? } else { Attrs::new() };
        self.skip_location()?;
        Ok((name, ty, attrs))
    }

    fn function_results(&mut self) -> Parsed<Vec<(Type, Attrs)>> {
        if !self.is_mark('(') {
            return Ok(vec![(self.ty()?, Attrs::new())]);
        }
        self.advance()?;
        self.list_until(')', |parser| {
            let ty = parser.ty()?;
            let attrs = if parser.is_mark('{') { parser.dict()? } else { Attrs::new() };
            Ok((ty, attrs))
        })
    }

    pub(super) fn scf_op(&mut self, block: Block, kind: OpKind) -> Parsed<Op> {
        match kind {
            OpKind::ScfFor => self.for_loop(block),
            OpKind::ScfIf => self.choice(block),
            _ => self.ending(block, OpKind::ScfYield),
        }
    }

    /// `scf.for %i = %a to %b step %c iter_args(%x = %y) -> (T) : index { .. }`
    fn for_loop(&mut self, block: Block) -> Parsed<Op> {
        if self.token.kind != Kind::Percent {
            return Err(self.expected("the name of the counter"));
        }
        let counter = (self.token_name(), self.token.start);
        self.advance()?;
        self.mark('=')?;
        let lower = self.operand()?;
        self.word("to")?;
        let upper = self.operand()?;
        self.word("step")?;
        let step = self.operand()?;
        let mut names = vec![counter];
        let mut initial = Vec::new();
        let mut types = Vec::new();
        if self.take_word("iter_args")? {
            self.mark('(')?;
            for (name, at, value) in self.list_until(')', Self::carried)? {
                names.push((name, at));
                initial.push(value);
            }
            let at = self.token.start;
            self.arrow()?;
            types = self.types()?;
            self.check_types(&initial, &types, at)?;
        }
        let at = self.token.start;
        let counter_type = if self.take(':')? { self.ty()? } else { Type::INDEX };
        self.check_types(&[lower, upper, step], &vec![counter_type.clone(); 3], at)?;
        let mut arguments = vec![counter_type];
        arguments.extend(types.iter().cloned());
        let new = NewOp::new(OpKind::ScfFor).operands(&[lower, upper, step]).operands(&initial);
        let op = self.build(block, new.results(types).region(&arguments), |parser, op| {
            let body = parser.module.regions(op)[0];
            parser.nested(body, &names)?;
            parser.close_with_yield(body);
            parser.attr_dict(op)
        })?;
        Ok(op)
    }

    fn carried(&mut self) -> Parsed<(&'t str, usize, Value)> {
        if self.token.kind != Kind::Percent {
            return Err(self.expected("a carried value such as %a = %b"));
        }
        let (name, at) = (self.token_name(), self.token.start);
        self.advance()?;
        self.mark('=')?;
        Ok((name, at, self.operand()?))
    }

    fn choice(&mut self, block: Block) -> Parsed<Op> {
        let condition = self.operand()?;
        let mut results = Vec::new();
        if self.token.kind == Kind::Arrow {
            self.advance()?;
            results = self.types()?;
        }
        let new = NewOp::new(OpKind::ScfIf).operands(&[condition]).results(results);
        self.build(block, new.region(&[]), |parser, op| {
            let then = parser.module.regions(op)[0];
            parser.nested(then, &[])?;
            parser.close_with_yield(then);
            if parser.take_word("else")? {
                let otherwise = parser.module.add_region(op, &[]);
                parser.nested(otherwise, &[])?;
                parser.close_with_yield(otherwise);
            }
            parser.attr_dict(op)
        })
    }

    /// A block that yields nothing may leave the yield out.
    fn close_with_yield(&mut self, block: Block) {
        let last = self.module.last_op(block).map(|op| self.module.kind(op));
        if last != Some(OpKind::ScfYield) {
            self.module.append(block, NewOp::new(OpKind::ScfYield));
        }
    }

    pub(super) fn arith_op(&mut self, block: Block, kind: OpKind, name: &str) -> Parsed<Op> {
        match kind {
            OpKind::ArithConstant if name == "complex.constant" => self.complex_constant(block),
            OpKind::ArithConstant => self.constant(block),
            OpKind::ArithCmpi | OpKind::ArithCmpf => self.comparison(block, kind),
            _ => self.arithmetic(block, kind),
        }
    }

    fn constant(&mut self, block: Block) -> Parsed<Op> {
        let mut attrs = Attrs::new();
        self.more_attrs(&mut attrs)?;
        let at = self.token.start;
        let value = self.attr()?;
        let ty = match (&value, value.scalar()) {
            (Attr::Dense(_, ty), _) => ty.clone(),
            (_, Some(scalar)) => scalar.into(),
            (_, None) => {
                let wanted = "a number or dense<..>".to_string();
                let found = "another attribute".to_string();
                return Err(self.fail(SyntaxError::Expected { wanted, found }, at));
            }
        };
        let mut new = NewOp::new(OpKind::ArithConstant).result(ty);
        new.attrs = attrs;
        self.build(block, new.attr("value", value), |_, _| Ok(()))
    }

    /// `complex.constant [1.0, 2.0] : complex<f64>`
    fn complex_constant(&mut self, block: Block) -> Parsed<Op> {
        let at = self.token.start;
        // Bits of a part are those of the type, which comes last: look there first.
        let list = self.verbatim('[')?;
        self.mark(':')?;
        let scalar = self.scalar()?;
        if !scalar.is_complex() {
            return Err(self.too_large(&list, &scalar.to_string(), at));
        }
        let behind = self.token;
        self.lex_from(at)?;
        self.mark('[')?;
        let re = self.float_of(scalar)?;
        self.mark(',')?;
        let im = self.float_of(scalar)?;
        self.mark(']')?;
        self.token = behind;
        let new = NewOp::new(OpKind::ArithConstant).result(scalar.into());
        self.build(block, new.attr("value", Attr::Complex(re, im, scalar)), |_, _| Ok(()))
    }

    /// `arith.cmpi slt, %a, %b : T`
    fn comparison(&mut self, block: Block, kind: OpKind) -> Parsed<Op> {
        let (name, at) = (self.token_text(), self.token.start);
        let number = match kind {
            OpKind::ArithCmpi => CmpI::from_name(name).map(CmpI::number),
            _ => CmpF::from_name(name).map(CmpF::number),
        };
        let Some(number) = number else {
            return Err(self.fail(SyntaxError::OperatorName { name: name.into() }, at));
        };
        self.advance()?;
        self.mark(',')?;
        let operands = self.operands()?;
        let new = NewOp::new(kind).operands(&operands).attr("predicate", Attr::i64(number));
        self.build(block, new, |parser, op| {
            let ty = parser.common_type(op)?;
            parser.module.add_result(op, with_element_bool(&ty));
            Ok(())
        })
    }

    /// `arith.addi %a, %b : T`, `arith.extf %a : T to U`, `arith.select %c, %a, %b : T`
    fn arithmetic(&mut self, block: Block, kind: OpKind) -> Parsed<Op> {
        let operands = self.operands()?;
        self.build(block, NewOp::new(kind).operands(&operands), |parser, op| {
            let ty = parser.common_type(op)?;
            let result = if parser.take_word("to")? { parser.ty()? } else { ty };
            parser.module.add_result(op, result);
            match parser.module.operand_ranges(op) {
                Some(_) => Ok(()),
                None => Err(parser.expected("as many operands as the operation takes")),
            }
        })
    }

    /// `fastmath<..> {..} : T`, the type of the operands; a condition has its own.
    fn common_type(&mut self, op: Op) -> Parsed<Type> {
        let flags =
            [("fastmath", "fastmath", "fastmath"), ("overflow", "overflowFlags", "overflow")];
        for (word, attr, dialect_attr) in flags {
            if self.take_word(word)? {
                let text = format!("#arith.{dialect_attr}{}", self.verbatim('<')?);
                self.set_attr(op, attr, Attr::Other(text.into()));
            }
        }
        self.attr_dict(op)?;
        let at = self.token.start;
        self.mark(':')?;
        let mut ty = self.ty()?;
        let mut operands = self.module.operands(op).to_vec();
        if self.module.kind(op) == OpKind::ArithSelect && !operands.is_empty() {
            let condition = operands.remove(0);
            let condition_type = if self.is_mark(',') {
                self.advance()?;
                std::mem::replace(&mut ty, self.ty()?)
            } else {
                Type::BOOL
            };
            self.check_types(&[condition], &[condition_type], at)?;
        }
        self.check_types(&operands, &vec![ty.clone(); operands.len()], at)?;
        Ok(ty)
    }
}

/// The type with truth values for its elements.
fn with_element_bool(ty: &Type) -> Type {
    match ty {
        Type::Tensor(tensor) => {
            let mut tensor = (**tensor).clone();
            tensor.element = crate::types::Scalar::BOOL;
            tensor.into()
        }
        _ => Type::BOOL,
    }
}

/// Attributes of arguments as one list, if there are any.
fn keep_dicts<'a>(attrs: &mut Attrs, name: &'static str, dicts: impl Iterator<Item = &'a Attrs>) {
    let dicts: Vec<Attr> = dicts.map(|dict| Attr::Dict(dict.clone().into())).collect();
    let is_empty = |dict: &Attr| matches!(dict, Attr::Dict(dict) if dict.is_empty());
    if !dicts.iter().all(is_empty) {
        attrs.set(name, Attr::Array(dicts.into()));
    }
}
