//! Cells: what the text and the SVG picture have in common, and who owns each cell.

use partita_layout::{Boxes, DimMap, Form, GridForm, IndexBox, Layout, Map, Place};

use super::panels::{Panel, Panels};
use super::track::{Band, Track};

/// How much of a layout a picture may show.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub rows: usize,
    pub columns: usize,
    pub panels: usize,
}

/// The rows, columns and panels of a picture.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    pub layout: &'a Layout,
    pub rows: Track,
    pub columns: Track,
    pub panels: Panels,
}

/// Who owns a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A group of ranks, by number: see [`group_at`].
    Group(u64),
    /// No rank at all.
    Nobody,
}

/// One cell of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub owner: Owner,
    /// Whether a rank holds some of it besides its owner's own copy.
    pub in_halo: bool,
}

impl<'a> Scene<'a> {
    /// The scene of a layout; none if the array has no elements.
    pub(super) fn new(layout: &'a Layout, limits: Limits) -> Option<Self> {
        if layout.shape().contains(&0) {
            return None;
        }
        let ndim = layout.ndim();
        let track = |from_last: usize, most: usize| {
            let dim = ndim.checked_sub(from_last);
            dim.map_or_else(Track::point, |dim| track(layout, dim, most))
        };
        let (rows, columns) = (track(2, limits.rows), track(1, limits.columns));
        Some(Self { layout, rows, columns, panels: Panels::new(layout, limits.panels) })
    }

    /// The cell of a panel at a row and a column.
    pub(super) fn cell(&self, panel: &Panel, row: &Band, column: &Band) -> Cell {
        match self.layout.form() {
            Form::Grid(form) => self.cell_of_grid(form, panel, row, column),
            Form::Boxes(boxes) => cell_of_boxes(boxes, &self.region(panel, row, column)),
        }
    }

    fn cell_of_grid(&self, form: &GridForm, panel: &Panel, row: &Band, column: &Band) -> Cell {
        let leading = panel.at.iter().zip(form.dims()).map(|(index, dim)| {
            (coordinate_of(dim, *index), dim.holds_more() && is_in_halo(dim, *index))
        });
        let drawn = [row, column].map(|band| (band.coordinate, band.in_halo));
        let drawn = &drawn[2 - self.layout.ndim().min(2)..];
        let mut cell = Cell { owner: Owner::Nobody, in_halo: false };
        let mut group = 0;
        for ((coordinate, in_halo), dim) in leading.chain(drawn.iter().copied()).zip(form.dims()) {
            group = group * dim.n_coordinates() + coordinate;
            cell.in_halo |= in_halo;
        }
        cell.owner = Owner::Group(group);
        cell
    }

    /// Whether a whole panel lies in halos of the leading dimensions.
    pub(super) fn is_in_halo(&self, panel: &Panel) -> bool {
        let Form::Grid(form) = self.layout.form() else { return false };
        let mut leading = panel.at.iter().zip(form.dims());
        leading.any(|(index, dim)| dim.holds_more() && is_in_halo(dim, *index))
    }

    /// The box of global indices of a cell of a box layout.
    pub(super) fn region(&self, panel: &Panel, row: &Band, column: &Band) -> IndexBox {
        let leading = panel.at.iter().map(|index| (*index as u64, 1));
        let drawn = [row, column].map(|band| (band.first as u64, band.length));
        let drawn = &drawn[2 - self.layout.ndim().min(2)..];
        let (start, shape) = leading.chain(drawn.iter().copied()).unzip();
        IndexBox { start, shape }
    }
}

fn track(layout: &Layout, dim: usize, most: usize) -> Track {
    match layout.form() {
        Form::Grid(form) => Track::of_dim(&form.dims()[dim], most),
        Form::Boxes(boxes) => Track::of_boxes(boxes, dim, layout.shape()[dim], most),
    }
}

/// Coordinate that owns an index that is known to exist.
pub(super) fn coordinate_of(dim: &DimMap, index: i128) -> u64 {
    dim.owner(index as i64).map_or(0, |(coordinate, _)| coordinate)
}

/// Whether another copy of one index lies in a halo.
fn is_in_halo(dim: &DimMap, index: i128) -> bool {
    if let Map::Unstructured(lists) = dim.map() {
        let holds = |coordinate: &u64| lists.list(*coordinate).contains(&(index as i64));
        return (0..lists.n_coordinates()).filter(holds).nth(1).is_some();
    }
    let block = super::track::block_at(dim, index as u64);
    super::halo::split(dim, &[block])
        .iter()
        .any(|band| band.in_halo && (band.first..band.stop()).contains(&index))
}

fn cell_of_boxes(boxes: &Boxes, region: &IndexBox) -> Cell {
    // Cells lie between neighbouring edges, so a box has all of a cell or nothing of it.
    let mut owner = Owner::Nobody;
    boxes.find_owned(region, |hit| owner = Owner::Group(hit.place));
    let mut n_held = 0;
    boxes.find_held(region, |_| n_held += 1);
    let n_owned = usize::from(owner != Owner::Nobody);
    Cell { owner, in_halo: n_held > n_owned }
}

/// Number of groups: ranks that own the same elements, as replicas or summands, are one group.
pub(super) fn n_groups(layout: &Layout) -> u64 {
    match layout.form() {
        Form::Grid(form) => form.dims().iter().map(DimMap::n_coordinates).product(),
        Form::Boxes(boxes) => boxes.ranks().count(),
    }
}

/// The first place of a group; groups are numbered in C order of their coordinates.
pub(super) fn group_at(form: &GridForm, group: u64) -> Place {
    let lengths: Vec<u64> = form.dims().iter().map(DimMap::n_coordinates).collect();
    let coordinates = partita_layout::position_of(group, &lengths);
    Place { coordinates, replica: 0, summand: 0 }
}

/// The first rank of a group.
pub(super) fn first_rank(layout: &Layout, group: u64) -> u64 {
    match layout.form() {
        Form::Grid(form) => form.ranks().rank_at(form.grid().place_of(&group_at(form, group))),
        Form::Boxes(boxes) => boxes.ranks().rank_at(group),
    }
}
