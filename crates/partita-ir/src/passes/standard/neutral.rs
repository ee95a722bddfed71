//! Numbers as elements, and those that change nothing in a reduction.

use crate::attr::{Attr, Float};
use crate::enums::Reduce;
use crate::types::{Scalar, Sign};

/// What changes nothing when it is combined.
pub(super) fn neutral(how: Reduce, element: Scalar) -> Option<Attr> {
    match how {
        Reduce::Sum | Reduce::CountNonzero | Reduce::Any => number(0.0, element),
        Reduce::Prod | Reduce::All => number(1.0, element),
        Reduce::Max => least(element),
        Reduce::Min => most(element),
        _ => None,
    }
}

/// A whole number as an element.
pub(super) fn number(value: f64, element: Scalar) -> Option<Attr> {
    Some(match element {
        Scalar::Complex32 | Scalar::Complex64 => Attr::Complex(Float(value), Float(0.0), element),
        Scalar::F16 | Scalar::Bf16 | Scalar::F32 | Scalar::F64 => {
            Attr::Float(Float(value), element)
        }
        Scalar::BOOL => Attr::Bool(value != 0.0),
        Scalar::Index | Scalar::Int { .. } if value.fract() == 0.0 => {
            Attr::Int(value as i64, element)
        }
        _ => return None,
    })
}

fn least(element: Scalar) -> Option<Attr> {
    match element {
        Scalar::Int { sign: Sign::Unsigned, .. } | Scalar::BOOL => number(0.0, element),
        Scalar::Int { width, .. } => {
            Some(Attr::Int(i64::MIN >> (64 - width.clamp(1, 64)), element))
        }
        Scalar::Index => Some(Attr::Int(i64::MIN, element)),
        Scalar::Complex32 | Scalar::Complex64 => None,
        _ => number(f64::NEG_INFINITY, element),
    }
}

fn most(element: Scalar) -> Option<Attr> {
    match element {
        Scalar::BOOL => number(1.0, element),
        Scalar::Int { sign: Sign::Unsigned, width } => {
            Some(Attr::Int((u64::MAX >> (64 - width.clamp(1, 64))) as i64, element))
        }
        Scalar::Int { width, .. } => {
            Some(Attr::Int(i64::MAX >> (64 - width.clamp(1, 64)), element))
        }
        Scalar::Index => Some(Attr::Int(i64::MAX, element)),
        Scalar::Complex32 | Scalar::Complex64 => None,
        _ => number(f64::INFINITY, element),
    }
}
