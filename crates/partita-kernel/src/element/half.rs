//! float16 and bfloat16: kept in two bytes, computed in float32.
//!
//! A float32 result of `+ - * /` and of roots, rounded again to half precision, is the correctly
//! rounded one, since float32 has more than twice as many digits and two.

use super::{Element, Float, Number, Ordered, Real};

/// IEEE binary16.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Float16(pub u16);

/// The upper half of a float32.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct BFloat16(pub u16);

impl Float16 {
    /// The nearest number, of two the even one.
    #[inline(always)]
    #[must_use]
    pub fn from_f32(x: f32) -> Float16 {
        let bits = x.to_bits();
        let sign = (bits >> 16 & 0x8000) as u16;
        let size = bits & 0x7fff_ffff;
        // Adding 0.5 aligns the digits of subnormal results at the end of the float32.
        let small = (f32::from_bits(size) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
        let odd = size >> 13 & 1;
        let normal = size.wrapping_add(0xc800_0fff).wrapping_add(odd) >> 13;
        let finite = if size < 0x3880_0000 { small } else { normal };
        let large = if size > 0x7f80_0000 { 0x7e00 } else { 0x7c00 };
        let size = if size >= 0x4780_0000 { large } else { finite };
        Float16(sign | size as u16)
    }

    /// The same number.
    #[inline(always)]
    #[must_use]
    pub fn to_f32(self) -> f32 {
        let bits = u32::from(self.0);
        let size = bits & 0x7fff;
        // The exponent is moved by multiplying, which also makes subnormals normal.
        let scaled = f32::from_bits(size << 13) * f32::from_bits(0x7780_0000);
        let special = f32::from_bits(size << 13 | 0x7f80_0000);
        let number = if size >= 0x7c00 { special } else { scaled };
        f32::from_bits(number.to_bits() | (bits & 0x8000) << 16)
    }
}

impl BFloat16 {
    /// The nearest number, of two the even one.
    #[inline(always)]
    #[must_use]
    pub fn from_f32(x: f32) -> BFloat16 {
        let bits = x.to_bits();
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
        let nan = bits >> 16 | 0x40;
        BFloat16(if x.is_nan() { nan } else { rounded } as u16)
    }

    /// The same number.
    #[inline(always)]
    #[must_use]
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

/// A float32 that rounds to the same half as the float64: cut, with the last bit set if inexact.
#[inline(always)]
pub(super) fn to_odd(x: f64) -> f32 {
    let near = x as f32;
    let back = f64::from(near);
    let bits = near.to_bits();
    let beyond = back.abs() > x.abs();
    let cut = if beyond { bits.wrapping_sub(1) } else { bits };
    f32::from_bits(if back == x || x.is_nan() { bits } else { cut | 1 })
}

macro_rules! halves {
    ($($half:ident $one:literal),*) => {$(
        impl $half {
            /// The number after this one in the direction of another.
            #[inline(always)]
            #[must_use]
            pub fn next_after(self, other: Self) -> Self {
                let (x, y) = (self.to_f32(), other.to_f32());
                if x != x || y != y {
                    return $half::from_f32(x + y);
                }
                if x == y {
                    return other;
                }
                if x == 0.0 {
                    return $half(other.0 & 0x8000 | 1);
                }
                let outwards = (x < y) == (x > 0.0);
                $half(if outwards { self.0.wrapping_add(1) } else { self.0.wrapping_sub(1) })
            }

            #[inline(always)]
            fn map(self, f: impl Fn(f32) -> f32) -> Self {
                $half::from_f32(f(self.to_f32()))
            }
            #[inline(always)]
            fn with(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
                $half::from_f32(f(self.to_f32(), other.to_f32()))
            }
        }

        impl Element for $half {
            #[inline(always)]
            fn truth(self) -> bool {
                self.0 & 0x7fff != 0
            }
            #[inline(always)]
            fn equal(self, other: Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl Number for $half {
            type Wide = f32;
            const ONE: Self = $half($one);
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.with(other, f32::add)
            }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                self.with(other, f32::subtract)
            }
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                self.with(other, f32::multiply)
            }
            #[inline(always)]
            fn negative(self) -> Self {
                $half(self.0 ^ 0x8000)
            }
            #[inline(always)]
            fn widen(self) -> f32 {
                self.to_f32()
            }
            #[inline(always)]
            fn narrow(wide: f32) -> Self {
                $half::from_f32(wide)
            }
        }

        impl Ordered for $half {
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self.to_f32() < other.to_f32()
            }
            #[inline(always)]
            fn less_equal(self, other: Self) -> bool {
                self.to_f32() <= other.to_f32()
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                Ordered::is_nan(self.to_f32())
            }
        }

        impl Real for $half {
            #[inline(always)]
            fn sign(self) -> Self {
                self.map(f32::sign)
            }
            #[inline(always)]
            fn absolute(self) -> Self {
                $half(self.0 & 0x7fff)
            }
            #[inline(always)]
            fn floor_divide(self, other: Self) -> Self {
                self.with(other, f32::floor_divide)
            }
            #[inline(always)]
            fn remainder(self, other: Self) -> Self {
                self.with(other, f32::remainder)
            }
            #[inline(always)]
            fn floor(self) -> Self {
                self.map(<f32 as Real>::floor)
            }
            #[inline(always)]
            fn ceil(self) -> Self {
                self.map(<f32 as Real>::ceil)
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                self.map(<f32 as Real>::trunc)
            }
            #[inline(always)]
            fn round(self) -> Self {
                self.map(<f32 as Real>::round)
            }
        }

        impl Float for $half {
            #[inline(always)]
            fn divide(self, other: Self) -> Self {
                self.with(other, f32::divide)
            }
            #[inline(always)]
            fn square_root(self) -> Self {
                self.map(f32::sqrt)
            }
            #[inline(always)]
            fn fused_multiply_add(self, factor: Self, term: Self) -> Self {
                // The product of two halves is exact in float64; the sum is then rounded once.
                let [x, y, z] = [self, factor, term].map(|h| f64::from(h.to_f32()));
                $half::from_f32(fused_to_odd(x * y, z))
            }
            #[inline(always)]
            fn is_infinite(self) -> bool {
                Float::is_infinite(self.to_f32())
            }
            #[inline(always)]
            fn sign_bit(self) -> bool {
                self.0 >> 15 == 1
            }
            #[inline(always)]
            fn from_count(count: u64) -> Self {
                $half::from_f32(count as f32)
            }
        }
    )*};
}

/// The sum of two float64 as a float32 that rounds to the right half.
#[inline(always)]
fn fused_to_odd(x: f64, y: f64) -> f32 {
    let sum = x + y;
    let part = sum - x;
    let lost = (x - (sum - part)) + (y - part);
    let bits = sum.to_bits();
    let inexact = lost != 0.0 && sum.is_finite();
    // An exact sum has its digits; otherwise the last bit says that there was more.
    let away = inexact && (lost < 0.0) != (sum < 0.0);
    let cut = if away { bits.wrapping_sub(1) } else { bits };
    to_odd(f64::from_bits(if inexact { cut | 1 } else { bits }))
}

halves!(Float16 0x3c00, BFloat16 0x3f80);
