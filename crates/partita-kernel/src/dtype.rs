//! Element types.

use std::fmt;

/// The type of an element, in memory and in a program.
///
/// ```
/// use partita_kernel::Dtype;
/// assert_eq!(Dtype::Complex64.size(), 8);
/// assert_eq!(Dtype::Complex64.real(), Dtype::Float32);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the types")]
pub enum Dtype {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float16,
    BFloat16,
    Float32,
    Float64,
    Complex64,
    Complex128,
}

/// What kind of number a type holds; most operations ask only this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the kinds")]
pub enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    Complex,
}

impl Dtype {
    /// Every type, in the order of their numbers.
    pub const ALL: [Dtype; 15] = [
        Dtype::Bool,
        Dtype::Int8,
        Dtype::Int16,
        Dtype::Int32,
        Dtype::Int64,
        Dtype::UInt8,
        Dtype::UInt16,
        Dtype::UInt32,
        Dtype::UInt64,
        Dtype::Float16,
        Dtype::BFloat16,
        Dtype::Float32,
        Dtype::Float64,
        Dtype::Complex64,
        Dtype::Complex128,
    ];

    /// Bytes of one element.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Dtype::Bool | Dtype::Int8 | Dtype::UInt8 => 1,
            Dtype::Int16 | Dtype::UInt16 | Dtype::Float16 | Dtype::BFloat16 => 2,
            Dtype::Int32 | Dtype::UInt32 | Dtype::Float32 => 4,
            Dtype::Int64 | Dtype::UInt64 | Dtype::Float64 | Dtype::Complex64 => 8,
            Dtype::Complex128 => 16,
        }
    }

    /// The kind of number.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Dtype::Bool => Kind::Bool,
            Dtype::Int8 | Dtype::Int16 | Dtype::Int32 | Dtype::Int64 => Kind::Signed,
            Dtype::UInt8 | Dtype::UInt16 | Dtype::UInt32 | Dtype::UInt64 => Kind::Unsigned,
            Dtype::Float16 | Dtype::BFloat16 | Dtype::Float32 | Dtype::Float64 => Kind::Float,
            Dtype::Complex64 | Dtype::Complex128 => Kind::Complex,
        }
    }

    /// The type of the real part; the type itself where it is real.
    #[must_use]
    pub const fn real(self) -> Dtype {
        match self {
            Dtype::Complex64 => Dtype::Float32,
            Dtype::Complex128 => Dtype::Float64,
            other => other,
        }
    }

    /// The complex type whose parts have this type.
    #[must_use]
    pub const fn complex(self) -> Option<Dtype> {
        match self {
            Dtype::Float32 => Some(Dtype::Complex64),
            Dtype::Float64 => Some(Dtype::Complex128),
            _ => None,
        }
    }

    /// The name that Array API libraries use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Dtype::Bool => "bool",
            Dtype::Int8 => "int8",
            Dtype::Int16 => "int16",
            Dtype::Int32 => "int32",
            Dtype::Int64 => "int64",
            Dtype::UInt8 => "uint8",
            Dtype::UInt16 => "uint16",
            Dtype::UInt32 => "uint32",
            Dtype::UInt64 => "uint64",
            Dtype::Float16 => "float16",
            Dtype::BFloat16 => "bfloat16",
            Dtype::Float32 => "float32",
            Dtype::Float64 => "float64",
            Dtype::Complex64 => "complex64",
            Dtype::Complex128 => "complex128",
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
