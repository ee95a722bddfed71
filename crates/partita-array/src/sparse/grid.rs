//! Which rank holds which slice of a partitioned tensor.
//!
//! Ranks stand in a grid with an axis per dimension, the last axis running fastest. A distributed
//! dimension is cut into as many blocks as its axis has ranks, by the default partition; a
//! replicated one is whole in every slice. A slice has a number per dimension, 0 for replicated
//! ones: its owner stands there in the grid, and ranks that differ from the owner only along
//! replicated dimensions hold the slice too.

use partita_ir::Placement;
use partita_layout::dist::default_partition;
use partita_layout::{IndexBox, LayoutError};

/// A grid of so many ranks, with more than one rank only along distributed dimensions.
#[must_use]
pub fn grid_for(dims: &[Placement], n_ranks: u64) -> Vec<u64> {
    let spread: Vec<usize> =
        (0..dims.len()).filter(|dim| dims[*dim] == Placement::Distributed).collect();
    // Nothing is distributed: the ranks stand in a row.
    let spread = if spread.is_empty() { vec![0] } else { spread };
    let mut grid = vec![1; dims.len()];
    for (dim, extent) in spread.iter().zip(factors(n_ranks, spread.len())) {
        if let Some(axis) = grid.get_mut(*dim) {
            *axis = extent;
        }
    }
    grid
}

/// So many numbers whose product is `n`, about equal, the last one largest.
#[must_use]
pub fn factors(n: u64, count: usize) -> Vec<u64> {
    let mut all = vec![1; count];
    let (mut rest, mut prime, mut primes) = (n, 2, Vec::new());
    while rest > 1 {
        if prime * prime > rest {
            prime = rest;
        }
        while rest % prime == 0 {
            primes.push(prime);
            rest /= prime;
        }
        prime += 1;
    }
    for prime in primes.into_iter().rev() {
        if let Some(least) = all.iter_mut().min() {
            *least *= prime;
        }
    }
    all.sort_unstable();
    all
}

/// How a tensor is cut into slices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slices {
    /// Size of each dimension of the whole tensor.
    pub shape: Vec<u64>,
    /// Whether each dimension is distributed.
    pub dims: Vec<Placement>,
    /// Ranks along each axis.
    pub grid: Vec<u64>,
}

impl Slices {
    /// Where a rank stands in the grid.
    #[must_use]
    pub fn place_of(&self, rank: u64) -> Vec<u64> {
        let mut rest = rank;
        let mut place = vec![0; self.grid.len()];
        for (at, extent) in place.iter_mut().zip(&self.grid).rev() {
            *at = rest % (*extent).max(1);
            rest /= (*extent).max(1);
        }
        place
    }

    /// The rank that owns a slice.
    #[must_use]
    pub fn owner(&self, slice: &[u64]) -> u64 {
        slice.iter().zip(&self.grid).fold(0, |rank, (at, extent)| rank * extent + at)
    }

    /// The slice that a rank holds.
    #[must_use]
    pub fn held_by(&self, rank: u64) -> Vec<u64> {
        let mut slice = self.place_of(rank);
        for (at, dim) in slice.iter_mut().zip(&self.dims) {
            if *dim == Placement::Replicated {
                *at = 0;
            }
        }
        slice
    }

    /// Whether there is such a slice.
    #[must_use]
    pub fn has(&self, slice: &[u64]) -> bool {
        let n =
            |dim: usize| if self.dims[dim] == Placement::Distributed { self.grid[dim] } else { 1 };
        slice.len() == self.dims.len() && slice.iter().enumerate().all(|(dim, at)| *at < n(dim))
    }

    /// The box of a slice.
    ///
    /// # Errors
    /// A slice that is not there.
    pub fn box_of(&self, slice: &[u64]) -> Result<IndexBox, LayoutError> {
        let mut place = IndexBox { start: vec![0; self.shape.len()], shape: self.shape.clone() };
        for (dim, at) in slice.iter().enumerate() {
            if self.dims[dim] == Placement::Distributed {
                let part = default_partition(self.grid[dim], *at, &self.shape[dim..=dim])?[0];
                (place.start[dim], place.shape[dim]) = (part.offset, part.size);
            }
        }
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Placement::{Distributed, Replicated};

    #[test]
    fn grids_have_all_ranks_along_distributed_dimensions() {
        assert_eq!(grid_for(&[Distributed, Replicated], 6), [6, 1]);
        assert_eq!(grid_for(&[Replicated, Distributed], 6), [1, 6]);
        assert_eq!(grid_for(&[Distributed, Distributed], 12), [3, 4]);
        assert_eq!(grid_for(&[Distributed, Distributed], 5), [1, 5]);
        assert_eq!(grid_for(&[Replicated, Replicated], 3), [3, 1]);
        assert_eq!(grid_for(&[], 3), [0_u64; 0]);
    }

    #[test]
    fn slices_cover_the_tensor_once_and_have_owners_that_hold_them() {
        for n_ranks in 1..=6 {
            for dims in [[Distributed, Replicated], [Replicated, Distributed], [Distributed; 2]] {
                let slices = Slices {
                    shape: vec![7, 5],
                    dims: dims.to_vec(),
                    grid: grid_for(&dims, n_ranks),
                };
                let mut n_elements = 0;
                for rank in 0..n_ranks {
                    let held = slices.held_by(rank);
                    assert!(slices.has(&held));
                    let owner = slices.owner(&held);
                    assert_eq!(slices.held_by(owner), held);
                    if owner == rank {
                        n_elements += slices.box_of(&held).expect("a box").n_elements();
                    }
                }
                assert_eq!(n_elements, 35, "{dims:?} on {n_ranks}");
            }
        }
        let slices = Slices { shape: vec![8], dims: vec![Distributed], grid: vec![3] };
        let boxes: Vec<_> = (0..3).map(|at| slices.box_of(&[at]).expect("a box")).collect();
        assert_eq!(
            boxes.iter().map(|b| (b.start[0], b.shape[0])).collect::<Vec<_>>(),
            [(0, 2), (2, 3), (5, 3)]
        );
        assert!(!slices.has(&[3]));
    }
}
