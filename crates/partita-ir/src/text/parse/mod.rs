//! Reading programs.
//!
//! The parser reads tokens as it goes and builds the module at once. After an error it goes on at
//! the next operation, so that one reading finds several; what a broken operation would have
//! defined is remembered, so that its uses are not errors of their own. Depth is bounded, and
//! every loop consumes a token, so no text takes more than its length.

mod attrs;
mod env;
mod flow;
mod generic;
mod names;
mod numbers;
mod op;
mod own;
mod tokens;
mod types;

use std::collections::HashMap;

use super::error::SyntaxError;
use super::lexer::{Kind, Token};
use crate::attr::Attr;
use crate::builtin;
use crate::diagnostic::Diagnostics;
use crate::module::Module;
use crate::types::Type;

use names::Scope;
use tokens::Places;

/// Things nested deeper than this are refused, so that no text exhausts the stack.
const MAX_DEPTH: usize = 64;
/// Reading stops after so many errors.
const MAX_ERRORS: usize = 20;

/// The error is noted.
#[derive(Debug)]
struct Failed;

type Parsed<T> = Result<T, Failed>;

struct Parser<'t> {
    text: &'t str,
    token: Token,
    places: Places,
    depth: usize,
    module: Module,
    scopes: Vec<Scope<'t>>,
    attr_aliases: HashMap<&'t str, Attr>,
    type_aliases: HashMap<&'t str, Type>,
    found: Diagnostics,
}

/// Reads a program in any of the three forms.
///
/// ```
/// let module = partita_ir::parse("func.func @f(%x: index) -> index { return %x : index }")?;
/// assert!(module.function("f").is_some());
/// # Ok::<(), partita_ir::Diagnostics>(())
/// ```
///
/// # Errors
/// All problems found, each with its line and column and the line itself. Whether the program
/// makes sense is for [`crate::verify`] to say.
pub fn parse(text: &str) -> Result<Module, Diagnostics> {
    // Some editors begin a file with a mark of its byte order, which is no part of the program.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parser = Parser::new(text)?;
    parser.program();
    if !parser.found.is_empty() {
        return Err(parser.found.with_source(text));
    }
    let mut module = parser.module;
    builtin::raise(&mut module);
    Ok(module)
}

/// Reads a program from bytes that should be UTF-8.
///
/// # Errors
/// As [`parse`], and bytes that are not UTF-8.
pub fn parse_bytes(bytes: &[u8]) -> Result<Module, Diagnostics> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return parse(text),
        Err(error) => error,
    };
    let offset = error.valid_up_to();
    let valid = String::from_utf8_lossy(&bytes[..offset]);
    let mut found = Diagnostics::default();
    found.push(SyntaxError::BadUtf8 { offset }, Places::new().location(&valid, offset));
    Err(found.with_source(&valid))
}

/// Reads one type.
///
/// # Errors
/// As [`parse`].
pub fn parse_type(text: &str) -> Result<Type, Diagnostics> {
    let mut parser = Parser::new(text)?;
    let ty = parser.ty().and_then(|ty| {
        parser.end()?;
        Ok(ty)
    });
    ty.map_err(|Failed| parser.found.with_source(text))
}

/// Reads one attribute.
pub(crate) fn parse_attr(text: &str) -> Result<Attr, Diagnostics> {
    let mut parser = Parser::new(text)?;
    let attr = parser.attr().and_then(|attr| {
        parser.end()?;
        Ok(attr)
    });
    attr.map_err(|Failed| parser.found.with_source(text))
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Result<Self, Diagnostics> {
        let mut found = Diagnostics::default();
        if i32::try_from(text.len()).is_err() {
            found.push(SyntaxError::TooLong { n_bytes: text.len() }, Default::default());
            return Err(found);
        }
        let mut parser = Self {
            text,
            token: Token { kind: Kind::End, start: 0, end: 0 },
            places: Places::new(),
            depth: 0,
            module: Module::new(),
            scopes: vec![Scope::default()],
            attr_aliases: HashMap::new(),
            type_aliases: HashMap::new(),
            found,
        };
        // An error here is noted; the parser goes on behind it.
        let _ = parser.advance();
        Ok(parser)
    }

    fn program(&mut self) {
        while self.token.kind != Kind::End {
            let start = self.token.start;
            let done = match self.token.kind {
                Kind::Hash | Kind::Bang => self.alias(),
                _ if self.at_module() => self.module_op(),
                _ => self.op(self.module.top()),
            };
            if done.is_err() {
                self.recover(start);
                self.skip_stray_close();
            }
        }
    }

    /// A `}` that closes nothing, after an error: go on behind it.
    fn skip_stray_close(&mut self) {
        if self.token.kind == Kind::Mark('}') {
            let _ = self.advance();
        }
    }

    fn alias(&mut self) -> Parsed<()> {
        let (kind, name, at) = (self.token.kind, self.token_text(), self.token.start);
        self.advance()?;
        self.mark('=')?;
        let known = match kind {
            Kind::Hash => {
                let attr = self.attr()?;
                self.attr_aliases.insert(name, attr).is_some()
            }
            _ => {
                let ty = self.ty()?;
                self.type_aliases.insert(name, ty).is_some()
            }
        };
        match known {
            true => Err(self.fail(SyntaxError::RepeatedAlias { name: name.into() }, at)),
            false => Ok(()),
        }
    }

    fn at_module(&self) -> bool {
        let text = self.token_text();
        match self.token.kind {
            Kind::Word => matches!(text, "module" | "builtin.module"),
            Kind::Str => text == "\"builtin.module\"",
            _ => false,
        }
    }

    fn module_op(&mut self) -> Parsed<()> {
        let is_generic = self.token.kind == Kind::Str;
        self.advance()?;
        if is_generic {
            self.generic_module()?;
        } else {
            self.plain_module()?;
        }
        self.skip_location()
    }

    fn plain_module(&mut self) -> Parsed<()> {
        if self.token.kind == Kind::At {
            let name = self.symbol()?;
            self.module.attrs.set("sym_name", Attr::Str(name));
        }
        if self.take_word("attributes")? {
            for (name, value) in self.dict()?.iter() {
                self.module.attrs.set(name.to_string(), value.clone());
            }
        }
        self.mark('{')?;
        self.block_body(self.module.top())?;
        self.mark('}')
    }

    fn generic_module(&mut self) -> Parsed<()> {
        self.mark('(')?;
        self.mark(')')?;
        let mut attrs = self.properties()?;
        self.mark('(')?;
        self.mark('{')?;
        if self.token.kind == Kind::Caret {
            self.advance()?;
            self.mark(':')?;
        }
        self.block_body(self.module.top())?;
        self.mark('}')?;
        self.mark(')')?;
        self.more_attrs(&mut attrs)?;
        self.module.attrs = attrs;
        self.mark(':')?;
        self.function_type().map(drop)
    }
}
