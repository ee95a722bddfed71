//! Floating numbers as text: decimal where that is exact, bits in hexadecimal where not.

use crate::types::Scalar;

/// The text of a number of a type, or of a part of a complex type, without the type.
#[must_use]
pub fn float_text(number: f64, scalar: Scalar) -> String {
    if !number.is_finite() {
        return bits_text(number, scalar);
    }
    let text = format!("{number:?}");
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

fn bits_text(number: f64, scalar: Scalar) -> String {
    let wide = number.to_bits();
    let sign = wide >> 63;
    // Infinities and NaN: the exponent is full, and the first bits of the fraction tell which.
    let fraction = |n_bits: u32| (wide >> (52 - n_bits)) & ((1 << n_bits) - 1);
    match scalar {
        Scalar::F16 => format!("0x{:04X}", sign << 15 | 0x1F << 10 | fraction(10)),
        Scalar::Bf16 => format!("0x{:04X}", sign << 15 | 0xFF << 7 | fraction(7)),
        Scalar::F32 | Scalar::Complex32 => {
            format!("0x{:08X}", sign << 31 | 0xFF << 23 | fraction(23))
        }
        _ => format!("0x{wide:016X}"),
    }
}

/// The number whose bits are given, for a type.
pub(super) fn float_from_bits(bits: u64, scalar: Scalar) -> Option<f64> {
    match scalar {
        Scalar::F64 | Scalar::Complex64 => Some(f64::from_bits(bits)),
        Scalar::F32 | Scalar::Complex32 => {
            u32::try_from(bits).ok().map(|b| widened(b.into(), 8, 23))
        }
        Scalar::F16 => u16::try_from(bits).ok().map(|b| widened(b.into(), 5, 10)),
        Scalar::Bf16 => u16::try_from(bits).ok().map(|b| widened(b.into(), 8, 7)),
        _ => None,
    }
}

/// A narrow number, given by its bits, as an f64; the payload of a NaN is kept.
fn widened(bits: u64, n_exponent: u32, n_fraction: u32) -> f64 {
    let fraction = bits & ((1 << n_fraction) - 1);
    let exponent = (bits >> n_fraction) & ((1 << n_exponent) - 1);
    let sign = (bits >> (n_exponent + n_fraction)) << 63;
    let bias = (1_i32 << (n_exponent - 1)) - 1;
    if exponent == (1 << n_exponent) - 1 {
        return f64::from_bits(sign | 0x7FF << 52 | fraction << (52 - n_fraction));
    }
    let scale = |power: i32| 2_f64.powi(power);
    let ulp = scale(-(n_fraction as i32));
    let magnitude = match exponent {
        0 => fraction as f64 * ulp * scale(1 - bias),
        _ => (1.0 + fraction as f64 * ulp) * scale(exponent as i32 - bias),
    };
    f64::from_bits(magnitude.to_bits() | sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finite_numbers_are_decimal_with_a_point() {
        let cases = [(1.0, "1.0"), (-0.0, "-0.0"), (1e300, "1.0e300"), (1.5e-9, "1.5e-9")];
        for (number, text) in cases {
            assert_eq!(float_text(number, Scalar::F64), text);
            assert_eq!(text.parse(), Ok(number));
        }
    }

    #[test]
    fn bits_survive() {
        let cases = [
            (f64::INFINITY, Scalar::F16, "0x7C00"),
            (f64::NEG_INFINITY, Scalar::Bf16, "0xFF80"),
            (f64::NAN, Scalar::F32, "0x7FC00000"),
            (f64::INFINITY, Scalar::F64, "0x7FF0000000000000"),
        ];
        for (number, scalar, text) in cases {
            assert_eq!(float_text(number, scalar), text);
            let bits = u64::from_str_radix(&text[2..], 16).expect("hexadecimal");
            assert_eq!(float_from_bits(bits, scalar).map(f64::to_bits), Some(number.to_bits()));
        }
        assert_eq!(float_from_bits(0x3C00, Scalar::F16), Some(1.0));
        assert_eq!(float_from_bits(0x0001, Scalar::F16), Some(2_f64.powi(-24)));
        assert_eq!(float_from_bits(0x8000_0000, Scalar::F32).map(f64::to_bits), Some(1 << 63));
        assert_eq!(float_from_bits(1 << 40, Scalar::F32), None);
    }
}
