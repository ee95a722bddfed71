//! One float32 lane.

use super::{Ints32, Lanes32};

#[derive(Clone, Copy)]
pub(crate) struct Float(f32);
#[derive(Clone, Copy)]
pub(crate) struct Int(i32);
#[derive(Clone, Copy)]
pub(crate) struct Which(bool);

crate::simd::operators! { Float:
    Add add std::ops::Add::add,
    Sub sub std::ops::Sub::sub,
    Mul mul std::ops::Mul::mul,
    Div div std::ops::Div::div,
}
crate::simd::operators! { Int:
    Add add i32::wrapping_add,
    Sub sub i32::wrapping_sub,
    BitAnd bitand std::ops::BitAnd::bitand,
    BitOr bitor std::ops::BitOr::bitor,
    BitXor bitxor std::ops::BitXor::bitxor,
}
crate::simd::operators! { Which:
    BitAnd bitand std::ops::BitAnd::bitand,
    BitOr bitor std::ops::BitOr::bitor,
}

/// Runs instructions of this level.
macro_rules! on {
    ($($code:tt)*) => {
        // SAFETY: see the documentation of `simd`; pointers are as the caller promises.
        #[allow(unused_unsafe)]
        unsafe { $($code)* }
    };
}

impl std::ops::Not for Which {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        on!(Which(!self.0))
    }
}

impl crate::simd::Mask for Which {
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self.0)
    }
}

impl Ints32<Which> for Int {
    #[inline(always)]
    fn splat(value: i32) -> Self {
        on!(Self(value))
    }
    #[inline(always)]
    fn shl<const K: i32>(self) -> Self {
        on!(Self(self.0 << K))
    }
    #[inline(always)]
    fn shr<const K: i32>(self) -> Self {
        on!(Self(self.0 >> K))
    }
    #[inline(always)]
    fn negative(self) -> Which {
        on!(Which(self.0 < 0))
    }
}

impl Lanes32 for Float {
    type Mask = Which;
    type Int = Int;
    const N: usize = 1;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        on!(Self(value))
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        on!(Self(from.read_unaligned()))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        on!(to.write_unaligned(self.0));
    }
    #[inline(always)]
    fn fma(self, factor: Self, term: Self) -> Self {
        Self(self.0.mul_add(factor.0, term.0))
    }
    #[inline(always)]
    fn fnma(self, factor: Self, term: Self) -> Self {
        // As the instructions of vectors do it: a NaN keeps its sign.
        let negative = if self.0.is_nan() { self.0 } else { -self.0 };
        Self(negative.mul_add(factor.0, term.0))
    }
    #[inline(always)]
    fn fms(self, factor: Self, term: Self) -> Self {
        Self(self.0.mul_add(factor.0, -term.0))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.sqrt())
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if self.0 < other.0 { self } else { other }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if self.0 > other.0 { self } else { other }
    }
    #[inline(always)]
    fn scale(self, _n: Self, bits_of_n: Int) -> Self {
        // Two factors, for one may be no float32.
        let n = i32::from(bits_of_n.0 as i16);
        let half = n >> 1;
        Self(self.0 * power_of_two(half) * power_of_two(n - half))
    }
    #[inline(always)]
    fn from_int(value: Int) -> Self {
        on!(Self(value.0 as f32))
    }
    #[inline(always)]
    fn le(self, other: Self) -> Which {
        on!(Which(self.0 <= other.0))
    }
    #[inline(always)]
    fn select(mask: Which, yes: Self, no: Self) -> Self {
        on!(Self(if mask.0 { yes.0 } else { no.0 }))
    }
    #[inline(always)]
    fn bits(self) -> Int {
        on!(Int(self.0.to_bits() as i32))
    }
    #[inline(always)]
    fn from_bits(bits: Int) -> Self {
        on!(Self(f32::from_bits(bits.0 as u32)))
    }
}

#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((n + 127) << 23) as u32)
}
