//! Tokens of a text, with their places.

use super::error::SyntaxError;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `func.func`, `index`
    Word,
    /// `%a`
    Percent,
    /// `#a`
    Hash,
    /// `!a`
    Bang,
    /// `@a`, `@"a"`
    At,
    /// `^bb0`
    Caret,
    /// `12`, `0x1F`
    Int,
    /// `1.0e5`
    Float,
    /// `"text"`
    Str,
    /// `->`
    Arrow,
    /// One of `( ) { } [ ] < > , : = ? * + - / |`, or `::` as two.
    Mark(char),
    /// The end of the text.
    End,
}

/// A token: what it is, and which bytes of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

const MARKS: &[u8] = b"(){}[]<>,:=?*+-/|";

/// The token at or after a byte of the text.
pub(super) fn token_at(text: &str, from: usize) -> Result<Token, (SyntaxError, usize)> {
    let bytes = text.as_bytes();
    let start = skip_blank(bytes, from);
    let Some(first) = bytes.get(start).copied() else {
        return Ok(Token { kind: Kind::End, start, end: start });
    };
    let (kind, end) = match first {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => (Kind::Word, word_end(bytes, start)),
        b'0'..=b'9' => number(bytes, start),
        b'%' => (Kind::Percent, suffix_end(bytes, start + 1)),
        b'#' => (Kind::Hash, suffix_end(bytes, start + 1)),
        b'!' => (Kind::Bang, suffix_end(bytes, start + 1)),
        b'^' => (Kind::Caret, suffix_end(bytes, start + 1)),
        b'@' if bytes.get(start + 1) == Some(&b'"') => (Kind::At, string_end(bytes, start + 1)?),
        b'@' => (Kind::At, suffix_end(bytes, start + 1)),
        b'"' => (Kind::Str, string_end(bytes, start)?),
        b'-' if bytes.get(start + 1) == Some(&b'>') => (Kind::Arrow, start + 2),
        mark if MARKS.contains(&mark) => (Kind::Mark(char::from(mark)), start + 1),
        _ => {
            let character = text[start..].chars().next().unwrap_or('\u{fffd}');
            return Err((SyntaxError::StrayCharacter { character }, start));
        }
    };
    let is_bare = end == start + 1;
    let needs_name =
        matches!(kind, Kind::Percent | Kind::Hash | Kind::Bang | Kind::Caret | Kind::At);
    if needs_name && is_bare {
        return Err((SyntaxError::StrayCharacter { character: char::from(first) }, start));
    }
    Ok(Token { kind, start, end })
}

/// Skips spaces, line ends and comments.
pub(super) fn skip_blank(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\n' | b'\r') => at += 1,
            Some(b'/') if bytes.get(at + 1) == Some(&b'/') => {
                while bytes.get(at).is_some_and(|byte| *byte != b'\n') {
                    at += 1;
                }
            }
            _ => return at,
        }
    }
}

fn run(bytes: &[u8], from: usize, inside: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| inside(**byte)).count()
}

fn word_end(bytes: &[u8], start: usize) -> usize {
    run(bytes, start, |b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'))
}

/// The end of a name after `%`, `#`, `!`, `^` or `@`: it may have `-` inside, but not that of `->`.
fn suffix_end(bytes: &[u8], start: usize) -> usize {
    let inside = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.' | b'-');
    let end = run(bytes, start, inside);
    let before_arrow = end > start && bytes[end - 1] == b'-' && bytes.get(end) == Some(&b'>');
    end - usize::from(before_arrow)
}

fn number(bytes: &[u8], start: usize) -> (Kind, usize) {
    let is_hex = bytes[start] == b'0'
        && bytes.get(start + 1) == Some(&b'x')
        && bytes.get(start + 2).is_some_and(u8::is_ascii_hexdigit);
    if is_hex {
        return (Kind::Int, run(bytes, start + 2, |b| b.is_ascii_hexdigit()));
    }
    let whole = run(bytes, start, |b| b.is_ascii_digit());
    if bytes.get(whole) != Some(&b'.') {
        return (Kind::Int, whole);
    }
    let fraction = run(bytes, whole + 1, |b| b.is_ascii_digit());
    let signed = matches!(bytes.get(fraction + 1), Some(b'+' | b'-'));
    let digits = fraction + 1 + usize::from(signed);
    let has_exponent = matches!(bytes.get(fraction), Some(b'e' | b'E'))
        && bytes.get(digits).is_some_and(u8::is_ascii_digit);
    let end = if has_exponent { run(bytes, digits, |b| b.is_ascii_digit()) } else { fraction };
    (Kind::Float, end)
}

fn string_end(bytes: &[u8], start: usize) -> Result<usize, (SyntaxError, usize)> {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += 2,
            None | Some(b'\n') => return Err((SyntaxError::OpenString, start)),
            Some(_) => at += 1,
        }
    }
}

/// The text a quoted token stands for.
pub(super) fn unquoted(quoted: &str) -> Result<String, SyntaxError> {
    let inner = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(quoted);
    if !inner.contains('\\') {
        return Ok(inner.to_string());
    }
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes().iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let escaped = rest.next().ok_or(SyntaxError::BadEscape)?;
        bytes.push(match escaped {
            b'n' => b'\n',
            b't' => b'\t',
            b'"' | b'\\' => escaped,
            high => hex_byte(high, rest.next()).ok_or(SyntaxError::BadEscape)?,
        });
    }
    String::from_utf8(bytes).map_err(|_| SyntaxError::BadEscape)
}

fn hex_byte(high: u8, low: Option<u8>) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low?)?).ok()
}

/// A text in quotes, with what cannot stand there escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_ascii_control() => out.push_str(&format!("\\{:02X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        let mut at = 0;
        let mut found = Vec::new();
        loop {
            let token = token_at(text, at).expect("tokens");
            if token.kind == Kind::End {
                return found;
            }
            found.push((token.kind, &text[token.start..token.end]));
            at = token.end;
        }
    }

    #[test]
    fn tokens_end_where_they_should() {
        let found = kinds("%a#1->!b.c<-1.5e3> // no\n0x1F 2.e5");
        let wanted = [
            (Kind::Percent, "%a"),
            (Kind::Hash, "#1"),
            (Kind::Arrow, "->"),
            (Kind::Bang, "!b.c"),
            (Kind::Mark('<'), "<"),
            (Kind::Mark('-'), "-"),
            (Kind::Float, "1.5e3"),
            (Kind::Mark('>'), ">"),
            (Kind::Int, "0x1F"),
            (Kind::Float, "2.e5"),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn texts_are_quoted_and_back() {
        for text in ["", "a\"b\\c\nd\te\u{7f}f", "häß\u{1}"] {
            assert_eq!(unquoted(&quoted(text)).as_deref(), Ok(text));
        }
        assert_eq!(unquoted("\"\\q\""), Err(SyntaxError::BadEscape));
        assert_eq!(unquoted("\"\\FF\""), Err(SyntaxError::BadEscape));
    }
}
