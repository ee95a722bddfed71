//! Types of single numbers, which are also what arrays are made of.

use std::fmt;

/// Whether an integer type says how its bits are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sign {
    /// `i32`: the operation decides.
    Signless,
    /// `si32`.
    Signed,
    /// `ui32`.
    Unsigned,
}

/// The type of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// `index`: as wide as an address, 64 bits here.
    Index,
    /// `i1` to `i64`, `si..`, `ui..`.
    Int {
        /// Number of bits, 1 to 64.
        width: u8,
        /// How the bits are read.
        sign: Sign,
    },
    /// `f16`.
    F16,
    /// `bf16`.
    Bf16,
    /// `f32`.
    F32,
    /// `f64`.
    F64,
    /// `complex<f32>`.
    Complex32,
    /// `complex<f64>`.
    Complex64,
}

impl Scalar {
    /// `i1`, the type of truth values.
    pub const BOOL: Self = Self::signless(1);
    /// `i32`.
    pub const I32: Self = Self::signless(32);
    /// `i64`.
    pub const I64: Self = Self::signless(64);

    /// `i<width>`.
    #[must_use]
    pub const fn signless(width: u8) -> Self {
        Self::Int { width, sign: Sign::Signless }
    }

    /// `ui<width>`.
    #[must_use]
    pub const fn unsigned(width: u8) -> Self {
        Self::Int { width, sign: Sign::Unsigned }
    }

    /// The scalar of a name such as `f64` or `ui8`; complex types are spelled elsewhere.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let plain = [
            ("index", Self::Index),
            ("f16", Self::F16),
            ("bf16", Self::Bf16),
            ("f32", Self::F32),
            ("f64", Self::F64),
        ];
        if let Some((_, scalar)) = plain.iter().find(|(text, _)| *text == name) {
            return Some(*scalar);
        }
        let signs = [("si", Sign::Signed), ("ui", Sign::Unsigned), ("i", Sign::Signless)];
        let (digits, sign) =
            signs.iter().find_map(|(prefix, sign)| Some((name.strip_prefix(prefix)?, *sign)))?;
        let canonical = !digits.starts_with(['0', '+']);
        let width = digits.parse().ok().filter(|w| canonical && (1..=64).contains(w))?;
        Some(Self::Int { width, sign })
    }

    /// Whether arithmetic on it is that of integers, `index` included.
    #[must_use]
    pub fn is_integer(self) -> bool {
        matches!(self, Self::Index | Self::Int { .. })
    }

    /// Whether it is `f16`, `bf16`, `f32` or `f64`.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }

    /// Whether it is complex.
    #[must_use]
    pub fn is_complex(self) -> bool {
        matches!(self, Self::Complex32 | Self::Complex64)
    }

    /// Bytes of one element in memory; truth values take one.
    #[must_use]
    pub fn n_bytes(self) -> usize {
        match self {
            Self::Int { width, .. } => usize::from(width).div_ceil(8).next_power_of_two(),
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::Index | Self::F64 | Self::Complex32 => 8,
            Self::Complex64 => 16,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index => f.write_str("index"),
            Self::Int { width, sign: Sign::Signless } => write!(f, "i{width}"),
            Self::Int { width, sign: Sign::Signed } => write!(f, "si{width}"),
            Self::Int { width, sign: Sign::Unsigned } => write!(f, "ui{width}"),
            Self::F16 => f.write_str("f16"),
            Self::Bf16 => f.write_str("bf16"),
            Self::F32 => f.write_str("f32"),
            Self::F64 => f.write_str("f64"),
            Self::Complex32 => f.write_str("complex<f32>"),
            Self::Complex64 => f.write_str("complex<f64>"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in ["index", "i1", "i64", "si8", "ui32", "f16", "bf16", "f32", "f64"] {
            assert_eq!(Scalar::from_name(name).expect(name).to_string(), name);
        }
        for name in ["i0", "i65", "i", "f80", "i+8", "i08", "u8", ""] {
            assert_eq!(Scalar::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn elements_have_whole_bytes() {
        assert_eq!(Scalar::BOOL.n_bytes(), 1);
        assert_eq!(Scalar::signless(24).n_bytes(), 4);
        assert_eq!(Scalar::Complex64.n_bytes(), 16);
    }
}
