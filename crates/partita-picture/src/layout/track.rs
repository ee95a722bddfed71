//! Tracks: one dimension as the few stretches that a picture shows of it.
//!
//! A track follows the cuts of its map, so no stretch has two owners. Dimensions with more cuts
//! than there is room for keep the first and the last ones.

use std::collections::{BTreeMap, BTreeSet};

use partita_layout::{Boxes, DimMap, Indices, Map, Part, Unstructured};

use super::halo;

/// Distinct indices of a list that are looked at when they do not all fit.
const MOST_LISTED: usize = 4096;

/// A stretch of indices with one owner, drawn as one row or column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Band {
    /// First index; any integer in an unstructured dimension.
    pub first: i128,
    /// Number of indices.
    pub length: u64,
    /// Coordinate that owns them; 0 for boxes, which have no coordinates.
    pub coordinate: u64,
    /// Whether an owner's block begins here.
    pub is_start: bool,
    /// Whether some of it lies in a halo.
    pub in_halo: bool,
}

impl Band {
    pub(super) fn stop(&self) -> i128 {
        self.first + i128::from(self.length)
    }
}

/// Indices that a track leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gap {
    /// Number of the band that comes after them.
    pub before: usize,
    /// How many.
    pub n_indices: u64,
}

/// One dimension of a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Track {
    pub bands: Vec<Band>,
    pub gap: Option<Gap>,
    pub extent: u64,
}

impl Track {
    /// The track of a dimension that the array does not have.
    pub(super) fn point() -> Self {
        let band = Band { first: 0, length: 1, coordinate: 0, is_start: true, in_halo: false };
        Self { bands: vec![band], gap: None, extent: 1 }
    }

    /// The track of a mapped dimension, in at most `most` bands.
    pub(super) fn of_dim(dim: &DimMap, most: usize) -> Self {
        if let Map::Unstructured(lists) = dim.map() {
            return of_lists(lists, dim.extent(), most);
        }
        let (blocks, gap) = blocks(dim, most);
        let mut bands = halo::split(dim, &blocks);
        if bands.len() > most {
            bands = blocks;
            halo::mark(dim, &mut bands);
        }
        let gap = gap.map(|gap| {
            let before = bands.iter().position(|band| band.first >= gap.stop);
            Gap { before: before.unwrap_or(bands.len()), n_indices: gap.length() }
        });
        Self { bands, gap, extent: dim.extent() }
    }

    /// The track of one dimension of boxes, from edge to edge.
    pub(super) fn of_boxes(boxes: &Boxes, dim: usize, extent: u64, most: usize) -> Self {
        let edges: Vec<u64> = edges(boxes, dim, extent).into_iter().collect();
        let bands = edges.windows(2).map(|pair| Band {
            first: pair[0].into(),
            length: pair[1] - pair[0],
            coordinate: 0,
            is_start: true,
            in_halo: false,
        });
        let mut bands: Vec<Band> = bands.collect();
        let mut gap = None;
        if bands.len() > most {
            let (n_head, n_tail) = window(most);
            let middle = n_head..bands.len() - n_tail;
            let n_indices = bands.drain(middle).map(|band| band.length).sum();
            gap = Some(Gap { before: n_head, n_indices });
        }
        Self { bands, gap, extent }
    }

    /// Number of owners' blocks that the track shows.
    pub(super) fn n_blocks(&self) -> usize {
        self.bands.iter().filter(|band| band.is_start).count()
    }

    /// Cuts bands into cells: single indices up to `unit`, else about `target` cells.
    pub(super) fn spread(mut self, unit: u64, target: usize) -> Self {
        if self.gap.is_some() {
            return self;
        }
        let n_free = target.saturating_sub(self.bands.len()) as u128;
        let extent = u128::from(self.extent.max(1));
        let is_fine = self.extent <= unit;
        let cells = self.bands.iter().flat_map(|band| {
            let share = 1 + (u128::from(band.length) * n_free / extent) as u64;
            cut(band, if is_fine { band.length } else { share.min(band.length) })
        });
        self.bands = cells.collect();
        self
    }

    /// Number of indices of the longest band.
    pub(super) fn longest(&self) -> u64 {
        self.bands.iter().map(|band| band.length).max().unwrap_or(0)
    }
}

fn cut(band: &Band, n_cells: u64) -> impl Iterator<Item = Band> + use<> {
    let (size, n_larger) = (band.length / n_cells, band.length % n_cells);
    let band = band.clone();
    (0..n_cells).map(move |cell| Band {
        first: band.first + i128::from(cell * size + cell.min(n_larger)),
        length: size + u64::from(cell < n_larger),
        is_start: band.is_start && cell == 0,
        ..band
    })
}

/// Where boxes begin and end in one dimension, with the ends of the array.
pub(super) fn edges(boxes: &Boxes, dim: usize, extent: u64) -> BTreeSet<u64> {
    let mut edges = BTreeSet::from([0, extent]);
    for piece in (0..boxes.ranks().count()).flat_map(|place| boxes.pieces(place)) {
        for part in [&piece.held, &piece.owned] {
            if part.n_elements() > 0 {
                edges.extend([part.start[dim], part.stop(dim)]);
            }
        }
    }
    edges
}

/// Indices between the first and the last blocks of a track.
struct LeftOut {
    start: i128,
    stop: i128,
}

impl LeftOut {
    fn length(&self) -> u64 {
        (self.stop - self.start) as u64
    }
}

/// How many of the first and the last bands to keep, with room for an ellipsis between them.
fn window(most: usize) -> (usize, usize) {
    let n_tail = (most / 4).min(2);
    (most.saturating_sub(1 + n_tail).max(1), n_tail)
}

/// All blocks of a dimension if they fit, else the first and the last ones.
fn blocks(dim: &DimMap, most: usize) -> (Vec<Band>, Option<LeftOut>) {
    let most = most.max(2);
    let mut head = Vec::new();
    let mut at = 0;
    while at < dim.extent() && head.len() <= most {
        let block = block_at(dim, at);
        at = block.stop() as u64;
        head.push(block);
    }
    if head.len() <= most {
        return (head, None);
    }
    let (n_head, n_tail) = window(most);
    head.truncate(n_head);
    let mut tail = Vec::new();
    let mut stop = dim.extent();
    while tail.len() < n_tail {
        let block = block_at(dim, stop - 1);
        stop = block.first as u64;
        tail.push(block);
    }
    let start = head.last().map_or(0, Band::stop);
    head.extend(tail.into_iter().rev());
    (head, Some(LeftOut { start, stop: stop.into() }))
}

/// The block around an index.
pub(super) fn block_at(dim: &DimMap, index: u64) -> Band {
    let coordinate = dim.owner(index as i64).map_or(0, |(coordinate, _)| coordinate);
    let (first, length) = match (dim.indices(coordinate, Part::Owned), dim.map()) {
        (Indices::Range { start, length, .. }, _) => (start, length),
        (_, Map::Cyclic { block }) => {
            let start = index / block * block;
            (start, (*block).min(dim.extent() - start))
        }
        _ => (index, 1),
    };
    Band { first: first.into(), length, coordinate, is_start: true, in_halo: false }
}

/// Entries of lists sorted by index; neighbours of one owner are joined if they do not fit.
fn of_lists(lists: &Unstructured, extent: u64, most: usize) -> Track {
    let fits = extent <= most as u64;
    let mut bands: Vec<Band> = Vec::new();
    for (index, n_holders) in smallest(lists, if fits { most } else { MOST_LISTED }) {
        let coordinate = lists.owner(index).map_or(0, |(coordinate, _)| coordinate);
        let in_halo = n_holders > 1;
        let first = i128::from(index);
        match bands.last_mut() {
            Some(band)
                if !fits
                    && band.stop() == first
                    && (band.coordinate, band.in_halo) == (coordinate, in_halo) =>
            {
                band.length += 1;
            }
            _ => bands.push(Band { first, length: 1, coordinate, is_start: true, in_halo }),
        }
    }
    let is_all = bands.len() <= most
        && bands.iter().map(|band| u128::from(band.length)).sum::<u128>() == extent.into();
    if !is_all {
        bands.truncate(most.saturating_sub(1).max(1));
    }
    let n_shown: u64 = bands.iter().map(|band| band.length).sum();
    let gap = (!is_all).then_some(Gap { before: bands.len(), n_indices: extent - n_shown });
    Track { bands, gap, extent }
}

/// The smallest indices of all lists, each with the number of lists that have it.
///
/// One pass that keeps few entries: lists may be long, and sorting them all would be slow.
pub(super) fn smallest(lists: &Unstructured, most: usize) -> BTreeMap<i64, u64> {
    let mut kept: BTreeMap<i64, u64> = BTreeMap::new();
    let mut largest = i64::MAX;
    let all = (0..lists.n_coordinates()).flat_map(|coordinate| lists.list(coordinate));
    for &index in all {
        if index > largest {
            continue;
        }
        *kept.entry(index).or_default() += 1;
        if kept.len() > most {
            kept.pop_last();
        }
        if kept.len() == most {
            largest = kept.last_key_value().map_or(i64::MAX, |(index, _)| *index);
        }
    }
    kept
}
