//! What a product needs of its elements.

use num_complex::Complex;

/// A truth value as NumPy stores it: a byte, true unless zero.
///
/// Not `bool`, since views of other arrays put other bytes into arrays of truth values.
#[derive(Debug, Clone, Copy, Default)]
#[repr(transparent)]
pub struct Truth(pub u8);

impl PartialEq for Truth {
    fn eq(&self, other: &Truth) -> bool {
        (self.0 != 0) == (other.0 != 0)
    }
}

/// Numbers as products add and multiply them: integers wrap, truth values are or and and.
pub trait Number: Copy + Send + Sync + PartialEq + std::fmt::Debug + 'static {
    /// Nothing.
    const ZERO: Self;

    /// One.
    const ONE: Self;

    /// The sum.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// The product.
    #[must_use]
    fn times(self, other: Self) -> Self;

    /// The complex conjugate; the number itself where it is real.
    #[must_use]
    fn conjugate(self) -> Self {
        self
    }
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Number for $type {
            const ZERO: $type = 0;
            const ONE: $type = 1;
            #[inline(always)]
            fn plus(self, other: $type) -> $type {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn times(self, other: $type) -> $type {
                self.wrapping_mul(other)
            }
        }
    )*};
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats {
    ($($type:ty)*) => {$(
        impl Number for $type {
            const ZERO: $type = 0.0;
            const ONE: $type = 1.0;
            #[inline(always)]
            fn plus(self, other: $type) -> $type {
                self + other
            }
            #[inline(always)]
            fn times(self, other: $type) -> $type {
                self * other
            }
        }
        impl Number for Complex<$type> {
            const ZERO: Complex<$type> = Complex::new(0.0, 0.0);
            const ONE: Complex<$type> = Complex::new(1.0, 0.0);
            #[inline(always)]
            fn plus(self, other: Complex<$type>) -> Complex<$type> {
                Complex::new(self.re + other.re, self.im + other.im)
            }
            #[inline(always)]
            fn times(self, other: Complex<$type>) -> Complex<$type> {
                let re = self.re * other.re - self.im * other.im;
                Complex::new(re, self.re * other.im + self.im * other.re)
            }
            fn conjugate(self) -> Complex<$type> {
                Complex::new(self.re, -self.im)
            }
        }
    )*};
}
floats!(f32 f64);

impl Number for Truth {
    const ZERO: Truth = Truth(0);
    const ONE: Truth = Truth(1);

    #[inline(always)]
    fn plus(self, other: Truth) -> Truth {
        Truth(u8::from(self.0 | other.0 != 0))
    }

    #[inline(always)]
    fn times(self, other: Truth) -> Truth {
        Truth(u8::from(self.0 != 0) & u8::from(other.0 != 0))
    }
}
