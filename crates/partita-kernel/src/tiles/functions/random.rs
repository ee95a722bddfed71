//! Counter-based random bits: Philox4x32 with ten rounds.
//!
//! The counter is the first 64 bits of Philox's, the rest is zero; the result is the lower or the
//! upper half of its 128 bits. An element depends on its counter and the key alone, so every
//! division of the work gives the same numbers.

use super::{Function, binary};
use crate::math::Level;
use crate::program::Op;

/// The loop for either half.
pub fn find(op: Op, level: Level) -> Function {
    Function::Binary(match op {
        Op::RandomHigh => binary(level, |counter: u64, key: u64| philox(counter, key)[1]),
        _ => binary(level, |counter: u64, key: u64| philox(counter, key)[0]),
    })
}

const MULTIPLIERS: [u64; 2] = [0xd251_1f53, 0xcd9e_8d57];
const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];

/// The 128 random bits of a counter.
#[inline(always)]
fn philox(counter: u64, key: u64) -> [u64; 2] {
    let mut c = [counter as u32, (counter >> 32) as u32, 0, 0];
    let mut k = [key as u32, (key >> 32) as u32];
    for _ in 0..10 {
        let first = MULTIPLIERS[0] * u64::from(c[0]);
        let second = MULTIPLIERS[1] * u64::from(c[2]);
        let high = [(first >> 32) as u32, (second >> 32) as u32];
        c = [high[1] ^ c[1] ^ k[0], second as u32, high[0] ^ c[3] ^ k[1], first as u32];
        k = [k[0].wrapping_add(WEYL[0]), k[1].wrapping_add(WEYL[1])];
    }
    [u64::from(c[0]) | u64::from(c[1]) << 32, u64::from(c[2]) | u64::from(c[3]) << 32]
}

#[cfg(test)]
mod tests {
    use super::philox;

    /// The answers published with the generator (Random123, philox4x32 10).
    #[test]
    fn known_answers() {
        assert_eq!(philox(0, 0), [0xe169_c58d_6627_e8d5, 0x9b00_dbd8_bc57_ac4c]);
    }
}
