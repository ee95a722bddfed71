//! Boxes: the second form of a layout, a list of pieces with any owner each.
//!
//! Several pieces per rank, ranks without one, pieces of different ranks that overlap: all allowed.
//! Where owned boxes overlap, the first piece in order owns. A small tree over the boxes answers
//! who meets a region in time close to the size of the answer.

use std::sync::OnceLock;

use crate::error::{LayoutError, Result};
use crate::ranks::Ranks;

/// A box of global indices: starts and lengths per dimension.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IndexBox {
    /// First index in each dimension.
    pub start: Vec<u64>,
    /// Length in each dimension.
    pub shape: Vec<u64>,
}

impl IndexBox {
    /// A box.
    #[must_use]
    pub fn new(start: &[u64], shape: &[u64]) -> Self {
        Self { start: start.to_vec(), shape: shape.to_vec() }
    }

    /// Number of elements.
    #[must_use]
    pub fn n_elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// End in one dimension.
    #[must_use]
    pub fn stop(&self, dim: usize) -> u64 {
        self.start[dim] + self.shape[dim]
    }

    /// Whether two boxes share an element.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        (0..self.start.len())
            .all(|dim| self.start[dim].max(other.start[dim]) < self.stop(dim).min(other.stop(dim)))
    }

    /// What two boxes share, if anything.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        if !self.meets(other) {
            return None;
        }
        let mut shared = self.clone();
        for dim in 0..self.start.len() {
            let start = self.start[dim].max(other.start[dim]);
            let stop = self.stop(dim).min(other.stop(dim));
            shared.start[dim] = start;
            shared.shape[dim] = stop - start;
        }
        Some(shared)
    }

    /// The box without another, as disjoint boxes.
    #[must_use]
    pub fn without(&self, other: &Self) -> Vec<Self> {
        let Some(hole) = self.intersection(other) else { return vec![self.clone()] };
        let mut rest = self.clone();
        let mut parts = Vec::new();
        for dim in 0..self.start.len() {
            let (before, after) =
                (hole.start[dim] - rest.start[dim], rest.stop(dim) - hole.stop(dim));
            if before > 0 {
                let mut part = rest.clone();
                part.shape[dim] = before;
                parts.push(part);
            }
            if after > 0 {
                let mut part = rest.clone();
                part.start[dim] = hole.stop(dim);
                part.shape[dim] = after;
                parts.push(part);
            }
            rest.start[dim] = hole.start[dim];
            rest.shape[dim] = hole.shape[dim];
        }
        parts
    }
}

/// A box that one rank holds, and the part of it that it owns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BoxPiece {
    /// What the rank holds in this buffer.
    pub held: IndexBox,
    /// The part it offers to own.
    pub owned: IndexBox,
}

impl BoxPiece {
    /// A piece that is owned as a whole.
    #[must_use]
    pub fn new(start: &[u64], shape: &[u64]) -> Self {
        let held = IndexBox::new(start, shape);
        Self { owned: held.clone(), held }
    }
}

/// Pieces by place, with their trees.
#[derive(Debug)]
pub struct Boxes {
    ranks: Ranks,
    pieces: Vec<BoxPiece>,
    offsets: Vec<usize>,
    places: Vec<u64>,
    held: BoxTree,
    owned: OnceLock<OwnedParts>,
}

/// Disjoint boxes that say who owns what, each part of a piece.
#[derive(Debug)]
struct OwnedParts {
    parts: Vec<(usize, IndexBox)>,
    offsets: Vec<usize>,
    tree: BoxTree,
    n_elements: u128,
}

/// A piece that a search found, with the box in question.
#[derive(Debug, Clone, Copy)]
pub struct BoxHit<'a> {
    /// Place that holds it.
    pub place: u64,
    /// Number of the piece on its place.
    pub piece: usize,
    /// The whole piece.
    pub held: &'a IndexBox,
    /// The box that was found: the piece, or an owned part of it.
    pub found: &'a IndexBox,
}

impl Boxes {
    /// Checks the pieces of each place against the array's shape.
    ///
    /// # Errors
    /// Boxes of other dimensions, outside the array, or that overlap on one rank.
    pub fn new(shape: &[u64], pieces: Vec<Vec<BoxPiece>>, ranks: Ranks) -> Result<Self> {
        let boxes = Self::apart(shape, pieces, ranks)?;
        boxes.check_own_overlap()?;
        Ok(boxes)
    }

    /// The same for pieces that are known not to overlap on one rank, such as cells of a grid.
    ///
    /// # Errors
    /// Boxes of other dimensions, or outside the array.
    pub fn apart(shape: &[u64], pieces: Vec<Vec<BoxPiece>>, ranks: Ranks) -> Result<Self> {
        if ranks.count() != pieces.len() as u64 {
            let grid = vec![pieces.len() as u64];
            return Err(LayoutError::RanksCount { n_ranks: ranks.count() as usize, grid });
        }
        let mut offsets = vec![0];
        let mut places = Vec::new();
        for (place, own) in (0_u64..).zip(&pieces) {
            for (number, piece) in own.iter().enumerate() {
                check_piece(shape, piece, ranks.rank_at(place), number)?;
                places.push(place);
            }
            offsets.push(places.len());
        }
        let pieces: Vec<BoxPiece> = pieces.into_iter().flatten().collect();
        let held = BoxTree::new(pieces.iter().map(|piece| piece.held.clone()).collect());
        Ok(Self { ranks, pieces, offsets, places, held, owned: OnceLock::new() })
    }

    fn check_own_overlap(&self) -> Result<()> {
        for (number, piece) in self.pieces.iter().enumerate() {
            let place = self.places[number];
            let mut twin = None;
            self.held.search(&piece.held, |other| {
                if other > number && self.places[other] == place {
                    twin.get_or_insert(other);
                }
            });
            if let Some(other) = twin {
                let first = self.number_on_place(number);
                let second = self.number_on_place(other);
                return Err(LayoutError::BoxOverlap {
                    rank: self.ranks.rank_at(place),
                    first,
                    second,
                });
            }
        }
        Ok(())
    }

    fn number_on_place(&self, piece: usize) -> usize {
        piece - self.offsets[self.places[piece] as usize]
    }

    /// Ranks by place.
    #[must_use]
    pub fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    /// Pieces of one place.
    #[must_use]
    pub fn pieces(&self, place: u64) -> &[BoxPiece] {
        &self.pieces[self.offsets[place as usize]..self.offsets[place as usize + 1]]
    }

    /// Number of elements that someone owns.
    #[must_use]
    pub fn n_owned_elements(&self) -> u128 {
        self.owned().n_elements
    }

    /// The disjoint boxes that a place owns, with the number of the piece they are in.
    pub fn owned_parts(&self, place: u64) -> impl Iterator<Item = (usize, &IndexBox)> {
        let owned = self.owned();
        let range = owned.offsets[place as usize]..owned.offsets[place as usize + 1];
        owned.parts[range].iter().map(|(piece, part)| (self.number_on_place(*piece), part))
    }

    /// Pieces that meet a box.
    pub fn find_held<'a>(&'a self, region: &IndexBox, mut put: impl FnMut(BoxHit<'a>)) {
        self.held.search(region, |piece| put(self.hit(piece, &self.pieces[piece].held)));
    }

    /// Owned parts that meet a box.
    pub fn find_owned<'a>(&'a self, region: &IndexBox, mut put: impl FnMut(BoxHit<'a>)) {
        let owned = self.owned();
        owned.tree.search(region, |part| {
            let (piece, found) = &owned.parts[part];
            put(self.hit(*piece, found));
        });
    }

    fn hit<'a>(&'a self, piece: usize, found: &'a IndexBox) -> BoxHit<'a> {
        BoxHit {
            place: self.places[piece],
            piece: self.number_on_place(piece),
            held: &self.pieces[piece].held,
            found,
        }
    }

    /// Splits what is owned so that every element has one owner: the first piece that offers.
    fn owned(&self) -> &OwnedParts {
        self.owned.get_or_init(|| {
            let offers =
                BoxTree::new(self.pieces.iter().map(|piece| piece.owned.clone()).collect());
            let mut parts: Vec<(usize, IndexBox)> = Vec::new();
            let mut offsets = vec![0];
            let mut place = 0;
            for (number, piece) in self.pieces.iter().enumerate() {
                while self.places[number] > place {
                    offsets.push(parts.len());
                    place += 1;
                }
                let mut earlier = Vec::new();
                offers.search(&piece.owned, |other| {
                    if other < number {
                        earlier.push(other);
                    }
                });
                let mut rest = vec![piece.owned.clone()];
                for other in earlier {
                    let taken = &self.pieces[other].owned;
                    rest = rest.iter().flat_map(|part| part.without(taken)).collect();
                }
                rest.retain(|part| part.n_elements() > 0);
                parts.extend(rest.into_iter().map(|part| (number, part)));
            }
            offsets.resize(self.ranks.count() as usize + 1, parts.len());
            let n_elements = parts.iter().map(|(_, part)| u128::from(part.n_elements())).sum();
            let tree = BoxTree::new(parts.iter().map(|(_, part)| part.clone()).collect());
            OwnedParts { parts, offsets, tree, n_elements }
        })
    }
}

impl PartialEq for Boxes {
    fn eq(&self, other: &Self) -> bool {
        self.ranks == other.ranks && self.offsets == other.offsets && self.pieces == other.pieces
    }
}

impl Eq for Boxes {}

impl std::hash::Hash for Boxes {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (&self.ranks, &self.offsets, &self.pieces).hash(state);
    }
}

fn check_piece(shape: &[u64], piece: &BoxPiece, rank: u64, number: usize) -> Result<()> {
    let ndim = shape.len();
    for lengths in [&piece.held.start, &piece.held.shape, &piece.owned.start, &piece.owned.shape] {
        if lengths.len() != ndim {
            return Err(LayoutError::BoxNdim { rank, piece: number, n_given: lengths.len(), ndim });
        }
    }
    for (dim, &extent) in shape.iter().enumerate() {
        let (start, length) = (piece.held.start[dim], piece.held.shape[dim]);
        if start.checked_add(length).is_none_or(|stop| stop > extent) {
            return Err(LayoutError::BoxOutside {
                rank,
                piece: number,
                dim,
                start,
                length,
                extent,
            });
        }
        let (owned_start, owned_length) = (piece.owned.start[dim], piece.owned.shape[dim]);
        let owned_stop = owned_start.checked_add(owned_length);
        if owned_start < start || owned_stop.is_none_or(|stop| stop > start + length) {
            return Err(LayoutError::BoxOwnedOutside { rank, piece: number, dim });
        }
    }
    Ok(())
}

/// A static tree: boxes sorted in strips, bounding boxes over groups of them.
#[derive(Debug)]
struct BoxTree {
    boxes: Vec<IndexBox>,
    order: Vec<usize>,
    /// Bounds of groups, leaves first, then groups of groups.
    levels: Vec<Vec<IndexBox>>,
}

const GROUP: usize = 8;

impl BoxTree {
    fn new(boxes: Vec<IndexBox>) -> Self {
        let mut order: Vec<usize> =
            (0..boxes.len()).filter(|at| boxes[*at].n_elements() > 0).collect();
        let ndim = boxes.first().map_or(0, |first| first.start.len());
        sort_in_strips(&boxes, &mut order, 0, ndim);
        let mut levels: Vec<Vec<IndexBox>> = Vec::new();
        let leaves = order.chunks(GROUP).map(|group| bounds(group.iter().map(|at| &boxes[*at])));
        let mut level: Vec<IndexBox> = leaves.collect();
        while level.len() > 1 {
            let next = level.chunks(GROUP).map(|group| bounds(group.iter())).collect();
            levels.push(std::mem::replace(&mut level, next));
        }
        levels.push(level);
        Self { boxes, order, levels }
    }

    /// Calls `put` with every box that shares an element with the region.
    fn search(&self, region: &IndexBox, mut put: impl FnMut(usize)) {
        let mut stack: Vec<(usize, usize)> = (0..self.levels[self.levels.len() - 1].len())
            .map(|at| (self.levels.len() - 1, at))
            .collect();
        while let Some((level, at)) = stack.pop() {
            if !self.levels[level][at].meets(region) {
                continue;
            }
            let below = at * GROUP..;
            if level > 0 {
                let end = (at * GROUP + GROUP).min(self.levels[level - 1].len());
                stack
                    .extend(below.take_while(|child| *child < end).map(|child| (level - 1, child)));
                continue;
            }
            for &number in self.order[at * GROUP..].iter().take(GROUP) {
                if self.boxes[number].meets(region) {
                    put(number);
                }
            }
        }
    }
}

/// Orders boxes so that neighbours in the order are neighbours in space.
fn sort_in_strips(boxes: &[IndexBox], order: &mut [usize], dim: usize, ndim: usize) {
    if dim == ndim || order.len() <= GROUP {
        return;
    }
    order.sort_by_key(|at| (boxes[*at].start[dim], *at));
    let n_groups = order.len().div_ceil(GROUP) as f64;
    let n_strips = n_groups.powf(1.0 / (ndim - dim) as f64).ceil() as usize;
    let strip = order.len().div_ceil(n_strips.max(1));
    for part in order.chunks_mut(strip) {
        sort_in_strips(boxes, part, dim + 1, ndim);
    }
}

fn bounds<'a>(mut boxes: impl Iterator<Item = &'a IndexBox>) -> IndexBox {
    let mut hull = boxes.next().cloned().unwrap_or_else(|| IndexBox::new(&[], &[]));
    for other in boxes {
        for dim in 0..hull.start.len() {
            let stop = hull.stop(dim).max(other.stop(dim));
            hull.start[dim] = hull.start[dim].min(other.start[dim]);
            hull.shape[dim] = stop - hull.start[dim];
        }
    }
    hull
}
