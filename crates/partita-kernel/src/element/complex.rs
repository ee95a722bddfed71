//! complex64 and complex128.

use super::{Element, Float, Number, Ordered};

/// A real and an imaginary part, beside each other in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C)]
pub struct Complex<T> {
    /// Real part.
    pub re: T,
    /// Imaginary part.
    pub im: T,
}

/// What only complex numbers have.
pub trait ComplexNumber: Number {
    type Part: Float;
    fn real(self) -> Self::Part;
    fn imag(self) -> Self::Part;
    fn divide(self, other: Self) -> Self;
    fn any_nan(self) -> bool {
        self.real().is_nan() | self.imag().is_nan()
    }
    fn any_infinite(self) -> bool {
        self.real().is_infinite() | self.imag().is_infinite()
    }
}

macro_rules! complexes {
    ($($part:ident),*) => {$(
        impl Element for Complex<$part> {
            #[inline(always)]
            fn truth(self) -> bool {
                self.re != 0.0 || self.im != 0.0
            }
            #[inline(always)]
            fn equal(self, other: Self) -> bool {
                self.re == other.re && self.im == other.im
            }
        }

        impl Number for Complex<$part> {
            type Wide = Self;
            const ONE: Self = Complex { re: 1.0, im: 0.0 };
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Complex { re: self.re + other.re, im: self.im + other.im }
            }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                Complex { re: self.re - other.re, im: self.im - other.im }
            }
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                Complex {
                    re: self.re * other.re - self.im * other.im,
                    im: self.re * other.im + self.im * other.re,
                }
            }
            #[inline(always)]
            fn negative(self) -> Self {
                Complex { re: -self.re, im: -self.im }
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

        impl ComplexNumber for Complex<$part> {
            type Part = $part;
            #[inline(always)]
            fn real(self) -> $part {
                self.re
            }
            #[inline(always)]
            fn imag(self) -> $part {
                self.im
            }
            /// Smith's way: the larger part of the divisor is divided by first.
            #[inline(always)]
            fn divide(self, other: Self) -> Self {
                let Complex { re: a, im: b } = self;
                let Complex { re: c, im: d } = other;
                if c.abs() >= d.abs() {
                    if c == 0.0 && d == 0.0 {
                        return Complex { re: a / c.abs(), im: b / c.abs() };
                    }
                    let ratio = d / c;
                    let scale = 1.0 / (c + d * ratio);
                    return Complex { re: (a + b * ratio) * scale, im: (b - a * ratio) * scale };
                }
                let ratio = c / d;
                let scale = 1.0 / (c * ratio + d);
                Complex { re: (a * ratio + b) * scale, im: (b * ratio - a) * scale }
            }
        }
    )*};
}

complexes!(f32, f64);
