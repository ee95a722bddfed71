//! MLIR's generic form: `"name"(operands) <{properties}> ({regions}) {attributes} : types`.

use super::super::error::SyntaxError;
use super::super::lexer::Kind;
use super::names::ArgumentName;
use super::{Parsed, Parser};
use crate::attr::{Attr, Attrs};
use crate::kind::OpKind;
use crate::module::{Block, NewOp, Op};
use crate::table::{Group, OpInfo};
use crate::types::Type;

const OPERAND_KEYS: [&str; 2] = ["operandSegmentSizes", "operand_segment_sizes"];
const RESULT_KEYS: [&str; 2] = ["resultSegmentSizes", "result_segment_sizes"];

impl<'t> Parser<'t> {
    pub(super) fn generic_op(&mut self, block: Block) -> Parsed<Op> {
        let at = self.token.start;
        let name = self.string()?;
        self.mark('(')?;
        let operands = self.list_until(')', Self::operand)?;
        if self.is_mark('[') {
            return Err(self.fail(SyntaxError::SeveralBlocks, at));
        }
        let mut new = NewOp::named(&name).operands(&operands);
        new.attrs = self.properties()?;
        let op = self.build(block, new, |parser, op| {
            parser.regions_of(op)?;
            parser.attr_dict(op)?;
            parser.mark(':')?;
            parser.types_of(op)?;
            parser.settle(op, at)
        })?;
        Ok(op)
    }

    /// `({..}, {..})` if it is there.
    fn regions_of(&mut self, op: Op) -> Parsed<()> {
        if !self.take('(')? {
            return Ok(());
        }
        self.list_until(')', |parser| parser.region_of(op)).map(drop)
    }

    fn region_of(&mut self, op: Op) -> Parsed<()> {
        self.mark('{')?;
        let may_lack_block =
            matches!(self.module.kind(op), OpKind::FuncFunc | OpKind::ScfIf) && self.is_mark('}');
        if may_lack_block {
            return self.advance();
        }
        let (names, types) = self.block_header()?;
        let block = self.module.add_region(op, &types);
        self.nested_inside(block, &names)?;
        self.mark('}')
    }

    /// `^bb0(%a: T, %b: T):` if it is there.
    fn block_header(&mut self) -> Parsed<(Vec<ArgumentName<'t>>, Vec<Type>)> {
        let (mut names, mut types) = (Vec::new(), Vec::new());
        if self.token.kind != Kind::Caret {
            return Ok((names, types));
        }
        self.advance()?;
        if self.take('(')? {
            for (name, at, ty) in self.list_until(')', Self::argument)? {
                names.push((name, at));
                types.push(ty);
            }
        }
        self.mark(':')?;
        Ok((names, types))
    }

    fn types_of(&mut self, op: Op) -> Parsed<()> {
        let at = self.token.start;
        let ty = self.function_type()?;
        let operands = self.module.operands(op).to_vec();
        self.check_types(&operands, &ty.inputs, at)?;
        for result in ty.results {
            self.module.add_result(op, result);
        }
        Ok(())
    }

    /// Takes group sizes out of the attributes of a known operation, and other spellings too.
    fn settle(&mut self, op: Op, at: usize) -> Parsed<()> {
        if self.module.name(op) == "complex.constant" {
            return self.settle_complex(op);
        }
        let Some(info) = self.module.info(op) else { return Ok(()) };
        self.drop_defaults(op);
        let operands = self.segments(op, OPERAND_KEYS, info.operands, at)?;
        let results = self.segments(op, RESULT_KEYS, info.results, at)?;
        if let Some(lengths) = operands {
            let values = self.module.operands(op).to_vec();
            self.module.set_operands(op, &values, Some(&lengths));
        }
        if self.module.operand_ranges(op).is_none() {
            return Err(self.bad_segments(op, "do not fit its operands", at));
        }
        let ranges = self.module.result_ranges(op);
        let fits = ranges.is_some_and(|ranges| {
            let lengths: Vec<u32> = ranges.iter().map(|range| range.len() as u32).collect();
            results.is_none_or(|given| given == lengths)
        });
        match fits {
            true => Ok(()),
            false => Err(self.bad_segments(op, "do not fit its results", at)),
        }
    }

    /// Other tools spell out flags that say nothing.
    fn drop_defaults(&mut self, op: Op) {
        for (name, nothing) in
            [("fastmath", "#arith.fastmath<none>"), ("overflowFlags", "#arith.overflow<none>")]
        {
            if self.module.attr(op, name) == Some(&Attr::Other(nothing.into())) {
                self.module.attrs_mut(op).remove(name);
            }
        }
    }

    /// `"complex.constant"() {value = [1.0, 2.0]}` is a constant like others.
    fn settle_complex(&mut self, op: Op) -> Parsed<()> {
        let scalar = self.module.results(op).first().and_then(|v| self.module.ty(*v).as_scalar());
        let parts = match self.module.attr(op, "value") {
            Some(Attr::Array(parts)) => match parts.as_ref() {
                [Attr::Float(re, _), Attr::Float(im, _)] => Some((*re, *im)),
                _ => None,
            },
            _ => None,
        };
        if let (Some((re, im)), Some(scalar)) = (parts, scalar.filter(|s| s.is_complex())) {
            self.module.set_kind(op, OpKind::ArithConstant);
            self.set_attr(op, "value", Attr::Complex(re, im, scalar));
        }
        Ok(())
    }

    fn segments(
        &mut self,
        op: Op,
        keys: [&str; 2],
        groups: &[Group],
        at: usize,
    ) -> Parsed<Option<Vec<u32>>> {
        let attrs: &mut Attrs = self.module.attrs_mut(op);
        let given: Vec<Attr> = keys.iter().filter_map(|key| attrs.remove(key)).collect();
        let mut lengths: Vec<Option<Vec<u32>>> = given.iter().map(lengths_of).collect();
        if lengths.len() == 2 && lengths[0] != lengths[1] {
            return Err(self.bad_segments(op, "are given twice and differ", at));
        }
        match lengths.pop() {
            Some(None) => Err(self.bad_segments(op, "are not array<i32: ..>", at)),
            Some(Some(written)) => match OpInfo::folded_lengths(groups, &written) {
                Some(lengths) => Ok(Some(lengths)),
                None => Err(self.bad_segments(op, "are not as many as its groups", at)),
            },
            None => Ok(None),
        }
    }

    fn bad_segments(&mut self, op: Op, problem: &str, at: usize) -> super::Failed {
        let name = self.module.name(op).to_string();
        self.fail(SyntaxError::SegmentSizes { name, problem: problem.into() }, at)
    }
}

/// Group sizes: `array<i32: 1, 2>`, or `dense<[1, 2]> : vector<2xi32>` of older texts.
fn lengths_of(attr: &Attr) -> Option<Vec<u32>> {
    match attr {
        Attr::I32s(numbers) => numbers.iter().map(|n| u32::try_from(*n).ok()).collect(),
        Attr::Dense(text, _) => {
            let list = text.strip_prefix("<[")?.strip_suffix("]>")?;
            list.split(',').map(|number| number.trim().parse().ok()).collect()
        }
        _ => None,
    }
}
