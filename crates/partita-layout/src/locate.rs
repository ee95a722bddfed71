//! Translation between global indices and (rank, local index), one at a time and in bulk.
//!
//! Bulk translation works in chunks that stay in cache, a dimension at a time, so that each inner
//! loop knows its rule and does nothing but multiply.

use crate::boxes::{Boxes, IndexBox};
use crate::bulk::Owners;
use crate::error::{LayoutError, Result};
use crate::indices::Part;
use crate::layout::{Form, GridForm, Layout};

/// Rows translated at a time: indices, ranks and locals of a chunk stay in the first-level cache.
const CHUNK: usize = 512;

/// Where one element lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The rank that owns it.
    pub rank: u64,
    /// Which of the rank's buffers.
    pub buffer: usize,
    /// Position in that buffer, one number per dimension.
    pub local: Vec<u64>,
}

impl Layout {
    /// Rank that owns a global index; the first on the grid where it is replicated.
    ///
    /// # Errors
    /// An index of other dimensions, outside the array, or that nobody owns.
    pub fn owner(&self, index: &[i64]) -> Result<u64> {
        self.locate_one(index).map(|location| location.rank)
    }

    /// Rank, buffer and local index of the owner of a global index.
    ///
    /// # Errors
    /// As [`Layout::owner`].
    pub fn locate_one(&self, index: &[i64]) -> Result<Location> {
        if index.len() != self.ndim() {
            return Err(LayoutError::IndexNdim { n_given: index.len(), ndim: self.ndim() });
        }
        match self.form() {
            Form::Grid(_) => {
                let mut rank = [0];
                let mut local = vec![0; self.ndim()];
                self.locate(index, &mut rank, &mut local)?;
                let local = local.into_iter().map(|at| at as u64).collect();
                Ok(Location { rank: rank[0] as u64, buffer: 0, local })
            }
            Form::Boxes(boxes) => self.locate_in_boxes(boxes, index, 0),
        }
    }

    /// Owners and local indices of many global indices, rows of `ndim` numbers.
    ///
    /// `ranks` has a number per row, `local` as many numbers as `indices`. Where ranks have
    /// several buffers, [`Layout::locate_one`] says which.
    ///
    /// # Errors
    /// An index outside the array or that nobody owns; the outputs are then unspecified.
    pub fn locate(&self, indices: &[i64], ranks: &mut [i64], local: &mut [i64]) -> Result<()> {
        let ndim = self.ndim();
        assert_eq!(indices.len(), ranks.len() * ndim, "one row of indices per rank");
        assert_eq!(indices.len(), local.len(), "as many local as global indices");
        match self.form() {
            Form::Grid(form) => self.locate_on_grid(form, indices, ranks, local),
            Form::Boxes(boxes) => {
                for (row, rank) in ranks.iter_mut().enumerate() {
                    let at = row * ndim..(row + 1) * ndim;
                    let found = self.locate_in_boxes(boxes, &indices[at.clone()], row)?;
                    *rank = found.rank as i64;
                    for (to, from) in local[at].iter_mut().zip(found.local) {
                        *to = from as i64;
                    }
                }
                Ok(())
            }
        }
    }

    fn locate_on_grid(
        &self,
        form: &GridForm,
        indices: &[i64],
        ranks: &mut [i64],
        local: &mut [i64],
    ) -> Result<()> {
        let ndim = self.ndim();
        let strides = form.grid().dim_strides(ndim);
        if ndim == 0 {
            ranks.fill(form.ranks().rank_at(0) as i64);
            return Ok(());
        }
        let chunks = indices.chunks(CHUNK * ndim).zip(local.chunks_mut(CHUNK * ndim));
        for (number, (ranks, (indices, local))) in ranks.chunks_mut(CHUNK).zip(chunks).enumerate() {
            for (dim, map) in form.dims().iter().enumerate() {
                let stride = strides[dim];
                let found = if ndim == 1 {
                    map.owners_dense(indices, Owners { stride, places: ranks, local })
                } else {
                    let column = indices[dim..].iter().step_by(ndim).copied();
                    map.owners(column, |row, coordinate, at| {
                        let before = if dim == 0 { 0 } else { ranks[row] };
                        ranks[row] = before + (coordinate * stride) as i64;
                        local[row * ndim + dim] = at as i64;
                    })
                };
                found.map_err(|row| {
                    let index = indices[row * ndim + dim];
                    self.not_owned(dim, index, number * CHUNK + row)
                })?;
            }
            if !matches!(form.ranks(), crate::Ranks::Range { first: 0, .. }) {
                for rank in ranks {
                    *rank = form.ranks().rank_at(*rank as u64) as i64;
                }
            }
        }
        Ok(())
    }

    fn not_owned(&self, dim: usize, index: i64, row: usize) -> LayoutError {
        let extent = self.shape()[dim];
        let is_list = matches!(self.form(), Form::Grid(form)
            if matches!(form.dims()[dim].map(), crate::Map::Unstructured(_)));
        if is_list || (index >= 0 && (index as u64) < extent) {
            return LayoutError::IndexNotHeld { dim, index, row };
        }
        LayoutError::IndexOutOfRange { dim, index, extent, row }
    }

    fn locate_in_boxes(&self, boxes: &Boxes, index: &[i64], row: usize) -> Result<Location> {
        for (dim, &at) in index.iter().enumerate() {
            if at < 0 || at as u64 >= self.shape()[dim] {
                return Err(self.not_owned(dim, at, row));
            }
        }
        let start: Vec<u64> = index.iter().map(|at| *at as u64).collect();
        let element = IndexBox::new(&start, &vec![1; index.len()]);
        let mut found = None;
        boxes.find_owned(&element, |hit| {
            let local = start.iter().zip(&hit.held.start).map(|(at, from)| at - from).collect();
            let rank = boxes.ranks().rank_at(hit.place);
            found.get_or_insert(Location { rank, buffer: hit.piece, local });
        });
        let (dim, index) = (0, index.first().copied().unwrap_or(0));
        found.ok_or(LayoutError::IndexNotHeld { dim, index, row })
    }

    /// Global indices of positions in one of a rank's buffers, rows of `ndim` numbers.
    ///
    /// # Errors
    /// A rank or buffer that the layout does not have, a position outside the buffer.
    pub fn globalize(
        &self,
        (rank, buffer): (u64, usize),
        local: &[i64],
        global: &mut [i64],
    ) -> Result<()> {
        assert_eq!(local.len(), global.len(), "as many global as local indices");
        let lengths = self.local_shape(rank, buffer)?;
        let ndim = self.ndim();
        for (at, &index) in local.iter().enumerate() {
            let dim = at % ndim;
            if index < 0 || index as u64 >= lengths[dim] {
                let row = at / ndim;
                let length = lengths[dim];
                return Err(LayoutError::LocalOutOfRange { dim, index, length, rank, row });
            }
        }
        let place = self.place_of(rank)?;
        match self.form() {
            Form::Grid(form) => {
                let at = form.grid().place(place, ndim);
                for (dim, map) in form.dims().iter().enumerate() {
                    let column = local[dim.min(local.len())..].iter().step_by(ndim);
                    let into = global[dim.min(local.len())..].iter_mut().step_by(ndim);
                    let coordinate = at.coordinates[dim];
                    for (from, to) in column.zip(into) {
                        *to = map.globalize_inside(coordinate, *from as u64);
                    }
                }
            }
            Form::Boxes(boxes) => {
                let start = &boxes.pieces(place)[buffer].held.start;
                for (at, (from, to)) in local.iter().zip(global).enumerate() {
                    *to = *from + start[at % ndim] as i64;
                }
            }
        }
        Ok(())
    }

    /// Whether someone owns each element.
    #[must_use]
    pub fn covers(&self) -> bool {
        match self.form() {
            Form::Grid(_) => true,
            Form::Boxes(boxes) => boxes.n_owned_elements() == u128::from(self.n_elements()),
        }
    }

    /// Whether some rank holds elements that it does not own.
    #[must_use]
    pub fn holds_more(&self) -> bool {
        match self.form() {
            Form::Grid(form) => form.dims().iter().any(crate::DimMap::holds_more),
            Form::Boxes(boxes) => {
                let n_held: u128 = (0..self.n_ranks())
                    .flat_map(|place| boxes.pieces(place))
                    .map(|piece| u128::from(piece.held.n_elements()))
                    .sum();
                n_held != boxes.n_owned_elements()
            }
        }
    }

    /// Number of elements in the largest local buffer set of any rank.
    #[must_use]
    pub fn largest_count(&self, part: Part) -> u64 {
        match self.form() {
            Form::Grid(form) => form
                .dims()
                .iter()
                .map(|dim| (0..dim.n_coordinates()).map(|k| dim.count(k, part)).max().unwrap_or(0))
                .product(),
            Form::Boxes(boxes) => (0..self.n_ranks())
                .map(|place| boxes.pieces(place).iter().map(|piece| piece.held.n_elements()).sum())
                .max()
                .unwrap_or(0),
        }
    }
}
