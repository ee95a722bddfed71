//! Cutting a long message into messages that the library can count.

use super::{MpiError, Result};
use std::ffi::c_int;

/// The longest message of a library without large counts: below 2³¹ bytes, and
/// long enough to cost nothing.
pub(super) const SMALL_COUNT_LIMIT_BYTES: usize = 1 << 30;

/// Ranges `(start, length)` of at most `limit_bytes`; never none.
pub(super) fn chunks(n_bytes: usize, limit_bytes: usize) -> impl Iterator<Item = (usize, usize)> {
    let step = limit_bytes.max(1);
    let n_chunks = n_bytes.div_ceil(step).max(1);
    (0..n_chunks).map(move |chunk| {
        let start = chunk * step;
        (start, step.min(n_bytes - start))
    })
}

/// A count as a C int, or an error that names the call.
pub(super) fn as_int(call: &'static str, count: usize) -> Result<c_int> {
    let limit = c_int::MAX as usize;
    c_int::try_from(count).map_err(|_| MpiError::CountTooLarge { call, count, limit })
}

/// Calls the `int` function where the count fits, the large one otherwise.
macro_rules! by_count {
    ($count:expr, $n:ident => $int:expr, $large:expr) => {
        match std::ffi::c_int::try_from($count) {
            Ok($n) => $int,
            Err(_) => {
                let $n = $count as i64;
                $large
            }
        }
    };
}
pub(super) use by_count;

#[cfg(test)]
mod tests {
    use super::*;

    fn all(n_bytes: usize, limit_bytes: usize) -> Vec<(usize, usize)> {
        chunks(n_bytes, limit_bytes).collect()
    }

    #[test]
    fn chunks_cover_the_message_in_order() {
        assert_eq!(all(10, 4), [(0, 4), (4, 4), (8, 2)]);
        assert_eq!(all(8, 4), [(0, 4), (4, 4)]);
        assert_eq!(all(0, 4), [(0, 0)]);
        assert_eq!(all(3, 1), [(0, 1), (1, 1), (2, 1)]);
        assert_eq!(all(5, usize::MAX), [(0, 5)]);
    }

    #[test]
    fn counts_that_fit_no_int_are_found() {
        let error = as_int("MPI_Testall", 1 << 31).map_err(|error| error.reason());
        assert_eq!(error, Err("mpi-count-too-large"));
    }
}
