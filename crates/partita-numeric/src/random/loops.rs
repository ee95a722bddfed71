//! Plain loops of this folder, compiled for every level: the compiler finds the vectors.

use partita_kernel::math::{Instructions, Level};
use std::f64::consts::PI;

/// 2^-53.
pub(super) const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
/// 2^-64.
const FINE: f64 = 1.0 / (1_u128 << 64) as f64;

/// A function and its forms for every level, chosen by the first argument.
macro_rules! at_every_level {
    ($(#[$about:meta])* fn $name:ident($($arg:ident: $type:ty),*) $body:block) => {
        $(#[$about])*
        pub(super) fn $name(level: Level, $($arg: $type),*) {
            #[inline(always)]
            fn plain($($arg: $type),*) $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn avx2($($arg: $type),*) {
                plain($($arg),*);
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
            unsafe fn avx512($($arg: $type),*) {
                plain($($arg),*);
            }

            // SAFETY: the level has the instructions.
            unsafe {
                match level.kind() {
                    #[cfg(target_arch = "x86_64")]
                    Instructions::Avx512 => avx512($($arg),*),
                    #[cfg(target_arch = "x86_64")]
                    Instructions::Avx2 => avx2($($arg),*),
                    _ => plain($($arg),*),
                }
            }
        }
    };
}

/// A number above 0 and up to 1, with all 64 bits near 0: tails are made of it.
#[inline(always)]
fn fine_number(word: u64) -> f64 {
    (word as f64 + 0.5) * FINE
}

at_every_level! {
    /// Numbers from 0 to 1, without 1, of 53 bits.
    fn uniform(words: &[u64], out: &mut [f64]) {
        for (out, word) in out.iter_mut().zip(words) {
            *out = (word >> 11) as f64 * UNIT;
        }
    }
}

at_every_level! {
    /// Numbers above 0 and up to 1, with all 64 bits near 0.
    fn fine(words: &[u64], out: &mut [f64]) {
        for (out, word) in out.iter_mut().zip(words) {
            *out = fine_number(*word);
        }
    }
}

at_every_level! {
    /// Pairs of words as a number whose logarithm is wanted, and an angle.
    fn sizes_and_angles(words: &[u64], sizes: &mut [f64], angles: &mut [f64]) {
        for ((pair, size), angle) in words.chunks_exact(2).zip(sizes).zip(angles) {
            *size = fine_number(pair[0]);
            *angle = (pair[1] >> 11) as f64 * (UNIT * 2.0 * PI);
        }
    }
}

at_every_level! {
    /// Points of the plane, given the logarithm, the sine and the cosine.
    fn points(logs: &[f64], sines: &[f64], cosines: &[f64], out: &mut [f64]) {
        for (((pair, log), sine), cosine) in
            out.chunks_exact_mut(2).zip(logs).zip(sines).zip(cosines)
        {
            let radius = (-2.0 * log).sqrt();
            (pair[0], pair[1]) = (radius * cosine, radius * sine);
        }
    }
}
