//! Layouts as tables: which partitions a layout has, who holds each, and where in whose buffer.

use std::collections::HashMap;

use partita_layout::{BoxPiece, Boxes, DimMap, Form, GridForm, Indices, Layout, Map, Part, Place};

use crate::error::ProtocolError;
use crate::partitioned::table::Table;

/// A table with the ranks of each partition.
#[derive(Debug)]
pub struct Holders {
    /// The grid of partitions.
    pub table: Table,
    kind: Kind,
    layout: Layout,
}

#[derive(Debug)]
enum Kind {
    Grid,
    /// For each partition the places that hold it, with the number of the box there.
    Boxes(Vec<Vec<(u64, usize)>>),
}

/// A partition in a rank's own buffers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Position in the grid of partitions.
    pub position: Vec<u64>,
    /// Which of the rank's buffers.
    pub buffer: usize,
    /// Where in that buffer.
    pub local_start: Vec<u64>,
    /// Its shape.
    pub shape: Vec<u64>,
}

impl Holders {
    /// The partitions of a layout.
    ///
    /// # Errors
    /// Lists, summands, and boxes that form no grid.
    pub fn new(layout: &Layout) -> Result<Self, ProtocolError> {
        match layout.form() {
            Form::Grid(form) => {
                let mut bounds = Vec::new();
                for (dim, map) in form.dims().iter().enumerate() {
                    bounds.push(dim_bounds(map, dim)?);
                }
                if let Some(axis) = form.grid().partial_axes().first() {
                    return Err(ProtocolError::Partial { axis: *axis });
                }
                Ok(Self { table: table(layout, bounds), kind: Kind::Grid, layout: layout.clone() })
            }
            Form::Boxes(boxes) => {
                let (table, found) = box_table(layout, boxes)?;
                Ok(Self { table, kind: Kind::Boxes(found), layout: layout.clone() })
            }
        }
    }

    /// Ranks that hold the partition at a position, the owner first.
    #[must_use]
    pub fn ranks(&self, position: &[u64]) -> Vec<u64> {
        match (self.layout.form(), &self.kind) {
            (Form::Grid(form), _) => self.grid_ranks(form, position),
            (Form::Boxes(boxes), Kind::Boxes(found)) => found[self.table.number(position) as usize]
                .iter()
                .map(|(place, _)| boxes.ranks().rank_at(*place))
                .collect(),
            _ => Vec::new(),
        }
    }

    fn grid_ranks(&self, form: &GridForm, position: &[u64]) -> Vec<u64> {
        let coordinates = form.dims().iter().zip(position).map(|(dim, at)| match dim.map() {
            Map::Cyclic { .. } => at % dim.n_coordinates(),
            Map::Block(_) => *at,
            _ => 0,
        });
        let coordinates: Vec<u64> = coordinates.collect();
        let replicas = 0..form.grid().n_replicas();
        let place = |replica| Place { coordinates: coordinates.clone(), replica, summand: 0 };
        replicas.map(|r| form.ranks().rank_at(form.grid().place_of(&place(r)))).collect()
    }

    /// The partitions that a rank holds, in C order.
    #[must_use]
    pub fn of_rank(&self, rank: u64) -> Vec<Held> {
        match (self.layout.form(), &self.kind) {
            (Form::Grid(form), _) => form.place(rank).map_or(Vec::new(), |at| own_parts(form, &at)),
            (Form::Boxes(boxes), Kind::Boxes(found)) => {
                let Some(mine) = boxes.ranks().place_of(rank) else { return Vec::new() };
                let held = (0..).zip(found).flat_map(|(number, places)| {
                    places
                        .iter()
                        .filter(|(place, _)| *place == mine)
                        .map(move |(_, n)| (number, *n))
                });
                held.map(|(number, buffer)| self.boxed(&boxes.pieces(mine)[buffer], number, buffer))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    fn boxed(&self, piece: &BoxPiece, number: u64, buffer: usize) -> Held {
        let pairs = piece.owned.start.iter().zip(&piece.held.start);
        Held {
            position: self.table.position(number),
            buffer,
            local_start: pairs.map(|(owned, held)| owned - held).collect(),
            shape: piece.owned.shape.clone(),
        }
    }
}

fn table(layout: &Layout, bounds: Vec<Vec<u64>>) -> Table {
    let tiling = bounds.iter().map(|own| own.len() as u64 - 1).collect();
    Table::new(layout.shape().to_vec(), tiling, bounds)
}

fn dim_bounds(map: &DimMap, dim: usize) -> Result<Vec<u64>, ProtocolError> {
    let extent = map.extent();
    Ok(match map.map() {
        Map::Whole => vec![0, extent],
        Map::Block(_) => {
            let mut stop = 0;
            let sizes = (0..map.n_coordinates()).map(|k| map.count(k, Part::Owned));
            let stops = sizes.map(|size| {
                stop += size;
                stop
            });
            std::iter::once(0).chain(stops).collect()
        }
        Map::Cyclic { block } => {
            let n_blocks = extent.div_ceil(*block).max(1);
            let start = |at: u64| at.saturating_mul(*block).min(extent);
            (0..=n_blocks).map(start).collect()
        }
        Map::Unstructured(_) => return Err(ProtocolError::Unstructured { dim }),
    })
}

/// Row, local start and length of each stretch that a coordinate owns of a dimension.
fn own_rows(dim: &DimMap, coordinate: u64) -> Vec<(u64, u64, u64)> {
    if dim.count(coordinate, Part::Owned) == 0 {
        // A row without elements is still a row; of cyclic maps only the first can be one.
        let is_row =
            !matches!(dim.map(), Map::Cyclic { .. }) || (dim.extent() == 0 && coordinate == 0);
        return if is_row { vec![(coordinate, 0, 0)] } else { Vec::new() };
    }
    match (dim.indices(coordinate, Part::Owned), dim.map()) {
        (Indices::Range { length, local, .. }, _) => vec![(coordinate, local, length)],
        (_, Map::Cyclic { block }) => (0..dim.n_segments(coordinate))
            .map(|at| dim.segment(coordinate, at))
            .map(|segment| (segment.start / block, segment.local, segment.length))
            .collect(),
        _ => Vec::new(),
    }
}

fn own_parts(form: &GridForm, at: &Place) -> Vec<Held> {
    let rows: Vec<_> =
        form.dims().iter().zip(&at.coordinates).map(|(d, k)| own_rows(d, *k)).collect();
    let mut parts = vec![Held { position: vec![], buffer: 0, local_start: vec![], shape: vec![] }];
    for own in &rows {
        let longer = |part: &Held, row: &(u64, u64, u64)| {
            let mut part = part.clone();
            part.position.push(row.0);
            part.local_start.push(row.1);
            part.shape.push(row.2);
            part
        };
        parts =
            parts.iter().flat_map(|part| own.iter().map(move |row| longer(part, row))).collect();
    }
    parts
}

type BoxTable = (Table, Vec<Vec<(u64, usize)>>);

/// Cuts at every face of every box; each box must be one cell, and each cell a box.
fn box_table(layout: &Layout, boxes: &Boxes) -> Result<BoxTable, ProtocolError> {
    let wrong = |why: String| Err(ProtocolError::NotAGrid { why });
    let ndim = layout.ndim();
    let all = || {
        (0..boxes.ranks().count()).flat_map(|place| {
            boxes
                .pieces(place)
                .iter()
                .enumerate()
                .map(move |(number, piece)| (place, number, piece))
        })
    };
    let full = || all().filter(|(_, _, piece)| piece.owned.n_elements() > 0);
    let mut bounds: Vec<Vec<u64>> = Vec::with_capacity(ndim);
    for (dim, extent) in layout.shape().iter().enumerate() {
        let mut faces: Vec<u64> = full().map(|(_, _, piece)| piece.owned.start[dim]).collect();
        faces.extend([0, *extent]);
        faces.sort_unstable();
        faces.dedup();
        if faces.len() == 1 {
            faces.push(*extent);
        }
        bounds.push(faces);
    }
    let rows: Vec<HashMap<u64, u64>> =
        bounds.iter().map(|own| own.iter().copied().zip(0..).collect()).collect();
    let table = table(layout, bounds);
    let n_cells = table.tiling().iter().try_fold(1_u64, |n, count| n.checked_mul(*count));
    let n_full = full().count() as u64;
    if n_cells.is_none_or(|n| n > n_full.max(1)) {
        return wrong(format!("{n_full} boxes with elements for a grid of {:?}", table.tiling()));
    }
    let mut found = vec![Vec::new(); n_cells.unwrap_or(1) as usize];
    for (place, number, piece) in full() {
        let position = piece.owned.start.iter().zip(&rows).map(|(start, rows)| rows[start]);
        let position: Vec<u64> = position.collect();
        if table.part(&position).1 != piece.owned.shape {
            let rank = boxes.ranks().rank_at(place);
            return wrong(format!("box {number} of rank {rank} spans several cells"));
        }
        found[table.number(&position) as usize].push((place, number));
    }
    let is_empty = layout.shape().contains(&0);
    if let Some(at) = found.iter().position(Vec::is_empty).filter(|_| !is_empty) {
        return wrong(format!("no box covers the cell {:?}", table.position(at as u64)));
    }
    Ok((table, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First row and length of each partition that each rank holds.
    fn rows(shape: u64, notation: &str) -> Vec<Vec<(u64, u64)>> {
        let layout = Layout::parse(&[shape], notation).expect("a layout");
        let holders = Holders::new(&layout).expect("a table");
        let own = |rank| {
            holders.of_rank(rank).iter().map(|one| (one.position[0], one.shape[0])).collect()
        };
        (0..2).map(own).collect()
    }

    #[test]
    fn a_rank_without_elements_holds_a_row_of_blocks_and_none_of_cycles() {
        assert_eq!(rows(4, "block(4,0) @ 2"), [vec![(0, 4)], vec![(1, 0)]]);
        assert_eq!(rows(5, "cyclic(2) @ 2"), [vec![(0, 2), (2, 1)], vec![(1, 2)]]);
        assert_eq!(rows(2, "cyclic(2) @ 2"), [vec![(0, 2)], vec![]]);
        // An array without elements still has one partition.
        assert_eq!(rows(0, "cyclic(2) @ 2"), [vec![(0, 0)], vec![]]);
    }
}
