//! Plain values: what a protocol dictionary is made of, without Python.

use std::fmt::Write;
use std::sync::Arc;

use crate::location::Device;

/// A value of a protocol dictionary.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `None`.
    Null,
    /// `True` or `False`; no integer here.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer beyond 64 bits, by its first digits.
    Huge(Arc<str>),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Text(Arc<str>),
    /// A list.
    List(Vec<Value>),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A dictionary, in its order.
    Dict(Vec<(Value, Value)>),
    /// Anything else: an array, a function, a handle.
    Thing(Thing),
}

/// An object that is known by its type and by what it can do.
#[derive(Debug, Clone, PartialEq)]
pub struct Thing {
    /// Name of its type.
    pub kind: Arc<str>,
    /// What it can do.
    pub role: Role,
    /// Which of the caller's objects it is.
    pub number: usize,
}

/// What an object can do.
#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    /// Nothing that concerns us: a handle.
    Handle,
    /// It can be called.
    Function,
    /// It is an array, or a table with rows and columns.
    Array(Arc<Facts>),
}

/// What is known of an array.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// Its extents.
    pub shape: Vec<u64>,
    /// Its element type, by NumPy's name; empty for tables.
    pub dtype: Arc<str>,
    /// Why it can serve as no buffer, if it cannot.
    pub defect: Option<Arc<str>>,
    /// Where its elements lie, if it says so.
    pub device: Option<Device>,
    /// Its elements, where they are integers that matter.
    pub numbers: Option<Arc<[i64]>>,
}

impl Value {
    /// Text from a word.
    #[must_use]
    pub fn text(word: &str) -> Self {
        Self::Text(word.into())
    }

    /// The items of a list or tuple.
    #[must_use]
    pub fn items(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) | Self::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a dictionary.
    #[must_use]
    pub fn entries(&self) -> Option<&[(Self, Self)]> {
        match self {
            Self::Dict(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value under a key that is text.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let entries = self.entries()?;
        entries.iter().find(|(found, _)| found.is_text(key)).map(|(_, value)| value)
    }

    /// Whether this is the given text.
    #[must_use]
    pub fn is_text(&self, word: &str) -> bool {
        matches!(self, Self::Text(text) if &**text == word)
    }

    /// What is known of an array.
    #[must_use]
    pub fn facts(&self) -> Option<&Facts> {
        match self {
            Self::Thing(Thing { role: Role::Array(facts), .. }) => Some(facts),
            _ => None,
        }
    }

    /// A word for its kind, as Python says it.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Null => "None",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::Huge(_) => "int",
            Self::Float(_) => "float",
            Self::Text(_) => "str",
            Self::List(_) => "list",
            Self::Tuple(_) => "tuple",
            Self::Dict(_) => "dict",
            Self::Thing(thing) => &thing.kind,
        }
    }

    /// What kind of thing it is, and which if that says more: `a str "x"`, `a numpy.ndarray`.
    #[must_use]
    pub fn kind_and_words(&self) -> String {
        let (kind, words) = (format!("a {}", clip(self.kind())), self.words());
        if words == kind { kind } else { format!("{kind}, {words}") }
    }

    /// The value in a few words for a message, never long.
    #[must_use]
    pub fn words(&self) -> String {
        let mut words = String::new();
        self.write_words(&mut words, 2);
        clip(&words)
    }

    fn write_words(&self, out: &mut String, n_levels: usize) {
        // Writing to a string cannot fail.
        let _ = match self {
            Self::Null => out.write_str("None"),
            Self::Bool(flag) => out.write_str(if *flag { "True" } else { "False" }),
            Self::Int(number) => write!(out, "{number}"),
            Self::Huge(digits) => out.write_str(digits),
            Self::Float(number) => write!(out, "{number:?}"),
            Self::Text(text) => write!(out, "{:?}", clip(text)),
            Self::Dict(entries) => write!(out, "a dict of {} entries", entries.len()),
            Self::Thing(thing) => write!(out, "a {}", clip(&thing.kind)),
            Self::List(items) if n_levels == 0 => write!(out, "a list of {}", items.len()),
            Self::Tuple(items) if n_levels == 0 => write!(out, "a tuple of {}", items.len()),
            Self::List(items) => {
                write_items(out, items, ("[", "]"), n_levels);
                Ok(())
            }
            Self::Tuple(items) => {
                write_items(
                    out,
                    items,
                    if items.len() == 1 { ("(", ",)") } else { ("(", ")") },
                    n_levels,
                );
                Ok(())
            }
        };
    }
}

fn write_items(out: &mut String, items: &[Value], (open, close): (&str, &str), n_levels: usize) {
    const MOST: usize = 8;
    out.push_str(open);
    for (at, item) in items.iter().take(MOST).enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        item.write_words(out, n_levels - 1);
    }
    if items.len() > MOST {
        out.push_str(", …");
    }
    out.push_str(close);
}

/// Text of at most sixty characters.
pub(crate) fn clip(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// Numbers as a tuple, as Python writes it.
pub(crate) fn tuple_words<T: ToString>(numbers: &[T]) -> String {
    let words: Vec<String> = numbers.iter().map(T::to_string).collect();
    if words.len() == 1 { format!("({},)", words[0]) } else { format!("({})", words.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_written_as_in_python() {
        let numbers = |n: i64| (0..n).map(Value::Int).collect::<Vec<_>>();
        let tuples = [0, 1, 2].map(|n| Value::Tuple(numbers(n)).words());
        assert_eq!(tuples, ["()", "(0,)", "(0, 1)"]);
        let lists = [0, 1, 2].map(|n| Value::List(numbers(n)).words());
        assert_eq!(lists, ["[]", "[0]", "[0, 1]"]);
        assert_eq!(Value::Tuple(numbers(9)).words(), "(0, 1, 2, 3, 4, 5, 6, 7, …)");
        assert_eq!([0, 1, 2].map(|n| tuple_words(&vec![7; n])), ["()", "(7,)", "(7, 7)"]);
    }

    #[test]
    fn deep_values_are_counted_instead_of_shown() {
        let deep = Value::List(vec![Value::List(vec![Value::Tuple(vec![Value::Null; 3])])]);
        assert_eq!(deep.words(), "[[a tuple of 3]]");
    }
}
