//! What is attached to an array's type: how it is distributed, on which device it lives.

use std::sync::Arc;

use super::size::Size;
use crate::attr::Attr;

/// An environment of an array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Env {
    /// `#dist.dist_env<..>`: the array is distributed.
    Dist(Arc<DistEnv>),
    /// `#region.gpu_env<device = "..">`: its data live on a device.
    Gpu(Arc<str>),
    /// An attribute of another dialect, kept as it was written.
    Other(Attr),
}

/// How an array is distributed, as one rank sees it.
///
/// The parts a rank holds form a block of 3^k boxes, k the number of cut dimensions: for each cut
/// dimension there is a left halo, what is owned, and a right halo. They are listed with the last
/// cut dimension running fastest; so for one cut dimension they are left halo, owned, right halo,
/// as the specification has it, and what is owned always stands in the middle.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DistEnv {
    /// The team; any attribute.
    pub team: Attr,
    /// Global offset of the first part, one number per dimension; empty for 0-d arrays.
    pub loffs: Vec<Size>,
    /// Shapes of the parts; empty for 0-d arrays.
    pub lparts: Vec<Vec<Size>>,
    /// The grid of ranks and the dimensions it cuts; nothing for the specification's form, where
    /// all ranks stand in a row and cut dimension 0.
    pub grid: Option<Grid>,
}

/// Ranks in a grid, and which dimension of the array each axis of the grid cuts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Grid {
    /// Ranks along each axis.
    pub shape: Vec<Size>,
    /// The dimension that each axis cuts, in increasing order.
    pub cut: Vec<usize>,
}

impl DistEnv {
    /// An array of `ndim` dimensions about which only the team is known.
    #[must_use]
    pub fn unknown(team: Attr, ndim: usize) -> Self {
        let n_parts = if ndim == 0 { 0 } else { 3 };
        let lparts = vec![vec![Size::Dynamic; ndim]; n_parts];
        Self { team, loffs: vec![Size::Dynamic; ndim], lparts, grid: None }
    }

    /// The same on a grid.
    #[must_use]
    pub fn unknown_on(team: Attr, ndim: usize, grid: Grid) -> Self {
        let n_parts = grid.n_parts();
        let lparts = vec![vec![Size::Dynamic; ndim]; n_parts];
        Self { team, loffs: vec![Size::Dynamic; ndim], lparts, grid: Some(grid) }
    }

    /// Cut dimensions, in increasing order.
    #[must_use]
    pub fn cut(&self) -> &[usize] {
        match &self.grid {
            Some(grid) => &grid.cut,
            None if self.loffs.is_empty() => &[],
            None => &[0],
        }
    }

    /// Number of parts that an array so cut has: 3^k.
    #[must_use]
    pub fn n_parts(&self) -> usize {
        n_parts(self.cut().len())
    }

    /// Shape of what is owned, the part in the middle.
    #[must_use]
    pub fn owned(&self) -> Option<&[Size]> {
        self.lparts.get(self.lparts.len() / 2).map(Vec::as_slice)
    }
}

impl Grid {
    /// Number of parts on this grid.
    #[must_use]
    pub fn n_parts(&self) -> usize {
        n_parts(self.cut.len())
    }
}

/// More cut dimensions than this have more parts than anyone would write down.
pub const MAX_CUTS: usize = 8;

fn n_parts(n_cuts: usize) -> usize {
    3_usize.pow(u32::try_from(n_cuts.min(MAX_CUTS)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_multiply_with_cuts_and_the_owned_one_is_in_the_middle() {
        let team = Attr::i64(1);
        assert_eq!(DistEnv::unknown(team.clone(), 0).n_parts(), 1);
        assert_eq!(DistEnv::unknown(team.clone(), 3).n_parts(), 3);
        let grid = Grid { shape: vec![Size::Known(2); 2], cut: vec![0, 1] };
        let mut env = DistEnv::unknown_on(team, 2, grid);
        assert_eq!(env.n_parts(), 9);
        env.lparts[4] = vec![Size::Known(5), Size::Known(6)];
        assert_eq!(env.owned(), Some(&[Size::Known(5), Size::Known(6)][..]));
    }
}
