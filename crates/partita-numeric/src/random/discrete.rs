//! Distributions of whole numbers.

use super::continuous::in_place;
use super::rejection::Words;
use super::stream::BLOCK;
use super::{Stream, philox};
use crate::error::{NumericError, Result};
use partita_kernel::math::{Level, Unary};

/// A distribution of whole numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "parameters have the names that NumPy gives them")]
#[non_exhaustive]
pub enum Discrete {
    /// From `low` on, `span` numbers, or 2^64 if it is 0.
    ///
    /// A word times the span, without its lower half: a number's chance is off by at most 2^-64.
    Uniform {
        low: i64,
        span: u64,
    },
    Poisson {
        mean: f64,
    },
    Binomial {
        n: i64,
        p: f64,
    },
    /// The number of trials up to the first success.
    Geometric {
        p: f64,
    },
}

impl Discrete {
    pub(super) fn check(self) -> Result<()> {
        let wrong = |name, wanted| Err(NumericError::ParameterOutOfRange { name, wanted });
        match self {
            // NumPy's bound: counts stay well within 64 bits.
            Discrete::Poisson { mean } if !(0.0..=9.2e18).contains(&mean) => {
                wrong("mean", "0 to 9.2e18")
            }
            Discrete::Binomial { n, .. } if n < 0 => wrong("n", "0 or positive"),
            Discrete::Binomial { p, .. } if !(0.0..=1.0).contains(&p) => wrong("p", "0 to 1"),
            Discrete::Geometric { p } if !(p > 0.0 && p <= 1.0) => wrong("p", "above 0, up to 1"),
            _ => Ok(()),
        }
    }

    pub(super) fn fill(self, stream: Stream, first: u64, out: &mut [i64], level: Level) {
        match self {
            Discrete::Uniform { low, span } => {
                each_block(stream, first, out, level, |words, out| {
                    for (out, word) in out.iter_mut().zip(words) {
                        *out = uniform(low, span, *word);
                    }
                });
            }
            Discrete::Geometric { p } => each_block(stream, first, out, level, |words, out| {
                let mut logs = [0.0; BLOCK];
                let logs = &mut logs[..out.len()];
                for (log, word) in logs.iter_mut().zip(words) {
                    *log = ((*word >> 12) as f64 + 0.5) / (1_u64 << 52) as f64;
                }
                in_place(level, Unary::Log, logs);
                let log_q = (-p).ln_1p();
                for (out, log) in out.iter_mut().zip(logs) {
                    // A cast of what is too large gives the largest number.
                    *out = (*log / log_q).ceil().max(1.0) as i64;
                }
            }),
            Discrete::Poisson { mean } => {
                each_apart(stream, first, out, |words| words.poisson(mean));
            }
            Discrete::Binomial { n, p } => {
                each_apart(stream, first, out, |words| words.binomial(n as f64, p));
            }
        }
    }

    /// The same numbers as `fill` gives, each of a distribution of its own.
    pub(super) fn fill_each(
        distributions: impl Fn(usize) -> Discrete,
        stream: Stream,
        first: u64,
        out: &mut [i64],
        level: Level,
    ) {
        let key = Words::key(stream);
        for (block, out) in out.chunks_mut(BLOCK).enumerate() {
            let mut words = [0; BLOCK];
            let words = &mut words[..out.len()];
            let begin = first + (block * BLOCK) as u64;
            philox::words(level, stream.key, stream.number, begin, words);
            for (i, out) in out.iter_mut().enumerate() {
                let element = begin + i as u64;
                *out = match distributions(block * BLOCK + i) {
                    Discrete::Uniform { low, span } => uniform(low, span, words[i]),
                    Discrete::Poisson { mean } => Words::new(key, element).poisson(mean) as i64,
                    Discrete::Binomial { n, p } => {
                        Words::new(key, element).binomial(n as f64, p) as i64
                    }
                    other => {
                        other.fill(stream, element, std::slice::from_mut(out), level);
                        *out
                    }
                };
            }
        }
    }
}

/// One of `span` numbers from `low` on, of a word.
#[inline(always)]
fn uniform(low: i64, span: u64, word: u64) -> i64 {
    let above = match span {
        0 => word,
        _ => ((u128::from(word) * u128::from(span)) >> 64) as u64,
    };
    low.wrapping_add(above as i64)
}

fn each_block(
    stream: Stream,
    first: u64,
    out: &mut [i64],
    level: Level,
    make: impl Fn(&[u64], &mut [i64]),
) {
    let mut words = [0; BLOCK];
    for (i, out) in out.chunks_mut(BLOCK).enumerate() {
        let words = &mut words[..out.len()];
        philox::words(level, stream.key, stream.number, first + (i * BLOCK) as u64, words);
        make(words, out);
    }
}

fn each_apart(stream: Stream, first: u64, out: &mut [i64], make: impl Fn(&mut Words) -> f64) {
    let key = Words::key(stream);
    for (i, out) in out.iter_mut().enumerate() {
        *out = make(&mut Words::new(key, first + i as u64)) as i64;
    }
}
