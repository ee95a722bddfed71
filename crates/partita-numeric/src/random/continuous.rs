//! Distributions of real numbers.
//!
//! Most take one word per element and are made of it by elementary functions; the normal
//! distribution makes two elements of two words (Box and Muller). Those at the end reject, and
//! have words of their own for every element: see `rejection`.

use super::loops::{self, UNIT};
use super::rejection::Words;
use super::stream::BLOCK;
use super::{Stream, philox};
use crate::error::{NumericError, Result};
use partita_kernel::math::{Level, Unary, apply};
use std::f64::consts::PI;

/// A distribution of real numbers, in its standard form.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "parameters have the names that NumPy gives them")]
#[non_exhaustive]
pub enum Continuous {
    /// From 0 to 1, without 1, of 53 random bits.
    Uniform,
    /// Up to 9.4 either way: a word has 64 bits.
    Normal,
    /// Up to 45: a word has 64 bits.
    Exponential,
    Laplace,
    Logistic,
    Gumbel,
    Cauchy,
    Rayleigh,
    Weibull {
        a: f64,
    },
    /// Of the normal distribution with this mean and deviation.
    Lognormal {
        mean: f64,
        sigma: f64,
    },
    Triangular {
        left: f64,
        mode: f64,
        right: f64,
    },
    Gamma {
        shape: f64,
    },
    Beta {
        a: f64,
        b: f64,
    },
    ChiSquare {
        df: f64,
    },
    StandardT {
        df: f64,
    },
}

impl Continuous {
    pub(super) fn check(self) -> Result<()> {
        let positive = |name: &'static str, value: f64| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(NumericError::ParameterOutOfRange { name, wanted: "positive" }),
        };
        match self {
            Continuous::Weibull { a } => positive("a", a),
            Continuous::Gamma { shape } => positive("shape", shape),
            Continuous::ChiSquare { df } | Continuous::StandardT { df } => positive("df", df),
            Continuous::Beta { a, b } => positive("a", a).and(positive("b", b)),
            Continuous::Lognormal { sigma, .. } if sigma.is_nan() || sigma < 0.0 => {
                Err(NumericError::ParameterOutOfRange { name: "sigma", wanted: "0 or positive" })
            }
            Continuous::Triangular { left, mode, right }
                if !(left <= mode && mode <= right && left < right) =>
            {
                Err(NumericError::ParameterOutOfRange { name: "mode", wanted: "left to right" })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn fill(self, stream: Stream, first: u64, out: &mut [f64], level: Level) {
        match self {
            Continuous::Normal => normal(stream, first, out, level),
            Continuous::Lognormal { mean, sigma } => {
                normal(stream, first, out, level);
                out.iter_mut().for_each(|x| *x = mean + sigma * *x);
                in_place(level, Unary::Exp, out);
            }
            _ if self.rejects() => {
                let key = Words::key(stream);
                for (i, out) in out.iter_mut().enumerate() {
                    *out = self.reject(&mut Words::new(key, first + i as u64));
                }
            }
            _ => {
                for (i, out) in out.chunks_mut(BLOCK).enumerate() {
                    self.of_words(stream, first + (i * BLOCK) as u64, out, level);
                }
            }
        }
    }

    /// The same numbers as `fill` gives, each of a distribution of its own.
    pub(super) fn fill_each(
        distributions: impl Fn(usize) -> Continuous,
        stream: Stream,
        first: u64,
        out: &mut [f64],
        level: Level,
    ) {
        let key = Words::key(stream);
        for (i, out) in out.iter_mut().enumerate() {
            let (distribution, element) = (distributions(i), first + i as u64);
            if distribution.rejects() {
                *out = distribution.reject(&mut Words::new(key, element));
            } else {
                distribution.fill(stream, element, std::slice::from_mut(out), level);
            }
        }
    }

    /// Whether every element has words of its own.
    fn rejects(self) -> bool {
        matches!(
            self,
            Continuous::Gamma { .. }
                | Continuous::Beta { .. }
                | Continuous::ChiSquare { .. }
                | Continuous::StandardT { .. }
        )
    }

    fn reject(self, words: &mut Words) -> f64 {
        match self {
            Continuous::Gamma { shape } => words.gamma(shape),
            Continuous::Beta { a, b } => words.beta(a, b),
            Continuous::ChiSquare { df } => 2.0 * words.gamma(df / 2.0),
            Continuous::StandardT { df } => {
                let normal = words.normal();
                normal * (df / 2.0 / words.gamma(df / 2.0)).sqrt()
            }
            _ => unreachable!("the others take one word"),
        }
    }

    /// Makes at most a block of elements of one word each.
    fn of_words(self, stream: Stream, first: u64, out: &mut [f64], level: Level) {
        let mut words = [0; BLOCK];
        let words = &mut words[..out.len()];
        philox::words(level, stream.key, stream.number, first, words);
        match self {
            Continuous::Uniform => loops::uniform(level, words, out),
            Continuous::Exponential => exponential(words, out, level),
            Continuous::Rayleigh => {
                exponential(words, out, level);
                out.iter_mut().for_each(|x| *x = (2.0 * *x).sqrt());
            }
            Continuous::Weibull { a } => {
                exponential(words, out, level);
                out.iter_mut().for_each(|x| *x = x.powf(1.0 / a));
            }
            Continuous::Gumbel => {
                each(words, out, inside);
                in_place(level, Unary::Log, out);
                out.iter_mut().for_each(|x| *x = -*x);
                in_place(level, Unary::Log, out);
                out.iter_mut().for_each(|x| *x = -*x);
            }
            Continuous::Cauchy => {
                each(words, out, |word| (inside(word) - 0.5) * PI);
                in_place(level, Unary::Tan, out);
            }
            Continuous::Logistic => {
                let mut upper = [0.0; BLOCK];
                let upper = &mut upper[..out.len()];
                each(words, out, inside);
                each(words, upper, |word| 1.0 - inside(word));
                in_place(level, Unary::Log, out);
                in_place(level, Unary::Log, upper);
                out.iter_mut().zip(upper).for_each(|(x, upper)| *x -= *upper);
            }
            Continuous::Laplace => {
                // The distance to the nearer end, and the side.
                each(words, out, |word| {
                    let u = inside(word);
                    2.0 * u.min(1.0 - u)
                });
                in_place(level, Unary::Log, out);
                for (x, word) in out.iter_mut().zip(&*words) {
                    *x = if word >> 63 == 0 { *x } else { -*x };
                }
            }
            Continuous::Triangular { left, mode, right } => {
                let (width, cut) = (right - left, (mode - left) / (right - left));
                each(words, out, |word| {
                    let u = inside(word);
                    match u < cut {
                        true => left + (u * width * (mode - left)).sqrt(),
                        false => right - ((1.0 - u) * width * (right - mode)).sqrt(),
                    }
                });
            }
            _ => unreachable!("the others are made otherwise"),
        }
    }
}

/// A number between 0 and 1, neither of them, alike on both sides of 1/2.
#[inline(always)]
fn inside(word: u64) -> f64 {
    ((word >> 12) as f64 + 0.5) * (2.0 * UNIT)
}

#[inline(always)]
fn each(words: &[u64], out: &mut [f64], make: impl Fn(u64) -> f64) {
    for (out, word) in out.iter_mut().zip(words) {
        *out = make(*word);
    }
}

fn exponential(words: &[u64], out: &mut [f64], level: Level) {
    loops::fine(level, words, out);
    in_place(level, Unary::Log, out);
    // Not the negative: of 0 that would be the negative zero.
    out.iter_mut().for_each(|x| *x = 0.0 - *x);
}

pub(super) fn in_place(level: Level, function: Unary, x: &mut [f64]) {
    let mut argument = [0.0; BLOCK];
    for x in x.chunks_mut(BLOCK) {
        let argument = &mut argument[..x.len()];
        argument.copy_from_slice(x);
        apply(level, function, argument, x);
    }
}

/// Elements 2 i and 2 i + 1 are of the words 2 i and 2 i + 1.
fn normal(stream: Stream, first: u64, out: &mut [f64], level: Level) {
    let mut pairs = [0.0; BLOCK];
    let (mut at, n) = (0, out.len());
    while at < n {
        let skip = ((first + at as u64) % 2) as usize;
        let length = (n - at).min(BLOCK - skip);
        let even = first + at as u64 - skip as u64;
        let n_pairs = (skip + length).div_ceil(2);
        let part = &mut out[at..at + length];
        if skip == 0 && length % 2 == 0 {
            normal_pairs(stream, even, part, level);
        } else {
            normal_pairs(stream, even, &mut pairs[..2 * n_pairs], level);
            part.copy_from_slice(&pairs[skip..skip + length]);
        }
        at += length;
    }
}

/// Whole pairs, at most a block of elements.
fn normal_pairs(stream: Stream, first: u64, out: &mut [f64], level: Level) {
    const HALF: usize = BLOCK / 2;
    let n = out.len() / 2;
    let mut words = [0; BLOCK];
    let words = &mut words[..2 * n];
    philox::words(level, stream.key, stream.number, first, words);
    let mut buffers = [[0.0; HALF]; 5];
    let [size, angle, log, sine, cosine] = buffers.each_mut().map(|buffer| &mut buffer[..n]);
    loops::sizes_and_angles(level, words, size, angle);
    apply(level, Unary::Log, size, log);
    apply(level, Unary::Sin, angle, sine);
    apply(level, Unary::Cos, angle, cosine);
    loops::points(level, log, sine, cosine, out);
}
