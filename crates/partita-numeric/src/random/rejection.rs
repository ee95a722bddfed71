//! Distributions that reject: every element has words of its own.
//!
//! Their key is derived from the stream, their number is the element, and they are counted by
//! attempt. Streams with other keys or numbers have other words, up to the chance that two
//! derived keys are equal.

use super::lgamma::lgamma;
use super::{Stream, philox};
use std::f64::consts::PI;

/// The words of one element.
pub(super) struct Words {
    key: u64,
    element: u64,
    block: u64,
    left: Option<u64>,
}

impl Words {
    /// The key of the words of a stream's elements.
    pub(super) fn key(stream: Stream) -> u64 {
        // No array is so long that its words reach this block.
        philox::block(stream.key, stream.number, u64::MAX)[0]
    }

    pub(super) fn new(key: u64, element: u64) -> Words {
        Words { key, element, block: 0, left: None }
    }

    pub(super) fn next(&mut self) -> u64 {
        if let Some(word) = self.left.take() {
            return word;
        }
        let [word, left] = philox::block(self.key, self.element, self.block);
        self.block += 1;
        self.left = Some(left);
        word
    }

    /// Above 0 and below 1.
    pub(super) fn uniform(&mut self) -> f64 {
        ((self.next() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    pub(super) fn normal(&mut self) -> f64 {
        let (u, v) = (self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (2.0 * PI * v).cos()
    }

    /// Marsaglia and Tsang, 2000.
    pub(super) fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let power = self.uniform().powf(1.0 / shape);
            return self.gamma(shape + 1.0) * power;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.uniform().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    /// A quotient of gammas; of small parameters Jöhnk's way, since those gammas may be 0.
    pub(super) fn beta(&mut self, a: f64, b: f64) -> f64 {
        if a > 1.0 || b > 1.0 {
            let (x, y) = (self.gamma(a), self.gamma(b));
            return x / (x + y);
        }
        loop {
            let (u, v) = (self.uniform().ln() / a, self.uniform().ln() / b);
            // In logarithms, since powers of small numbers may be 0.
            let most = u.max(v);
            let sum = most + ((u - most).exp() + (v - most).exp()).ln();
            if sum <= 0.0 {
                return (u - sum).exp();
            }
        }
    }

    pub(super) fn poisson(&mut self, mean: f64) -> f64 {
        if mean < 10.0 { self.poisson_small(mean) } else { self.poisson_large(mean) }
    }

    /// Counts arrivals within the time.
    fn poisson_small(&mut self, mean: f64) -> f64 {
        let (end, mut product, mut count) = ((-mean).exp(), self.uniform(), 0.0);
        while product > end {
            product *= self.uniform();
            count += 1.0;
        }
        count
    }

    /// Hörmann, 1993 (PTRS).
    fn poisson_large(&mut self, mean: f64) -> f64 {
        let b = 0.931 + 2.53 * mean.sqrt();
        let a = -0.059 + 0.02483 * b;
        let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
        let v_r = 0.9277 - 3.6224 / (b - 2.0);
        loop {
            let (u, v) = (self.uniform() - 0.5, self.uniform());
            let us = 0.5 - u.abs();
            let k = ((2.0 * a / us + b) * u + mean + 0.43).floor();
            if us >= 0.07 && v <= v_r {
                return k;
            }
            if k < 0.0 || (us < 0.013 && v > us) {
                continue;
            }
            let height = v.ln() + inverse_alpha.ln() - (a / (us * us) + b).ln();
            if height <= k * mean.ln() - mean - lgamma(k + 1.0) {
                return k;
            }
        }
    }

    pub(super) fn binomial(&mut self, n: f64, p: f64) -> f64 {
        if p > 0.5 {
            n - self.binomial(n, 1.0 - p)
        } else if n * p < 10.0 {
            self.binomial_small(n, p)
        } else {
            self.binomial_large(n, p)
        }
    }

    /// Goes from success to success.
    fn binomial_small(&mut self, n: f64, p: f64) -> f64 {
        let (log_q, mut count, mut at) = ((-p).ln_1p(), 0.0, 0.0);
        if log_q == 0.0 {
            return 0.0;
        }
        loop {
            at += (self.uniform().ln() / log_q).ceil().max(1.0);
            if at > n {
                return count;
            }
            count += 1.0;
        }
    }

    /// Hörmann, 1993 (BTRS).
    fn binomial_large(&mut self, n: f64, p: f64) -> f64 {
        let q = 1.0 - p;
        let deviation = (n * p * q).sqrt();
        let b = 1.15 + 2.53 * deviation;
        let a = -0.0873 + 0.0248 * b + 0.01 * p;
        let c = n * p + 0.5;
        let v_r = 0.92 - 4.2 / b;
        let alpha = (2.83 + 5.1 / b) * deviation;
        let mode = ((n + 1.0) * p).floor();
        let at_mode = lgamma(mode + 1.0) + lgamma(n - mode + 1.0);
        loop {
            let (u, v) = (self.uniform() - 0.5, self.uniform());
            let us = 0.5 - u.abs();
            let k = ((2.0 * a / us + b) * u + c).floor();
            if !(0.0..=n).contains(&k) {
                continue;
            }
            if us >= 0.07 && v <= v_r {
                return k;
            }
            let height = (v * alpha / (a / (us * us) + b)).ln();
            let ratio = at_mode - lgamma(k + 1.0) - lgamma(n - k + 1.0);
            if height <= ratio + (k - mode) * (p / q).ln() {
                return k;
            }
        }
    }
}
