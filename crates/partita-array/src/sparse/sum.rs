//! Elements of one place, added.

use partita_kernel::{Dtype, Kind, Scalar};

use crate::api::Number;

/// Adds an element to another, both as bytes: integers wrap, truth values are joined by "or".
pub(super) fn add(dtype: Dtype, to: &mut [u8], other: &[u8]) {
    let number = |bytes: &[u8]| Number::from_scalar(Scalar::from_bytes(dtype, bytes));
    let sum = match (dtype.kind(), number(to), number(other)) {
        (Kind::Bool, ..) => {
            to[0] = u8::from(to[0] | other[0] != 0);
            return;
        }
        (_, Number::Int(a), Number::Int(b)) => {
            let n_bytes = to.len();
            to.copy_from_slice(&(a + b).to_le_bytes()[..n_bytes]);
            return;
        }
        (_, Number::Float(a), Number::Float(b)) => Number::Float(a + b),
        (_, Number::Complex(a, b), Number::Complex(c, d)) => Number::Complex(a + c, b + d),
        (_, a, _) => a,
    };
    // Rounding twice gives the nearest number here: doubles have more than twice the digits.
    if let Ok(sum) = sum.to_scalar(dtype) {
        let n_bytes = to.len();
        to.copy_from_slice(&sum.bytes[..n_bytes]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum<const N: usize>(dtype: Dtype, a: [u8; N], b: [u8; N]) -> [u8; N] {
        let mut to = a;
        add(dtype, &mut to, &b);
        to
    }

    #[test]
    fn every_kind_adds_as_its_elements_do() {
        assert_eq!(sum(Dtype::Bool, [1], [1]), [1]);
        assert_eq!(sum(Dtype::Int8, [100], [100]), [200], "wraps");
        assert_eq!(sum(Dtype::UInt8, [200], [100]), [44], "wraps");
        assert_eq!(
            sum(Dtype::Int64, (-5_i64).to_le_bytes(), 3_i64.to_le_bytes()),
            (-2_i64).to_le_bytes()
        );
        assert_eq!(
            sum(Dtype::Float64, 1.5_f64.to_le_bytes(), 2.0_f64.to_le_bytes()),
            3.5_f64.to_le_bytes()
        );
        assert_eq!(
            sum(Dtype::Float32, 1.5_f32.to_le_bytes(), 2.0_f32.to_le_bytes()),
            3.5_f32.to_le_bytes()
        );
        // One, and two of the smallest steps above: bits of binary16.
        assert_eq!(
            sum(Dtype::Float16, 0x3c00_u16.to_le_bytes(), 0x3c00_u16.to_le_bytes()),
            0x4000_u16.to_le_bytes()
        );
        let complex = |a: f32, b: f32| -> [u8; 8] {
            [a.to_le_bytes(), b.to_le_bytes()].concat().try_into().expect("eight bytes")
        };
        assert_eq!(sum(Dtype::Complex64, complex(1.0, 2.0), complex(0.5, -1.0)), complex(1.5, 1.0));
    }
}
