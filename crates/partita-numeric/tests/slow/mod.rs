//! What the tests share: generated elements, and an order that is slow and written apart.

#![allow(dead_code, reason = "every test file uses a part of it")]

use partita_kernel::math::Level;
use partita_numeric::Cores;
use partita_numeric::sort::{BFloat16, Float16, Sortable};
use std::cmp::Ordering;

/// Every level of this machine, on one and on two threads.
pub fn all_cores() -> Vec<Cores> {
    let levels = Level::all();
    levels
        .into_iter()
        .flat_map(|level| [1, 2].map(|n_threads| Cores { level, n_threads }))
        .collect()
}

/// Random numbers (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// An element as its order is defined in words.
#[derive(Debug, Clone, Copy)]
pub enum Slow {
    Integer(i128),
    Float(f64),
    Complex(f64, f64),
}

impl Slow {
    /// The order of NumPy, spelt out.
    pub fn order(self, other: Slow) -> Ordering {
        match (self, other) {
            (Slow::Integer(a), Slow::Integer(b)) => a.cmp(&b),
            (Slow::Float(a), Slow::Float(b)) => float_order(a, b),
            (Slow::Complex(a, b), Slow::Complex(c, d)) => {
                let class = |re: f64, im: f64| 2 * i32::from(re.is_nan()) + i32::from(im.is_nan());
                class(a, b).cmp(&class(c, d)).then(float_order(a, c)).then(float_order(b, d))
            }
            _ => unreachable!("elements of one type"),
        }
    }
}

fn float_order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// A type under test.
pub trait Tested: Sortable {
    /// An element made of random bits; few different ones if `few`.
    fn make(bits: u64, few: bool) -> Self;
    fn slow(self) -> Slow;
    fn bits(self) -> u128;
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Tested for $type {
            fn make(bits: u64, few: bool) -> Self {
                match bits >> 60 {
                    _ if few => (bits % 3) as $type,
                    0 => <$type>::MAX,
                    1 => <$type>::MIN,
                    _ => bits as $type,
                }
            }
            fn slow(self) -> Slow {
                Slow::Integer(self as i128)
            }
            fn bits(self) -> u128 {
                self as u128
            }
        }
    )*};
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

impl Tested for bool {
    fn make(bits: u64, few: bool) -> Self {
        !few && bits >> 63 == 1
    }
    fn slow(self) -> Slow {
        Slow::Integer(i128::from(self))
    }
    fn bits(self) -> u128 {
        u128::from(self)
    }
}

fn number(bits: u64, few: bool) -> f64 {
    let special = [0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0, -1.5];
    if few || bits >> 60 == 0 {
        special[(bits % 8) as usize]
    } else {
        (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

macro_rules! floats {
    ($($type:ident)*) => {$(
        impl Tested for $type {
            fn make(bits: u64, few: bool) -> Self {
                number(bits, few) as $type
            }
            fn slow(self) -> Slow {
                Slow::Float(f64::from(self))
            }
            fn bits(self) -> u128 {
                u128::from(self.to_bits())
            }
        }
        impl Tested for [$type; 2] {
            fn make(bits: u64, few: bool) -> Self {
                [number(bits, few || bits & 1 == 0), number(bits.rotate_left(21), few)].map(|x| x as $type)
            }
            fn slow(self) -> Slow {
                Slow::Complex(f64::from(self[0]), f64::from(self[1]))
            }
            fn bits(self) -> u128 {
                u128::from(self[0].to_bits()) << 64 | u128::from(self[1].to_bits())
            }
        }
    )*};
}
floats!(f32 f64);

impl Tested for BFloat16 {
    fn make(bits: u64, few: bool) -> Self {
        BFloat16((f32::make(bits, few).to_bits() >> 16) as u16)
    }
    fn slow(self) -> Slow {
        Slow::Float(f64::from(f32::from_bits(u32::from(self.0) << 16)))
    }
    fn bits(self) -> u128 {
        u128::from(self.0)
    }
}

impl Tested for Float16 {
    fn make(bits: u64, few: bool) -> Self {
        let few_bits = [0, 0x8000, 0x7e00, 0xfe00, 0x7c00, 0xfc00, 0x3c00, 0xbe00];
        Float16(if few { few_bits[(bits % 8) as usize] } else { bits as u16 })
    }
    fn slow(self) -> Slow {
        let (exponent, fraction) = (i32::from(self.0 >> 10 & 31), f64::from(self.0 & 1023));
        let size = match exponent {
            0 => fraction * 2.0_f64.powi(-24),
            31 if fraction == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            _ => (1024.0 + fraction) * 2.0_f64.powi(exponent - 25),
        };
        Slow::Float(if self.0 >> 15 == 1 { -size } else { size })
    }
    fn bits(self) -> u128 {
        u128::from(self.0)
    }
}

/// Shapes of inputs.
pub const SHAPES: [&str; 7] =
    ["random", "few", "equal", "sorted", "reversed", "sorted but one", "saw"];

/// n elements of a shape.
pub fn generate<T: Tested>(shape: &str, n: usize, random: &mut Random) -> Vec<T> {
    let few = matches!(shape, "few");
    let mut data: Vec<T> = (0..n).map(|_| T::make(random.next(), few)).collect();
    match shape {
        "equal" => data.fill(T::make(u64::MAX / 3, false)),
        "sorted" => data.sort_by(|a, b| a.slow().order(b.slow())),
        "reversed" => data.sort_by(|a, b| b.slow().order(a.slow())),
        "sorted but one" => {
            data.sort_by(|a, b| a.slow().order(b.slow()));
            if n > 2 {
                data.swap(n / 2, n - 1);
            }
        }
        "saw" => data.chunks_mut(37).for_each(|c| c.sort_by(|a, b| a.slow().order(b.slow()))),
        _ => {}
    }
    data
}
