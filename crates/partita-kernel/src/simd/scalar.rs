//! One lane: plain float64 arithmetic, for every processor and for rare cases of the others.

use super::{Ints, Lanes, MAX_LANES, Mask};

impl Mask for bool {
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self)
    }
}

/// One integer whose sums wrap.
#[derive(Clone, Copy)]
pub(crate) struct Int(pub(crate) i64);

super::operators! { Int:
    Add add i64::wrapping_add,
    Sub sub i64::wrapping_sub,
    BitAnd bitand std::ops::BitAnd::bitand,
    BitOr bitor std::ops::BitOr::bitor,
    BitXor bitxor std::ops::BitXor::bitxor,
}

impl Ints<bool> for Int {
    #[inline(always)]
    fn splat(value: i64) -> Self {
        Int(value)
    }
    #[inline(always)]
    fn shl<const K: i32>(self) -> Self {
        Int(self.0 << K)
    }
    #[inline(always)]
    fn shr<const K: i32>(self) -> Self {
        Int(((self.0 as u64) >> K) as i64)
    }
    #[inline(always)]
    fn negative(self) -> bool {
        self.0 < 0
    }
    #[inline(always)]
    fn to_array(self) -> [i64; MAX_LANES] {
        let mut all = [0; MAX_LANES];
        all[0] = self.0;
        all
    }
}

impl Lanes for f64 {
    type Mask = bool;
    type Int = Int;
    type Single = super::single::Portable;
    const N: usize = 1;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        value
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: one element is readable.
        unsafe { from.read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: one element is writable.
        unsafe { to.write_unaligned(self) }
    }
    #[inline(always)]
    unsafe fn load_first(_from: *const f64, _n: usize) -> Self {
        1.0
    }
    #[inline(always)]
    unsafe fn store_first(self, _to: *mut f64, _n: usize) {}
    #[inline(always)]
    unsafe fn load_f32(from: *const f32) -> Self {
        // SAFETY: one element is readable.
        f64::from(unsafe { from.read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store_f32(self, to: *mut f32) {
        // SAFETY: one element is writable.
        unsafe { to.write_unaligned(self as f32) }
    }
    #[inline(always)]
    unsafe fn load_pairs(from: *const f64) -> (Self, Self) {
        // SAFETY: two elements are readable.
        unsafe { (from.read_unaligned(), from.add(1).read_unaligned()) }
    }
    #[inline(always)]
    unsafe fn store_pairs(first: Self, second: Self, to: *mut f64) {
        // SAFETY: two elements are writable.
        unsafe {
            to.write_unaligned(first);
            to.add(1).write_unaligned(second);
        }
    }

    #[inline(always)]
    fn fma(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
    #[inline(always)]
    fn fnma(self, factor: Self, term: Self) -> Self {
        // As the instructions of vectors do it: a NaN keeps its sign.
        let negative = if self.is_nan() { self } else { -self };
        negative.mul_add(factor, term)
    }
    #[inline(always)]
    fn fms(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, -term)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn floor(self) -> Self {
        f64::floor(self)
    }
    #[inline(always)]
    fn ceil(self) -> Self {
        f64::ceil(self)
    }
    #[inline(always)]
    fn trunc(self) -> Self {
        f64::trunc(self)
    }
    #[inline(always)]
    fn round_even(self) -> Self {
        f64::round_ties_even(self)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
    #[inline(always)]
    fn scale(self, _n: Self, bits_of_n: Int) -> Self {
        // The low 32 bits hold n; two factors, for one may be no float64.
        let n = i64::from(bits_of_n.0 as i32);
        let half = n >> 1;
        self * power_of_two(half) * power_of_two(n - half)
    }

    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self < other
    }
    #[inline(always)]
    fn le(self, other: Self) -> bool {
        self <= other
    }
    #[inline(always)]
    fn eq(self, other: Self) -> bool {
        self == other
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }

    #[inline(always)]
    fn bits(self) -> Int {
        Int(self.to_bits() as i64)
    }
    #[inline(always)]
    fn from_bits(bits: Int) -> Self {
        f64::from_bits(bits.0 as u64)
    }

    #[inline(always)]
    unsafe fn rows4(table: &[[f64; 4]], index: Int) -> [Self; 4] {
        table[index.0 as usize]
    }
}

/// 2^n for n that has a normal power.
#[inline(always)]
fn power_of_two(n: i64) -> f64 {
    f64::from_bits(((n + 1023) << 52) as u64)
}

#[cfg(test)]
mod tests {
    use super::Lanes;
    use std::hint::black_box;

    #[test]
    fn a_nan_keeps_its_sign() {
        for nan in [f64::NAN, -f64::NAN] {
            let product = Lanes::fnma(black_box(nan), black_box(2.0), black_box(1.0));
            assert_eq!(product.is_sign_negative(), nan.is_sign_negative());
        }
        assert_eq!(Lanes::fnma(black_box(3.0), black_box(2.0), black_box(1.0)), -5.0);
    }
}
