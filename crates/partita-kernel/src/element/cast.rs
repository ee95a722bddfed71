//! Casts between all types.
//!
//! Integers wrap, floating numbers are cut towards zero and kept within the integer's range, NaN
//! becomes zero; complex numbers lose their imaginary part; everything but zero is true.

use super::half::to_odd;
use super::{BFloat16, Bool, Complex, Element, Float16};

/// Conversion to and from every type.
pub trait Cast: Element {
    /// The nearest value of another type.
    fn cast<To: Target>(self) -> To;
}

/// What every native value can become.
pub trait Target: Element {
    fn from_bool(x: bool) -> Self;
    fn from_i8(x: i8) -> Self;
    fn from_i16(x: i16) -> Self;
    fn from_i32(x: i32) -> Self;
    fn from_i64(x: i64) -> Self;
    fn from_u8(x: u8) -> Self;
    fn from_u16(x: u16) -> Self;
    fn from_u32(x: u32) -> Self;
    fn from_u64(x: u64) -> Self;
    fn from_f32(x: f32) -> Self;
    fn from_f64(x: f64) -> Self;
    #[inline(always)]
    fn from_c64(x: Complex<f32>) -> Self {
        Self::from_f32(x.re)
    }
    #[inline(always)]
    fn from_c128(x: Complex<f64>) -> Self {
        Self::from_f64(x.re)
    }
}

/// The ten methods of a target, each by one expression over the given value.
macro_rules! from_natives {
    (|$x:ident: $($name:ident $native:ident),*| $how:expr) => {$(
        #[inline(always)]
        fn $name($x: $native) -> Self {
            $how
        }
    )*};
    (@all |$x:ident| $how:expr) => {
        from_natives!(|$x: from_i8 i8, from_i16 i16, from_i32 i32, from_i64 i64, from_u8 u8,
            from_u16 u16, from_u32 u32, from_u64 u64, from_f32 f32, from_f64 f64| $how);
    };
    (@integers |$x:ident| $how:expr) => {
        from_natives!(|$x: from_i8 i8, from_i16 i16, from_i32 i32, from_i64 i64, from_u8 u8,
            from_u16 u16, from_u32 u32, from_u64 u64| $how);
    };
}

macro_rules! natives {
    ($($native:ident $from:ident),*) => {$(
        impl Target for $native {
            #[inline(always)]
            fn from_bool(x: bool) -> Self {
                u8::from(x) as $native
            }
            from_natives!(@all |x| x as $native);
        }

        impl Cast for $native {
            #[inline(always)]
            fn cast<To: Target>(self) -> To {
                To::$from(self)
            }
        }
    )*};
}

natives!(i8 from_i8, i16 from_i16, i32 from_i32, i64 from_i64, u8 from_u8, u16 from_u16,
    u32 from_u32, u64 from_u64, f32 from_f32, f64 from_f64);

impl Target for Bool {
    #[inline(always)]
    fn from_bool(x: bool) -> Self {
        Bool::new(x)
    }
    from_natives!(@all |x| Bool::new(x.truth()));
    #[inline(always)]
    fn from_c64(x: Complex<f32>) -> Self {
        Bool::new(x.truth())
    }
    #[inline(always)]
    fn from_c128(x: Complex<f64>) -> Self {
        Bool::new(x.truth())
    }
}

impl Cast for Bool {
    #[inline(always)]
    fn cast<To: Target>(self) -> To {
        To::from_bool(self.truth())
    }
}

macro_rules! halves {
    ($($half:ident),*) => {$(
        impl Target for $half {
            #[inline(always)]
            fn from_bool(x: bool) -> Self {
                $half::from_f32(u8::from(x).into())
            }
            from_natives!(@integers |x| $half::from_f32(x as f32));
            #[inline(always)]
            fn from_f32(x: f32) -> Self {
                $half::from_f32(x)
            }
            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                $half::from_f32(to_odd(x))
            }
        }

        impl Cast for $half {
            #[inline(always)]
            fn cast<To: Target>(self) -> To {
                To::from_f32(self.to_f32())
            }
        }
    )*};
}

halves!(Float16, BFloat16);

macro_rules! complexes {
    ($($part:ident $from:ident),*) => {$(
        impl Target for Complex<$part> {
            #[inline(always)]
            fn from_bool(x: bool) -> Self {
                Complex { re: u8::from(x).into(), im: 0.0 }
            }
            from_natives!(@all |x| Complex { re: x as $part, im: 0.0 });
            #[inline(always)]
            fn from_c64(x: Complex<f32>) -> Self {
                Complex { re: x.re as $part, im: x.im as $part }
            }
            #[inline(always)]
            fn from_c128(x: Complex<f64>) -> Self {
                Complex { re: x.re as $part, im: x.im as $part }
            }
        }

        impl Cast for Complex<$part> {
            #[inline(always)]
            fn cast<To: Target>(self) -> To {
                To::$from(self)
            }
        }
    )*};
}

complexes!(f32 from_c64, f64 from_c128);
