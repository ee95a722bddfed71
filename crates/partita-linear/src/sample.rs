//! Generated inputs for tests: numbers from a printed seed, and memory with any strides.

/// Numbers that look random, the same for the same seed.
pub struct Sample(u64);

impl Sample {
    /// The seed that `PARTITA_SEED` gives, or `default`; printed, so that failures can be repeated.
    pub fn new(default: u64) -> Sample {
        let seed = std::env::var("PARTITA_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = seed.unwrap_or(default);
        println!("PARTITA_SEED={seed}");
        Sample(seed)
    }

    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// A number between -1 and 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}
