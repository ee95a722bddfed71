//! Sparse matrices on local memory.
//!
//! A matrix is compressed by rows ([`Matrix`]): where each row begins, its columns, its values.
//! Results are [`Csr`], in memory of a kind that the caller chooses ([`Memory`]).
//!
//! - [`compressed`], [`tidy`], [`transposed`]: from triplets; columns in order; turned.
//! - [`divided`]: triplets grouped by stretches of rows.
//! - [`grouped`], [`compressed_groups`]: triplets for several stretches of rows, brought into
//!   buckets where they are known, and made a matrix where they are wanted.
//! - [`taken_rows`], [`chosen_columns`], [`rows_of`]: parts, and the row of each entry.
//! - [`located`], [`taken_from`], [`values_from`]: rows of several matrices in any order.
//! - [`times`], [`times_transposed`], [`sampled`]: with dense vectors and matrices.
//! - [`product`], [`combined`]: with another sparse matrix.
//!
//! ```
//! use partita_sparse::{Cores, Heap, compressed};
//! let (rows, columns, values) = ([1, 0, 1], [0, 2, 0], [1.0, 2.0, 3.0]);
//! let matrix = compressed::<Heap, i32, f64>(&rows, &columns, &values, [2, 3], Cores::best())?;
//! assert_eq!(matrix.indptr.elements(), [0, 1, 2]);
//! assert_eq!(matrix.indices.elements(), [2, 0]);
//! assert_eq!(matrix.data.elements(), [2.0, 4.0]);
//! # Ok::<(), partita_sparse::SparseError>(())
//! ```
//!
//! Every index is checked before memory is touched by it. No result depends on the number of
//! threads, nor on the processor's instructions. Nothing here knows of ranks, layouts or Python.

mod buckets;
mod choose;
mod combine;
mod compress;
mod cutting;
mod divide;
pub mod error;
mod first_error;
mod group;
mod index;
mod level;
mod line;
mod locate;
mod matrix;
mod memory;
mod number;
mod placed;
mod product;
mod several;
mod stacked;
mod tidy;
mod times;
mod transpose;

pub use buckets::Entry;
pub use choose::{chosen_columns, rows_of, taken_rows};
pub use combine::{Operation, combined};
pub use compress::{Triplets, compressed, compressed_parts};
pub use divide::{Divided, divided};
pub use error::{Result, SparseError};
pub use group::{Group, Grouped, compressed_groups, grouped};
pub use index::Index;
pub use locate::{Stretches, located};
pub use matrix::{Matrix, Pattern};
pub use memory::{Array, Csr, Heap, Memory};
pub use number::{Number, Ordered, Truth};
pub use partita_numeric::Cores;
pub use product::product;
pub use several::{Taken, Wanted, taken_from, values_from};
pub use stacked::{Rows, RowsMut};
pub use tidy::{is_tidy, tidy};
pub use times::{Into, Values, sampled, times, times_transposed};
pub use transpose::{transposed, transposed_order};
