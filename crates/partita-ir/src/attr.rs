//! Attributes: what an operation knows when the program is written.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::types::{Scalar, Size, Type};

/// A constant attached to an operation or a type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Attr {
    /// An integer with its type, `3 : i64`. Unsigned numbers beyond 2^63 wrap around.
    Int(i64, Scalar),
    /// A floating number with its type.
    Float(Float, Scalar),
    /// A complex number, real and imaginary part, with its type.
    Complex(Float, Float, Scalar),
    /// `true`, `false`.
    Bool(bool),
    /// `"text"`.
    Str(Arc<str>),
    /// `[a, b]`.
    Array(Arc<[Attr]>),
    /// `array<i64: 1, 2>`.
    I64s(Arc<[i64]>),
    /// `array<i32: 1, 2>`.
    I32s(Arc<[i32]>),
    /// `unit`: being there is all it says.
    Unit,
    /// `{a = 1 : i64, b}`.
    Dict(Arc<Attrs>),
    /// A type.
    Type(Type),
    /// `@name`.
    Symbol(Arc<str>),
    /// `dense<..> : type`, as written, with its type.
    Dense(Arc<str>, Type),
    /// An environment or an encoding of a dialect we know.
    Dialect(DialectAttr),
    /// An attribute of another dialect (with its `#`), kept as it was written.
    Other(Arc<str>),
}

/// Attributes of our dialects that are not environments of an array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DialectAttr {
    /// An environment that stands outside a type.
    Env(Box<crate::types::Env>),
    /// `#partition.encoding<sparse, ["distributed", ..]>`.
    Partition {
        /// The sparsity encoding, or unit for a dense tensor.
        sparse: Arc<Attr>,
        /// What holds for each dimension.
        dims: Arc<[Placement]>,
    },
}

/// Whether a dimension of a partitioned tensor is on every rank or spread over the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Every rank has the whole dimension.
    Replicated,
    /// Every rank has a block of it.
    Distributed,
}

impl Placement {
    /// `replicated` or `distributed`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Replicated => "replicated",
            Self::Distributed => "distributed",
        }
    }

    /// The placement of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Replicated, Self::Distributed].into_iter().find(|p| p.name() == name)
    }
}

/// A floating number that is equal to itself, bit by bit.
#[derive(Debug, Clone, Copy)]
pub struct Float(pub f64);

impl PartialEq for Float {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Float {}

impl Hash for Float {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl Attr {
    /// An `i64`.
    #[must_use]
    pub const fn i64(number: i64) -> Self {
        Self::Int(number, Scalar::I64)
    }

    /// An `i32`, the type of operator numbers.
    #[must_use]
    pub const fn i32(number: i32) -> Self {
        Self::Int(number as i64, Scalar::I32)
    }

    /// An `index`.
    #[must_use]
    pub const fn index(number: i64) -> Self {
        Self::Int(number, Scalar::Index)
    }

    /// An `f64`.
    #[must_use]
    pub const fn f64(number: f64) -> Self {
        Self::Float(Float(number), Scalar::F64)
    }

    /// A text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Str(text.into())
    }

    /// `array<i64: ..>`.
    #[must_use]
    pub fn i64s(numbers: &[i64]) -> Self {
        Self::I64s(numbers.into())
    }

    /// `array<i64: ..>` of sizes, `?` as the smallest number.
    #[must_use]
    pub fn sizes(sizes: &[Size]) -> Self {
        Self::I64s(sizes.iter().map(|size| size.as_i64()).collect())
    }

    /// The integer of an integer or truth value.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(number, _) => Some(*number),
            Self::Bool(truth) => Some(i64::from(*truth)),
            _ => None,
        }
    }

    /// The truth value; integers of one bit count.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(truth) => Some(*truth),
            Self::Int(number, Scalar::BOOL) => Some(*number != 0),
            _ => None,
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The numbers of `array<i64: ..>`.
    #[must_use]
    pub fn as_i64s(&self) -> Option<&[i64]> {
        match self {
            Self::I64s(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// The type of a number.
    #[must_use]
    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            Self::Int(_, scalar) | Self::Float(_, scalar) | Self::Complex(_, _, scalar) => {
                Some(*scalar)
            }
            Self::Bool(_) => Some(Scalar::BOOL),
            _ => None,
        }
    }
}

/// Attributes by name, sorted. Names that are known when partita is built cost no allocation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Attrs(Vec<(Name, Attr)>);

/// Name of an attribute.
pub type Name = Cow<'static, str>;

impl Attrs {
    /// No attributes.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The attribute of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Attr> {
        self.find(name).ok().map(|at| &self.0[at].1)
    }

    /// Sets an attribute; gives what stood there.
    pub fn set(&mut self, name: impl Into<Name>, value: Attr) -> Option<Attr> {
        let name = name.into();
        match self.find(&name) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, value)),
            Err(at) => {
                self.0.insert(at, (name, value));
                None
            }
        }
    }

    /// The same with one more attribute.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Attr) -> Self {
        self.set(name, value);
        self
    }

    /// Takes an attribute away; gives what it was.
    pub fn remove(&mut self, name: &str) -> Option<Attr> {
        self.find(name).ok().map(|at| self.0.remove(at).1)
    }

    /// Names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Attr)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// Number of attributes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| (**other).cmp(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_sorted_and_replaced() {
        let mut attrs = Attrs::new().with("op", Attr::i32(3)).with("axes", Attr::Unit);
        assert_eq!(attrs.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["axes", "op"]);
        assert_eq!(attrs.set("op", Attr::i32(4)), Some(Attr::i32(3)));
        assert_eq!(attrs.remove("axes"), Some(Attr::Unit));
        assert_eq!(attrs, Attrs::new().with("op", Attr::i32(4)));
    }

    #[test]
    fn nan_equals_itself() {
        assert_eq!(Attr::f64(f64::NAN), Attr::f64(f64::NAN));
        assert_ne!(Attr::f64(0.0), Attr::f64(-0.0));
    }
}
