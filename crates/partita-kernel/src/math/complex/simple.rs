//! Squares, inverses and signs.

use super::super::roots::Hypot;
use super::loops::Function;
use super::{Z, real2};
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
        let zero = size.eq(V::splat(0.0));
        Z(V::select(zero, z.0, z.0 / size), V::select(zero, z.1, z.1 / size))
    }
}
