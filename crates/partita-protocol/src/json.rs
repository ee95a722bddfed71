//! JSON text as a [`Value`] tree: what the command reads.
//!
//! Besides JSON, `NaN` and `Infinity` pass, as Python writes them. Integers keep all their digits.
//! Nesting and length are bounded; the reader never recurses deeper than [`crate::MOST_NESTED`].

use std::fmt;

use crate::value::Value;
use crate::{LONGEST_TEXT, MOST_NESTED};

/// Why a text is no JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonError {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in bytes.
    pub column: usize,
    /// A stable code.
    pub reason: &'static str,
    /// What was found, and what to do.
    pub message: String,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for JsonError {}

/// Reads one JSON value.
///
/// # Errors
/// Text that is no JSON, too long, or nested too deep.
pub fn parse(text: &str) -> Result<Value, JsonError> {
    let mut reader = Reader { text: text.as_bytes(), source: text, at: 0 };
    if text.len() > LONGEST_TEXT {
        return Err(
            reader.wrong("text-too-long", format!("{} bytes; use at most 64 MiB", text.len()))
        );
    }
    let value = reader.value(0)?;
    reader.space();
    if reader.at < reader.text.len() {
        return Err(reader.wrong("json-syntax", "more text behind the value; remove it"));
    }
    Ok(value)
}

struct Reader<'a> {
    text: &'a [u8],
    source: &'a str,
    at: usize,
}

type Read<T> = Result<T, JsonError>;

impl Reader<'_> {
    fn wrong(&self, reason: &'static str, message: impl Into<String>) -> JsonError {
        let before = &self.text[..self.at.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        JsonError { line, column: 1 + before.len() - start, reason, message: message.into() }
    }

    fn space(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, wanted: u8) -> bool {
        self.space();
        let is_there = self.text.get(self.at) == Some(&wanted);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, wanted: u8) -> Read<()> {
        if self.take(wanted) {
            return Ok(());
        }
        Err(self.wrong("json-syntax", format!("expected `{}`", wanted as char)))
    }

    fn value(&mut self, depth: usize) -> Read<Value> {
        if depth > MOST_NESTED {
            let message = format!("nested deeper than {MOST_NESTED} levels; flatten it");
            return Err(self.wrong("too-deep", message));
        }
        self.space();
        match self.text.get(self.at) {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => Ok(Value::Text(self.string()?.into())),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Read<Value> {
        let words = [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("NaN", Value::Float(f64::NAN)),
            ("Infinity", Value::Float(f64::INFINITY)),
        ];
        for (word, value) in words {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong("json-syntax", "expected a value: an object, list, text, number or word"))
    }

    fn list(&mut self, depth: usize) -> Read<Value> {
        self.at += 1;
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.take(b']') {
                return Ok(Value::List(items));
            }
            self.expect(b',')?;
        }
    }

    fn object(&mut self, depth: usize) -> Read<Value> {
        self.at += 1;
        let mut entries = Vec::new();
        if self.take(b'}') {
            return Ok(Value::Dict(entries));
        }
        loop {
            self.space();
            if self.text.get(self.at) != Some(&b'"') {
                return Err(self.wrong("json-syntax", "expected a key in double quotes"));
            }
            let key = Value::Text(self.string()?.into());
            self.expect(b':')?;
            entries.push((key, self.value(depth + 1)?));
            if self.take(b'}') {
                return Ok(Value::Dict(entries));
            }
            self.expect(b',')?;
        }
    }

    fn number(&mut self) -> Read<Value> {
        let start = self.at;
        self.at += usize::from(self.text[self.at] == b'-');
        if self.text[self.at..].starts_with(b"Infinity") {
            self.at += "Infinity".len();
            return Ok(Value::Float(f64::NEG_INFINITY));
        }
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
        while self.text.get(self.at).is_some_and(is_part) {
            self.at += 1;
        }
        let digits = &self.source[start..self.at];
        let body = digits.strip_prefix('-').unwrap_or(digits);
        if !body.is_empty() && body.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(match digits.parse() {
                Ok(number) => Value::Int(number),
                Err(_) => Value::Huge(crate::value::clip(digits).into()),
            });
        }
        match digits.parse() {
            Ok(number) if body.starts_with(|c: char| c.is_ascii_digit()) => {
                Ok(Value::Float(number))
            }
            _ => {
                Err(self
                    .wrong("json-syntax", format!("`{}` is no number", crate::value::clip(digits))))
            }
        }
    }

    fn string(&mut self) -> Read<String> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let start = self.at;
            while self.text.get(self.at).is_some_and(|byte| !matches!(byte, b'"' | b'\\' | 0..=31))
            {
                self.at += 1;
            }
            text.push_str(&self.source[start..self.at]);
            match self.text.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                _ => return Err(self.wrong("json-syntax", "a text that does not end on its line")),
            }
        }
    }

    fn escape(&mut self) -> Read<char> {
        self.at += 2;
        Ok(match self.text.get(self.at - 1) {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'u') => self.unicode()?,
            Some(byte @ (b'"' | b'\\' | b'/')) => *byte as char,
            _ => return Err(self.wrong("json-syntax", "an escape that JSON does not have")),
        })
    }

    /// Four digits, or two groups of four for what lies beyond 16 bits.
    fn unicode(&mut self) -> Read<char> {
        let first = self.hex()?;
        let code = match first {
            0xd800..0xdc00 if self.text[self.at..].starts_with(b"\\u") => {
                self.at += 2;
                let second = self.hex()?;
                0x10000 + ((first - 0xd800) << 10) + (second.wrapping_sub(0xdc00) & 0x3ff)
            }
            _ => first,
        };
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Read<u32> {
        let digits = self.text.get(self.at..self.at + 4).and_then(|d| std::str::from_utf8(d).ok());
        let is_hex = digits.is_some_and(|d| d.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let code = digits.filter(|_| is_hex).and_then(|d| u32::from_str_radix(d, 16).ok());
        self.at = (self.at + 4).min(self.text.len());
        code.ok_or_else(|| self.wrong("json-syntax", "\\u needs four hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_kind() {
        let text = r#" {"a": [1, -2.5e1, true, null, NaN], "é\u0041\ud83d\ude00": "x\n\"", "n": 1267650600228229401496703205376} "#;
        let value = parse(text).expect("JSON");
        let items = value.get("a").and_then(Value::items).expect("a list");
        assert_eq!(items[..3], [Value::Int(1), Value::Float(-25.0), Value::Bool(true)]);
        assert_eq!(value.get("éA😀"), Some(&Value::text("x\n\"")));
        let digits = "1267650600228229401496703205376";
        assert_eq!(value.get("n"), Some(&Value::Huge(digits.into())));
        assert!(matches!(parse(&"9".repeat(60)), Ok(Value::Huge(_))));
    }

    #[test]
    fn wrong_texts_have_a_place() {
        for text in [
            "",
            "{",
            "[1,",
            "[1 2]",
            "{1: 2}",
            "tru",
            "\"a",
            "\"\\x\"",
            "-",
            "1 2",
            "\"\\u12\"",
            "01x",
            "{\"a\" 1}",
            "\u{feff}1",
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!(error.reason, "json-syntax", "{text}");
        }
        let error = parse("{\n  \"a\": ?\n}").expect_err("a question mark");
        assert_eq!((error.line, error.column), (2, 8));
        assert_eq!(parse(&"[".repeat(100_000)).expect_err("deep").reason, "too-deep");
    }

    #[test]
    fn every_cut_of_a_text_is_an_error_or_a_value() {
        let text = r#"{"a": [1, -2.5e1, true, "\u00e9\n"], "b": {"c": null}}"#;
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            assert!(parse(&text[..end]).is_err());
        }
    }
}
