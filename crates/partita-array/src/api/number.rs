//! Numbers of Python, which take the type of the array they meet.

use partita_kernel::{Dtype, Kind, Scalar};

use super::error::{ApiError, Result};

/// A number without a type of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A truth value.
    Bool(bool),
    /// An integer; more than 64 bits fit into no type.
    Int(i128),
    /// A floating number.
    Float(f64),
    /// A complex number.
    Complex(f64, f64),
}

impl Number {
    /// The type an array of such numbers has.
    #[must_use]
    pub fn own_type(self) -> Dtype {
        match self {
            Self::Bool(_) => Dtype::Bool,
            Self::Int(int) if int > i128::from(i64::MAX) => Dtype::UInt64,
            Self::Int(_) => Dtype::Int64,
            Self::Float(_) => Dtype::Float64,
            Self::Complex(..) => Dtype::Complex128,
        }
    }

    /// The type it has together with elements of a type, which decide unless they are of a lower
    /// kind.
    #[must_use]
    pub fn type_with(self, dtype: Dtype) -> Dtype {
        use Kind::{Bool, Complex, Float, Signed, Unsigned};
        match (self, dtype.kind()) {
            (Self::Bool(_), _) | (_, Complex) => dtype,
            (Self::Int(_), Bool) => self.own_type(),
            (Self::Int(_), _) | (Self::Float(_), Float) => dtype,
            (Self::Float(_), Bool | Signed | Unsigned) => Dtype::Float64,
            (Self::Complex(..), Float) => dtype.complex().unwrap_or(Dtype::Complex64),
            (Self::Complex(..), _) => Dtype::Complex128,
        }
    }

    /// Whether a type of integers has it; other types take every number of their kind.
    #[must_use]
    pub fn fits(self, dtype: Dtype) -> bool {
        let Self::Int(int) = self else { return true };
        let bits = 8 * dtype.size() as u32;
        match dtype.kind() {
            Kind::Signed => (-(1_i128 << (bits - 1))..1_i128 << (bits - 1)).contains(&int),
            Kind::Unsigned => (0..1_i128 << bits).contains(&int),
            _ => true,
        }
    }

    /// The number as an element.
    ///
    /// # Errors
    /// A number that the type does not have.
    pub fn to_scalar(self, dtype: Dtype) -> Result<Scalar> {
        self.refuse_loss(dtype)?;
        if !self.fits(dtype) {
            return Err(ApiError::NumberOutside { number: self.to_string(), dtype });
        }
        let (real, imaginary) = self.parts();
        Ok(match dtype {
            Dtype::Bool => Scalar::from(real != 0.0 || imaginary != 0.0),
            Dtype::Float64 => Scalar::from(real),
            Dtype::Float32 => Scalar::from(real as f32),
            Dtype::Float16 | Dtype::BFloat16 => half(real, dtype),
            Dtype::Complex64 => {
                let bytes = [(real as f32).to_le_bytes(), (imaginary as f32).to_le_bytes()];
                Scalar::from_bytes(dtype, &bytes.concat())
            }
            Dtype::Complex128 => {
                let bytes = [real.to_le_bytes(), imaginary.to_le_bytes()];
                Scalar::from_bytes(dtype, &bytes.concat())
            }
            _ => Scalar::from_bytes(dtype, &self.to_int().to_le_bytes()),
        })
    }

    /// An element as a number.
    #[must_use]
    pub fn from_scalar(scalar: Scalar) -> Self {
        let bytes = scalar.bytes;
        let wide = |at: usize| -> [u8; 8] { std::array::from_fn(|k| bytes[at + k]) };
        let single =
            |at: usize| f64::from(f32::from_le_bytes(std::array::from_fn(|k| bytes[at + k])));
        let dtype = scalar.dtype;
        match dtype.kind() {
            Kind::Bool => Self::Bool(bytes[0] != 0),
            Kind::Unsigned => Self::Int(u64::from_le_bytes(wide(0)).into()),
            Kind::Signed => {
                let shift = 64 - 8 * dtype.size();
                Self::Int((i64::from_le_bytes(wide(0)) << shift >> shift).into())
            }
            Kind::Float => Self::Float(match dtype {
                Dtype::Float64 => f64::from_le_bytes(wide(0)),
                Dtype::Float32 => single(0),
                _ => whole_of_half(u16::from_le_bytes([bytes[0], bytes[1]]), dtype),
            }),
            Kind::Complex if dtype == Dtype::Complex64 => Self::Complex(single(0), single(4)),
            Kind::Complex => {
                Self::Complex(f64::from_le_bytes(wide(0)), f64::from_le_bytes(wide(8)))
            }
        }
    }

    /// Refuses complex numbers among real ones, and what is no integer at all among integers.
    fn refuse_loss(self, dtype: Dtype) -> Result<()> {
        use Kind::{Float, Signed, Unsigned};
        let number = || self.to_string();
        match (self, dtype.kind()) {
            (Self::Complex(..), Float | Signed | Unsigned) => {
                Err(ApiError::NumberComplex { number: number(), dtype })
            }
            (Self::Float(float), Signed | Unsigned) if float.is_nan() => {
                Err(ApiError::NumberNan { dtype })
            }
            // Cut, as Python does; infinities are outside of every type.
            (Self::Float(float), Signed | Unsigned) if !Self::Int(float as i128).fits(dtype) => {
                Err(ApiError::NumberOutside { number: number(), dtype })
            }
            _ => Ok(()),
        }
    }

    fn parts(self) -> (f64, f64) {
        match self {
            Self::Bool(truth) => (f64::from(u8::from(truth)), 0.0),
            Self::Int(int) => (int as f64, 0.0),
            Self::Float(float) => (float, 0.0),
            Self::Complex(real, imaginary) => (real, imaginary),
        }
    }

    fn to_int(self) -> i128 {
        match self {
            Self::Bool(truth) => truth.into(),
            Self::Int(int) => int,
            Self::Float(float) | Self::Complex(float, _) => float as i128,
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool(truth) => write!(f, "{truth}"),
            Self::Int(int) => write!(f, "{int}"),
            Self::Float(float) => write!(f, "{float:?}"),
            Self::Complex(real, imaginary) => write!(f, "{real:?}{imaginary:+?}j"),
        }
    }
}

/// Fields of a format of 16 bits: how many of the exponent and of the fraction.
fn fields(dtype: Dtype) -> (i32, u32) {
    if dtype == Dtype::BFloat16 { (8, 7) } else { (5, 10) }
}

/// A number of 16 bits, rounded to nearest even.
fn half(value: f64, dtype: Dtype) -> Scalar {
    let (n_exponent, n_fraction) = fields(dtype);
    let bias = (1 << (n_exponent - 1)) - 1;
    let infinity = ((1_u32 << n_exponent) - 1) << n_fraction;
    let magnitude = value.abs();
    let bits = if magnitude.is_nan() {
        infinity | 1 << (n_fraction - 1)
    } else {
        // The smallest step of its binade, or of the subnormal numbers.
        let exponent = if magnitude < f64::MIN_POSITIVE {
            1 - bias
        } else {
            ((magnitude.to_bits() >> 52) as i32 - 1023).max(1 - bias)
        };
        let steps = magnitude * 2_f64.powi(n_fraction as i32 - exponent);
        if steps.is_infinite() {
            infinity
        } else {
            // A carry of the fraction counts up the exponent, as it should.
            let base = ((exponent + bias - 1) as u32) << n_fraction;
            (base + steps.round_ties_even() as u32).min(infinity)
        }
    };
    let sign = u16::from(value.is_sign_negative()) << 15;
    Scalar::from_bytes(dtype, &(bits as u16 | sign).to_le_bytes())
}

fn whole_of_half(bits: u16, dtype: Dtype) -> f64 {
    let (n_exponent, n_fraction) = fields(dtype);
    let bias = (1 << (n_exponent - 1)) - 1;
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits & 0x7fff) >> n_fraction;
    let fraction = f64::from(bits & ((1 << n_fraction) - 1));
    let whole = f64::from(1_u32 << n_fraction);
    sign * match exponent {
        0 => fraction * 2_f64.powi(1 - bias) / whole,
        top if top == (1 << n_exponent) - 1 && fraction == 0.0 => f64::INFINITY,
        top if top == (1 << n_exponent) - 1 => f64::NAN,
        _ => (1.0 + fraction / whole) * 2_f64.powi(exponent - bias),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_16_bits_comes_back() {
        for dtype in [Dtype::Float16, Dtype::BFloat16] {
            for bits in 0..=u16::MAX {
                let scalar = Scalar::from_bytes(dtype, &bits.to_le_bytes());
                let Number::Float(value) = Number::from_scalar(scalar) else { panic!("{bits}") };
                let back = Number::Float(value).to_scalar(dtype).expect("fits");
                assert!(value.is_nan() || back == scalar, "{dtype} {bits:x} {value}");
            }
        }
    }

    #[test]
    fn rounding_is_to_nearest_even() {
        let half = |value: f64| half(value, Dtype::Float16).bytes[..2].to_vec();
        assert_eq!(half(65519.9), 0x7bff_u16.to_le_bytes());
        assert_eq!(half(65520.0), 0x7c00_u16.to_le_bytes());
        assert_eq!(half(1.0 + 2_f64.powi(-11)), 0x3c00_u16.to_le_bytes());
        assert_eq!(half(2_f64.powi(-25)), [0, 0]);
        assert_eq!(half(3.0 * 2_f64.powi(-26)), [1, 0]);
    }

    #[test]
    fn integers_must_fit() {
        assert!(Number::Int(255).fits(Dtype::UInt8) && !Number::Int(256).fits(Dtype::UInt8));
        assert!(Number::Int(-129).to_scalar(Dtype::Int8).is_err());
        let largest = Number::Int(u64::MAX.into()).to_scalar(Dtype::UInt64).expect("fits");
        assert_eq!(Number::from_scalar(largest), Number::Int(u64::MAX.into()));
    }

    #[test]
    fn numbers_of_a_higher_kind_are_not_cut_down() {
        let reason = |number: Number, dtype| number.to_scalar(dtype).expect_err("lost").reason();
        assert_eq!(reason(Number::Complex(5.0, 7.0), Dtype::Float64), "number-complex");
        assert_eq!(reason(Number::Complex(5.0, 0.0), Dtype::Int8), "number-complex");
        assert_eq!(reason(Number::Float(f64::NAN), Dtype::Int32), "number-nan");
        assert_eq!(reason(Number::Float(f64::INFINITY), Dtype::Int64), "number-outside");
        assert_eq!(reason(Number::Float(300.5), Dtype::Int8), "number-outside");
        let cut = Number::Float(-2.75).to_scalar(Dtype::Int8).expect("fits");
        assert_eq!(Number::from_scalar(cut), Number::Int(-2));
        assert!(Number::Complex(0.0, 1.0).to_scalar(Dtype::Bool).is_ok());
    }
}
