//! Squares, inverses and signs.

use super::super::poly::two_to;
use super::super::roots::Hypot;
use super::loops::Function;
use super::{Z, is_usual, patch, real2};
use crate::simd::Lanes;

pub(in super::super) struct Square;
pub(in super::super) struct Reciprocal;
pub(in super::super) struct Sign;

impl Function for Square {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        Z((z.0 - z.1) * (z.0 + z.1), (z.0 + z.0) * z.1)
    }
}

impl Function for Reciprocal {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        // Smith: divide by the larger part first.
        let flat = z.0.abs().ge(z.1.abs());
        let (large, small) = (V::select(flat, z.0, z.1), V::select(flat, z.1, z.0));
        let ratio = small / large;
        let bottom = small.fma(ratio, large);
        let (of_large, of_small) = (V::splat(1.0) / bottom, ratio / bottom);
        Z(V::select(flat, of_large, of_small), -V::select(flat, of_small, of_large))
    }
}

impl Function for Sign {
    #[inline(always)]
    fn eval<V: Lanes>(z: Z<V>) -> Z<V> {
        let size = real2::<Hypot, V>(z.0, z.1);
        patch(Z(z.0 / size, z.1 / size), z, !is_usual(z), sign_rare)
    }
}

/// One infinite part decides, two have no direction, as in NumPy. No number gives none, and zero has
/// no sign, as the Array API says.
fn sign_rare(z: Z<f64>) -> Z<f64> {
    let Z(x, y) = z;
    match (x.is_infinite(), y.is_infinite()) {
        _ if x.is_nan() || y.is_nan() => return Z(f64::NAN, f64::NAN),
        (true, true) => return Z(f64::NAN, f64::NAN),
        (true, false) => return Z(1f64.copysign(x), 0.0),
        (false, true) => return Z(0.0, 1f64.copysign(y)),
        _ if x == 0.0 && y == 0.0 => return Z(0.0, 0.0),
        _ => {}
    }
    // Brought to a usual size by a power of two: sizes may overflow, and subnormals lack digits.
    let factor = if x.abs().max(y.abs()) > 1.0 { two_to(-600) } else { two_to(700) };
    let (x, y) = (x * factor, y * factor);
    let size = real2::<Hypot, f64>(x, y);
    Z(x / size, y / size)
}
