//! Numbers of any type, and rounding to a type.

use partita_kernel::{Dtype, Kind};

/// A number; half precision and float32 are held exactly.
#[derive(Debug, Clone, Copy)]
pub enum Number {
    Bool(bool),
    Int(i128),
    Float(f64),
    Complex(f64, f64),
}

impl Number {
    /// Reads an element.
    pub fn read(bytes: &[u8], dtype: Dtype) -> Number {
        let mut raw = [0; 16];
        raw[..dtype.size()].copy_from_slice(&bytes[..dtype.size()]);
        let bits = u128::from_le_bytes(raw);
        match dtype {
            Dtype::Bool => Number::Bool(bits != 0),
            Dtype::Float16 => Number::Float(decode(bits as u16, 10, 5)),
            Dtype::BFloat16 => Number::Float(f32::from_bits((bits as u32) << 16).into()),
            Dtype::Float32 => Number::Float(f32::from_bits(bits as u32).into()),
            Dtype::Float64 => Number::Float(f64::from_bits(bits as u64)),
            Dtype::Complex64 => {
                let [re, im] = [bits as u32, (bits >> 32) as u32].map(f32::from_bits);
                Number::Complex(re.into(), im.into())
            }
            Dtype::Complex128 => {
                let [re, im] = [bits as u64, (bits >> 64) as u64].map(f64::from_bits);
                Number::Complex(re, im)
            }
            _ => wrap(bits as i128, dtype),
        }
    }

    /// The element's bytes.
    pub fn write(self, dtype: Dtype) -> Vec<u8> {
        let bits: u128 = match (self, dtype) {
            (Number::Bool(b), _) => u128::from(b),
            (Number::Int(i), _) => i as u128,
            (Number::Float(x), Dtype::Float16) => u128::from(encode(x)),
            (Number::Float(x), Dtype::BFloat16) => u128::from((x as f32).to_bits() >> 16),
            (Number::Float(x), Dtype::Float32) => u128::from((x as f32).to_bits()),
            (Number::Float(x), _) => u128::from(x.to_bits()),
            (Number::Complex(re, im), Dtype::Complex64) => {
                let [re, im] = [re, im].map(|x| u128::from((x as f32).to_bits()));
                re | im << 32
            }
            (Number::Complex(re, im), _) => {
                u128::from(re.to_bits()) | u128::from(im.to_bits()) << 64
            }
        };
        bits.to_le_bytes()[..dtype.size()].to_vec()
    }

    pub fn float(self) -> f64 {
        match self {
            Number::Bool(b) => u8::from(b).into(),
            Number::Int(i) => i as f64,
            Number::Float(x) | Number::Complex(x, _) => x,
        }
    }

    pub fn int(self) -> i128 {
        match self {
            Number::Bool(b) => b.into(),
            Number::Int(i) => i,
            Number::Float(x) | Number::Complex(x, _) => x as i128,
        }
    }

    pub fn truth(self) -> bool {
        match self {
            Number::Bool(b) => b,
            Number::Int(i) => i != 0,
            Number::Float(x) => x != 0.0,
            Number::Complex(re, im) => re != 0.0 || im != 0.0,
        }
    }

    /// Equal as results: any NaN is as good as another.
    pub fn same(self, other: Number) -> bool {
        let same = |x: f64, y: f64| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan();
        match (self, other) {
            (Number::Bool(x), Number::Bool(y)) => x == y,
            (Number::Int(x), Number::Int(y)) => x == y,
            (Number::Float(x), Number::Float(y)) => same(x, y),
            (Number::Complex(a, b), Number::Complex(x, y)) => same(a, x) && same(b, y),
            _ => false,
        }
    }
}

/// An integer modulo the range of a type.
pub fn wrap(x: i128, dtype: Dtype) -> Number {
    let shift = 128 - 8 * dtype.size() as u32;
    Number::Int(match dtype.kind() {
        Kind::Signed => x << shift >> shift,
        _ => ((x as u128) << shift >> shift) as i128,
    })
}

/// The nearest number of a floating type.
pub fn round(x: f64, dtype: Dtype) -> f64 {
    match dtype {
        Dtype::Float32 | Dtype::Complex64 => (x as f32).into(),
        Dtype::Float16 => round_to(x, 10, -14, 65504.0),
        Dtype::BFloat16 => round_to(x, 7, -126, f64::from(f32::from_bits(0x7f7f_0000))),
        _ => x,
    }
}

/// Rounds to so many digits after the first, by scaling the last one to be the unit.
fn round_to(x: f64, digits: i32, lowest: i32, highest: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(lowest);
    let unit = 2.0_f64.powi(exponent - digits);
    let rounded = (x / unit).round_ties_even() * unit;
    if rounded.abs() > highest { f64::INFINITY.copysign(x) } else { rounded }
}

fn decode(bits: u16, digits: u32, exponent_bits: u32) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> digits & ((1 << exponent_bits) - 1));
    let fraction = f64::from(bits & ((1 << digits) - 1)) / f64::from(1 << digits);
    match exponent {
        0 => sign * fraction * 2.0_f64.powi(-14),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN.copysign(sign),
        _ => sign * (1.0 + fraction) * 2.0_f64.powi(exponent - 15),
    }
}

/// The bits of a number that float16 has.
fn encode(x: f64) -> u16 {
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let size = x.abs();
    if x.is_nan() {
        return 0x7e00 | sign;
    }
    let (mut low, mut high) = (0, 0x7c00_u16);
    while low < high {
        let middle = low + (high - low) / 2;
        if decode(middle, 10, 5) < size {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low | sign
}
