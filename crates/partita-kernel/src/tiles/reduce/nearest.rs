//! Rows of elements taken into lanes that keep the smallest or largest.
//!
//! Reading memory is the whole cost, as long as the loop keeps its lanes in registers and asks for
//! a line ahead with every line it reads. From one plain loop for all types the compiler makes
//! neither where vectors are short, so the types that fill memory have loops of their own.

use super::LANES;
use super::extreme::{Bounded, End};
use super::leaves::{ask_ahead, ask_line};
use crate::simd::{Lanes, Lanes32, Mask};

/// Takes whole pairs of rows; says whether there was a NaN, which then may be lost.
#[inline(always)]
pub fn take_plain<T: Bounded, E: End>(lanes: &mut [T; LANES], items: &[T]) -> bool {
    ask_ahead(items.as_ptr(), items.len());
    let (mut kept, mut nan) = (*lanes, false);
    for rows in items.chunks_exact(2 * LANES) {
        let (one, two) = rows.split_at(LANES);
        for i in 0..LANES {
            kept[i] = E::nearer(E::nearer(kept[i], one[i]), two[i]);
        }
        // Asking two rows at once costs less than keeping the answer in every lane.
        let mut any = false;
        for i in 0..LANES {
            any |= one[i].is_nan() | two[i].is_nan();
        }
        nan |= any;
    }
    *lanes = kept;
    nan
}

/// The same for numbers without NaN of which a cache line has N: line by line down the rows.
#[inline(always)]
pub fn take_lines<T: Bounded, E: End, const N: usize>(lanes: &mut [T; LANES], items: &[T]) -> bool {
    for (line, lanes) in lanes.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        let mut kept = *lanes;
        for rows in items.as_chunks::<N>().0.chunks_exact(2 * LANES / N) {
            let (one, two) = (&rows[line], &rows[LANES / N + line]);
            ask_line(one.as_ptr());
            ask_line(two.as_ptr());
            for i in 0..N {
                kept[i] = E::nearer(kept[i], E::nearer(one[i], two[i]));
            }
        }
        *lanes = kept;
    }
    false
}

/// The same by vectors of one level.
macro_rules! by_vectors {
    ($name:ident $float:ty, $lanes:ident, $nearer:ident) => {
        #[inline(always)]
        pub fn $name<E: End, V: $lanes>(lanes: &mut [$float; LANES], items: &[$float]) -> bool {
            if V::N == 1 {
                return take_plain::<$float, E>(lanes, items);
            }
            let mut kept = [V::splat(0.0); LANES];
            let mut nan = kept[0].unordered(kept[0]);
            let n = LANES / V::N;
            let line = 64 / size_of::<$float>();
            // SAFETY: rows have as many elements as lanes, of which there are n vectors.
            unsafe {
                for i in 0..n {
                    kept[i] = V::load(lanes.as_ptr().add(i * V::N));
                }
                for rows in items.chunks_exact(2 * LANES) {
                    for i in 0..n {
                        for ahead in (2 * i * V::N..2 * (i + 1) * V::N).step_by(line) {
                            ask_line(rows.as_ptr().add(ahead));
                        }
                        let one = V::load(rows.as_ptr().add(i * V::N));
                        let two = V::load(rows.as_ptr().add(LANES + i * V::N));
                        kept[i] = E::$nearer(E::$nearer(kept[i], one), two);
                        nan = nan | one.unordered(two);
                    }
                }
                for i in 0..n {
                    kept[i].store(lanes.as_mut_ptr().add(i * V::N));
                }
            }
            nan.any()
        }
    };
}

by_vectors!(take_double f64, Lanes, nearer_double);
by_vectors!(take_single f32, Lanes32, nearer_single);
