//! Which tile function computes which operation of which type.

mod casts;
mod drive;
mod mathematics;
mod random;

pub use drive::{TernaryTile, binary, ternary, unary};

use crate::dtype::{Dtype, Kind};
use crate::element::{
    BFloat16, Bits, Bool, Complex, ComplexNumber, Element, Float, Float16, Integer, Number,
    Ordered, Real,
};
use crate::math::{BinaryTile, Level, UnaryTile};
use crate::program::Op;

/// A loop over tiles with as many inputs as the operation has.
#[derive(Debug, Clone, Copy)]
pub enum Function {
    /// One input.
    Unary(UnaryTile),
    /// Two inputs.
    Binary(BinaryTile),
    /// Three inputs.
    Ternary(TernaryTile),
}

/// Runs the body for the Rust type of a dtype, among those listed.
macro_rules! typed {
    ($dtype:expr, $T:ident in [$($variant:ident $type:ty),*] => $body:expr) => {
        match $dtype {
            $(Dtype::$variant => { type $T = $type; Some($body) })*
            #[allow(unreachable_patterns)]
            _ => None,
        }
    };
    ($dtype:expr, $T:ident: integers => $body:expr) => {
        typed!($dtype, $T in [Int8 i8, Int16 i16, Int32 i32, Int64 i64,
            UInt8 u8, UInt16 u16, UInt32 u32, UInt64 u64] => $body)
    };
    ($dtype:expr, $T:ident: bits => $body:expr) => {
        typed!($dtype, $T in [Bool Bool, Int8 i8, Int16 i16, Int32 i32, Int64 i64,
            UInt8 u8, UInt16 u16, UInt32 u32, UInt64 u64] => $body)
    };
    ($dtype:expr, $T:ident: floats => $body:expr) => {
        typed!($dtype, $T in [Float16 Float16, BFloat16 BFloat16, Float32 f32, Float64 f64] => $body)
    };
    ($dtype:expr, $T:ident: complexes => $body:expr) => {
        typed!($dtype, $T in [Complex64 Complex<f32>, Complex128 Complex<f64>] => $body)
    };
    ($dtype:expr, $T:ident: reals => $body:expr) => {
        typed!($dtype, $T in [Int8 i8, Int16 i16, Int32 i32, Int64 i64, UInt8 u8, UInt16 u16,
            UInt32 u32, UInt64 u64, Float16 Float16, BFloat16 BFloat16, Float32 f32,
            Float64 f64] => $body)
    };
    ($dtype:expr, $T:ident: ordered => $body:expr) => {
        typed!($dtype, $T in [Bool Bool, Int8 i8, Int16 i16, Int32 i32, Int64 i64, UInt8 u8,
            UInt16 u16, UInt32 u32, UInt64 u64, Float16 Float16, BFloat16 BFloat16, Float32 f32,
            Float64 f64] => $body)
    };
    ($dtype:expr, $T:ident: numbers => $body:expr) => {
        typed!($dtype, $T in [Int8 i8, Int16 i16, Int32 i32, Int64 i64, UInt8 u8, UInt16 u16,
            UInt32 u32, UInt64 u64, Float16 Float16, BFloat16 BFloat16, Float32 f32,
            Float64 f64, Complex64 Complex<f32>, Complex128 Complex<f64>] => $body)
    };
    ($dtype:expr, $T:ident: all => $body:expr) => {
        typed!($dtype, $T in [Bool Bool, Int8 i8, Int16 i16, Int32 i32, Int64 i64, UInt8 u8,
            UInt16 u16, UInt32 u32, UInt64 u64, Float16 Float16, BFloat16 BFloat16, Float32 f32,
            Float64 f64, Complex64 Complex<f32>, Complex128 Complex<f64>] => $body)
    };
}
pub(crate) use typed;

/// The loop for an operation on operands of a type; `to` is the result's type.
///
/// Nothing where the operation does not take the type, and for the functions of half precision:
/// those are computed in float32, by three steps.
pub fn find(op: Op, from: Dtype, to: Dtype, level: Level) -> Option<Function> {
    if let Some(function) = mathematics::find(op, from, level) {
        return Some(function);
    }
    match op {
        Op::Cast => casts::find(from, to, level).map(Function::Unary),
        Op::Random | Op::RandomHigh => Some(random::find(op, level)),
        Op::Where | Op::FusedMultiplyAdd => three(op, from, level).map(Function::Ternary),
        _ if op.n_operands() == 2 => two(op, from, level).map(Function::Binary),
        _ => one(op, from, level).map(Function::Unary),
    }
}

fn three(op: Op, t: Dtype, l: Level) -> Option<TernaryTile> {
    match op {
        Op::Where => typed!(t, T: all => {
            ternary(l, |c: Bool, x: T, y: T| if c.truth() { x } else { y })
        }),
        _ => typed!(t, T: floats => {
            ternary(l, |x: T, y: T, z: T| Float::fused_multiply_add(x, y, z))
        }),
    }
}

fn two(op: Op, t: Dtype, l: Level) -> Option<BinaryTile> {
    match op {
        Op::Add => typed!(t, T: numbers => binary(l, |x: T, y: T| Number::add(x, y))),
        Op::Subtract => typed!(t, T: numbers => binary(l, |x: T, y: T| Number::subtract(x, y))),
        Op::Multiply => typed!(t, T: numbers => binary(l, |x: T, y: T| Number::multiply(x, y))),
        Op::Power => typed!(t, T: integers => binary(l, |x: T, y: T| Integer::power(x, y))),
        Op::Divide => {
            typed!(t, T: floats => binary(l, |x: T, y: T| Float::divide(x, y))).or_else(|| {
                typed!(t, T: complexes => {
                    binary(l, |x: T, y: T| ComplexNumber::divide(x, y))
                })
            })
        }
        Op::FloorDivide => typed!(t, T: reals => {
            binary(l, |x: T, y: T| Real::floor_divide(x, y))
        }),
        Op::Remainder => typed!(t, T: reals => binary(l, |x: T, y: T| Real::remainder(x, y))),
        Op::Minimum => typed!(t, T: ordered => binary(l, |x: T, y: T| Ordered::minimum(x, y))),
        Op::Maximum => typed!(t, T: ordered => binary(l, |x: T, y: T| Ordered::maximum(x, y))),
        Op::NextAfter => typed!(t, T in [Float16 Float16, BFloat16 BFloat16] => {
            binary(l, |x: T, y: T| x.next_after(y))
        }),
        Op::Complex => typed!(t, T in [Float32 f32, Float64 f64] => {
            binary(l, |re: T, im: T| Complex { re, im })
        }),
        _ => compare(op, t, l).or_else(|| bits(op, t, l)),
    }
}

fn compare(op: Op, t: Dtype, l: Level) -> Option<BinaryTile> {
    match op {
        Op::Equal => typed!(t, T: all => binary(l, |x: T, y: T| Bool::new(x.equal(y)))),
        Op::NotEqual => typed!(t, T: all => binary(l, |x: T, y: T| Bool::new(!x.equal(y)))),
        Op::Less => typed!(t, T: ordered => binary(l, |x: T, y: T| Bool::new(x.less(y)))),
        Op::Greater => typed!(t, T: ordered => binary(l, |x: T, y: T| Bool::new(y.less(x)))),
        Op::LessEqual => typed!(t, T: ordered => {
            binary(l, |x: T, y: T| Bool::new(x.less_equal(y)))
        }),
        Op::GreaterEqual => typed!(t, T: ordered => {
            binary(l, |x: T, y: T| Bool::new(y.less_equal(x)))
        }),
        _ => None,
    }
}

fn bits(op: Op, t: Dtype, l: Level) -> Option<BinaryTile> {
    match op {
        Op::LogicalAnd | Op::BitAnd => typed!(t, T: bits => binary(l, |x: T, y: T| x.and(y))),
        Op::LogicalOr | Op::BitOr => typed!(t, T: bits => binary(l, |x: T, y: T| x.or(y))),
        Op::LogicalXor | Op::BitXor => typed!(t, T: bits => binary(l, |x: T, y: T| x.xor(y))),
        Op::ShiftLeft => typed!(t, T: integers => binary(l, |x: T, y: T| x.left(y))),
        Op::ShiftRight => typed!(t, T: integers => binary(l, |x: T, y: T| x.right(y))),
        _ => None,
    }
}

fn one(op: Op, t: Dtype, l: Level) -> Option<UnaryTile> {
    match op {
        Op::Negative => typed!(t, T: numbers => unary(l, |x: T| x.negative())),
        Op::Sign => typed!(t, T: reals => unary(l, |x: T| Real::sign(x))),
        Op::Square => typed!(t, T: numbers => unary(l, |x: T| Number::multiply(x, x))),
        Op::Absolute => typed!(t, T: reals => unary(l, |x: T| Real::absolute(x))),
        Op::Reciprocal => typed!(t, T: floats => unary(l, |x: T| Float::divide(T::ONE, x))),
        Op::SquareRoot => typed!(t, T: floats => unary(l, |x: T| x.square_root())),
        Op::Floor => typed!(t, T: reals => unary(l, |x: T| Real::floor(x))),
        Op::Ceil => typed!(t, T: reals => unary(l, |x: T| Real::ceil(x))),
        Op::Trunc => typed!(t, T: reals => unary(l, |x: T| Real::trunc(x))),
        Op::Round => typed!(t, T: reals => unary(l, |x: T| Real::round(x))),
        Op::LogicalNot | Op::BitNot => typed!(t, T: bits => unary(l, |x: T| x.not())),
        Op::Real => typed!(t, T: complexes => unary(l, |x: T| x.re)),
        Op::Imag => typed!(t, T: complexes => unary(l, |x: T| x.im)),
        Op::Conjugate => typed!(t, T: complexes => {
            unary(l, |x: T| Complex { re: x.re, im: -x.im })
        }),
        _ => test(op, t, l),
    }
}

fn test(op: Op, t: Dtype, l: Level) -> Option<UnaryTile> {
    match op {
        // Integers and truth values are all finite.
        Op::IsNan | Op::IsInf if matches!(t.kind(), Kind::Bool | Kind::Signed | Kind::Unsigned) => {
            typed!(t, T: bits => unary(l, |_: T| Bool::new(false)))
        }
        Op::IsFinite if matches!(t.kind(), Kind::Bool | Kind::Signed | Kind::Unsigned) => {
            typed!(t, T: bits => unary(l, |_: T| Bool::new(true)))
        }
        Op::IsNan => typed!(t, T: floats => unary(l, |x: T| Bool::new(Ordered::is_nan(x))))
            .or_else(|| typed!(t, T: complexes => unary(l, |x: T| Bool::new(x.any_nan())))),
        Op::IsInf => typed!(t, T: floats => unary(l, |x: T| Bool::new(Float::is_infinite(x))))
            .or_else(|| typed!(t, T: complexes => unary(l, |x: T| Bool::new(x.any_infinite())))),
        Op::IsFinite => typed!(t, T: floats => {
            unary(l, |x: T| Bool::new(!Ordered::is_nan(x) & !Float::is_infinite(x)))
        })
        .or_else(|| {
            typed!(t, T: complexes => {
                unary(l, |x: T| Bool::new(!x.any_nan() & !x.any_infinite()))
            })
        }),
        Op::SignBit => typed!(t, T: floats => unary(l, |x: T| Bool::new(x.sign_bit()))),
        _ => None,
    }
}

/// Whether an operation is a pass over a tile of its own, of many instructions for each element.
pub fn is_long(op: Op, result: Dtype) -> bool {
    let is_float = result.kind() == Kind::Float && result.size() >= 4;
    is_float && mathematics::is_function(op) && !matches!(op, Op::SquareRoot | Op::CopySign)
}

/// Whether half precision computes an operation in float32 and rounds the result.
pub fn in_float32(op: Op) -> bool {
    mathematics::is_function(op)
}

impl Function {
    /// Computes `n` elements.
    ///
    /// # Safety
    /// The tiles have `n` elements of the function's types, aligned; `out` overlaps none of them.
    pub unsafe fn call(self, from: [*const u8; 3], out: *mut u8, n: usize) {
        // SAFETY: the caller's.
        unsafe {
            match self {
                Function::Unary(f) => f(from[0], out, n),
                Function::Binary(f) => f(from[0], from[1], out, n),
                Function::Ternary(f) => f(from[0], from[1], from[2], out, n),
            }
        }
    }
}
