//! JSON, as little as the command writes: objects and lists of numbers and words.

use std::fmt;

/// A JSON value.
#[derive(Debug, Clone)]
pub(crate) enum Json {
    Number(u128),
    Signed(i64),
    Word(String),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

impl From<u64> for Json {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl From<u128> for Json {
    fn from(number: u128) -> Self {
        Self::Number(number)
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Self {
        Self::Signed(number)
    }
}

impl From<&str> for Json {
    fn from(word: &str) -> Self {
        Self::Word(word.to_string())
    }
}

impl From<String> for Json {
    fn from(word: String) -> Self {
        Self::Word(word)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Signed(number) => write!(f, "{number}"),
            Self::Word(word) => write_word(f, word),
            Self::List(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Object(fields) => {
                f.write_str("{")?;
                for (at, (name, value)) in fields.iter().enumerate() {
                    write!(f, "{}\"{name}\": {value}", if at > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

fn write_word(f: &mut fmt::Formatter<'_>, word: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in word.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            c if c.is_control() => write!(f, "\\u{:04x}", c as u32)?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_escaped() {
        assert_eq!(Json::from("a\"b\\c\n").to_string(), "\"a\\\"b\\\\c\\u000a\"");
        let list = Json::List(vec![Json::from(1_u64), Json::Object(vec![("x", Json::from("y"))])]);
        assert_eq!(list.to_string(), "[1, {\"x\": \"y\"}]");
    }
}
