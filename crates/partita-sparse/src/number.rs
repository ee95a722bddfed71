//! Values of entries, and what they can do.
//!
//! Integers wrap, so that unsigned ones stand for signed ones but where they are compared.

use partita_numeric::choose::Summable;

/// A value: numbers add and multiply, truth values are joined by "or" and "and".
pub trait Number: Summable + PartialEq + 'static {
    /// The value of entries that are absent.
    const ZERO: Self;
    /// The difference; of truth values, whether they differ.
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// The product.
    #[must_use]
    fn times(self, other: Self) -> Self;
    /// The conjugate of a complex number, others themselves.
    #[must_use]
    fn conjugate(self) -> Self;
}

/// A value that can be compared, complex ones by their real parts first; NaN wins.
pub trait Ordered: Number {
    /// The larger of two.
    #[must_use]
    fn larger(self, other: Self) -> Self;
    /// The smaller of two.
    #[must_use]
    fn smaller(self, other: Self) -> Self;
}

/// A truth value of NumPy: any byte but 0 is true.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Truth(pub u8);

impl Truth {
    fn new(truth: bool) -> Truth {
        Truth(u8::from(truth))
    }

    /// Whether it is true.
    #[must_use]
    pub fn is_true(self) -> bool {
        self.0 != 0
    }
}

impl PartialEq for Truth {
    fn eq(&self, other: &Truth) -> bool {
        self.is_true() == other.is_true()
    }
}

impl Summable for Truth {
    #[inline(always)]
    fn plus(self, other: Truth) -> Truth {
        Truth::new(self.0 | other.0 != 0)
    }
}

macro_rules! number {
    ($($type:ty: $zero:expr, $a:ident $b:ident $minus:expr, $times:expr, $conjugate:expr;)*) => {$(
        impl Number for $type {
            const ZERO: Self = $zero;

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $minus
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $times
            }

            #[inline(always)]
            fn conjugate(self) -> Self {
                let $a = self;
                $conjugate
            }
        }
    )*};
}

macro_rules! integers {
    ($($type:ty)*) => {
        number! { $($type: 0, a b a.wrapping_sub(b), a.wrapping_mul(b), a;)* }
        $(impl Ordered for $type {
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                self.max(other)
            }

            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                self.min(other)
            }
        })*
    };
}
integers! { i8 i16 i32 i64 u8 u16 u32 u64 }

number! {
    Truth: Truth(0), a b Truth::new(a != b), Truth::new(a.is_true() && b.is_true()), a;
    f32: 0.0, a b a - b, a * b, a;
    f64: 0.0, a b a - b, a * b, a;
    [f32; 2]: [0.0; 2], a b [a[0] - b[0], a[1] - b[1]],
        [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]], [a[0], -a[1]];
    [f64; 2]: [0.0; 2], a b [a[0] - b[0], a[1] - b[1]],
        [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]], [a[0], -a[1]];
}

impl Ordered for Truth {
    fn larger(self, other: Truth) -> Truth {
        self.plus(other)
    }

    fn smaller(self, other: Truth) -> Truth {
        self.times(other)
    }
}

/// A value is kept unless the other is beyond it or NaN, and NaN is always kept.
macro_rules! ordered_floats {
    ($($type:ty: $is_nan:expr;)*) => {$(
        impl Ordered for $type {
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                if (self >= other && !$is_nan(other)) || $is_nan(self) { self } else { other }
            }

            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                if (self <= other && !$is_nan(other)) || $is_nan(self) { self } else { other }
            }
        }
    )*};
}
ordered_floats! {
    f32: f32::is_nan;
    f64: f64::is_nan;
    [f32; 2]: |a: [f32; 2]| a[0].is_nan() || a[1].is_nan();
    [f64; 2]: |a: [f64; 2]| a[0].is_nan() || a[1].is_nan();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_wins_on_either_side() {
        assert!(f64::NAN.larger(1.0).is_nan() && 1.0.larger(f64::NAN).is_nan());
        assert!(f32::NAN.smaller(1.0).is_nan() && 1.0.smaller(f32::NAN).is_nan());
        assert!([1.0, f64::NAN].smaller([0.0, 0.0])[1].is_nan());
        assert!([2.0, 0.0].larger([1.0, f64::NAN])[1].is_nan());
        assert_eq!([1.0, 5.0].larger([1.0, 6.0]), [1.0, 6.0]);
    }

    #[test]
    fn any_byte_but_zero_is_true() {
        assert_eq!(Truth(2).times(Truth(1)).0, 1);
        assert_eq!(Truth(0).plus(Truth(4)).0, 1);
        assert_eq!(Truth(2).minus(Truth(1)).0, 0);
    }
}
