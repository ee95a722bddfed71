//! What a call may use: vector instructions and threads.

use partita_kernel::Settings;
use partita_kernel::math::Level;
use partita_kernel::threads::divide;
use std::ops::Range;

/// What a call may use of the processor.
///
/// ```
/// use partita_numeric::Cores;
/// let one = Cores { n_threads: 1, ..Cores::best() };
/// assert_eq!(one.n_threads, 1);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Cores {
    /// Vector instructions that may be used.
    pub level: Level,
    /// Threads that may work, the caller's among them.
    pub n_threads: usize,
}

impl Cores {
    /// What the environment allows: see [`Settings`].
    #[must_use]
    pub fn best() -> Cores {
        let Settings { level, n_threads, .. } = *partita_kernel::Machine::global().settings();
        Cores { level, n_threads }
    }

    /// One thread, with the same instructions.
    #[must_use]
    pub fn alone(self) -> Cores {
        Cores { n_threads: 1, ..self }
    }

    /// Calls `work` with every number below `n_pieces`.
    pub fn each(self, n_pieces: usize, work: impl Fn(usize) + Sync) {
        divide(self.n_threads, n_pieces, &work);
    }

    /// Into how many pieces n elements are cut, if a piece is worth at least `least` elements.
    #[must_use]
    pub fn n_pieces(self, n: usize, least: usize) -> usize {
        if self.n_threads <= 1 { 1 } else { (n / least).clamp(1, 4 * self.n_threads) }
    }
}

/// The piece-th of n_pieces stretches of n elements, cut at multiples of 64.
pub(crate) fn stretch(n: usize, n_pieces: usize, piece: usize) -> Range<usize> {
    let cut = |piece: usize| {
        let at = (n as u128 * piece as u128 / n_pieces as u128) as usize;
        if piece == n_pieces { n } else { at / 64 * 64 }
    };
    cut(piece)..cut(piece + 1)
}

/// A pointer that pieces of one call share; each touches elements that no other touches.
#[derive(Debug)]
pub struct Shared<T>(*mut T);

// SAFETY: whoever takes the pointer out promises to touch elements that no other piece touches.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// Shares a slice.
    pub fn new(slice: &mut [T]) -> Shared<T> {
        Shared(slice.as_mut_ptr())
    }

    /// Where an element lies; whoever uses it knows that it is inside.
    #[must_use]
    pub fn at(&self, index: usize) -> *mut T {
        self.0.wrapping_add(index)
    }

    /// A stretch as a slice of its own.
    ///
    /// # Safety
    /// The stretch lies inside the slice, and nobody else touches it meanwhile.
    #[allow(clippy::mut_from_ref, reason = "the promise of the caller")]
    #[must_use]
    pub unsafe fn slice(&self, range: Range<usize>) -> &mut [T] {
        // SAFETY: the caller's.
        unsafe { std::slice::from_raw_parts_mut(self.at(range.start), range.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_cover_everything_once() {
        for n in [0, 1, 63, 64, 65, 1000, 12345] {
            for n_pieces in [1, 2, 3, 7] {
                let mut next = 0;
                for piece in 0..n_pieces {
                    let range = stretch(n, n_pieces, piece);
                    assert_eq!(range.start, next);
                    assert!(range.start <= range.end);
                    next = range.end;
                }
                assert_eq!(next, n);
            }
        }
    }
}
