//! Functions of two arguments that need little arithmetic.

use super::drive::{BinaryLoop, UnaryLoop};
use super::exp::{clamp, power_of_two, reduce};
use super::log::log1p_sum;
use super::loops::Binary64;
use super::poly::{two_sum, two_to};
use super::rare::patch2;
use crate::simd::Lanes;

pub(super) struct Logaddexp;

impl Binary64 for Logaddexp {
    #[inline(always)]
    fn eval<V: Lanes>(x: V, y: V) -> V {
        let (large, small) = (x.max(y), y.min(x));
        // Equal infinities have no difference, and need none.
        let zero = V::splat(0.0);
        let (apart, apart_low) = two_sum(small, -large);
        let apart = V::select(x.eq(y), zero, apart);
        // Further apart, and of infinities, there are no errors that count.
        let close = apart.gt(V::splat(-MOST_APART)) & large.abs().le(V::splat(f64::MAX));
        let (power, power_low) = exp_sum(apart, apart_low.only(close));
        let (high, low) = log1p_sum(power, power_low);
        let (sum, error) = two_sum(large, high);
        let value = sum + (error + low);
        let value = V::select(close, value, large + high);
        V::select(x.is_nan() | y.is_nan(), x + y, value)
    }
}

/// Differences up to which exponentials and their errors are normal.
const MOST_APART: f64 = 600.0;

/// e^(x + x_low) of negative numbers, as a sum of two where x is above -[`MOST_APART`].
#[inline(always)]
fn exp_sum<V: Lanes>(x: V, x_low: V) -> (V, V) {
    let mut reduced = reduce(clamp(x, -746.0, 0.0));
    reduced.low = reduced.low + x_low;
    let (high, low) = reduced.mantissa();
    let unit = power_of_two::<V>(reduced.bits);
    let low = (low * unit).only(x.gt(V::splat(-MOST_APART)));
    (high.scale(reduced.n, reduced.bits), low)
}

pub(super) struct Copysign;

impl Binary64 for Copysign {
    #[inline(always)]
    fn eval<V: Lanes>(x: V, y: V) -> V {
        x.abs().or_sign(y.sign())
    }
}

pub(super) struct Maximum;
pub(super) struct Minimum;

impl Binary64 for Maximum {
    #[inline(always)]
    fn eval<V: Lanes>(x: V, y: V) -> V {
        V::select(x.is_nan(), x, x.max(y))
    }
}

impl Binary64 for Minimum {
    #[inline(always)]
    fn eval<V: Lanes>(x: V, y: V) -> V {
        V::select(x.is_nan(), x, x.min(y))
    }
}

/// The floor of x / y and what it leaves.
#[inline(always)]
fn divide<V: Lanes>(x: V, y: V) -> (V, V) {
    let quotient = (x / y).floor();
    let rest = quotient.fnma(y, x);
    // The quotient may have been rounded up to an integer.
    let zero = V::splat(0.0);
    let over = (rest * one_of(y)).lt(zero);
    let quotient = V::select(over, quotient - V::splat(1.0), quotient);
    let rest = quotient.fnma(y, x);
    let quotient = V::select(quotient.eq(zero), zero.or_sign((x / y).sign()), quotient);
    (quotient, V::select(rest.eq(zero), zero.or_sign(y.sign()), rest))
}

/// 1 with the sign of y.
#[inline(always)]
fn one_of<V: Lanes>(y: V) -> V {
    V::splat(1.0).or_sign(y.sign())
}

/// Finite numbers whose quotient is exact enough for `divide`.
#[inline(always)]
fn divides<V: Lanes>(x: V, y: V) -> V::Mask {
    (x / y).abs().lt(V::splat(two_to(50)))
        & y.abs().gt(V::splat(two_to(-900)))
        & y.abs().lt(V::splat(two_to(900)))
}

pub(super) struct FloorDivide;
pub(super) struct Remainder;

impl Binary64 for FloorDivide {
    #[inline(always)]
    fn eval<V: Lanes>(x: V, y: V) -> V {
        patch2(divide(x, y).0, x, y, !divides(x, y), |x, y| divide_rare(x, y).0)
    }
}

impl Binary64 for Remainder {
    #[inline(always)]
    fn eval<V: Lanes>(x: V, y: V) -> V {
        patch2(divide(x, y).1, x, y, !divides(x, y), |x, y| divide_rare(x, y).1)
    }
}

/// NumPy's division of any two numbers.
fn divide_rare(x: f64, y: f64) -> (f64, f64) {
    let rest = x % y;
    if y == 0.0 {
        return (x / y, rest);
    }
    let mut quotient = (x - rest) / y;
    let mut floor_rest = rest;
    if rest == 0.0 {
        floor_rest = 0f64.copysign(y);
    } else if (y < 0.0) != (rest < 0.0) {
        floor_rest += y;
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return (0f64.copysign(x / y), floor_rest);
    }
    let floor = quotient.floor();
    (if quotient - floor > 0.5 { floor + 1.0 } else { floor }, floor_rest)
}

/// Loops over elements one by one, for what is a few integer operations.
macro_rules! one_by_one {
    ($($name:ident $float:ty;)*) => {$(
        impl BinaryLoop for Nextafter<$float> {
            #[inline(always)]
            unsafe fn run<V: Lanes>(left: *const u8, right: *const u8, out: *mut u8, n: usize) {
                let (left, right) = (left.cast::<$float>(), right.cast::<$float>());
                for i in 0..n {
                    // SAFETY: i is below n.
                    unsafe { *out.cast::<$float>().add(i) = $name(*left.add(i), *right.add(i)) };
                }
            }
        }

        #[inline(always)]
        fn $name(x: $float, towards: $float) -> $float {
            if x.is_nan() || towards.is_nan() {
                <$float>::NAN
            } else if x == towards {
                towards
            } else if x < towards {
                x.next_up()
            } else {
                x.next_down()
            }
        }

        impl UnaryLoop for Signbit<$float> {
            #[inline(always)]
            unsafe fn run<V: Lanes>(input: *const u8, out: *mut u8, n: usize) {
                for i in 0..n {
                    // SAFETY: i is below n; results are no larger than arguments.
                    unsafe {
                        *out.add(i) = u8::from((*input.cast::<$float>().add(i)).is_sign_negative());
                    }
                }
            }
        }
    )*};
}

/// The number after another.
pub(super) struct Nextafter<T>(std::marker::PhantomData<T>);
/// Whether the sign bit is set.
pub(super) struct Signbit<T>(std::marker::PhantomData<T>);

one_by_one! {
    after_f64 f64;
    after_f32 f32;
}
