//! Names of values, and where they can be seen.

use std::collections::HashMap;

use super::super::error::SyntaxError;
use super::super::lexer::Kind;
use super::{Failed, Parsed, Parser};
use crate::module::{Op, Value};

/// The names of one block. Those of a broken operation stand for nothing.
#[derive(Debug, Default)]
pub(super) struct Scope<'t> {
    known: HashMap<&'t str, Option<Vec<Value>>>,
}

/// An argument's name and where it stands.
pub(super) type ArgumentName<'t> = (&'t str, usize);

/// A name for results, as written: `%a` or `%a:2`.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResultName<'t> {
    pub(super) name: &'t str,
    pub(super) count: usize,
    pub(super) at: usize,
}

impl<'t> Parser<'t> {
    /// Makes a name known in the innermost block.
    pub(super) fn define(
        &mut self,
        name: &'t str,
        values: Option<Vec<Value>>,
        at: usize,
    ) -> Parsed<()> {
        let repeated = self.scopes.iter().any(|scope| scope.known.contains_key(name));
        if let Some(scope) = self.scopes.last_mut() {
            scope.known.insert(name, values);
        }
        match repeated {
            true => Err(self.fail(SyntaxError::RepeatedValue { name: name.into() }, at)),
            false => Ok(()),
        }
    }

    /// Forgets what a broken operation would have defined.
    pub(super) fn poison(&mut self, names: &[ResultName<'t>]) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.known.extend(names.iter().map(|name| (name.name, None)));
        }
    }

    /// `%a = `, `%a, %b:2 = `: the names of what follows.
    pub(super) fn result_names(&mut self) -> Parsed<Vec<ResultName<'t>>> {
        let mut names = Vec::new();
        while self.token.kind == Kind::Percent {
            let (name, at) = (self.token_name(), self.token.start);
            self.advance()?;
            let count = if self.take(':')? { self.count()? } else { 1 };
            names.push(ResultName { name, count, at });
            if !self.take(',')? {
                break;
            }
        }
        self.mark('=')?;
        Ok(names)
    }

    fn count(&mut self) -> Parsed<usize> {
        let at = self.token.start;
        let number = self.unsigned()?;
        usize::try_from(number).ok().filter(|n| *n <= 1 << 16).ok_or(()).map_err(|()| {
            let range = "1 to 65536 results".to_string();
            self.fail(SyntaxError::NumberTooLarge { number: number.to_string(), range }, at)
        })
    }

    /// Gives the results of an operation their names.
    pub(super) fn name_results(&mut self, op: Op, names: &[ResultName<'t>]) -> Parsed<()> {
        let results = self.module.results(op).to_vec();
        let n_names: usize = names.iter().map(|name| name.count).sum();
        if names.is_empty() {
            return Ok(());
        }
        if n_names != results.len() {
            let error = SyntaxError::ResultCount { n_names, n_results: results.len() };
            return Err(self.fail(error, names[0].at));
        }
        let mut rest = results.as_slice();
        for name in names {
            let (these, others) = rest.split_at(name.count);
            rest = others;
            if let Some(first) = these.first() {
                self.set_hint(*first, name.name);
            }
            self.define(name.name, Some(these.to_vec()), name.at)?;
        }
        Ok(())
    }

    /// Remembers a name that says something: not a bare number.
    pub(super) fn set_hint(&mut self, value: Value, name: &str) {
        if !name.starts_with(|c: char| c.is_ascii_digit()) {
            self.module.set_hint(value, Some(name));
        }
    }

    /// A use of a value: `%a` or `%a#1`.
    pub(super) fn operand(&mut self) -> Parsed<Value> {
        if self.token.kind != Kind::Percent {
            return Err(self.expected("a value such as %a"));
        }
        let (name, at) = (self.token_name(), self.token.start);
        self.advance()?;
        let number = self.result_number()?;
        let known = self.scopes.iter().rev().find_map(|scope| scope.known.get(name));
        let values = match known {
            Some(Some(values)) => values,
            Some(None) => return Err(Failed),
            None => return Err(self.fail(SyntaxError::UnknownValue { name: name.into() }, at)),
        };
        let n_values = values.len();
        match usize::try_from(number).ok().and_then(|number| values.get(number)) {
            Some(value) => Ok(*value),
            None => {
                let error = SyntaxError::ValueNumber { name: name.into(), number, n_values };
                Err(self.fail(error, at))
            }
        }
    }

    fn result_number(&mut self) -> Parsed<u64> {
        if self.token.kind != Kind::Hash {
            return Ok(0);
        }
        match self.token_name().parse() {
            Ok(number) => {
                self.advance()?;
                Ok(number)
            }
            Err(_) => Ok(0),
        }
    }

    /// Values separated by commas, at least one.
    pub(super) fn operands(&mut self) -> Parsed<Vec<Value>> {
        let mut values = vec![self.operand()?];
        while self.take(',')? {
            values.push(self.operand()?);
        }
        Ok(values)
    }

    /// A value's name for messages.
    pub(super) fn shown(&self, value: Value) -> String {
        self.module.hint(value).map_or_else(|| value.index().to_string(), Into::into)
    }
}
