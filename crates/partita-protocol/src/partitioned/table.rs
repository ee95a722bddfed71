//! The grid of partitions by itself: shape, tiling and cuts, to and from layouts.

use partita_layout::{
    Block, BlockRule, BoxPiece, GridSpec, Layout, Map, RanksSpec, number_of, position_of,
};

use crate::error::ProtocolError;

/// Shape, tiling and cuts of a partitioned array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    shape: Vec<u64>,
    tiling: Vec<u64>,
    /// Bounds per dimension: one more than there are rows.
    bounds: Vec<Vec<u64>>,
}

impl Table {
    /// A table from bounds that were checked, here or by the rank that tells them.
    #[must_use]
    pub fn new(shape: Vec<u64>, tiling: Vec<u64>, bounds: Vec<Vec<u64>>) -> Self {
        Self { shape, tiling, bounds }
    }

    /// Extents of the array.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Partitions per dimension.
    #[must_use]
    pub fn tiling(&self) -> &[u64] {
        &self.tiling
    }

    /// Where the rows of each dimension begin, and its extent.
    #[must_use]
    pub fn bounds(&self) -> &[Vec<u64>] {
        &self.bounds
    }

    /// Number of partitions.
    #[must_use]
    pub fn n_partitions(&self) -> u64 {
        self.tiling.iter().product()
    }

    /// Position of a partition by its number in C order.
    #[must_use]
    pub fn position(&self, number: u64) -> Vec<u64> {
        position_of(number, &self.tiling)
    }

    /// Number in C order of the partition at a position inside the grid.
    #[must_use]
    pub fn number(&self, position: &[u64]) -> u64 {
        number_of(position, &self.tiling)
    }

    /// First index and shape of the partition at a position.
    #[must_use]
    pub fn part(&self, position: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let cuts = self.bounds.iter().zip(position);
        cuts.map(|(own, at)| {
            let at = *at as usize;
            (own[at], own[at + 1] - own[at])
        })
        .unzip()
    }

    /// The layout in which each rank holds the partitions of its list, by number.
    ///
    /// One partition per rank, or all on every rank, is a layout of maps on a grid; anything else a
    /// layout of boxes.
    ///
    /// # Errors
    /// What the layout refuses.
    pub fn layout(&self, holders: &[Vec<u64>]) -> Result<Layout, ProtocolError> {
        if let Some(owners) = self.single_owners(holders) {
            return self.grid_layout(owners);
        }
        if self.n_partitions() == 1 && holders.iter().all(|own| own == &[0]) {
            let maps = vec![Map::Whole; self.shape.len()];
            // One more axis than dimensions, so that no axis is taken for a dimension.
            let mut grid = vec![1; self.shape.len()];
            grid.push(holders.len() as u64);
            let spec = GridSpec { maps, grid: Some(grid), ..GridSpec::default() };
            return Ok(Layout::new(&self.shape, &spec)?);
        }
        let piece = |number: &u64| {
            let (start, shape) = self.part(&self.position(*number));
            BoxPiece::new(&start, &shape)
        };
        let cells = holders.iter().map(|own| own.iter().map(piece).collect()).collect();
        Ok(Layout::from_cells(&self.shape, cells)?)
    }

    /// The rank of each partition, if each has one and no rank has two.
    fn single_owners(&self, holders: &[Vec<u64>]) -> Option<Vec<u64>> {
        let mut owners = vec![None; usize::try_from(self.n_partitions()).ok()?];
        for (rank, own) in (0..).zip(holders) {
            match own[..] {
                [] => {}
                [number] if owners[number as usize].is_none() => {
                    owners[number as usize] = Some(rank);
                }
                _ => return None,
            }
        }
        owners.into_iter().collect()
    }

    fn grid_layout(&self, owners: Vec<u64>) -> Result<Layout, ProtocolError> {
        let map = |(own, n): (&Vec<u64>, &u64)| {
            if *n == 1 {
                return Map::Whole;
            }
            let sizes: Vec<u64> = own.windows(2).map(|pair| pair[1] - pair[0]).collect();
            Map::Block(Block { rule: BlockRule::Sizes(sizes.into()), ..Block::default() })
        };
        let spec = GridSpec {
            maps: self.bounds.iter().zip(&self.tiling).map(map).collect(),
            grid: Some(self.tiling.clone()),
            ranks: Some(RanksSpec::List(owners)),
            partial: Vec::new(),
        };
        Ok(Layout::new(&self.shape, &spec)?)
    }
}
