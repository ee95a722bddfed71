//! The specification's form of our own operations, written by the pieces the table has.

use super::Printer;
use super::attrs::dict_text;
use crate::attr::{Attr, Attrs};
use crate::builder::Entry;
use crate::enums::{EwBin, EwUny, Reduce};
use crate::module::{Op, Value};
use crate::table::{AttrRule, OpInfo, Piece, Tail};
use crate::types::{Scalar, Type};

/// Operands in the order of the text, and attributes that no piece has shown.
struct Written {
    operands: Vec<Value>,
    attrs: Attrs,
}

impl Printer<'_> {
    /// Writes an operation if the form has a way to; else writes nothing.
    pub(super) fn own(&mut self, op: Op) -> bool {
        let Some(info) = self.module.info(op) else { return false };
        let is_whole = self.module.operand_ranges(op).is_some()
            && self.module.result_ranges(op).is_some()
            && info.n_regions == (0, 0)
            && self.module.regions(op).is_empty();
        if !is_whole {
            return false;
        }
        let mut written = Written { operands: Vec::new(), attrs: self.module.attrs(op).clone() };
        let mut body = String::from(info.kind.name());
        for piece in info.pieces() {
            let Some(text) = self.piece(op, info, piece, &mut written) else { return false };
            body.push_str(&text);
        }
        self.results(op);
        self.out.push_str(&body);
        if !written.attrs.is_empty() {
            let attrs = dict_text(&written.attrs, self.form);
            self.out.push_str(&format!(" {attrs}"));
        }
        let tail = self.tail(op, info, &written.operands);
        self.out.push_str(&tail);
        true
    }

    fn piece(&self, op: Op, info: &OpInfo, piece: Piece, written: &mut Written) -> Option<String> {
        Some(match piece {
            Piece::Values(group) => {
                let values = self.shown(op, group, written);
                if values.is_empty() { values } else { format!(" {values}") }
            }
            Piece::Keyed(word, group) => {
                let values = self.shown(op, group, written);
                if values.is_empty() { values } else { format!(" {word} {values}") }
            }
            Piece::Bracket(group) => format!(" [{}]", self.shown(op, group, written)),
            Piece::Call => {
                written.operands = self.module.operands(op).to_vec();
                format!("({})", self.values(&written.operands))
            }
            Piece::Word(word) => format!(" {word}"),
            Piece::Comma => ",".into(),
            Piece::Slice => self.slice(op, written)?,
            Piece::Operator => operator(info, &mut written.attrs),
            Piece::Flag(name) => match written.attrs.get(name) {
                Some(Attr::Unit | Attr::Bool(true)) => {
                    written.attrs.remove(name);
                    format!(" {name}")
                }
                _ => String::new(),
            },
            Piece::Numbers(name) => match written.attrs.get(name) {
                Some(Attr::I64s(numbers)) => {
                    let text = format!(" {numbers:?}");
                    written.attrs.remove(name);
                    text
                }
                _ => String::new(),
            },
        })
    }

    fn shown(&self, op: Op, group: &str, written: &mut Written) -> String {
        let values = self.module.operands_named(op, group);
        written.operands.extend_from_slice(values);
        self.values(values)
    }

    fn slice(&self, op: Op, written: &mut Written) -> Option<String> {
        let slices = self.module.slices(op)?;
        let mut text = String::new();
        for entries in [&slices.offsets, &slices.sizes, &slices.strides] {
            let mut words = Vec::new();
            for entry in entries {
                words.push(match entry {
                    Entry::Known(number) => number.to_string(),
                    Entry::Value(value) => {
                        written.operands.push(*value);
                        self.value(*value).to_string()
                    }
                });
            }
            text.push_str(&format!(" [{}]", words.join(", ")));
        }
        for name in ["static_offsets", "static_sizes", "static_strides"] {
            written.attrs.remove(name);
        }
        Some(text)
    }

    fn tail(&self, op: Op, info: &OpInfo, operands: &[Value]) -> String {
        let results = self.result_types(op);
        let is_index = |value: &Value| *self.module.ty(*value) == Type::INDEX;
        let others: Vec<Value> = operands.iter().copied().filter(|v| !is_index(v)).collect();
        let has_results = !info.results.is_empty();
        match info.tail {
            Tail::Results => format!(" : {results}"),
            Tail::To if has_results => format!(" : ({}) to {results}", self.types(&others)),
            Tail::Into if !has_results && others.len() == 2 => {
                format!(" : {} into {}", self.ty(others[0]), self.ty(others[1]))
            }
            _ if has_results => format!(" : ({}) -> {results}", self.types(operands)),
            _ => format!(" : ({})", self.types(operands)),
        }
    }
}

/// ` add` for an `op` attribute that is the number of an operator.
fn operator(info: &OpInfo, attrs: &mut Attrs) -> String {
    let Some(Attr::Int(number, Scalar::I32)) = attrs.get("op") else { return String::new() };
    let name = match info.attr("op").map(|spec| spec.rule) {
        Some(AttrRule::EwBin) => EwBin::from_number(*number).map(EwBin::name),
        Some(AttrRule::EwUny) => EwUny::from_number(*number).map(EwUny::name),
        _ => Reduce::from_number(*number).map(Reduce::name),
    };
    let Some(name) = name else { return String::new() };
    attrs.remove("op");
    format!(" {name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Count, DIALECTS};

    fn is_open(info: &OpInfo, group: &str) -> bool {
        info.operand_place(group).is_some_and(|place| info.operands[place].count != Count::One)
    }

    #[test]
    fn every_piece_names_a_group_or_an_attribute_and_every_group_is_written() {
        for info in DIALECTS.iter().flat_map(|dialect| dialect.ops) {
            let mut groups: Vec<&str> = Vec::new();
            for piece in info.pieces() {
                match piece {
                    Piece::Values(group) | Piece::Keyed(_, group) | Piece::Bracket(group) => {
                        assert!(
                            info.operand_place(group).is_some(),
                            "{} {group}",
                            info.kind.name()
                        );
                        groups.push(group);
                    }
                    Piece::Call => groups.extend(info.operands.iter().map(|group| group.name)),
                    Piece::Slice => groups.extend(["offsets", "sizes", "strides"]),
                    Piece::Flag(name) | Piece::Numbers(name) => {
                        assert!(info.attr(name).is_some(), "{} {name}", info.kind.name());
                    }
                    Piece::Operator => assert!(info.attr("op").is_some()),
                    Piece::Word(_) | Piece::Comma => {}
                }
            }
            let missing: Vec<_> =
                info.operands.iter().filter(|group| !groups.contains(&group.name)).collect();
            assert!(missing.is_empty(), "{}: {missing:?}", info.kind.name());
        }
    }

    #[test]
    fn a_list_of_any_length_stands_alone_only_at_the_start() {
        for info in DIALECTS.iter().flat_map(|dialect| dialect.ops) {
            for (place, piece) in info.pieces().into_iter().enumerate() {
                if let Piece::Values(group) = piece {
                    assert!(place == 0 || !is_open(info, group), "{}", info.kind.name());
                }
            }
        }
    }
}
