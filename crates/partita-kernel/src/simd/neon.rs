//! Two lanes of NEON.

use super::{Ints, Lanes, MAX_LANES, Mask};
use std::arch::aarch64::*;

#[derive(Clone, Copy)]
pub(crate) struct Neon(float64x2_t);
#[derive(Clone, Copy)]
pub(crate) struct Int(int64x2_t);
#[derive(Clone, Copy)]
pub(crate) struct Which(uint64x2_t);

super::operators! { Neon:
    Add add vaddq_f64,
    Sub sub vsubq_f64,
    Mul mul vmulq_f64,
    Div div vdivq_f64,
}
super::operators! { Int:
    Add add vaddq_s64,
    Sub sub vsubq_s64,
    BitAnd bitand vandq_s64,
    BitOr bitor vorrq_s64,
    BitXor bitxor veorq_s64,
}
super::operators! { Which:
    BitAnd bitand vandq_u64,
    BitOr bitor vorrq_u64,
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
        on!(Which(veorq_u64(self.0, vdupq_n_u64(u64::MAX))))
    }
}

impl Mask for Which {
    #[inline(always)]
    fn bits(self) -> u32 {
        on!((vgetq_lane_u64::<0>(self.0) & 1 | vgetq_lane_u64::<1>(self.0) & 2) as u32)
    }
}

impl std::ops::Neg for Neon {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        on!(Self(vnegq_f64(self.0)))
    }
}

impl Ints<Which> for Int {
    #[inline(always)]
    fn splat(value: i64) -> Self {
        on!(Self(vdupq_n_s64(value)))
    }
    #[inline(always)]
    fn shl<const K: i32>(self) -> Self {
        on!(Self(vshlq_n_s64::<K>(self.0)))
    }
    #[inline(always)]
    fn shr<const K: i32>(self) -> Self {
        on!(Self(vreinterpretq_s64_u64(vshrq_n_u64::<K>(vreinterpretq_u64_s64(self.0)))))
    }
    #[inline(always)]
    fn negative(self) -> Which {
        on!(Which(vcltzq_s64(self.0)))
    }
    #[inline(always)]
    fn to_array(self) -> [i64; MAX_LANES] {
        let mut all = [0; MAX_LANES];
        on!(vst1q_s64(all.as_mut_ptr(), self.0));
        all
    }
}

impl Lanes for Neon {
    type Mask = Which;
    type Int = Int;
    type Single = super::single::Neon;
    const N: usize = 2;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        on!(Self(vdupq_n_f64(value)))
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        on!(Self(vld1q_f64(from)))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        on!(vst1q_f64(to, self.0));
    }
    #[inline(always)]
    unsafe fn load_first(from: *const f64, _n: usize) -> Self {
        on!(Self(vsetq_lane_f64::<0>(*from, vdupq_n_f64(1.0))))
    }
    #[inline(always)]
    unsafe fn store_first(self, to: *mut f64, _n: usize) {
        on!(*to = vgetq_lane_f64::<0>(self.0));
    }
    #[inline(always)]
    unsafe fn load_f32(from: *const f32) -> Self {
        on!(Self(vcvt_f64_f32(vld1_f32(from))))
    }
    #[inline(always)]
    unsafe fn store_f32(self, to: *mut f32) {
        on!(vst1_f32(to, vcvt_f32_f64(self.0)));
    }
    #[inline(always)]
    unsafe fn load_pairs(from: *const f64) -> (Self, Self) {
        on! {
            let pairs = vld2q_f64(from);
            (Self(pairs.0), Self(pairs.1))
        }
    }
    #[inline(always)]
    unsafe fn store_pairs(first: Self, second: Self, to: *mut f64) {
        on!(vst2q_f64(to, float64x2x2_t(first.0, second.0)));
    }

    #[inline(always)]
    fn fma(self, factor: Self, term: Self) -> Self {
        on!(Self(vfmaq_f64(term.0, self.0, factor.0)))
    }
    #[inline(always)]
    fn fnma(self, factor: Self, term: Self) -> Self {
        on!(Self(vfmsq_f64(term.0, self.0, factor.0)))
    }
    #[inline(always)]
    fn fms(self, factor: Self, term: Self) -> Self {
        self.fma(factor, -term)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        on!(Self(vsqrtq_f64(self.0)))
    }
    #[inline(always)]
    fn floor(self) -> Self {
        on!(Self(vrndmq_f64(self.0)))
    }
    #[inline(always)]
    fn ceil(self) -> Self {
        on!(Self(vrndpq_f64(self.0)))
    }
    #[inline(always)]
    fn trunc(self) -> Self {
        on!(Self(vrndq_f64(self.0)))
    }
    #[inline(always)]
    fn round_even(self) -> Self {
        on!(Self(vrndnq_f64(self.0)))
    }
    // The instructions for minima and maxima treat NaN and zeros differently.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::select(self.lt(other), self, other)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(other.lt(self), self, other)
    }
    #[inline(always)]
    fn scale(self, _n: Self, bits_of_n: Int) -> Self {
        on! {
            // The low halves hold n; two factors, for one may be no float64.
            let n = vmovl_s32(vmovn_s64(bits_of_n.0));
            let half = vshrq_n_s64::<1>(n);
            let scaled = vmulq_f64(self.0, power_of_two(half));
            Self(vmulq_f64(scaled, power_of_two(vsubq_s64(n, half))))
        }
    }

    #[inline(always)]
    fn lt(self, other: Self) -> Which {
        on!(Which(vcltq_f64(self.0, other.0)))
    }
    #[inline(always)]
    fn le(self, other: Self) -> Which {
        on!(Which(vcleq_f64(self.0, other.0)))
    }
    #[inline(always)]
    fn eq(self, other: Self) -> Which {
        on!(Which(vceqq_f64(self.0, other.0)))
    }
    #[inline(always)]
    fn is_nan(self) -> Which {
        !self.eq(self)
    }
    #[inline(always)]
    fn select(mask: Which, yes: Self, no: Self) -> Self {
        on!(Self(vbslq_f64(mask.0, yes.0, no.0)))
    }

    #[inline(always)]
    fn bits(self) -> Int {
        on!(Int(vreinterpretq_s64_f64(self.0)))
    }
    #[inline(always)]
    fn from_bits(bits: Int) -> Self {
        on!(Self(vreinterpretq_f64_s64(bits.0)))
    }

    #[inline(always)]
    unsafe fn rows4(table: &[[f64; 4]], index: Int) -> [Self; 4] {
        let at = index.to_array();
        on! {
            let first = table.as_ptr();
            let (a, b) = (first.add(at[0] as usize).cast(), first.add(at[1] as usize).cast());
            let [c0, c1] = columns(a, b);
            let [c2, c3] = columns(a.add(2), b.add(2));
            [c0, c1, c2, c3]
        }
    }
}

/// Two pairs, transposed.
///
/// # Safety
/// Both pairs are readable.
#[inline(always)]
unsafe fn columns(a: *const f64, b: *const f64) -> [Neon; 2] {
    on! {
        let (a, b) = (vld1q_f64(a), vld1q_f64(b));
        [Neon(vzip1q_f64(a, b)), Neon(vzip2q_f64(a, b))]
    }
}

#[inline(always)]
fn power_of_two(n: int64x2_t) -> float64x2_t {
    on!(vreinterpretq_f64_s64(vshlq_n_s64::<52>(vaddq_s64(n, vdupq_n_s64(1023)))))
}
