//! A short name for a plan that every rank computes alike.

use std::hash::{Hash, Hasher};

/// FNV-1a, because the standard hasher is free to differ between releases.
#[derive(Debug)]
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        // FNV leaves its high bits weak for short inputs.
        (self.0 ^ (self.0 >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
}

/// Sixteen hexadecimal digits.
pub(crate) fn of(value: &impl Hash) -> String {
    let mut hasher = Fnv(0xCBF2_9CE4_8422_2325);
    value.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
