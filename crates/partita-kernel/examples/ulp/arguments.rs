//! Arguments to measure with.

/// A generator of random numbers (xorshift).
pub struct Random(u64);

impl Random {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        random.bits();
        random
    }
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    /// Uniform in [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }
    /// 2^uniform, with a random sign if `signed` is -1.
    pub fn power(&mut self, low: f64, high: f64, signed: f64) -> f64 {
        let size = self.uniform(low, high).exp2();
        if self.bits() & 1 == 1 { size * signed } else { size }
    }
}

/// How to draw arguments.
#[derive(Clone, Copy)]
pub enum Draw {
    /// Uniform between two numbers.
    Even(f64, f64),
    /// 2^e for e between two numbers.
    Powers(f64, f64),
    /// The same with both signs.
    SignedPowers(f64, f64),
    /// Floats next to multiples of a number, up to 2^e times.
    Near(f64, u32),
}

impl Draw {
    /// One argument.
    pub fn one(self, random: &mut Random) -> f64 {
        match self {
            Draw::Even(low, high) => random.uniform(low, high),
            Draw::Powers(low, high) => random.power(low, high, 1.0),
            Draw::SignedPowers(low, high) => random.power(low, high, -1.0),
            Draw::Near(unit, bits) => {
                let bits = 1 + random.bits() % u64::from(bits);
                let multiple = (random.bits() % (1 << bits)) as f64 * unit;
                f64::from_bits(multiple.to_bits().wrapping_add(random.bits() % 3).wrapping_sub(1))
            }
        }
    }
}

/// The ranges for a function of one argument; the first is what speed is measured on.
pub fn ranges(name: &str) -> Vec<Draw> {
    use Draw::{Even, Near, Powers, SignedPowers};
    let pi = std::f64::consts::PI;
    match name {
        "exp" => vec![
            Even(-10.0, 10.0),
            Even(-746.0, 710.0),
            SignedPowers(-60.0, 5.0),
            Even(-745.2, -707.0),
        ],
        "exp2" => vec![
            Even(-10.0, 10.0),
            Even(-1076.0, 1025.0),
            SignedPowers(-60.0, 5.0),
            Even(-1075.0, -1020.0),
        ],
        "expm1" => {
            vec![Even(-2.0, 2.0), Even(-40.0, 710.0), SignedPowers(-1074.0, 4.0), Even(-0.4, 0.4)]
        }
        "log" | "log2" | "log10" => vec![
            Even(0.1, 10.0),
            Powers(-1074.0, 1024.0),
            Even(0.5, 2.0),
            Even(0.99, 1.01),
            Even(1.3, 1.42),
        ],
        "log1p" => vec![
            Even(-0.9, 10.0),
            Powers(-1074.0, 1024.0),
            Even(-1.0, 1.0),
            SignedPowers(-80.0, 0.0),
            Even(-0.3, -0.27),
            Even(0.37, 0.42),
        ],
        "sin" | "cos" | "tan" => vec![
            Even(-10.0, 10.0),
            Even(-0.8, 0.8),
            Even(-1000.0, 1000.0),
            SignedPowers(-40.0, 30.0),
            SignedPowers(29.0, 1023.9),
            Near(pi / 4.0, 31),
            Near(pi / 2.0, 31),
        ],
        "asin" | "acos" | "atanh" => vec![
            Even(-1.0, 1.0),
            SignedPowers(-1074.0, 0.0),
            Even(0.16, 0.18),
            Even(0.4, 0.6),
            Even(0.99, 1.0),
            Even(-1.0, -0.99),
        ],
        "atan" => vec![Even(-3.0, 3.0), SignedPowers(-1074.0, 1024.0), SignedPowers(-4.0, 4.0)],
        "sinh" | "cosh" => {
            vec![Even(-3.0, 3.0), Even(-711.0, 711.0), SignedPowers(-1074.0, 3.0), Even(0.9, 1.1)]
        }
        "tanh" => {
            vec![Even(-3.0, 3.0), SignedPowers(-1074.0, 5.0), Even(-22.0, 22.0), Even(-0.4, 0.4)]
        }
        "asinh" => vec![
            Even(-3.0, 3.0),
            SignedPowers(-1074.0, 1024.0),
            SignedPowers(-10.0, 10.0),
            Even(0.34, 0.36),
        ],
        "acosh" => vec![
            Even(1.0, 10.0),
            Powers(0.0, 1024.0),
            Even(1.0, 1.001),
            Powers(0.0, 10.0),
            Even(1.05, 1.07),
        ],
        "erf" => {
            vec![Even(-3.0, 3.0), SignedPowers(-1074.0, 3.0), Even(-6.5, 6.5), Even(-0.1, 0.1)]
        }
        "erfc" => {
            vec![Even(-3.0, 3.0), Even(-6.0, 27.3), SignedPowers(-60.0, 4.8), Even(26.0, 27.3)]
        }
        "sqrt" => vec![Even(0.1, 10.0), Powers(-1074.0, 1024.0)],
        "cbrt" => vec![Even(-10.0, 10.0), SignedPowers(-1074.0, 1024.0), Even(1.0, 8.0)],
        _ => Vec::new(),
    }
}

/// The ranges for a function of two arguments.
pub fn pairs(name: &str) -> Vec<(Draw, Draw)> {
    use Draw::{Even, Powers, SignedPowers};
    let all = SignedPowers(-1074.0, 1024.0);
    match name {
        "pow" => vec![
            (Even(0.1, 10.0), Even(-3.0, 3.0)),
            (Powers(-20.0, 20.0), Even(-30.0, 30.0)),
            (Even(0.5, 2.0), Even(-700.0, 700.0)),
            (Even(0.999, 1.001), SignedPowers(0.0, 20.0)),
            (Powers(-1074.0, 1024.0), Even(-1.05, 1.05)),
            (Even(0.9999999, 1.0000001), SignedPowers(25.0, 33.0)),
        ],
        "atan2" => vec![
            (Even(-3.0, 3.0), Even(-3.0, 3.0)),
            (all, all),
            (SignedPowers(-30.0, 30.0), SignedPowers(-30.0, 30.0)),
            (Even(0.8, 1.2), Even(1.9, 2.9)),
        ],
        "hypot" => vec![
            (Even(-3.0, 3.0), Even(-3.0, 3.0)),
            (all, all),
            (SignedPowers(-30.0, 30.0), SignedPowers(-30.0, 30.0)),
            (SignedPowers(-1074.0, -1000.0), SignedPowers(-1074.0, -1000.0)),
            (SignedPowers(-149.0, -124.0), SignedPowers(-149.0, -124.0)),
        ],
        "logaddexp" => vec![
            (Even(0.0, 10.0), Even(0.0, 10.0)),
            (Even(-700.0, 700.0), Even(-700.0, 700.0)),
            (Even(-1.0, 1.0), Even(-1.0, 1.0)),
            (Even(0.3, 0.6), Even(0.0, 0.3)),
        ],
        _ => Vec::new(),
    }
}
