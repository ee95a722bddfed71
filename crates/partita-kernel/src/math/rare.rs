//! Lanes that the fast way does not fit, computed one by one.

use crate::simd::{Lanes, MAX_LANES, Mask};

/// Replaces the rare lanes of y by f of those of x.
#[inline(always)]
pub(super) fn patch<V: Lanes>(y: V, x: V, rare: V::Mask, f: fn(f64) -> f64) -> V {
    if !rare.any() {
        return y;
    }
    let mut all = y.to_array();
    each(&x.to_array(), &mut all, rare.bits(), f);
    V::from_array(&all)
}

/// Replaces the rare lanes of z by f of those of x and y.
#[inline(always)]
pub(super) fn patch2<V: Lanes>(z: V, x: V, y: V, rare: V::Mask, f: fn(f64, f64) -> f64) -> V {
    if !rare.any() {
        return z;
    }
    let mut all = z.to_array();
    each2(&x.to_array(), &y.to_array(), &mut all, rare.bits(), f);
    V::from_array(&all)
}

type All = [f64; MAX_LANES];

#[cold]
#[inline(never)]
fn each(x: &All, y: &mut All, lanes: u32, f: fn(f64) -> f64) {
    for i in (0..MAX_LANES).filter(|i| lanes >> i & 1 == 1) {
        y[i] = f(x[i]);
    }
}

#[cold]
#[inline(never)]
fn each2(x: &All, y: &All, z: &mut All, lanes: u32, f: fn(f64, f64) -> f64) {
    for i in (0..MAX_LANES).filter(|i| lanes >> i & 1 == 1) {
        z[i] = f(x[i], y[i]);
    }
}
