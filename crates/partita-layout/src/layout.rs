//! Layouts: which rank holds which elements of an array, and which one owns each.
//!
//! ```
//! use partita_layout::Layout;
//! let layout = Layout::parse(&[8, 8], "block, cyclic(2) @ 2x2")?;
//! assert_eq!(layout.owner(&[5, 2])?, 3);
//! assert_eq!(layout.local_shape(3, 0)?, [4, 4]);
//! # Ok::<(), partita_layout::LayoutError>(())
//! ```
//!
//! A layout is immutable and cheap to clone. It holds no data and starts no communication.

use std::sync::Arc;

use crate::boxes::{BoxPiece, Boxes};
use crate::dim::DimMap;
use crate::error::{LayoutError, Result};
use crate::grid::{Grid, Place};
use crate::indices::Part;
use crate::map::{Block, BlockRule, Map};
use crate::pieces::Pieces;
use crate::ranks::Ranks;

/// Shape, ranks, and who owns and holds what.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Inner {
    pub shape: Vec<u64>,
    pub form: Form,
}

/// The two forms of a layout.
#[derive(Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// A map per dimension on a grid of ranks.
    Grid(GridForm),
    /// A list of boxes per rank.
    Boxes(Box<Boxes>),
}

/// A map per dimension on a grid of ranks.
#[derive(Debug)]
pub struct GridForm {
    dims: Vec<DimMap>,
    grid: Grid,
    ranks: Ranks,
}

impl GridForm {
    /// The bound map of each dimension.
    #[must_use]
    pub fn dims(&self) -> &[DimMap] {
        &self.dims
    }

    /// The grid with the role of each axis.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Ranks in the order of the grid's places.
    #[must_use]
    pub fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    /// Where a rank stands, if it is part of the layout.
    #[must_use]
    pub fn place(&self, rank: u64) -> Option<Place> {
        self.ranks.place_of(rank).map(|place| self.grid.place(place, self.dims.len()))
    }

    /// Number of elements that a place owns or holds.
    #[must_use]
    pub fn count(&self, place: &Place, part: Part) -> u64 {
        let dims = self.dims.iter().zip(&place.coordinates);
        dims.map(|(dim, coordinate)| dim.count(*coordinate, part)).product()
    }
}

impl PartialEq for GridForm {
    fn eq(&self, other: &Self) -> bool {
        self.grid == other.grid
            && self.ranks == other.ranks
            && self.dims.iter().map(DimMap::map).eq(other.dims.iter().map(DimMap::map))
    }
}

impl Eq for GridForm {}

impl std::hash::Hash for GridForm {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.grid.hash(state);
        self.ranks.hash(state);
        for dim in &self.dims {
            dim.map().hash(state);
        }
    }
}

/// What a grid layout is made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GridSpec {
    /// One map per dimension.
    pub maps: Vec<Map>,
    /// Length of each grid axis; none for a single rank.
    pub grid: Option<Vec<u64>>,
    /// Rank at each place; `0, 1, ...` if not given.
    pub ranks: Option<RanksSpec>,
    /// Grid axes whose ranks hold summands.
    pub partial: Vec<usize>,
}

/// Ranks as given by the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RanksSpec {
    /// `start..stop`.
    Range(u64, u64),
    /// One by one.
    List(Vec<u64>),
}

impl Layout {
    /// A layout from one map per dimension and a grid.
    ///
    /// # Errors
    /// Shape, maps, grid, ranks or partial axes that do not fit together.
    pub fn new(shape: &[u64], spec: &GridSpec) -> Result<Self> {
        check_shape(shape)?;
        if spec.maps.len() != shape.len() {
            return Err(LayoutError::MapsCount { n_maps: spec.maps.len(), ndim: shape.len() });
        }
        let n_distributed = spec.maps.iter().filter(|map| map.is_distributed()).count();
        let grid_shape = match &spec.grid {
            Some(grid) => grid.clone(),
            None if n_distributed == 0 => Vec::new(),
            None => return Err(LayoutError::GridMissing { n_distributed }),
        };
        let grid = Grid::new(&grid_shape, &spec.maps, &spec.partial)?;
        let ranks = bind_ranks(spec.ranks.as_ref(), &grid)?;
        let dims = spec
            .maps
            .iter()
            .enumerate()
            .map(|(dim, map)| DimMap::new(map, dim, shape[dim], grid.axis_length(dim)));
        let dims: Vec<DimMap> = dims.collect::<Result<_>>()?;
        check_local(shape, &dims)?;
        let form = Form::Grid(GridForm { dims, grid, ranks });
        Ok(Self { inner: Arc::new(Inner { shape: shape.to_vec(), form }) })
    }

    /// A layout from the boxes of each rank, in order.
    ///
    /// # Errors
    /// Boxes outside the array, of other dimensions, or overlapping on one rank.
    pub fn from_boxes(
        shape: &[u64],
        pieces: Vec<Vec<BoxPiece>>,
        ranks: Option<&[u64]>,
    ) -> Result<Self> {
        check_shape(shape)?;
        let ranks = match ranks {
            Some(ranks) => Ranks::list(ranks)?,
            None => Ranks::first(pieces.len() as u64),
        };
        let form = Form::Boxes(Box::new(Boxes::new(shape, pieces, ranks)?));
        Ok(Self { inner: Arc::new(Inner { shape: shape.to_vec(), form }) })
    }

    /// A layout of cells of a grid, one list per rank: they do not overlap, which is not checked.
    ///
    /// # Errors
    /// As [`Layout::from_boxes`].
    pub fn from_cells(shape: &[u64], cells: Vec<Vec<BoxPiece>>) -> Result<Self> {
        check_shape(shape)?;
        let ranks = Ranks::first(cells.len() as u64);
        let form = Form::Boxes(Box::new(Boxes::apart(shape, cells, ranks)?));
        Ok(Self { inner: Arc::new(Inner { shape: shape.to_vec(), form }) })
    }

    /// A layout from its notation, such as `block, cyclic(64) @ 2x2`.
    ///
    /// # Errors
    /// A notation that does not parse, or what [`Layout::new`] refuses.
    pub fn parse(shape: &[u64], notation: &str) -> Result<Self> {
        Self::new(shape, &crate::notation::parse(notation)?)
    }

    /// Extent of each dimension.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.inner.shape
    }

    /// Number of dimensions.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.inner.shape.len()
    }

    /// Number of elements.
    #[must_use]
    pub fn n_elements(&self) -> u64 {
        self.inner.shape.iter().product()
    }

    /// The form of the layout.
    #[must_use]
    pub fn form(&self) -> &Form {
        &self.inner.form
    }

    /// Length of each grid axis; the number of ranks for boxes.
    #[must_use]
    pub fn grid_shape(&self) -> Vec<u64> {
        match self.form() {
            Form::Grid(form) => form.grid.shape().to_vec(),
            Form::Boxes(boxes) => vec![boxes.ranks().count()],
        }
    }

    /// The ranks, in the order of their places.
    #[must_use]
    pub fn ranks(&self) -> &Ranks {
        match self.form() {
            Form::Grid(form) => &form.ranks,
            Form::Boxes(boxes) => boxes.ranks(),
        }
    }

    /// Number of ranks.
    #[must_use]
    pub fn n_ranks(&self) -> u64 {
        self.ranks().count()
    }

    /// The notation; text that does not parse for lists and boxes, which have none.
    #[must_use]
    pub fn notation(&self) -> String {
        crate::notation::print(self)
    }

    /// Place of a rank.
    ///
    /// # Errors
    /// A rank that is not part of the layout.
    pub fn place_of(&self, rank: u64) -> Result<u64> {
        self.ranks()
            .place_of(rank)
            .ok_or_else(|| LayoutError::RankUnknown { rank, n_ranks: self.n_ranks() })
    }

    /// Number of local buffers of a rank: one, or one per box.
    ///
    /// # Errors
    /// A rank that is not part of the layout.
    pub fn n_buffers(&self, rank: u64) -> Result<usize> {
        let place = self.place_of(rank)?;
        Ok(match self.form() {
            Form::Grid(_) => 1,
            Form::Boxes(boxes) => boxes.pieces(place).len(),
        })
    }

    /// Shapes of a rank's local buffers, halos included; none if it is not part of the layout.
    ///
    /// ```
    /// let layout = partita_layout::Layout::parse(&[10], "block @ 4")?;
    /// assert_eq!(layout.local_shapes(3).collect::<Vec<_>>(), [[2]]);
    /// assert_eq!(layout.local_shapes(4).count(), 0);
    /// # Ok::<(), partita_layout::LayoutError>(())
    /// ```
    pub fn local_shapes(&self, rank: u64) -> impl Iterator<Item = Vec<u64>> + '_ {
        let n_buffers = self.n_buffers(rank).unwrap_or(0);
        (0..n_buffers).filter_map(move |buffer| self.local_shape(rank, buffer).ok())
    }

    /// Shape of a rank's local buffer, halo included.
    ///
    /// # Errors
    /// A rank or a buffer that the layout does not have.
    pub fn local_shape(&self, rank: u64, buffer: usize) -> Result<Vec<u64>> {
        let place = self.place_of(rank)?;
        match self.form() {
            Form::Grid(form) => {
                self.check_buffer(rank, buffer, 1)?;
                let at = form.grid.place(place, self.ndim());
                let dims = form.dims.iter().zip(&at.coordinates);
                Ok(dims.map(|(dim, coordinate)| dim.count(*coordinate, Part::Held)).collect())
            }
            Form::Boxes(boxes) => {
                let pieces = boxes.pieces(place);
                self.check_buffer(rank, buffer, pieces.len())?;
                Ok(pieces[buffer].held.shape.clone())
            }
        }
    }

    pub(crate) fn check_buffer(&self, rank: u64, piece: usize, n_pieces: usize) -> Result<()> {
        if piece < n_pieces {
            return Ok(());
        }
        Err(LayoutError::PieceUnknown { rank, piece, n_pieces })
    }

    /// Number of elements that a rank owns.
    ///
    /// Replicas own what they hold; of summands each owns its own.
    ///
    /// # Errors
    /// A rank that is not part of the layout.
    pub fn n_owned(&self, rank: u64) -> Result<u64> {
        self.count(rank, Part::Owned)
    }

    /// Number of elements that a rank holds.
    ///
    /// # Errors
    /// A rank that is not part of the layout.
    pub fn n_held(&self, rank: u64) -> Result<u64> {
        self.count(rank, Part::Held)
    }

    fn count(&self, rank: u64, part: Part) -> Result<u64> {
        let place = self.place_of(rank)?;
        Ok(match self.form() {
            Form::Grid(form) => form.count(&form.grid.place(place, self.ndim()), part),
            Form::Boxes(boxes) if part == Part::Owned => {
                boxes.owned_parts(place).map(|(_, part)| part.n_elements()).sum()
            }
            Form::Boxes(boxes) => {
                boxes.pieces(place).iter().map(|piece| piece.held.n_elements()).sum()
            }
        })
    }

    /// The boxes of global indices that a rank holds.
    ///
    /// # Errors
    /// A rank that is not part of the layout.
    pub fn pieces(&self, rank: u64) -> Result<Pieces> {
        let place = self.place_of(rank)?;
        Ok(Pieces::new(self, place))
    }
}

fn check_shape(shape: &[u64]) -> Result<()> {
    let overflow = || LayoutError::ShapeOverflow { shape: shape.to_vec() };
    if shape.iter().any(|extent| *extent > 1 << 63) {
        return Err(overflow());
    }
    // Zero extents do not hide an overflow of the others: strides are products too.
    let product = shape
        .iter()
        .filter(|extent| **extent > 0)
        .try_fold(1_u64, |product, extent| product.checked_mul(*extent));
    product.map(|_| ()).ok_or_else(overflow)
}

/// The largest local buffer must be countable, halos included, and its positions signed numbers.
fn check_local(shape: &[u64], dims: &[DimMap]) -> Result<()> {
    let mut product = 1_u64;
    for dim in dims {
        let (wrapped, largest) = match dim.map() {
            Map::Block(block) if block.periodic && dim.extent() > 0 => {
                let (left, right) = block.halo.widest();
                (left + right, largest_block(block, dim))
            }
            _ => (0, dim.extent()),
        };
        match product.checked_mul((dim.extent() + wrapped).max(1)) {
            Some(next) if largest + wrapped <= 1 << 63 => product = next,
            _ => return Err(LayoutError::LocalOverflow { shape: shape.to_vec() }),
        }
    }
    Ok(())
}

fn largest_block(block: &Block, dim: &DimMap) -> u64 {
    match &block.rule {
        BlockRule::Sizes(sizes) => sizes.iter().copied().max().unwrap_or(0),
        _ => dim.extent().div_ceil(dim.n_coordinates()),
    }
}

fn bind_ranks(spec: Option<&RanksSpec>, grid: &Grid) -> Result<Ranks> {
    let wrong = |n_ranks: usize| LayoutError::RanksCount { n_ranks, grid: grid.shape().to_vec() };
    match spec {
        None => Ok(Ranks::first(grid.n_ranks())),
        Some(RanksSpec::Range(start, stop)) => {
            let count = stop.saturating_sub(*start);
            if count != grid.n_ranks() {
                return Err(wrong(count as usize));
            }
            Ranks::range(*start, *stop)
        }
        Some(RanksSpec::List(ranks)) => {
            if ranks.len() as u64 != grid.n_ranks() {
                return Err(wrong(ranks.len()));
            }
            Ranks::list(ranks)
        }
    }
}
