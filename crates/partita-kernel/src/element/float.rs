//! float32 and float64.

use super::{Element, Number, Ordered, Real};

/// What only floating numbers have.
pub trait Float: Real {
    fn divide(self, other: Self) -> Self;
    fn square_root(self) -> Self;
    fn fused_multiply_add(self, factor: Self, term: Self) -> Self;
    fn is_infinite(self) -> bool;
    fn sign_bit(self) -> bool;
    fn from_count(count: u64) -> Self;
}

macro_rules! floats {
    ($($float:ident),*) => {$(
        impl Element for $float {
            #[inline(always)]
            fn truth(self) -> bool {
                self != 0.0
            }
            #[inline(always)]
            fn equal(self, other: Self) -> bool {
                self == other
            }
        }

        impl Number for $float {
            type Wide = $float;
            const ONE: Self = 1.0;
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn negative(self) -> Self {
                -self
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

        impl Ordered for $float {
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
                self != self
            }
        }

        impl Real for $float {
            #[inline(always)]
            fn sign(self) -> Self {
                let sign = if self > 0.0 { 1.0 } else { -1.0 };
                if self == 0.0 { 0.0 } else if self.is_nan() { self } else { sign }
            }
            #[inline(always)]
            fn absolute(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn floor_divide(self, other: Self) -> Self {
                // The Array API's infinities and zeros are those of the plain quotient.
                if other == 0.0 || self.is_infinite() || other.is_infinite() {
                    return self / other;
                }
                let mut rest = self % other;
                let mut quotient = (self - rest) / other;
                if rest != 0.0 && (other < 0.0) != (rest < 0.0) {
                    rest += other;
                    quotient -= 1.0;
                }
                let _ = rest;
                if quotient == 0.0 {
                    return (0.0 as $float).copysign(self / other);
                }
                let floor = quotient.floor();
                if quotient - floor > 0.5 { floor + 1.0 } else { floor }
            }
            #[inline(always)]
            fn remainder(self, other: Self) -> Self {
                let rest = self % other;
                if rest == 0.0 {
                    return (0.0 as $float).copysign(other);
                }
                if (other < 0.0) != (rest < 0.0) { rest + other } else { rest }
            }
            #[inline(always)]
            fn floor(self) -> Self {
                <$float>::floor(self)
            }
            #[inline(always)]
            fn ceil(self) -> Self {
                <$float>::ceil(self)
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                <$float>::trunc(self)
            }
            #[inline(always)]
            fn round(self) -> Self {
                self.round_ties_even()
            }
        }

        impl Float for $float {
            #[inline(always)]
            fn divide(self, other: Self) -> Self {
                self / other
            }
            #[inline(always)]
            fn square_root(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn fused_multiply_add(self, factor: Self, term: Self) -> Self {
                self.mul_add(factor, term)
            }
            #[inline(always)]
            fn is_infinite(self) -> bool {
                self.abs() == <$float>::INFINITY
            }
            #[inline(always)]
            fn sign_bit(self) -> bool {
                self.is_sign_negative()
            }
            #[inline(always)]
            fn from_count(count: u64) -> Self {
                count as $float
            }
        }
    )*};
}

floats!(f32, f64);
