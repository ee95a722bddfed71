//! Which loop computes which function of which type.

use super::complex::{self, Complex, Length, Parts, Wide};
use super::drive::UnaryLoop;
use super::loops::{Double, Single};
use super::native::Native;
use super::pairs::{Nextafter, Signbit};
use super::{Binary, BinaryTile, Level, Number, Unary, UnaryTile, drive};
use super::{atan, erf, exp, hyperbolic, log, pairs, pow, roots, round, trig};

/// The tile function of a function and a type, if it has that type.
///
/// ```
/// use partita_kernel::math::{Level, Number, Unary, unary};
/// let tile = unary(Level::best(), Unary::Exp, Number::F64).unwrap();
/// let mut x = [0.0f64; 5];
/// // SAFETY: the array has five elements; the result may take the argument's place.
/// unsafe { tile(x.as_ptr().cast(), x.as_mut_ptr().cast(), 5) };
/// assert_eq!(x, [1.0; 5]);
/// ```
pub fn unary(level: Level, function: Unary, number: Number) -> Option<UnaryTile> {
    match number {
        Number::F64 => Some(double(level, function)),
        Number::F32 => Some(single(level, function)),
        Number::C64 => complex_unary::<f32, Single<round::Round>>(level, function),
        Number::C128 => complex_unary::<f64, Double<round::Round>>(level, function),
    }
}

/// The tile function of a function of two arguments and a type, if it has that type.
pub fn binary(level: Level, function: Binary, number: Number) -> Option<BinaryTile> {
    match number {
        Number::F64 => Some(double2(level, function)),
        Number::F32 => Some(single2(level, function)),
        Number::C64 => complex_binary::<f32>(level, function),
        Number::C128 => complex_binary::<f64>(level, function),
    }
}

impl Unary {
    /// Bytes of one result for arguments of a type.
    pub fn result_size(self, number: Number) -> usize {
        match self {
            Unary::Signbit => 1,
            Unary::Abs => number.real().size(),
            _ => number.size(),
        }
    }
}

/// The functions of real numbers, in one type; some have a faster loop.
macro_rules! real {
    ($unary:ident $binary:ident $loop:ident $fast:ident $float:ty) => {
        fn $unary(level: Level, function: Unary) -> UnaryTile {
            use drive::unary as tile;
            match function {
                Unary::Exp => tile::<$fast<exp::Exp>>(level),
                Unary::Exp2 => tile::<$fast<exp::Exp2>>(level),
                Unary::Expm1 => tile::<$fast<exp::Expm1>>(level),
                Unary::Log => tile::<$fast<log::Log>>(level),
                Unary::Log2 => tile::<$fast<log::Log2>>(level),
                Unary::Log10 => tile::<$fast<log::Log10>>(level),
                Unary::Log1p => tile::<$fast<log::Log1p>>(level),
                Unary::Sin => tile::<$fast<trig::Sin>>(level),
                Unary::Cos => tile::<$fast<trig::Cos>>(level),
                Unary::Tan => tile::<$fast<trig::Tan>>(level),
                Unary::Asin => tile::<$fast<atan::Asin>>(level),
                Unary::Acos => tile::<$fast<atan::Acos>>(level),
                Unary::Atan => tile::<$fast<atan::Atan>>(level),
                Unary::Sinh => tile::<$loop<hyperbolic::Sinh>>(level),
                Unary::Cosh => tile::<$loop<hyperbolic::Cosh>>(level),
                Unary::Tanh => tile::<$fast<hyperbolic::Tanh>>(level),
                Unary::Asinh => tile::<$loop<hyperbolic::Asinh>>(level),
                Unary::Acosh => tile::<$loop<hyperbolic::Acosh>>(level),
                Unary::Atanh => tile::<$loop<hyperbolic::Atanh>>(level),
                Unary::Erf => tile::<$fast<erf::Erf>>(level),
                Unary::Erfc => tile::<$loop<erf::Erfc>>(level),
                Unary::Sqrt => tile::<$fast<round::Sqrt>>(level),
                Unary::Cbrt => tile::<$loop<roots::Cbrt>>(level),
                Unary::Abs => tile::<$loop<round::Abs>>(level),
                Unary::Square => tile::<$loop<round::Square>>(level),
                Unary::Reciprocal => tile::<$loop<round::Reciprocal>>(level),
                Unary::Floor => tile::<$loop<round::Floor>>(level),
                Unary::Ceil => tile::<$loop<round::Ceil>>(level),
                Unary::Trunc => tile::<$loop<round::Trunc>>(level),
                Unary::Round => tile::<$loop<round::Round>>(level),
                Unary::Sign => tile::<$loop<round::Sign>>(level),
                Unary::Signbit => tile::<Signbit<$float>>(level),
            }
        }

        fn $binary(level: Level, function: Binary) -> BinaryTile {
            use drive::binary as tile;
            match function {
                Binary::Pow => tile::<$loop<pow::Pow>>(level),
                Binary::Atan2 => tile::<$loop<atan::Atan2>>(level),
                Binary::Hypot => tile::<$fast<roots::Hypot>>(level),
                Binary::Logaddexp => tile::<$loop<pairs::Logaddexp>>(level),
                Binary::Copysign => tile::<$loop<pairs::Copysign>>(level),
                Binary::Nextafter => tile::<Nextafter<$float>>(level),
                Binary::FloorDivide => tile::<$loop<pairs::FloorDivide>>(level),
                Binary::Remainder => tile::<$loop<pairs::Remainder>>(level),
                Binary::Maximum => tile::<$loop<pairs::Maximum>>(level),
                Binary::Minimum => tile::<$loop<pairs::Minimum>>(level),
            }
        }
    };
}

real!(double double2 Double Double f64);
real!(single single2 Single Native f32);

/// The functions of complex numbers with parts of type T; `R` rounds parts.
fn complex_unary<T: Wide, R: UnaryLoop>(level: Level, function: Unary) -> Option<UnaryTile> {
    use drive::unary as tile;
    Some(match function {
        Unary::Exp => tile::<Complex<complex::Exp, T>>(level),
        Unary::Expm1 => tile::<Complex<complex::Expm1, T>>(level),
        Unary::Log => tile::<Complex<complex::Log, T>>(level),
        Unary::Log2 => tile::<Complex<complex::Log2, T>>(level),
        Unary::Log10 => tile::<Complex<complex::Log10, T>>(level),
        Unary::Log1p => tile::<Complex<complex::Log1p, T>>(level),
        Unary::Sin => tile::<Complex<complex::Sin, T>>(level),
        Unary::Cos => tile::<Complex<complex::Cos, T>>(level),
        Unary::Tan => tile::<Complex<complex::Tan, T>>(level),
        Unary::Asin => tile::<Complex<complex::Asin, T>>(level),
        Unary::Acos => tile::<Complex<complex::Acos, T>>(level),
        Unary::Atan => tile::<Complex<complex::Atan, T>>(level),
        Unary::Sinh => tile::<Complex<complex::Sinh, T>>(level),
        Unary::Cosh => tile::<Complex<complex::Cosh, T>>(level),
        Unary::Tanh => tile::<Complex<complex::Tanh, T>>(level),
        Unary::Asinh => tile::<Complex<complex::Asinh, T>>(level),
        Unary::Acosh => tile::<Complex<complex::Acosh, T>>(level),
        Unary::Atanh => tile::<Complex<complex::Atanh, T>>(level),
        Unary::Sqrt => tile::<Complex<complex::Sqrt, T>>(level),
        Unary::Square => tile::<Complex<complex::Square, T>>(level),
        Unary::Reciprocal => tile::<Complex<complex::Reciprocal, T>>(level),
        Unary::Sign => tile::<Complex<complex::Sign, T>>(level),
        Unary::Abs => tile::<Length<T>>(level),
        Unary::Round => tile::<Parts<R>>(level),
        _ => return None,
    })
}

fn complex_binary<T: Wide>(level: Level, function: Binary) -> Option<BinaryTile> {
    match function {
        Binary::Pow => Some(drive::binary::<Complex<complex::Pow, T>>(level)),
        _ => None,
    }
}
