//! Attributes.

use super::super::Form;
use super::super::floats::float_text;
use super::super::lexer::quoted;
use super::types::{env_text, type_text};
use crate::attr::{Attr, Attrs, DialectAttr, Placement};
use crate::types::{Scalar, Sign};

/// The text of an attribute.
pub(crate) fn attr_text(attr: &Attr, form: Form) -> String {
    match attr {
        Attr::Int(number, scalar) => format!("{} : {scalar}", int_text(*number, *scalar)),
        Attr::Float(number, scalar) => format!("{} : {scalar}", float_text(number.0, *scalar)),
        Attr::Complex(..) => format!("[{}]", complex_parts(attr)),
        Attr::Bool(truth) => truth.to_string(),
        Attr::Str(text) => quoted(text),
        Attr::Array(items) => {
            let words: Vec<String> = items.iter().map(|item| attr_text(item, form)).collect();
            format!("[{}]", words.join(", "))
        }
        Attr::I64s(numbers) => numbers_text("i64", numbers),
        Attr::I32s(numbers) => numbers_text("i32", numbers),
        Attr::Unit => "unit".into(),
        Attr::Dict(dict) => dict_text(dict, form),
        Attr::Type(ty) => type_text(ty, form),
        Attr::Symbol(name) => symbol_text(name),
        Attr::Dense(text, ty) => format!("dense{text} : {}", type_text(ty, form)),
        Attr::Dialect(DialectAttr::Env(env)) => env_text(env, form),
        Attr::Dialect(DialectAttr::Partition { sparse, dims }) => {
            format!("#partition.encoding<{}, {}>", attr_text(sparse, form), placements(dims))
        }
        Attr::Other(text) => text.to_string(),
    }
}

fn placements(dims: &[Placement]) -> String {
    let words: Vec<String> = dims.iter().map(|dim| quoted(dim.name())).collect();
    format!("[{}]", words.join(", "))
}

/// An integer as its type shows it.
pub(super) fn int_text(number: i64, scalar: Scalar) -> String {
    match scalar {
        Scalar::Int { sign: Sign::Unsigned, .. } => (number as u64).to_string(),
        _ => number.to_string(),
    }
}

/// `1.0, 2.0` of a complex number; its parts as attributes have a type.
pub(super) fn complex_parts(attr: &Attr) -> String {
    let Attr::Complex(re, im, scalar) = attr else { return String::new() };
    format!("{}, {}", float_text(re.0, *scalar), float_text(im.0, *scalar))
}

fn numbers_text<T: ToString>(element: &str, numbers: &[T]) -> String {
    if numbers.is_empty() {
        return format!("array<{element}>");
    }
    let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("array<{element}: {}>", words.join(", "))
}

/// `@a`, `@"a b"`, `@a::@b`
pub(super) fn symbol_text(name: &str) -> String {
    let words: Vec<String> = name.split("::@").map(one_symbol).collect();
    words.join("::")
}

fn one_symbol(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    match starts && name.chars().all(is_plain) {
        true => format!("@{name}"),
        false => format!("@{}", quoted(name)),
    }
}

/// `{a = 1 : i64, b}`
pub(super) fn dict_text(attrs: &Attrs, form: Form) -> String {
    let words: Vec<String> =
        attrs.iter().map(|(name, value)| entry_text(name, value, form)).collect();
    format!("{{{}}}", words.join(", "))
}

fn entry_text(name: &str, value: &Attr, form: Form) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let name = if starts && name.chars().all(is_plain) { name.into() } else { quoted(name) };
    match value {
        Attr::Unit => name,
        value => format!("{name} = {}", attr_text(value, form)),
    }
}
