//! Walking through a space by rows: which stretch of which row comes next.

use super::Space;
use crate::program::MAX_NDIM;

/// A point of a space, as the turn of every loop.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    turns: [usize; MAX_NDIM],
}

impl Position {
    /// The point of a number, counted in the order of the loops.
    pub fn new(space: &Space, mut number: usize) -> Position {
        let mut turns = [0; MAX_NDIM];
        for (turn, dim) in turns[..space.dims.len()].iter_mut().zip(&space.dims).rev() {
            *turn = number % dim.extent;
            number /= dim.extent;
        }
        Position { turns }
    }

    /// The turn of one loop.
    pub fn turn(&self, dim: usize) -> usize {
        self.turns[dim]
    }

    /// Where a buffer's element of this point lies.
    pub fn address(&self, space: &Space, buffer: usize) -> *mut u8 {
        let strides = space.strides_of(buffer);
        let offset: isize =
            strides.iter().zip(self.turns).map(|(&step, turn)| step * turn as isize).sum();
        space.buffers[buffer].data.wrapping_offset(offset)
    }

    /// Calls `visit` for the stretches of `n` points from here: the position, how many points were
    /// before, and how many lie in the row.
    pub fn stretches(
        mut self,
        space: &Space,
        n: usize,
        mut visit: impl FnMut(&Position, usize, usize),
    ) {
        let Some(last) = space.dims.len().checked_sub(1) else {
            return visit(&self, 0, n);
        };
        let row = space.row();
        let mut done = 0;
        while done < n {
            let length = (row - self.turns[last]).min(n - done);
            visit(&self, done, length);
            done += length;
            self.turns[last] += length;
            self.carry(space);
        }
    }

    /// Calls `visit` for the blocks of `n` points from here: the position, how many neighbouring
    /// rows, and how many points lie in each. Several rows are whole.
    pub fn blocks(
        mut self,
        space: &Space,
        n: usize,
        mut visit: impl FnMut(&Position, usize, usize),
    ) {
        let Some(last) = space.dims.len().checked_sub(1) else {
            return visit(&self, 1, n);
        };
        let row = space.row();
        let mut left = n;
        while left > 0 {
            let length = (row - self.turns[last]).min(left);
            let mut n_rows = 1;
            if length == row && last > 0 {
                n_rows = (left / row).min(space.dims[last - 1].extent - self.turns[last - 1]);
            }
            visit(&self, n_rows, length);
            left -= n_rows * length;
            self.turns[last] += length;
            if n_rows > 1 {
                self.turns[last - 1] += n_rows - 1;
            }
            self.carry(space);
        }
    }

    fn carry(&mut self, space: &Space) {
        for dim in (1..space.dims.len()).rev() {
            if self.turns[dim] < space.dims[dim].extent {
                return;
            }
            self.turns[dim] = 0;
            self.turns[dim - 1] += 1;
        }
    }
}
