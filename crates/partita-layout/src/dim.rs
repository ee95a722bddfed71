//! A map bound to the extent of a dimension and the coordinates of a grid axis.
//!
//! Here live the questions about one dimension: what does coordinate k own and hold, who owns
//! index i, where does it lie in the buffer, and back.

use std::sync::Arc;

use crate::cuts::Cuts;
use crate::divide::Divider;
use crate::error::{LayoutError, Result};
use crate::indices::{Cyclic, Indices, Part};
use crate::map::{Block, BlockRule, Halo, Map};
use crate::unstructured::{Defect, Unstructured};

/// Widest halo: far beyond any array, small enough that sums of widths cannot wrap.
const WIDEST_HALO: u64 = 1 << 60;

/// One dimension of a layout: a map, an extent, and how many coordinates share it.
#[derive(Debug, Clone)]
pub struct DimMap {
    map: Map,
    extent: u64,
    n_coordinates: u64,
    pub(crate) rule: Rule,
}

/// The map with everything computed that its questions need.
#[derive(Debug, Clone)]
pub(crate) enum Rule {
    Whole,
    Block { cuts: Cuts, halo: Halo, periodic: bool },
    Cyclic { block: u64, by_block: Divider, by_period: Divider },
    Lists(Arc<Unstructured>),
}

/// One contiguous stretch of what a coordinate holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// First held index.
    pub start: u64,
    /// Number of held indices.
    pub length: u64,
    /// First owned index of the stretch.
    pub owned_start: u64,
    /// Number of owned indices.
    pub owned_length: u64,
    /// Position of the stretch in the buffer.
    pub local: u64,
}

impl DimMap {
    /// Binds a map to a dimension.
    ///
    /// # Errors
    /// What is wrong with the map's parameters for this extent and axis.
    pub fn new(map: &Map, dim: usize, extent: u64, n_coordinates: u64) -> Result<Self> {
        let (map, rule) = match map {
            Map::Whole => return Ok(Self::whole(extent)),
            Map::Block(block) => bind_block(block, dim, extent, n_coordinates)?,
            Map::Cyclic { block: 0 } => return Err(LayoutError::CyclicBlock { dim }),
            Map::Cyclic { block } => (map.clone(), bind_cyclic(*block, extent, n_coordinates)),
            Map::Unstructured(lists) => {
                check_lists(lists, dim, extent, n_coordinates)?;
                (map.clone(), Rule::Lists(Arc::clone(lists)))
            }
        };
        Ok(Self { map, extent, n_coordinates, rule })
    }

    fn whole(extent: u64) -> Self {
        Self { map: Map::Whole, extent, n_coordinates: 1, rule: Rule::Whole }
    }

    /// The map.
    #[must_use]
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Number of indices of the dimension.
    #[must_use]
    pub fn extent(&self) -> u64 {
        self.extent
    }

    /// Number of coordinates that share the dimension; 1 for a whole one.
    #[must_use]
    pub fn n_coordinates(&self) -> u64 {
        self.n_coordinates
    }

    /// The indices that a coordinate owns or holds.
    #[must_use]
    pub fn indices(&self, coordinate: u64, part: Part) -> Indices<'_> {
        match &self.rule {
            Rule::Whole => Indices::Range { start: 0, length: self.extent, local: 0 },
            Rule::Block { cuts, halo, periodic } => {
                let (start, stop) = (cuts.start(coordinate), cuts.start(coordinate + 1));
                let (left, right) = halo.at(coordinate);
                self.block_indices((start, stop), (left, right), *periodic, part)
            }
            Rule::Cyclic { block, .. } => Indices::Cyclic(Cyclic {
                coordinate,
                block: *block,
                n_coordinates: self.n_coordinates,
                extent: self.extent,
            }),
            Rule::Lists(map) => Indices::List { map, coordinate, part },
        }
    }

    fn block_indices(
        &self,
        (start, stop): (u64, u64),
        (left, right): (u64, u64),
        periodic: bool,
        part: Part,
    ) -> Indices<'_> {
        let length = stop - start;
        let periodic = periodic && self.extent > 0;
        let before = if periodic { left } else { left.min(start) };
        if part == Part::Owned {
            return Indices::Range { start, length, local: before };
        }
        if periodic {
            let extent = self.extent;
            let start = (start % extent + (extent - left % extent)) % extent;
            return Indices::Wrapped { start, length: left + length + right, extent };
        }
        let after = right.min(self.extent - stop);
        Indices::Range { start: start - before, length: before + length + after, local: 0 }
    }

    /// How many indices a coordinate owns or holds.
    #[must_use]
    pub fn count(&self, coordinate: u64, part: Part) -> u64 {
        match (&self.rule, part) {
            (Rule::Lists(map), Part::Held) => map.list(coordinate).len() as u64,
            _ => self.indices(coordinate, part).len(),
        }
    }

    /// Whether some coordinate holds more than it owns.
    #[must_use]
    pub fn holds_more(&self) -> bool {
        match &self.rule {
            Rule::Block { halo, .. } => !halo.is_none(),
            Rule::Lists(map) => map.has_shared(),
            _ => false,
        }
    }

    /// Coordinate that owns an index, and its position in that coordinate's buffer.
    #[must_use]
    pub fn owner(&self, index: i64) -> Option<(u64, u64)> {
        if let Rule::Lists(map) = &self.rule {
            return map.owner(index);
        }
        (index >= 0 && (index as u64) < self.extent).then(|| self.owner_inside(index as u64))
    }

    /// As [`DimMap::owner`], for an index that was found to lie inside the extent; not for lists.
    #[inline(always)]
    pub(crate) fn owner_inside(&self, index: u64) -> (u64, u64) {
        match &self.rule {
            Rule::Block { cuts, halo, periodic } => {
                let coordinate = cuts.find(index);
                let start = cuts.start(coordinate);
                let left = halo.at(coordinate).0;
                let before = if *periodic { left } else { left.min(start) };
                (coordinate, index - start + before)
            }
            Rule::Cyclic { block, by_block, by_period } => {
                let (n_blocks, n_turns) = (by_block.divide(index), by_period.divide(index));
                let coordinate = n_blocks - n_turns * self.n_coordinates;
                (coordinate, index - (n_blocks - n_turns) * block)
            }
            Rule::Whole | Rule::Lists(_) => (0, index),
        }
    }

    /// Global index at a position of a coordinate's buffer.
    #[must_use]
    pub fn globalize(&self, coordinate: u64, local: u64) -> Option<i64> {
        if local >= self.count(coordinate, Part::Held) {
            return None;
        }
        Some(self.globalize_inside(coordinate, local))
    }

    pub(crate) fn globalize_inside(&self, coordinate: u64, local: u64) -> i64 {
        match self.indices(coordinate, Part::Held) {
            Indices::Range { start, .. } => (start + local) as i64,
            Indices::Wrapped { start, extent, .. } => {
                ((u128::from(start) + u128::from(local)) % u128::from(extent)) as i64
            }
            Indices::Cyclic(cyclic) => {
                let turn = local / cyclic.block;
                let first = (turn * cyclic.n_coordinates + coordinate) * cyclic.block;
                (first + local % cyclic.block) as i64
            }
            Indices::List { map, .. } => map.list(coordinate)[local as usize],
        }
    }

    /// Number of contiguous stretches a coordinate holds.
    #[must_use]
    pub fn n_segments(&self, coordinate: u64) -> u64 {
        match self.indices(coordinate, Part::Held) {
            Indices::Range { .. } => 1,
            Indices::Wrapped { start, length, extent } => {
                let head = length.min(extent - start);
                1 + (length - head).div_ceil(extent)
            }
            Indices::Cyclic(cyclic) => cyclic.n_below(cyclic.extent).div_ceil(cyclic.block),
            Indices::List { map, .. } => map.list(coordinate).len() as u64,
        }
    }

    /// One of the contiguous stretches of a coordinate.
    ///
    /// The stretches of a list are its single indices: their order is the buffer's order.
    #[must_use]
    pub fn segment(&self, coordinate: u64, number: u64) -> Segment {
        match self.indices(coordinate, Part::Held) {
            Indices::Range { start, length, .. } => self.block_segment(coordinate, start, length),
            Indices::Wrapped { start, length, extent } => {
                self.wrapped_segment(coordinate, number, start, (length, extent))
            }
            Indices::Cyclic(cyclic) => {
                let start = (number * cyclic.n_coordinates + coordinate) * cyclic.block;
                let length = cyclic.block.min(cyclic.extent - start);
                owned_segment(start, length, number * cyclic.block)
            }
            Indices::List { map, .. } => {
                let index = map.list(coordinate)[number as usize];
                let is_owned = map.owner(index) == Some((coordinate, number));
                let owned_length = u64::from(is_owned);
                let start = index as u64;
                Segment { start, length: 1, owned_start: start, owned_length, local: number }
            }
        }
    }

    fn block_segment(&self, coordinate: u64, start: u64, length: u64) -> Segment {
        let Indices::Range { start: owned_start, length: owned_length, .. } =
            self.indices(coordinate, Part::Owned)
        else {
            return owned_segment(start, length, 0);
        };
        Segment { start, length, owned_start, owned_length, local: 0 }
    }

    /// Stretch `number` between two passings of the end of a periodic dimension.
    fn wrapped_segment(
        &self,
        coordinate: u64,
        number: u64,
        first: u64,
        (length, extent): (u64, u64),
    ) -> Segment {
        // Counted from the first position, so that no sum leaves 64 bits.
        let head = length.min(extent - first);
        let local = if number == 0 { 0 } else { head + (number - 1) * extent };
        let (start, length) =
            if number == 0 { (first, head) } else { (0, extent.min(length - local)) };
        let mut segment = Segment { start, length, owned_start: start, owned_length: 0, local };
        if let Indices::Range { start: owned, length: n_owned, local: at } =
            self.indices(coordinate, Part::Owned)
        {
            // The owned part lies whole in the stretch that reaches its position.
            if n_owned > 0 && (local..local + segment.length).contains(&at) {
                segment.owned_start = owned;
                segment.owned_length = n_owned;
            }
        }
        segment
    }
}

fn owned_segment(start: u64, length: u64, local: u64) -> Segment {
    Segment { start, length, owned_start: start, owned_length: length, local }
}

fn bind_cyclic(block: u64, extent: u64, n_coordinates: u64) -> Rule {
    // A block beyond the extent changes nothing; cutting it keeps products small.
    let block = block.min(extent.max(1));
    let period = block.saturating_mul(n_coordinates);
    Rule::Cyclic { block, by_block: Divider::new(block), by_period: Divider::new(period) }
}

fn bind_block(block: &Block, dim: usize, extent: u64, n_coordinates: u64) -> Result<(Map, Rule)> {
    if let BlockRule::Sizes(sizes) = &block.rule {
        check_sizes(sizes, dim, extent, n_coordinates)?;
    }
    let halo = match &block.halo {
        Halo::Each(widths) if widths.len() as u64 != n_coordinates => {
            return Err(LayoutError::HaloCount { dim, n_halos: widths.len(), n_coordinates });
        }
        Halo::Each(widths) if widths.iter().all(|one| *one == widths[0]) => {
            Halo::Same(widths[0].0, widths[0].1)
        }
        halo => halo.clone(),
    };
    let (left, right) = halo.widest();
    if left.max(right) > WIDEST_HALO {
        return Err(LayoutError::HaloWidth { dim, width: left.max(right) });
    }
    let cuts = Cuts::new(&block.rule, extent, n_coordinates);
    let map = Map::Block(Block {
        rule: block.rule.clone(),
        halo: halo.clone(),
        periodic: block.periodic,
    });
    Ok((map, Rule::Block { cuts, halo, periodic: block.periodic }))
}

fn check_sizes(sizes: &[u64], dim: usize, extent: u64, n_coordinates: u64) -> Result<()> {
    if sizes.len() as u64 != n_coordinates {
        return Err(LayoutError::SizesCount { dim, n_sizes: sizes.len(), n_coordinates });
    }
    let sum: u128 = sizes.iter().map(|size| u128::from(*size)).sum();
    if sum != u128::from(extent) {
        return Err(LayoutError::SizesSum { dim, sum, extent });
    }
    Ok(())
}

fn check_lists(lists: &Unstructured, dim: usize, extent: u64, n_coordinates: u64) -> Result<()> {
    if lists.n_coordinates() != n_coordinates {
        let n_lists = lists.n_coordinates() as usize;
        return Err(LayoutError::IndicesCount { dim, n_lists, n_coordinates });
    }
    match lists.defect() {
        Some(Defect::Duplicate { coordinate, index }) => {
            return Err(LayoutError::IndicesDuplicate { dim, coordinate, index });
        }
        Some(Defect::Shared { index, first, second }) => {
            return Err(LayoutError::IndicesNotOneToOne { dim, index, first, second });
        }
        None => {}
    }
    if lists.n_distinct() != extent {
        return Err(LayoutError::IndicesTotal { dim, n_distinct: lists.n_distinct(), extent });
    }
    Ok(())
}
