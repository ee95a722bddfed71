//! The parser's tokens: looking, taking, failing, going on after an error.

use std::sync::Arc;

use super::super::error::SyntaxError;
use super::super::lexer::{Kind, Token, token_at, unquoted};
use super::{Failed, MAX_DEPTH, MAX_ERRORS, Parsed, Parser};
use crate::module::Location;

/// Lines and columns of bytes. Questions come in increasing order mostly, so the last answer is
/// where the next count begins.
#[derive(Debug)]
pub(super) struct Places {
    offset: usize,
    last: Location,
}

impl Places {
    pub(super) fn new() -> Self {
        Self { offset: 0, last: Location { line: 1, column: 1 } }
    }

    pub(super) fn location(&mut self, text: &str, offset: usize) -> Location {
        if offset < self.offset {
            *self = Self::new();
        }
        let passed = text.get(self.offset..offset).unwrap_or_default();
        for character in passed.chars() {
            if character == '\n' {
                self.last = Location { line: self.last.line + 1, column: 1 };
            } else {
                self.last.column += 1;
            }
        }
        self.offset = offset;
        self.last
    }
}

impl<'t> Parser<'t> {
    pub(super) fn token_text(&self) -> &'t str {
        &self.text[self.token.start..self.token.end]
    }

    /// The token's text without the mark it begins with.
    pub(super) fn token_name(&self) -> &'t str {
        self.token_text().get(1..).unwrap_or_default()
    }

    /// Goes to the next token.
    pub(super) fn advance(&mut self) -> Parsed<()> {
        self.lex_from(self.token.end)
    }

    /// Reads the next token from a byte of the text.
    pub(super) fn lex_from(&mut self, from: usize) -> Parsed<()> {
        match token_at(self.text, from) {
            Ok(token) => {
                self.token = token;
                Ok(())
            }
            Err((error, at)) => {
                let character = self.text[at..].chars().next();
                let behind = at + character.map_or(0, char::len_utf8);
                // Go on behind it, as if a mark had stood there.
                self.token = Token { kind: Kind::Mark('\0'), start: at, end: behind };
                Err(self.fail(error, at))
            }
        }
    }

    /// Notes an error at a byte of the text.
    pub(super) fn fail(&mut self, error: SyntaxError, at: usize) -> Failed {
        if self.found.len() >= MAX_ERRORS {
            return Failed;
        }
        let location = self.places.location(self.text, at);
        self.found.push(error, location);
        if self.found.len() + 1 == MAX_ERRORS {
            self.found.push(SyntaxError::TooMany { n_errors: MAX_ERRORS - 1 }, location);
            let end = self.text.len();
            self.token = Token { kind: Kind::End, start: end, end };
        }
        Failed
    }

    /// Notes that something else was expected where the token is.
    pub(super) fn expected(&mut self, wanted: &str) -> Failed {
        let at = self.token.start;
        let error = match self.token.kind {
            Kind::End => SyntaxError::EndMissing { what: format!("what needs {wanted}") },
            _ => {
                let shown: String = self.token_text().chars().take(40).collect();
                SyntaxError::Expected { wanted: wanted.into(), found: format!("`{shown}`") }
            }
        };
        self.fail(error, at)
    }

    pub(super) fn is_mark(&self, mark: char) -> bool {
        self.token.kind == Kind::Mark(mark)
    }

    /// Takes a mark that must be there.
    pub(super) fn mark(&mut self, mark: char) -> Parsed<()> {
        if !self.is_mark(mark) {
            return Err(self.expected(&format!("`{mark}`")));
        }
        self.advance()
    }

    /// Takes a mark if it is there.
    pub(super) fn take(&mut self, mark: char) -> Parsed<bool> {
        let there = self.is_mark(mark);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.token.kind == Kind::Word && self.token_text() == word
    }

    /// Takes a word if it is there.
    pub(super) fn take_word(&mut self, word: &str) -> Parsed<bool> {
        let there = self.is_word(word);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    /// Takes a word that must be there.
    pub(super) fn word(&mut self, word: &str) -> Parsed<()> {
        match self.take_word(word)? {
            true => Ok(()),
            false => Err(self.expected(&format!("`{word}`"))),
        }
    }

    /// Takes `->`.
    pub(super) fn arrow(&mut self) -> Parsed<()> {
        if self.token.kind != Kind::Arrow {
            return Err(self.expected("`->`"));
        }
        self.advance()
    }

    pub(super) fn end(&mut self) -> Parsed<()> {
        match self.token.kind {
            Kind::End => Ok(()),
            _ => Err(self.expected("the end")),
        }
    }

    /// A text in quotes.
    pub(super) fn string(&mut self) -> Parsed<String> {
        if self.token.kind != Kind::Str {
            return Err(self.expected("a text in quotes"));
        }
        let at = self.token.start;
        let text = unquoted(self.token_text()).map_err(|error| self.fail(error, at))?;
        self.advance()?;
        Ok(text)
    }

    /// `@name` or `@"name"`.
    pub(super) fn symbol(&mut self) -> Parsed<Arc<str>> {
        if self.token.kind != Kind::At {
            return Err(self.expected("`@` and a name"));
        }
        let at = self.token.start;
        let name = self.token_name();
        let text = match name.starts_with('"') {
            true => unquoted(name).map_err(|error| self.fail(error, at))?,
            false => name.to_string(),
        };
        self.advance()?;
        Ok(text.into())
    }

    /// Things separated by commas up to a closing mark, which is taken.
    pub(super) fn list_until<T>(
        &mut self,
        close: char,
        mut one: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        if self.take(close)? {
            return Ok(items);
        }
        loop {
            items.push(one(self)?);
            if !self.take(',')? {
                self.mark(close)?;
                return Ok(items);
            }
        }
    }

    /// Does something one level deeper.
    pub(super) fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let at = self.token.start;
            return Err(self.fail(SyntaxError::TooDeep { limit: MAX_DEPTH }, at));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// The tokens from here to the mark that closes `open`, with that mark, as one text.
    pub(super) fn verbatim(&mut self, open: char) -> Parsed<String> {
        if !self.is_mark(open) {
            return Err(self.expected(&format!("`{open}`")));
        }
        let mut text = String::new();
        let mut open_marks = Vec::new();
        let mut end = self.token.start;
        loop {
            if self.token.start > end {
                text.push(' ');
            }
            end = self.token.end;
            text.push_str(self.token_text());
            match self.token.kind {
                Kind::Mark(mark @ ('<' | '(' | '[' | '{')) => open_marks.push(mark),
                Kind::Mark(mark @ ('>' | ')' | ']' | '}')) if open_marks.pop() != opening(mark) => {
                    return Err(self.expected("the mark that closes the last open one"));
                }
                Kind::End => return Err(self.expected("the closing mark")),
                _ => {}
            }
            self.advance()?;
            if open_marks.is_empty() {
                return Ok(text);
            }
        }
    }

    /// `loc(..)` behind something, which says nothing here.
    pub(super) fn skip_location(&mut self) -> Parsed<()> {
        if self.take_word("loc")? {
            self.verbatim('(')?;
        }
        Ok(())
    }

    /// Goes on at the next operation: a token that begins a line and can begin an operation, or a
    /// `}` that closes the block.
    pub(super) fn recover(&mut self, failed_at: usize) {
        let mut level = 0_usize;
        loop {
            match self.token.kind {
                Kind::End => return,
                Kind::Mark('{') => level += 1,
                Kind::Mark('}') if level == 0 => return,
                Kind::Mark('}') => level -= 1,
                Kind::Percent | Kind::Str | Kind::Word | Kind::Hash | Kind::Bang
                    if level == 0 && self.token.start > failed_at && self.begins_line() =>
                {
                    return;
                }
                _ => {}
            }
            let _ = self.advance();
        }
    }

    fn begins_line(&self) -> bool {
        let before = &self.text[..self.token.start];
        let blank = before.trim_end_matches([' ', '\t', '\r']);
        blank.is_empty() || blank.ends_with('\n')
    }
}

fn opening(close: char) -> Option<char> {
    match close {
        '>' => Some('<'),
        ')' => Some('('),
        ']' => Some('['),
        '}' => Some('{'),
        _ => None,
    }
}
