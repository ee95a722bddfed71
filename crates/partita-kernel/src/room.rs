//! Memory that grows with the data: whoever called is told where the system has none left.
//!
//! Algorithms deep in a call cannot return an error for every vector that they need, and the
//! standard library ends the process. They unwind with [`NoRoom`] instead, which [`told`] makes a
//! result of where the call began.
//!
//! ```
//! use partita_kernel::room::{NoRoom, told, vec_of};
//! assert_eq!(told(|| vec_of(7_u8, 3)), Ok(vec![7; 3]));
//! assert_eq!(told(|| vec_of(0_u8, usize::MAX).len()), Err(NoRoom { n_bytes: usize::MAX }));
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The system has not so many bytes left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRoom {
    /// How many were asked for.
    pub n_bytes: usize,
}

/// Unwinds to whoever asks [`told`], without a word on stderr.
pub fn no_room(n_bytes: usize) -> ! {
    resume_unwind(Box::new(NoRoom { n_bytes }))
}

/// So many copies of a value; unwinds with [`NoRoom`].
#[must_use]
pub fn vec_of<T: Clone>(value: T, n: usize) -> Vec<T> {
    let mut made = Vec::new();
    if made.try_reserve_exact(n).is_err() {
        no_room(n.saturating_mul(size_of::<T>()));
    }
    made.resize(n, value);
    made
}

/// Looks whether the system has so much, before a library asks for it that would end the process;
/// unwinds with [`NoRoom`].
pub fn expect(n_bytes: usize) {
    let mut probe = Vec::<u8>::new();
    if probe.try_reserve_exact(n_bytes).is_err() {
        no_room(n_bytes);
    }
    // It is asked for really, though nobody uses it.
    std::hint::black_box(&probe);
}

/// What work returns.
///
/// # Errors
/// How much memory it has missed. What it writes is then of no use.
pub fn told<R>(work: impl FnOnce() -> R) -> Result<R, NoRoom> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match payload.downcast::<NoRoom>() {
        Ok(missing) => *missing,
        Err(payload) => resume_unwind(payload),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::divide;

    #[test]
    fn helpers_tell_too() {
        let all_but_one = |piece: usize| {
            if piece > 0 {
                expect(usize::MAX / 2);
            }
        };
        let missing = NoRoom { n_bytes: usize::MAX / 2 };
        for n_threads in [1, 2, 4] {
            assert_eq!(told(|| divide(n_threads, 8, &all_but_one)), Err(missing));
        }
    }
}
