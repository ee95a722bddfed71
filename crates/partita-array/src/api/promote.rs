//! The type that elements of several types have together, as NumPy 2 and the Array API say.

use partita_kernel::{Dtype, Kind};

/// The smallest type that holds the numbers of both; none if the standard has none.
#[must_use]
pub fn result_type(a: Dtype, b: Dtype) -> Option<Dtype> {
    use Kind::{Bool, Complex, Float, Signed, Unsigned};
    if a == b {
        return Some(a);
    }
    let larger = if a.size() >= b.size() { a } else { b };
    Some(match (a.kind(), b.kind()) {
        (Bool, _) => b,
        (_, Bool) => a,
        (Signed, Signed) | (Unsigned, Unsigned) => larger,
        (Signed, Unsigned) => signed_with(a, b),
        (Unsigned, Signed) => signed_with(b, a),
        (Float, Float) => floats(a, b),
        (Float, Signed | Unsigned) => floats(a, float_of(b)),
        (Signed | Unsigned, Float) => floats(b, float_of(a)),
        (Complex, _) | (_, Complex) => {
            let real = |one: Dtype| match one.kind() {
                Signed | Unsigned => float_of(one),
                _ => one.real(),
            };
            let parts = floats(real(a), real(b));
            if parts.size() > 4 { Dtype::Complex128 } else { Dtype::Complex64 }
        }
    })
}

/// Whether every number of one type is one of the other.
#[must_use]
pub fn can_cast(from: Dtype, to: Dtype) -> bool {
    result_type(from, to) == Some(to)
}

/// Whether NumPy writes numbers of one type into arrays of another in place.
#[must_use]
pub fn is_same_kind(from: Dtype, to: Dtype) -> bool {
    let order = |dtype: Dtype| match dtype.kind() {
        Kind::Bool => 0,
        Kind::Unsigned => 1,
        Kind::Signed => 2,
        Kind::Float => 3,
        Kind::Complex => 4,
    };
    can_cast(from, to) || order(from) <= order(to)
}

fn signed_with(signed: Dtype, unsigned: Dtype) -> Dtype {
    let needed = signed.size().max(2 * unsigned.size());
    match needed {
        1 => Dtype::Int8,
        2 => Dtype::Int16,
        4 => Dtype::Int32,
        8 => Dtype::Int64,
        _ => Dtype::Float64,
    }
}

/// The floating type that has the numbers of an integer type, as far as one has.
pub(super) fn float_of(integer: Dtype) -> Dtype {
    match integer.size() {
        1 => Dtype::Float16,
        2 => Dtype::Float32,
        _ => Dtype::Float64,
    }
}

fn floats(a: Dtype, b: Dtype) -> Dtype {
    match (a, b) {
        _ if a == b => a,
        // Integers of 8 bits fit into bfloat16 as well as into float16.
        (Dtype::BFloat16, Dtype::Float16) | (Dtype::Float16, Dtype::BFloat16) => Dtype::Float32,
        _ if a.size() >= b.size() => a,
        _ => b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Dtype::*;

    #[test]
    fn types_are_those_of_numpy() {
        let cases = [
            (Int8, UInt8, Int16),
            (Int64, UInt32, Int64),
            (Int8, UInt64, Float64),
            (Float16, Int8, Float16),
            (Float16, Int16, Float32),
            (Float32, Int32, Float64),
            (Float32, Int16, Float32),
            (Complex64, Float32, Complex64),
            (Complex64, Int32, Complex128),
            (Complex64, Float64, Complex128),
            (Bool, UInt8, UInt8),
            (BFloat16, Float16, Float32),
        ];
        for (a, b, wanted) in cases {
            assert_eq!(result_type(a, b), Some(wanted), "{a} {b}");
            assert_eq!(result_type(b, a), Some(wanted), "{b} {a}");
        }
    }

    #[test]
    fn the_common_type_holds_both_and_the_order_does_not_matter() {
        for a in Dtype::ALL {
            for b in Dtype::ALL {
                let common = result_type(a, b).expect("a type");
                assert!(can_cast(a, common), "{a} {b} {common}");
                assert_eq!(result_type(b, a), Some(common));
            }
        }
    }

    #[test]
    fn casts_are_safe_as_numpy_says() {
        let safe = [
            (Bool, Int8),
            (UInt8, Int16),
            (UInt8, Float16),
            (Int16, Float32),
            (Int64, Float64),
            (UInt64, Float64),
            (Float16, Float32),
            (BFloat16, Float32),
            (Float32, Complex64),
            (Int32, Complex128),
            (Float64, Complex128),
            (Complex64, Complex128),
            (Int8, Int8),
        ];
        let lossy = [
            (Float64, Int64),
            (Complex128, Float64),
            (Float64, Float32),
            (Int64, Int32),
            (Int8, UInt8),
            (UInt8, Int8),
            (UInt64, Int64),
            (Int32, Float32),
            (Int16, Float16),
            (Float64, Complex64),
            (Float16, BFloat16),
            (Int8, Bool),
            (Int64, Complex64),
        ];
        for (from, to) in safe {
            assert!(can_cast(from, to), "{from} to {to}");
        }
        for (from, to) in lossy {
            assert!(!can_cast(from, to), "{from} to {to}");
        }
    }
}
