//! Attributes.

use std::sync::Arc;

use super::super::error::SyntaxError;
use super::super::lexer::Kind;
use super::{Parsed, Parser};
use crate::attr::{Attr, Attrs, DialectAttr, Name};

/// Attributes that stock tools know and that mean nothing here; they are kept as written.
const KEPT: &[&str] =
    &["affine_map", "affine_set", "strided", "dense_resource", "sparse", "opaque"];

impl Parser<'_> {
    /// Any attribute.
    pub(super) fn attr(&mut self) -> Parsed<Attr> {
        self.deeper(Self::attr_inside)
    }

    fn attr_inside(&mut self) -> Parsed<Attr> {
        match self.token.kind {
            Kind::Int | Kind::Float | Kind::Mark('-') => self.number_attr(),
            Kind::Str => {
                let text = self.string()?;
                Ok(Attr::Str(text.into()))
            }
            Kind::Mark('[') => {
                self.advance()?;
                Ok(Attr::Array(self.list_until(']', Self::attr)?.into()))
            }
            Kind::Mark('{') => Ok(Attr::Dict(Arc::new(self.dict()?))),
            Kind::At => self.symbol_attr(),
            Kind::Hash => self.hash_attr(),
            Kind::Word => self.word_attr(),
            Kind::Bang | Kind::Mark('(') => Ok(Attr::Type(self.ty()?)),
            _ => Err(self.expected("an attribute")),
        }
    }

    fn symbol_attr(&mut self) -> Parsed<Attr> {
        let mut name = self.symbol()?.to_string();
        while self.is_mark(':') && self.text[self.token.end..].starts_with(":@") {
            self.advance()?;
            self.advance()?;
            name = format!("{name}::@{}", self.symbol()?);
        }
        Ok(Attr::Symbol(name.into()))
    }

    fn word_attr(&mut self) -> Parsed<Attr> {
        match self.token_text() {
            "true" => self.advance().map(|()| Attr::Bool(true)),
            "false" => self.advance().map(|()| Attr::Bool(false)),
            "unit" => self.advance().map(|()| Attr::Unit),
            "array" => self.number_array(),
            "dense" => self.dense(),
            word if KEPT.contains(&word) => {
                self.advance()?;
                Ok(Attr::Other(format!("{word}{}", self.verbatim('<')?).into()))
            }
            _ => Ok(Attr::Type(self.ty()?)),
        }
    }

    /// `dense<..> : type`
    fn dense(&mut self) -> Parsed<Attr> {
        self.advance()?;
        let text = self.verbatim('<')?;
        self.mark(':')?;
        Ok(Attr::Dense(text.into(), self.ty()?))
    }

    /// `array<i64: 1, 2>`
    fn number_array(&mut self) -> Parsed<Attr> {
        let start = self.token.start;
        self.advance()?;
        self.mark('<')?;
        let element = self.token_text();
        if !matches!(element, "i64" | "i32") {
            self.lex_from(start)?;
            self.advance()?;
            return Ok(Attr::Other(format!("array{}", self.verbatim('<')?).into()));
        }
        self.advance()?;
        let at = self.token.start;
        let numbers = match self.take(':')? {
            true => self.list_until('>', Self::signed)?,
            false => self.mark('>').map(|()| Vec::new())?,
        };
        if element == "i64" {
            return Ok(Attr::I64s(numbers.into()));
        }
        let narrow: Result<Arc<[i32]>, _> = numbers.iter().map(|n| i32::try_from(*n)).collect();
        narrow.map(Attr::I32s).map_err(|_| self.too_large("a number", "i32", at))
    }

    /// `#alias`, or an attribute of a dialect.
    fn hash_attr(&mut self) -> Parsed<Attr> {
        let (text, name, at) = (self.token_text(), self.token_name(), self.token.start);
        let alias = self.attr_aliases.get(text).cloned();
        self.advance()?;
        if let Some(attr) = alias {
            return Ok(attr);
        }
        let env = |env| Attr::Dialect(DialectAttr::Env(Box::new(env)));
        match name {
            "dist.dist_env" | "dist.grid_env" => Ok(env(self.dist_env()?)),
            "region.gpu_env" => Ok(env(self.gpu_env()?)),
            "partition.encoding" => self.partition_encoding(),
            _ if name.contains('.') => {
                let inner = if self.is_mark('<') { self.verbatim('<')? } else { String::new() };
                Ok(Attr::Other(format!("#{name}{inner}").into()))
            }
            _ => Err(self.fail(SyntaxError::UnknownAlias { name: text.into() }, at)),
        }
    }

    /// `{a = 1 : i64, b}`
    pub(super) fn dict(&mut self) -> Parsed<Attrs> {
        self.mark('{')?;
        let entries = self.list_until('}', Self::dict_entry)?;
        let mut attrs = Attrs::new();
        for (name, value) in entries {
            attrs.set(name, value);
        }
        Ok(attrs)
    }

    fn dict_entry(&mut self) -> Parsed<(Name, Attr)> {
        let name = match self.token.kind {
            Kind::Word => {
                let name = self.token_text().to_string();
                self.advance()?;
                name
            }
            Kind::Str => self.string()?,
            _ => return Err(self.expected("the name of an attribute")),
        };
        let value = if self.take('=')? { self.attr()? } else { Attr::Unit };
        Ok((name.into(), value))
    }

    /// `<{..}>` if it is there.
    pub(super) fn properties(&mut self) -> Parsed<Attrs> {
        if !self.take('<')? {
            return Ok(Attrs::new());
        }
        let attrs = self.dict()?;
        self.mark('>')?;
        Ok(attrs)
    }

    /// `{..}` if it is there, added to what is known.
    pub(super) fn more_attrs(&mut self, attrs: &mut Attrs) -> Parsed<()> {
        if self.is_mark('{') {
            for (name, value) in self.dict()?.iter() {
                attrs.set(name.to_string(), value.clone());
            }
        }
        Ok(())
    }
}
