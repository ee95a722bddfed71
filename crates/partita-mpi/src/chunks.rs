//! Cutting a long message into messages that the library can count.

use super::{MpiError, Result};
use std::ffi::c_int;

/// The longest message of a library without large counts: far from 2³¹ for
/// every element size, and long enough to cost nothing.
pub(super) const SMALL_COUNT_LIMIT_BYTES: usize = 1 << 30;

/// Element ranges `(start, length)` of at most `limit_bytes`; never none.
pub(super) fn chunks(
    count: usize,
    element_bytes: usize,
    limit_bytes: usize,
) -> impl Iterator<Item = (usize, usize)> {
    let step = (limit_bytes / element_bytes.max(1)).max(1);
    let n_chunks = count.div_ceil(step).max(1);
    (0..n_chunks).map(move |chunk| {
        let start = chunk * step;
        (start, step.min(count - start))
    })
}

/// The values as C ints, or nothing if one is too large for that.
pub(super) fn as_ints(values: &[usize]) -> Option<Vec<c_int>> {
    values.iter().map(|value| c_int::try_from(*value).ok()).collect()
}

/// The values as MPI's large counts and addresses.
pub(super) fn as_large(values: &[usize]) -> Vec<i64> {
    values.iter().map(|value| *value as i64).collect()
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

    fn all(count: usize, element_bytes: usize, limit_bytes: usize) -> Vec<(usize, usize)> {
        chunks(count, element_bytes, limit_bytes).collect()
    }

    #[test]
    fn chunks_cover_the_message_in_order() {
        assert_eq!(all(10, 8, 32), [(0, 4), (4, 4), (8, 2)]);
        assert_eq!(all(8, 8, 32), [(0, 4), (4, 4)]);
        assert_eq!(all(0, 8, 32), [(0, 0)]);
        assert_eq!(all(3, 8, 1), [(0, 1), (1, 1), (2, 1)]);
        assert_eq!(all(5, 1, usize::MAX), [(0, 5)]);
    }

    #[test]
    fn counts_that_fit_no_int_are_found() {
        assert_eq!(as_ints(&[1, c_int::MAX as usize]), Some(vec![1, c_int::MAX]));
        assert_eq!(as_ints(&[1, 1 << 31]), None);
        let error = as_int("MPI_Alltoall", 1 << 31).map_err(|error| error.reason());
        assert_eq!(error, Err("mpi-count-too-large"));
    }
}
