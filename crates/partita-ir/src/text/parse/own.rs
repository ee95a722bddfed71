//! The specification's form of our own operations, read by the pieces the table has.

use super::super::error::SyntaxError;
use super::super::lexer::Kind;
use super::{Parsed, Parser};
use crate::attr::Attr;
use crate::enums::{EwBin, EwUny, Reduce};
use crate::kind::OpKind;
use crate::module::{Block, NewOp, Op, Value};
use crate::table::{AttrRule, Count, OpInfo, Piece};
use crate::types::{DYNAMIC, Type};

/// What the pieces of an operation gave.
struct Read {
    info: &'static OpInfo,
    /// Values of each group.
    groups: Vec<Vec<Value>>,
    /// Groups in the order in which the text has them.
    order: Vec<usize>,
    attrs: Vec<(&'static str, Attr)>,
    /// Whether all operands stood in one list.
    is_call: bool,
}

impl Parser<'_> {
    pub(super) fn own_op(&mut self, block: Block, kind: OpKind) -> Parsed<Op> {
        let Some(info) = kind.info() else { return Err(self.expected("a known operation")) };
        let at = self.token.start;
        let n_groups = info.operands.len();
        let mut read = Read {
            info,
            groups: vec![Vec::new(); n_groups],
            order: Vec::new(),
            attrs: Vec::new(),
            is_call: false,
        };
        if info.form.is_empty() && self.take('(')? {
            self.call_operands(&mut read)?;
        } else {
            for piece in info.pieces() {
                self.piece(piece, &mut read)?;
            }
        }
        let mut new = NewOp::new(kind);
        for (name, value) in read.attrs.drain(..) {
            new = new.attr(name, value);
        }
        let groups: Vec<&[Value]> = read.groups.iter().map(Vec::as_slice).collect();
        new = if read.is_call { new.operands(groups[0]) } else { new.groups(&groups) };
        if !info.has_segments() {
            new.segments = None;
        }
        self.build(block, new, |parser, op| {
            parser.attr_dict(op)?;
            parser.default_attrs(op, info);
            if parser.module.operand_ranges(op).is_none() {
                let name = info.kind.name().to_string();
                let problem = "do not fit its operands".to_string();
                return Err(parser.fail(SyntaxError::SegmentSizes { name, problem }, at));
            }
            parser.tail(op, &read)
        })
    }

    /// A slice without numbers for its dimensions is that of a 0-d array.
    fn default_attrs(&mut self, op: Op, info: &OpInfo) {
        for name in ["static_offsets", "static_sizes", "static_strides"] {
            if info.attr(name).is_some() && self.module.attr(op, name).is_none() {
                self.set_attr(op, name, Attr::i64s(&[]));
            }
        }
    }

    /// All operands in parentheses: single ones first, groups of any length are equally long.
    fn call_operands(&mut self, read: &mut Read) -> Parsed<()> {
        let at = self.token.start;
        let mut values = self.list_until(')', Self::operand)?.into_iter();
        let operands = read.info.operands;
        let n_single = operands.iter().filter(|group| group.count == Count::One).count();
        let n_open = operands.len() - n_single;
        let left = values.len().checked_sub(n_single);
        let each = left.map(|left| (left / n_open.max(1), left % n_open.max(1)));
        let fits = each.is_some_and(|(_, rest)| rest == 0) && (n_open > 0 || left == Some(0));
        if !fits {
            let name = read.info.kind.name().to_string();
            let problem = "do not fit its operands".to_string();
            return Err(self.fail(SyntaxError::SegmentSizes { name, problem }, at));
        }
        for (place, group) in operands.iter().enumerate() {
            let n = if group.count == Count::One { 1 } else { each.map_or(0, |each| each.0) };
            read.groups[place] = values.by_ref().take(n).collect();
            read.order.push(place);
        }
        Ok(())
    }

    fn piece(&mut self, piece: Piece, read: &mut Read) -> Parsed<()> {
        match piece {
            Piece::Values(group) => self.group_values(group, read),
            Piece::Keyed(word, group) => match self.take_word(word)? {
                true => self.group_values(group, read),
                false => Ok(()),
            },
            Piece::Bracket(group) => {
                self.mark('[')?;
                let values = self.list_until(']', Self::operand)?;
                put(read, group, values);
                Ok(())
            }
            Piece::Call => {
                self.mark('(')?;
                read.groups[0] = self.list_until(')', Self::operand)?;
                read.order.push(0);
                read.is_call = true;
                Ok(())
            }
            Piece::Word(word) => self.word(word),
            Piece::Comma => self.mark(','),
            Piece::Slice => self.slice(read),
            Piece::Operator => self.operator(read),
            Piece::Flag(name) => self.flag(name, read),
            Piece::Numbers(name) => self.numbers(name, read),
        }
    }

    fn group_values(&mut self, group: &'static str, read: &mut Read) -> Parsed<()> {
        let place = read.info.operand_place(group).unwrap_or_default();
        let values = match read.info.operands[place].count {
            Count::One => vec![self.operand()?],
            _ if self.token.kind == Kind::Percent => self.operands()?,
            _ => Vec::new(),
        };
        put(read, group, values);
        Ok(())
    }

    /// `[0, %a][4, %b][1, 1]`
    fn slice(&mut self, read: &mut Read) -> Parsed<()> {
        let lists = [
            ("offsets", "static_offsets"),
            ("sizes", "static_sizes"),
            ("strides", "static_strides"),
        ];
        for (group, attr) in lists {
            self.mark('[')?;
            let mut values = Vec::new();
            let numbers = self.list_until(']', |parser| match parser.token.kind {
                Kind::Percent => {
                    values.push(parser.operand()?);
                    Ok(DYNAMIC)
                }
                _ => parser.signed(),
            })?;
            read.attrs.push((attr, Attr::i64s(&numbers)));
            put(read, group, values);
        }
        Ok(())
    }

    fn operator(&mut self, read: &mut Read) -> Parsed<()> {
        if self.token.kind != Kind::Word {
            return Ok(());
        }
        let (name, at) = (self.token_text(), self.token.start);
        let number = match read.info.attr("op").map(|spec| spec.rule) {
            Some(AttrRule::EwBin) => EwBin::from_name(name).map(EwBin::number),
            Some(AttrRule::EwUny) => EwUny::from_name(name).map(EwUny::number),
            _ => Reduce::from_name(name).map(Reduce::number),
        };
        let Some(number) = number else {
            return Err(self.fail(SyntaxError::OperatorName { name: name.into() }, at));
        };
        read.attrs.push(("op", Attr::Int(number, crate::types::Scalar::I32)));
        self.advance()
    }

    fn flag(&mut self, name: &'static str, read: &mut Read) -> Parsed<()> {
        let is_bool = read.info.attr(name).is_some_and(|spec| spec.rule == AttrRule::Bool);
        // The specification writes the value itself.
        for truth in [true, false] {
            if is_bool && self.take_word(if truth { "true" } else { "false" })? {
                read.attrs.push((name, Attr::Bool(truth)));
                return Ok(());
            }
        }
        if self.take_word(name)? {
            read.attrs.push((name, if is_bool { Attr::Bool(true) } else { Attr::Unit }));
        }
        Ok(())
    }

    fn numbers(&mut self, name: &'static str, read: &mut Read) -> Parsed<()> {
        if self.take('[')? {
            let numbers = self.list_until(']', Self::signed)?;
            read.attrs.push((name, Attr::i64s(&numbers)));
        }
        Ok(())
    }

    /// The types behind an operation: all operands or only those that are no index, in the order
    /// of the text, then an arrow, `to` or `into`, then the results; or the results alone.
    fn tail(&mut self, op: Op, read: &Read) -> Parsed<()> {
        let at = self.token.start;
        self.mark(':')?;
        let mut first = self.tail_types()?;
        let has_results = !read.info.results.is_empty();
        let second = match self.tail_arrow()? {
            true => self.tail_types()?,
            false if has_results => {
                let results = std::mem::take(&mut first);
                return self.finish_tail(op, read, None, results, at);
            }
            false => Vec::new(),
        };
        let results = match has_results {
            true => second,
            false => {
                first.extend(second);
                Vec::new()
            }
        };
        self.finish_tail(op, read, Some(first), results, at)
    }

    fn tail_arrow(&mut self) -> Parsed<bool> {
        if self.token.kind == Kind::Arrow {
            return self.advance().map(|()| true);
        }
        Ok(self.take_word("to")? || self.take_word("into")?)
    }

    /// Types in parentheses, or separated by commas.
    fn tail_types(&mut self) -> Parsed<Vec<Type>> {
        if self.take('(')? {
            return self.list_until(')', Self::ty);
        }
        let mut types = vec![self.ty()?];
        while self.take(',')? {
            types.push(self.ty()?);
        }
        Ok(types)
    }

    fn finish_tail(
        &mut self,
        op: Op,
        read: &Read,
        operands: Option<Vec<Type>>,
        results: Vec<Type>,
        at: usize,
    ) -> Parsed<()> {
        if let Some(types) = operands {
            let all: Vec<Value> =
                read.order.iter().flat_map(|group| read.groups[*group].clone()).collect();
            let is_index = |value: &Value| *self.module.ty(*value) == Type::INDEX;
            let others: Vec<Value> = all.iter().copied().filter(|v| !is_index(v)).collect();
            let short = types.len() == others.len() && types.len() != all.len();
            self.check_types(if short { &others } else { &all }, &types, at)?;
        }
        for ty in results {
            self.module.add_result(op, ty);
        }
        match self.module.result_ranges(op) {
            Some(_) => Ok(()),
            None => {
                let name = read.info.kind.name().to_string();
                let problem = "do not fit its results".to_string();
                Err(self.fail(SyntaxError::SegmentSizes { name, problem }, at))
            }
        }
    }
}

fn put(read: &mut Read, group: &str, values: Vec<Value>) {
    let place = read.info.operand_place(group).unwrap_or_default();
    read.groups[place] = values;
    read.order.push(place);
}
