//! Dot products of contiguous elements, in lanes that no level changes.
//!
//! Products and sums are rounded one by one, so that every level gives the same bits; memory is
//! slower than that anyway.

use super::level::{Loop, at_level};
use super::number::{Number, Truth};
use num_complex::Complex;
use partita_kernel::math::Level;

/// Sums that run side by side: four vectors of eight float64.
const LANES: usize = 32;

/// Elements of one dot product at a time; longer ones are sums of such parts.
pub const PART: usize = 1 << 16;

/// Whether the first factor is conjugated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conjugate {
    /// Neither is.
    Neither,
    /// The first is.
    First,
}

/// Elements that have dot products.
pub trait Dot: Number {
    /// The sum of the products of two slices of one length.
    fn dot(level: Level, a: &[Self], b: &[Self], conjugate: Conjugate) -> Self;
}

struct Plain<'a, T>(&'a [T], &'a [T]);

impl<T: Number> Loop for Plain<'_, T> {
    type Result = T;

    #[inline(always)]
    fn run<const WIDE: bool>(self) -> T {
        let mut sums = [T::ZERO; LANES];
        let (a, b) = (self.0.chunks_exact(LANES), self.1.chunks_exact(LANES));
        for (l, (&x, &y)) in a.remainder().iter().zip(b.remainder()).enumerate() {
            sums[l] = x.times(y);
        }
        for (a, b) in a.zip(b) {
            for l in 0..LANES {
                sums[l] = sums[l].plus(a[l].times(b[l]));
            }
        }
        fold(&mut sums, 1)
    }
}

/// The sum of all lanes whose number is below `until` modulo `until`; halves are added.
#[inline(always)]
fn fold<T: Number, const N: usize>(sums: &mut [T; N], until: usize) -> T {
    let mut width = N;
    while width > until {
        width /= 2;
        for l in 0..width {
            sums[l] = sums[l].plus(sums[l + width]);
        }
    }
    sums[0]
}

/// Complex numbers whose sums run side by side. Each has two kinds of them: with more, the
/// registers of AVX2 do not suffice.
const PAIRS: usize = 8;

/// Complex numbers as pairs of reals: their products in place, and crosswise.
struct Pairs<'a, T>(&'a [[T; 2]], &'a [[T; 2]]);

impl<T: Number> Loop for Pairs<'_, T> {
    /// Re times re, im times im, re times im, im times re.
    type Result = [T; 4];

    #[inline(always)]
    fn run<const WIDE: bool>(self) -> [T; 4] {
        let (mut straight, mut crossed) = ([T::ZERO; 2 * PAIRS], [T::ZERO; 2 * PAIRS]);
        let ((a, a_rest), (b, b_rest)) = (self.0.as_chunks::<PAIRS>(), self.1.as_chunks::<PAIRS>());
        for (l, (x, y)) in a_rest.iter().zip(b_rest).enumerate() {
            for part in 0..2 {
                straight[2 * l + part] = x[part].times(y[part]);
                crossed[2 * l + part] = x[part].times(y[1 - part]);
            }
        }
        for (a, b) in a.iter().zip(b) {
            // Turned around first: then both loops go over whole vectors.
            let (x, y) = (a.as_flattened(), b.as_flattened());
            let mut turned = [T::ZERO; 2 * PAIRS];
            for l in 0..2 * PAIRS {
                turned[l] = y[l ^ 1];
            }
            for l in 0..2 * PAIRS {
                straight[l] = straight[l].plus(x[l].times(y[l]));
            }
            for l in 0..2 * PAIRS {
                crossed[l] = crossed[l].plus(x[l].times(turned[l]));
            }
        }
        fold(&mut straight, 2);
        fold(&mut crossed, 2);
        [straight[0], straight[1], crossed[0], crossed[1]]
    }
}

macro_rules! plain {
    ($($type:ty)*) => {$(
        impl Dot for $type {
            fn dot(level: Level, a: &[$type], b: &[$type], _: Conjugate) -> $type {
                at_level(level, Plain(a, b))
            }
        }
    )*};
}
plain!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 Truth);

macro_rules! pairs {
    ($($type:ty)*) => {$(
        impl Dot for Complex<$type> {
            fn dot(level: Level, a: &[Self], b: &[Self], conjugate: Conjugate) -> Self {
                let pairs = |z: &[Self]| -> *const [$type; 2] { z.as_ptr().cast() };
                // SAFETY: a complex number is two reals, one behind the other.
                let (x, y) = unsafe {
                    (
                        std::slice::from_raw_parts(pairs(a), a.len()),
                        std::slice::from_raw_parts(pairs(b), b.len()),
                    )
                };
                let [rr, ii, ri, ir] = at_level(level, Pairs(x, y));
                match conjugate {
                    Conjugate::Neither => Complex::new(rr - ii, ri + ir),
                    Conjugate::First => Complex::new(rr + ii, ri - ir),
                }
            }
        }
    )*};
}
pairs!(f32 f64);
