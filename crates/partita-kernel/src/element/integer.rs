//! Integers.

use super::{Bits, Element, Integer, Number, Ordered, Real};

macro_rules! integers {
    ($($int:ident $signed:literal),*) => {$(
        impl Element for $int {
            #[inline(always)]
            fn truth(self) -> bool {
                self != 0
            }
            #[inline(always)]
            fn equal(self, other: Self) -> bool {
                self == other
            }
        }

        impl Number for $int {
            type Wide = $int;
            const ONE: Self = 1;
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn negative(self) -> Self {
                self.wrapping_neg()
            }
            #[inline(always)]
            fn widen(self) -> Self {
                self
            }
            #[inline(always)]
            fn narrow(wide: Self) -> Self {
                wide
            }
        }

        impl Ordered for $int {
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn less_equal(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
        }

        impl Real for $int {
            #[inline(always)]
            #[allow(unused_comparisons)]
            fn sign(self) -> Self {
                let above = (self > 0) as $int;
                let below = (self < 0) as $int;
                above.wrapping_sub(below)
            }
            #[inline(always)]
            #[allow(unused_comparisons)]
            fn absolute(self) -> Self {
                if self < 0 { self.wrapping_neg() } else { self }
            }
            #[inline(always)]
            #[allow(unused_comparisons)]
            fn floor_divide(self, other: Self) -> Self {
                if other == 0 {
                    return 0;
                }
                let quotient = self.wrapping_div(other);
                let apart = self.wrapping_rem(other) != 0 && (self < 0) != (other < 0);
                quotient.wrapping_sub(apart as $int)
            }
            #[inline(always)]
            #[allow(unused_comparisons)]
            fn remainder(self, other: Self) -> Self {
                if other == 0 {
                    return 0;
                }
                let rest = self.wrapping_rem(other);
                if rest != 0 && (rest < 0) != (other < 0) { rest.wrapping_add(other) } else { rest }
            }
            #[inline(always)]
            fn floor(self) -> Self {
                self
            }
            #[inline(always)]
            fn ceil(self) -> Self {
                self
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                self
            }
            #[inline(always)]
            fn round(self) -> Self {
                self
            }
        }

        impl Bits for $int {
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            #[inline(always)]
            fn not(self) -> Self {
                !self
            }
        }

        impl Integer for $int {
            #[inline(always)]
            fn power(self, exponent: Self) -> Self {
                if !$signed || exponent > 0 || exponent == 0 {
                    return raise(self, exponent);
                }
                // One over an integer, cut: only 1 and -1 leave anything.
                let odd = exponent & 1 == 1;
                match self {
                    1 => 1,
                    _ if self.wrapping_add(1) == 0 => if odd { self } else { 1 },
                    _ => 0,
                }
            }
            #[inline(always)]
            #[allow(unused_comparisons)]
            fn left(self, count: Self) -> Self {
                let outside = count < 0 || count >= $int::BITS as $int;
                if outside { 0 } else { self.wrapping_shl(count as u32) }
            }
            #[inline(always)]
            #[allow(unused_comparisons)]
            fn right(self, count: Self) -> Self {
                let outside = count < 0 || count >= $int::BITS as $int;
                let count = if outside { $int::BITS - 1 } else { count as u32 };
                let shifted = self.wrapping_shr(count);
                if outside && !$signed { 0 } else { shifted }
            }
        }
    )*};
}

/// By squaring, modulo the type's range.
#[inline(always)]
fn raise<T: Number + Bits + Integer>(mut base: T, mut exponent: T) -> T {
    let mut result = T::ONE;
    while exponent.truth() {
        if exponent.and(T::ONE).truth() {
            result = result.multiply(base);
        }
        base = base.multiply(base);
        exponent = exponent.right(T::ONE);
    }
    result
}

integers!(i8 true, i16 true, i32 true, i64 true, u8 false, u16 false, u32 false, u64 false);
