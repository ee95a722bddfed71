//! How two elements are added.
//!
//! Half precision goes through single precision, which is wide enough that rounding twice gives
//! the same as rounding once. Conversions have no branches, so that loops over them are vectorised.

/// Something with a sum; two's complement makes signed and unsigned the same.
pub(super) trait Number: Copy {
    fn plus(self, other: Self) -> Self;
}

macro_rules! wrapping {
    ($($integer:ty),*) => {$(
        impl Number for $integer {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
    )*};
}
wrapping!(u8, u16, u32, u64);

macro_rules! floating {
    ($($float:ty),*) => {$(
        impl Number for $float {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
        }
    )*};
}
floating!(f32, f64);

/// A truth value; the sum is "or".
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(super) struct Bool(u8);

impl Number for Bool {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// IEEE 754 half precision.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(super) struct F16(pub u16);

impl F16 {
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        const SCALE: f32 = f32::from_bits((127 + 112) << 23);
        let magnitude = u32::from(self.0 & 0x7fff) << 13;
        // The exponent's bias differs by 112; multiplying also normalises subnormal numbers.
        let finite = (f32::from_bits(magnitude) * SCALE).to_bits();
        let special = magnitude | 0x7f80_0000;
        let bits = if magnitude >= 0x0f80_0000 { special } else { finite };
        f32::from_bits(bits | u32::from(self.0 & 0x8000) << 16)
    }

    /// Rounds to nearest, ties to even.
    #[inline(always)]
    pub fn from_f32(value: f32) -> Self {
        let bits = value.to_bits();
        let magnitude = bits & 0x7fff_ffff;
        let is_odd = magnitude >> 13 & 1;
        let normal = magnitude.wrapping_sub(0x3800_0000).wrapping_add(0xfff + is_odd) >> 13;
        // Added to a half, the last bit kept is that of the smallest subnormal number.
        let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
        let nan = 0x7e00 | magnitude >> 13 & 0x3ff;
        let mut half = if magnitude < 0x3880_0000 { subnormal } else { normal };
        half = if magnitude >= 0x477f_f000 { 0x7c00 } else { half };
        half = if magnitude > 0x7f80_0000 { nan } else { half };
        Self((half | bits >> 16 & 0x8000) as u16)
    }
}

impl Number for F16 {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self::from_f32(self.to_f32() + other.to_f32())
    }
}

/// The upper half of a single.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(super) struct Bf16(pub u16);

impl Bf16 {
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    /// Rounds to nearest, ties to even.
    #[inline(always)]
    pub fn from_f32(value: f32) -> Self {
        let bits = value.to_bits();
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
        let nan = bits >> 16 | 0x40;
        Self(if bits & 0x7fff_ffff > 0x7f80_0000 { nan } else { rounded } as u16)
    }
}

impl Number for Bf16 {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self::from_f32(self.to_f32() + other.to_f32())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Value of a finite half, from its parts.
    fn value(half: u16) -> f64 {
        let (exponent, fraction) = (i32::from(half >> 10 & 31), f64::from(half & 0x3ff));
        let magnitude = match exponent {
            0 => fraction * 2f64.powi(-24),
            _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
        };
        if half & 0x8000 == 0 { magnitude } else { -magnitude }
    }

    /// Halves up to infinity in increasing order: rounding is a search among them.
    fn nearest(wanted: f64) -> u16 {
        let sign = if wanted.is_sign_negative() { 0x8000 } else { 0 };
        let below = (0..0x7c00u16).rev().find(|&half| value(half) <= wanted.abs()).unwrap_or(0);
        let above = below + 1;
        // The next step after the largest number counts as if the exponent went on.
        let next = if above == 0x7c00 { 65536.0 } else { value(above) };
        let (down, up) = (wanted.abs() - value(below), next - wanted.abs());
        let is_up = up < down || (up == down && below & 1 == 1);
        sign | if is_up { above } else { below }
    }

    #[test]
    fn every_half_converts_and_comes_back() {
        for bits in 0..=u16::MAX {
            let single = F16(bits).to_f32();
            match bits & 0x7fff {
                0..0x7c00 => assert_eq!(f64::from(single), value(bits)),
                0x7c00 => assert!(single.is_infinite()),
                _ => assert!(single.is_nan()),
            }
            let is_nan = bits & 0x7fff > 0x7c00;
            let wanted = if is_nan { bits | 0x200 } else { bits };
            assert_eq!(F16::from_f32(single).0, wanted, "{bits:#06x}");
        }
    }

    #[test]
    fn sums_of_halves_are_rounded_to_even() {
        let mut state = 1u32;
        for _ in 0..2000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (a, b) =
                ((state >> 16) as u16, state as u16 & 0x83ff | (state >> 14 & 0x7c00) as u16);
            if a & 0x7c00 == 0x7c00 || b & 0x7c00 == 0x7c00 {
                continue;
            }
            let exact = value(a) + value(b);
            let found = F16(a).plus(F16(b)).0;
            let wanted = nearest(exact);
            assert!(found == wanted || exact == 0.0, "{a:#06x} + {b:#06x} = {found:#06x}");
        }
    }

    #[test]
    fn bfloats_are_rounded_to_even() {
        let round = |bits: u32| Bf16::from_f32(f32::from_bits(bits)).0;
        assert_eq!(round(0x3f80_8000), 0x3f80);
        assert_eq!(round(0x3f81_8000), 0x3f82);
        assert_eq!(round(0x3f80_8001), 0x3f81);
        assert_eq!(round(0x7f7f_ffff), 0x7f80);
        assert_eq!(round(0x7f80_0001), 0x7fc0);
        assert_eq!(round(0xff80_0000), 0xff80);
    }
}
