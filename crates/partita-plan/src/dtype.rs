//! Element types, as far as a plan cares: a name and a size.

use crate::error::{PlanError, Result};

/// A standard element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Dtype {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    Bf16,
    F32,
    F64,
    C64,
    C128,
}

impl Dtype {
    /// Every element type.
    pub const ALL: [Self; 15] = [
        Self::Bool,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::F16,
        Self::Bf16,
        Self::F32,
        Self::F64,
        Self::C64,
        Self::C128,
    ];

    /// NumPy's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.names().0
    }

    /// Long name, short name, NumPy's type code.
    const fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Bool => ("bool", "b1", "?"),
            Self::I8 => ("int8", "i8", "|i1"),
            Self::I16 => ("int16", "i16", "<i2"),
            Self::I32 => ("int32", "i32", "<i4"),
            Self::I64 => ("int64", "i64", "<i8"),
            Self::U8 => ("uint8", "u8", "|u1"),
            Self::U16 => ("uint16", "u16", "<u2"),
            Self::U32 => ("uint32", "u32", "<u4"),
            Self::U64 => ("uint64", "u64", "<u8"),
            Self::F16 => ("float16", "f16", "<f2"),
            Self::Bf16 => ("bfloat16", "bf16", "bf16"),
            Self::F32 => ("float32", "f32", "<f4"),
            Self::F64 => ("float64", "f64", "<f8"),
            Self::C64 => ("complex64", "c64", "<c8"),
            Self::C128 => ("complex128", "c128", "<c16"),
        }
    }

    /// Bytes of one element.
    #[must_use]
    pub const fn n_bytes(self) -> u64 {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 | Self::C64 => 8,
            Self::C128 => 16,
        }
    }

    /// Reads `float64`, `f64` or `<f8`.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(text: &str) -> Result<Self> {
        let wanted = |dtype: &Self| {
            let (long, short, code) = dtype.names();
            [long, short, code].contains(&text)
        };
        Self::ALL
            .into_iter()
            .find(wanted)
            .ok_or_else(|| PlanError::DtypeUnknown { dtype: text.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses() {
        for dtype in Dtype::ALL {
            let (long, short, code) = dtype.names();
            for name in [long, short, code] {
                assert_eq!(Dtype::parse(name), Ok(dtype));
            }
        }
        assert_eq!(Dtype::parse("float").expect_err("ambiguous").reason(), "dtype-unknown");
    }
}
