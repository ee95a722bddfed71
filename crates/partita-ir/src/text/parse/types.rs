//! Types, in all three spellings.

use super::super::error::SyntaxError;
use super::super::lexer::Kind;
use super::{Failed, Parsed, Parser};
use crate::attr::{Attr, Attrs, DialectAttr, Placement};
use crate::types::{ArrayType, Env, FunctionType, MemRefType, Scalar, TensorType, Type};

impl Parser<'_> {
    /// Any type.
    pub(super) fn ty(&mut self) -> Parsed<Type> {
        self.deeper(Self::ty_inside)
    }

    fn ty_inside(&mut self) -> Parsed<Type> {
        match self.token.kind {
            Kind::Mark('(') => Ok(self.function_type()?.into()),
            Kind::Bang => self.dialect_type(self.token_name()),
            Kind::Word => self.plain_type(),
            _ => Err(self.expected("a type")),
        }
    }

    fn plain_type(&mut self) -> Parsed<Type> {
        let (name, at) = (self.token_text(), self.token.start);
        match name {
            "tensor" => self.tensor(),
            "memref" => self.memref(),
            "none" => self.advance().map(|()| Type::None),
            "vector" | "tuple" => {
                self.advance()?;
                let inner = self.verbatim('<')?;
                Ok(Type::Other(format!("{name}{inner}").into()))
            }
            "ndarray.ndarray" | "distruntime.asynchandle" => self.dialect_type(name),
            "complex" => Ok(self.scalar()?.into()),
            _ => match Scalar::from_name(name) {
                Some(scalar) => self.advance().map(|()| scalar.into()),
                None => Err(self.unknown_type(name, at)),
            },
        }
    }

    fn unknown_type(&mut self, name: &str, at: usize) -> Failed {
        let name = name.chars().take(40).collect();
        self.fail(SyntaxError::UnknownType { name }, at)
    }

    fn dialect_type(&mut self, name: &str) -> Parsed<Type> {
        let alias = self.type_aliases.get(self.token_text()).cloned();
        let (is_bang, at) = (self.token.kind == Kind::Bang, self.token.start);
        self.advance()?;
        match (alias, name) {
            (Some(ty), _) => Ok(ty),
            (None, "ndarray.ndarray") => self.array_type(),
            (None, "distruntime.asynchandle") => Ok(Type::Handle),
            (None, _) if is_bang && name.contains('.') => {
                let inner = if self.is_mark('<') { self.verbatim('<')? } else { String::new() };
                Ok(Type::Other(format!("!{name}{inner}").into()))
            }
            (None, _) => Err(self.fail(SyntaxError::UnknownAlias { name: format!("!{name}") }, at)),
        }
    }

    /// The type of a number.
    pub(super) fn scalar(&mut self) -> Parsed<Scalar> {
        let at = self.token.start;
        if self.take_word("complex")? {
            self.mark('<')?;
            let part = self.scalar()?;
            let complex = match part {
                Scalar::F32 => Scalar::Complex32,
                Scalar::F64 => Scalar::Complex64,
                other => return Err(self.bad_element(&format!("complex<{other}>"), at)),
            };
            self.mark('>')?;
            return Ok(complex);
        }
        if self.token.kind == Kind::Bang {
            let alias = self.type_aliases.get(self.token_text()).and_then(Type::as_scalar);
            if let Some(scalar) = alias {
                return self.advance().map(|()| scalar);
            }
        }
        if self.token.kind != Kind::Word {
            return Err(self.expected("the type of a number"));
        }
        let name = self.token_text();
        match Scalar::from_name(name) {
            Some(scalar) => self.advance().map(|()| scalar),
            None => Err(self.bad_element(name, at)),
        }
    }

    fn bad_element(&mut self, found: &str, at: usize) -> Failed {
        let found = found.chars().take(40).collect();
        self.fail(SyntaxError::BadElement { found }, at)
    }

    /// `tensor<4x?xf64, encoding>`; one with our dictionary is an array.
    fn tensor(&mut self) -> Parsed<Type> {
        let tensor = self.plain_tensor()?;
        let at = self.token.start;
        match &tensor.encoding {
            Some(Attr::Dict(dict)) if Self::is_array_dict(dict) => {
                let envs = self.envs_of_dict(dict, tensor.shape.len(), at)?;
                let layout = dict.get("ndarray.layout").and_then(Attr::as_str).map(Into::into);
                Ok(ArrayType { shape: tensor.shape, element: tensor.element, layout, envs }.into())
            }
            Some(Attr::Dict(dict)) => {
                let encoding = partition_of_dict(dict).or_else(|| tensor.encoding.clone());
                Ok(TensorType { encoding, ..tensor }.into())
            }
            _ => Ok(tensor.into()),
        }
    }

    fn plain_tensor(&mut self) -> Parsed<TensorType> {
        self.word("tensor")?;
        self.mark('<')?;
        let shape = self.sizes_before_element()?;
        let element = self.scalar()?;
        let encoding = if self.take(',')? { Some(self.attr()?) } else { None };
        self.mark('>')?;
        Ok(TensorType { shape, element, encoding })
    }

    fn memref(&mut self) -> Parsed<Type> {
        self.advance()?;
        self.mark('<')?;
        let shape = self.sizes_before_element()?;
        let element = self.scalar()?;
        let mut more = Vec::new();
        while self.take(',')? {
            more.push(self.attr()?);
        }
        self.mark('>')?;
        Ok(MemRefType { shape, element, more }.into())
    }

    fn array_type(&mut self) -> Parsed<Type> {
        self.mark('<')?;
        let array = match self.is_word("tensor") {
            true => self.array_of_tensor()?,
            false => self.array_of_sizes()?,
        };
        Ok(array.into())
    }

    /// `tensor<44xi64>, ENV>`: the spelling that stock tools verify.
    fn array_of_tensor(&mut self) -> Parsed<ArrayType> {
        let at = self.token.start;
        let tensor = self.plain_tensor()?;
        let layout = match &tensor.encoding {
            None => None,
            Some(Attr::Str(layout)) => Some(layout.clone()),
            Some(_) => return Err(self.bad_element("a tensor with an encoding", at)),
        };
        self.mark(',')?;
        let ndim = tensor.shape.len();
        let mut envs = Vec::new();
        if self.take('[')? {
            envs = self.list_until(']', |parser| parser.env(ndim))?;
        } else if !self.take_word("unit")? {
            envs.push(self.env(ndim)?);
        }
        self.mark('>')?;
        Ok(ArrayType { shape: tensor.shape, element: tensor.element, layout, envs })
    }

    /// `44xi64 : "layout", ENV, ENV>`: the specification's spelling.
    fn array_of_sizes(&mut self) -> Parsed<ArrayType> {
        let shape = self.sizes_before_element()?;
        let element = self.scalar()?;
        let layout = match self.take(':')? {
            true => Some(self.string()?.into()),
            false => None,
        };
        let mut envs: Vec<Env> = Vec::new();
        while self.take(',')? {
            envs.push(self.env(shape.len())?);
        }
        self.mark('>')?;
        Ok(ArrayType { shape, element, layout, envs })
    }

    /// `(A, B) -> C` or `(A, B) -> (C, D)`.
    pub(super) fn function_type(&mut self) -> Parsed<FunctionType> {
        self.mark('(')?;
        let inputs = self.list_until(')', Self::ty)?;
        self.arrow()?;
        Ok(FunctionType { inputs, results: self.types()? })
    }

    /// One type, or several in parentheses.
    pub(super) fn types(&mut self) -> Parsed<Vec<Type>> {
        if !self.is_mark('(') {
            return Ok(vec![self.ty()?]);
        }
        self.mark('(')?;
        let types = self.list_until(')', Self::ty)?;
        if self.token.kind == Kind::Arrow {
            self.advance()?;
            let results = self.types()?;
            return Ok(vec![FunctionType { inputs: types, results }.into()]);
        }
        Ok(types)
    }
}

/// The encoding of a partitioned tensor, if a dictionary is one.
fn partition_of_dict(dict: &Attrs) -> Option<Attr> {
    let (Attr::Array(names), sparse) = (dict.get("partition.dims")?, dict.get("partition.sparse")?)
    else {
        return None;
    };
    let dim = |name: &Attr| name.as_str().and_then(Placement::from_name);
    let dims = names.iter().map(dim).collect::<Option<_>>().filter(|_| dict.len() == 2)?;
    Some(Attr::Dialect(DialectAttr::Partition { sparse: sparse.clone().into(), dims }))
}
