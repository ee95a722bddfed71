//! Streams, and how their elements are divided among threads.

use super::permutation::Permutation;
use super::{Continuous, Discrete, philox};
use crate::Cores;
use crate::cores::{Shared, stretch};
use crate::error::Result;

/// Fewer elements are not worth a second thread.
const SHARE: usize = 1 << 13;
/// Elements computed at once, so that what is between stays in the cache.
pub(super) const BLOCK: usize = 1024;

/// An endless sequence of random words, one of 2^64 with the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    /// What a user calls the seed.
    pub key: u64,
    /// Which of the streams with this key.
    pub number: u64,
}

impl Stream {
    /// Fills with the words `first` on: 64 random bits each.
    pub fn words(self, first: u64, out: &mut [u64], cores: Cores) {
        share(out, cores, |at, out| {
            philox::words(cores.level, self.key, self.number, first + at as u64, out);
        });
    }

    /// Fills with the elements `first` on of a distribution.
    ///
    /// # Errors
    /// `parameter-out-of-range`.
    pub fn fill(
        self,
        distribution: Continuous,
        first: u64,
        out: &mut [f64],
        cores: Cores,
    ) -> Result<()> {
        distribution.check()?;
        share(out, cores, |at, out| distribution.fill(self, first + at as u64, out, cores.level));
        Ok(())
    }

    /// Fills with whole numbers, the elements `first` on of a distribution.
    ///
    /// # Errors
    /// `parameter-out-of-range`.
    pub fn fill_integers(
        self,
        distribution: Discrete,
        first: u64,
        out: &mut [i64],
        cores: Cores,
    ) -> Result<()> {
        distribution.check()?;
        share(out, cores, |at, out| distribution.fill(self, first + at as u64, out, cores.level));
        Ok(())
    }

    /// Fills with the elements `first` on, each of a distribution of its own.
    ///
    /// # Errors
    /// `parameter-out-of-range`; nothing is written then.
    pub fn fill_each(
        self,
        distributions: impl Fn(usize) -> Continuous + Sync,
        first: u64,
        out: &mut [f64],
        cores: Cores,
    ) -> Result<()> {
        (0..out.len()).try_for_each(|i| distributions(i).check())?;
        share(out, cores, |at, out| {
            let of = |i: usize| distributions(at + i);
            Continuous::fill_each(of, self, first + at as u64, out, cores.level);
        });
        Ok(())
    }

    /// Fills with whole numbers, each of a distribution of its own.
    ///
    /// # Errors
    /// `parameter-out-of-range`; nothing is written then.
    pub fn fill_integers_each(
        self,
        distributions: impl Fn(usize) -> Discrete + Sync,
        first: u64,
        out: &mut [i64],
        cores: Cores,
    ) -> Result<()> {
        (0..out.len()).try_for_each(|i| distributions(i).check())?;
        share(out, cores, |at, out| {
            let of = |i: usize| distributions(at + i);
            Discrete::fill_each(of, self, first + at as u64, out, cores.level);
        });
        Ok(())
    }

    /// Fills with float32 numbers from 0 to 1, without 1, of 24 random bits each.
    ///
    /// Two elements take one word.
    pub fn uniform_f32(self, first: u64, out: &mut [f32], cores: Cores) {
        share(out, cores, |at, out| {
            let mut words = [0; BLOCK / 2 + 1];
            for (i, out) in out.chunks_mut(BLOCK).enumerate() {
                let first = first + (at + i * BLOCK) as u64;
                let skip = (first % 2) as usize;
                let words = &mut words[..(skip + out.len()).div_ceil(2)];
                philox::words(cores.level, self.key, self.number, first / 2, words);
                for (i, out) in out.iter_mut().enumerate() {
                    let half = (words[(skip + i) / 2] >> (32 * ((skip + i) % 2))) as u32;
                    *out = (half >> 8) as f32 * 2.0_f32.powi(-24);
                }
            }
        });
    }

    /// Fills with the places `first` on of a random permutation of n positions.
    ///
    /// A keyed bijection, computed for each place apart: see the source of `permutation`. All
    /// places together are every position once.
    ///
    /// # Panics
    /// If the places end after n.
    pub fn permutation(self, n: u64, first: u64, out: &mut [i64], cores: Cores) {
        assert!(first + out.len() as u64 <= n, "no more places than positions");
        let permutation = Permutation::new(self, n);
        share(out, cores, |at, out| {
            for (i, out) in out.iter_mut().enumerate() {
                *out = permutation.at(first + (at + i) as u64) as i64;
            }
        });
    }
}

/// Lets threads fill stretches; `fill` is told where a stretch begins.
fn share<T: Send>(out: &mut [T], cores: Cores, fill: impl Fn(usize, &mut [T]) + Sync) {
    let n = out.len();
    let n_pieces = cores.n_pieces(n, SHARE);
    let all = Shared::new(out);
    cores.each(n_pieces, |piece| {
        let range = stretch(n, n_pieces, piece);
        // SAFETY: the stretches do not overlap.
        fill(range.start, unsafe { all.slice(range) });
    });
}
