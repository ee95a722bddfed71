//! Sparse tensors of one rank, and how tensors are partitioned among ranks.
//!
//! ```
//! use partita_array::sparse::{Format, SparseTensor};
//! use partita_kernel::Dtype;
//! let values = [7_u8, 8, 9].to_vec();
//! let coordinates = vec![vec![0, 1, 1], vec![2, 0, 1]];
//! let matrix = SparseTensor::from_coordinates(&[2, 3], Dtype::UInt8, Format::Csr, &coordinates, &values)?;
//! assert_eq!(matrix.positions, [0, 1, 3]);
//! assert_eq!(matrix.coordinates, [[2, 0, 1]]);
//! # Ok::<(), partita_array::sparse::SparseError>(())
//! ```
//!
//! - `format`: COO, CSR and CSC, and the encodings of `sparse_tensor` that mean them.
//! - `tensor`: a tensor, checked; other formats, blocks, bytes to be sent.
//! - `sum`: elements of one place, added.
//! - `grid`: which rank holds which slice.
//!
//! Nothing here computes with sparse tensors.

mod format;
mod grid;
mod sum;
mod tensor;

pub use format::Format;
pub use grid::{Slices, factors, grid_for};
pub use tensor::SparseTensor;

partita_error::errors! {
    /// Why something is no sparse tensor.
    pub enum SparseError {
        Lengths { what: String, found: usize, wanted: usize } "sparse-lengths" =>
            "{what} has {found} entries; give {wanted}";
        Positions { problem: String } "sparse-positions" =>
            "the positions of rows or columns {problem}; begin with 0, never fall, and end with the \
             number of elements";
        Coordinate { dim: usize, coordinate: i64, extent: u64 } "sparse-coordinate" =>
            "an element has the coordinate {coordinate} in dimension {dim}, whose size is {extent}; \
             keep coordinates inside";
        FormatDims { format: Format, ndim: usize } "sparse-format-dims" =>
            "{format} of {ndim} dimensions; use coo, or two dimensions";
        NoMemory { n_positions: usize } "sparse-no-memory" =>
            "the system has no memory for {n_positions} positions of rows or columns; use coo";
        Encoding { encoding: String } "sparse-encoding" =>
            "the encoding {encoding} is none that can be run; use (d0, d1) -> (d0 : dense, d1 : \
             compressed) for CSR, (d1 : dense, d0 : compressed) for CSC, or (d0 : \
             compressed(nonunique), d1 : singleton) for COO, with posWidth and crdWidth of 32 or 64 and \
             without explicitVal";
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_error_has_its_reason_and_a_cure() {
        let problems = partita_error::judge(super::SparseError::TABLE, "sparse-", &[]);
        assert!(problems.is_empty(), "{problems:?}");
    }
}
