//! Float32 functions that are the float64 ones, rounded once more.

use super::loops::{Binary32, Binary64, Unary32, Unary64};
use super::{atan, erf, exp, hyperbolic, log, pairs, roots, trig};
use crate::simd::Lanes;

macro_rules! wide {
    ($($function:path,)*) => {$(
        impl Unary32 for $function {
            #[inline(always)]
            fn eval<V: Lanes>(x: V) -> V {
                <$function as Unary64>::eval(x)
            }
        }
    )*};
}

macro_rules! wide2 {
    ($($function:path,)*) => {$(
        impl Binary32 for $function {
            #[inline(always)]
            fn eval<V: Lanes>(x: V, y: V) -> V {
                <$function as Binary64>::eval(x, y)
            }
        }
    )*};
}

wide! {
    exp::Exp2, exp::Expm1, log::Log2, log::Log10, log::Log1p, trig::Tan, atan::Asin, atan::Acos,
    atan::Atan, hyperbolic::Sinh, hyperbolic::Cosh, hyperbolic::Asinh, hyperbolic::Acosh,
    hyperbolic::Atanh, erf::Erfc, roots::Cbrt,
}

wide2! {
    atan::Atan2, pairs::Logaddexp, pairs::Copysign, pairs::Maximum,
    pairs::Minimum, pairs::FloorDivide, pairs::Remainder,
}
