//! One operation, blocks of operations.

use super::super::error::SyntaxError;
use super::super::lexer::Kind;
use super::{Parsed, Parser};
use crate::attr::Attr;
use crate::kind::OpKind;
use crate::module::{Block, Location, NewOp, Op, Value};
use crate::types::Type;

impl<'t> Parser<'t> {
    /// One operation, to the end of a block.
    pub(super) fn op(&mut self, block: Block) -> Parsed<()> {
        let names = match self.token.kind {
            Kind::Percent => self.result_names()?,
            _ => Vec::new(),
        };
        let op = match self.op_behind_names(block) {
            Ok(op) => op,
            Err(failed) => {
                self.poison(&names);
                return Err(failed);
            }
        };
        self.skip_location()?;
        self.name_results(op, &names).inspect_err(|_| self.poison(&names))
    }

    fn op_behind_names(&mut self, block: Block) -> Parsed<Op> {
        let location = self.location();
        let op = match self.token.kind {
            Kind::Str => self.generic_op(block)?,
            Kind::Word => self.custom_op(block)?,
            Kind::Caret => {
                let at = self.token.start;
                return Err(self.fail(SyntaxError::SeveralBlocks, at));
            }
            _ => return Err(self.expected("an operation")),
        };
        self.module.set_location(op, location);
        Ok(op)
    }

    pub(super) fn location(&mut self) -> Location {
        self.places.location(self.text, self.token.start)
    }

    fn custom_op(&mut self, block: Block) -> Parsed<Op> {
        let (name, at) = (self.token_text(), self.token.start);
        let kind = match name {
            "return" => OpKind::FuncReturn,
            "call" => OpKind::FuncCall,
            "func" => OpKind::FuncFunc,
            "complex.constant" => OpKind::ArithConstant,
            _ => OpKind::from_name(name),
        };
        let nests_or_unknown = match kind.info() {
            None => true,
            Some(_) => kind == OpKind::RegionEnvRegion,
        };
        if nests_or_unknown {
            return Err(self.fail(SyntaxError::UnknownOperation { name: name.into() }, at));
        }
        self.advance()?;
        match kind.dialect() {
            "func" => self.func_op(block, kind),
            "scf" => self.scf_op(block, kind),
            "arith" | "math" => self.arith_op(block, kind, name),
            _ => self.own_op(block, kind),
        }
    }

    /// Operations up to the `}` that closes the block, which is left.
    ///
    /// Errors inside are noted and passed over.
    pub(super) fn block_body(&mut self, block: Block) -> Parsed<()> {
        while !self.is_mark('}') {
            if self.token.kind == Kind::End {
                return Err(self.expected("`}`"));
            }
            let start = self.token.start;
            if self.op(block).is_err() {
                self.recover(start);
            }
        }
        Ok(())
    }

    /// A nested block with its own names: `{ .. }`, with arguments already there.
    pub(super) fn nested(&mut self, block: Block, arguments: &[(&'t str, usize)]) -> Parsed<()> {
        self.mark('{')?;
        self.nested_inside(block, arguments)?;
        self.mark('}')
    }

    /// The same behind the `{` and up to the `}`.
    pub(super) fn nested_inside(
        &mut self,
        block: Block,
        arguments: &[(&'t str, usize)],
    ) -> Parsed<()> {
        self.scopes.push(Default::default());
        let done = self.deeper(|parser| {
            let values = parser.module.arguments(block).to_vec();
            for ((name, at), value) in arguments.iter().zip(values) {
                parser.set_hint(value, name);
                parser.define(name, Some(vec![value]), *at)?;
            }
            parser.block_body(block)
        });
        self.scopes.pop();
        done
    }

    /// Builds an operation; errors behind it erase it again.
    pub(super) fn build(
        &mut self,
        block: Block,
        new: NewOp,
        rest: impl FnOnce(&mut Self, Op) -> Parsed<()>,
    ) -> Parsed<Op> {
        let op = self.module.append(block, new);
        match rest(self, op) {
            Ok(()) => Ok(op),
            Err(failed) => {
                self.module.erase(op);
                Err(failed)
            }
        }
    }

    /// Checks that values have the types that are written behind them.
    pub(super) fn check_types(
        &mut self,
        values: &[Value],
        types: &[Type],
        at: usize,
    ) -> Parsed<()> {
        if values.len() != types.len() {
            let (n_types, n_operands) = (types.len(), values.len());
            return Err(self.fail(SyntaxError::OperandTypeCount { n_types, n_operands }, at));
        }
        for (value, ty) in values.iter().zip(types) {
            if self.module.ty(*value) != ty {
                let shown = |ty: &Type| super::super::print::type_text(ty, super::super::Form::Rfc);
                let error = SyntaxError::OperandType {
                    name: self.shown(*value),
                    used: shown(ty),
                    defined: shown(self.module.ty(*value)),
                };
                return Err(self.fail(error, at));
            }
        }
        Ok(())
    }

    /// `{..}` behind an operation, as its attributes.
    pub(super) fn attr_dict(&mut self, op: Op) -> Parsed<()> {
        let mut attrs = std::mem::take(self.module.attrs_mut(op));
        let done = self.more_attrs(&mut attrs);
        *self.module.attrs_mut(op) = attrs;
        done
    }

    pub(super) fn set_attr(&mut self, op: Op, name: &'static str, value: Attr) {
        self.module.attrs_mut(op).set(name, value);
    }
}
