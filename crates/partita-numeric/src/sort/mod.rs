//! Sorting, the positions that sort, merging and searching, on contiguous memory.
//!
//! Numbers of 32 and 64 bits are sorted by a vector quicksort, narrower ones by counting, complex
//! ones by the library. [`positions`] is stable; [`sort`] need not be, since equal numbers cannot
//! be told apart (of zeros, the negative come first).
//!
//! ```
//! use partita_numeric::{Cores, Scratch, sort};
//! let mut data = [0.5, f64::NAN, -0.0, f64::NEG_INFINITY];
//! sort::sort(&mut data, &mut Scratch::default(), Cores::best());
//! assert_eq!(data[..3], [f64::NEG_INFINITY, -0.0, 0.5]);
//! ```
//!
//! Nothing here selects the k-th element or sorts with a comparison of the caller's.

mod buckets;
mod classify;
mod complex;
mod element;
mod kernels;
mod merge;
mod merge_two;
mod narrow;
mod network;
mod partition;
mod positions;
mod quick;
mod registers;
mod search;
mod shared;
mod vector;
mod wide;

pub use element::{BFloat16, Float16, Sortable};
pub use merge::merge;
pub use positions::{Order, positions, positions_of_rows};
pub(crate) use registers::Registers;
pub use search::{Side, search};

use crate::cores::Shared;
use crate::{Cores, Scratch};

/// Sorts, ascending, NaN last.
///
/// # Cost
/// In place. Only complex numbers on several threads use the scratch.
pub fn sort<T: Sortable>(data: &mut [T], scratch: &mut Scratch, cores: Cores) {
    T::sort_shared(data, scratch, cores);
}

/// Sorts every row, ascending, NaN last.
///
/// ```
/// use partita_numeric::{Cores, sort};
/// let mut data = [3, 1, 2, 9, 8, 7];
/// sort::sort_rows(&mut data, 3, Cores::best());
/// assert_eq!(data, [1, 2, 3, 7, 8, 9]);
/// ```
///
/// # Panics
/// If the data is no whole number of rows.
pub fn sort_rows<T: Sortable>(data: &mut [T], row_length: usize, cores: Cores) {
    let n = data.len();
    if n == 0 {
        return;
    }
    assert!(row_length > 0 && n.is_multiple_of(row_length), "whole rows");
    let n_rows = n / row_length;
    let n_pieces = cores.n_pieces(n, 1 << 12).min(n_rows);
    let all = Shared::new(data);
    cores.each(n_pieces, |piece| {
        for row in n_rows * piece / n_pieces..n_rows * (piece + 1) / n_pieces {
            // SAFETY: the rows do not overlap.
            let row = unsafe { all.slice(row * row_length..(row + 1) * row_length) };
            T::sort_alone(row, cores);
        }
    });
}
