//! The error function.

use super::{Function32, horner};
use crate::math::coefficients::{ERF_F, ERFC_ROOT_F};
use crate::math::erf;
use crate::simd::Lanes32;

/// Up to here it is one polynomial, from here on another.
const NEAR: f32 = 0.875;

impl Function32 for erf::Erf {
    #[inline(always)]
    fn eval<V: Lanes32>(x: V) -> V {
        // From 3.92 on it is 1.
        let size = V::splat(3.94).min(x.abs());
        let near = size.fma(horner(&ERF_F, size * size), size);
        // The square root of the complement is all that the difference from 1 needs.
        let root = horner(&ERFC_ROOT_F, size - V::splat(1.0));
        let far = root.fnma(root, V::splat(1.0));
        let y = V::select(size.le(V::splat(NEAR)), near, far);
        V::from_bits(y.bits() | x.sign())
    }
}
