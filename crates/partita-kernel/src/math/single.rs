//! Float32 functions that are the float64 ones, rounded once more.

use super::loops::{Binary32, Binary64, Unary32, Unary64};
use super::{atan, erf, hyperbolic, pairs, roots};
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
    hyperbolic::Sinh, hyperbolic::Cosh, hyperbolic::Asinh, hyperbolic::Acosh, hyperbolic::Atanh,
    erf::Erfc, roots::Cbrt,
}

wide2! {
    atan::Atan2, pairs::Logaddexp, pairs::Copysign, pairs::Maximum,
    pairs::Minimum, pairs::FloorDivide, pairs::Remainder,
}
