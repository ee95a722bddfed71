//! Layouts as dimension dictionaries.

use partita_layout::{AxisRole, DimMap, Form, GridForm, Indices, Layout, Map, Part};

use crate::distarray::dims::{Block, Dim, Edge, Rule};
use crate::error::ProtocolError;
use crate::partitioned::Holders;

/// The dimensions of one rank of a team of `n_ranks`.
///
/// # Errors
/// Layouts that the protocol cannot express; the error names one that it can.
pub fn dims_of(layout: &Layout, rank: u64, n_ranks: u64) -> Result<Vec<Dim>, ProtocolError> {
    check_order(layout, n_ranks)?;
    match layout.form() {
        Form::Grid(form) => grid_dims(form, rank),
        Form::Boxes(_) => box_dims(layout, rank, n_ranks),
    }
}

/// The places of the grid must be the ranks of the team in order.
fn check_order(layout: &Layout, n_ranks: u64) -> Result<(), ProtocolError> {
    let ranks = layout.ranks();
    if ranks.count() == n_ranks && ranks.iter().zip(0..).all(|(rank, at)| rank == at) {
        return Ok(());
    }
    let first: Vec<String> = ranks.iter().take(6).map(|rank| rank.to_string()).collect();
    let more = if ranks.count() > 6 { ", …" } else { "" };
    Err(ProtocolError::RankOrder { ranks: format!("[{}{more}] of {n_ranks}", first.join(", ")) })
}

fn grid_dims(form: &GridForm, rank: u64) -> Result<Vec<Dim>, ProtocolError> {
    let grid = form.grid();
    if let Some(axis) = grid.partial_axes().first() {
        return Err(ProtocolError::Partial { axis: *axis });
    }
    let Some(place) = form.place(rank) else { return Ok(Vec::new()) };
    let coords = grid.coords(rank);
    let is_square = grid.shape().len() == form.dims().len();
    for (axis, role) in grid.roles().iter().enumerate() {
        if *role == AxisRole::Replicated && grid.shape()[axis] > 1 && !is_square {
            return Err(ProtocolError::Replicated { axis });
        }
    }
    let dims = form.dims().iter().enumerate().map(|(at, dim)| {
        let is_replicated = is_square && matches!(dim.map(), Map::Whole) && grid.shape()[at] > 1;
        if is_replicated {
            // Every coordinate has all indices: lists that are not one to one say so.
            let indices = (0..dim.extent() as i64).collect();
            let rule = Rule::Unstructured { indices, one_to_one: false };
            let (grid_size, grid_rank) = (grid.shape()[at], coords[at]);
            return Ok(Dim { size: dim.extent(), grid_size, grid_rank, rule });
        }
        one_dim(at, dim, place.coordinates[at])
    });
    dims.collect()
}

fn one_dim(at: usize, dim: &DimMap, coordinate: u64) -> Result<Dim, ProtocolError> {
    let rule = match dim.map() {
        Map::Whole => Rule::Block(block(dim, 0, (0, 0), false)),
        Map::Cyclic { block } => Rule::Cyclic { block: *block },
        Map::Unstructured(lists) => Rule::Unstructured {
            indices: lists.list(coordinate).into(),
            one_to_one: lists.is_one_to_one(),
        },
        Map::Block(map) => {
            check_halos(at, dim)?;
            Rule::Block(block(dim, coordinate, halo(dim, coordinate), map.periodic))
        }
    };
    Ok(Dim { size: dim.extent(), grid_size: dim.n_coordinates(), grid_rank: coordinate, rule })
}

fn block(dim: &DimMap, coordinate: u64, halo: (u64, u64), periodic: bool) -> Block {
    let (start, length) = match dim.indices(coordinate, Part::Owned) {
        Indices::Range { start, length, .. } => (start, length),
        _ => (0, 0),
    };
    Block { start, stop: start + length, halo, boundary: (0, 0), periodic, edge: Edge::Outside }
}

/// What a coordinate really holds beyond what it owns, clipped at the ends.
fn halo(dim: &DimMap, coordinate: u64) -> (u64, u64) {
    let held = dim.count(coordinate, Part::Held);
    match dim.indices(coordinate, Part::Owned) {
        Indices::Range { length, local, .. } => (local, held - length - local),
        _ => (0, 0),
    }
}

/// Both sides of a cut must be equally wide, and no wider than the neighbour.
fn check_halos(at: usize, dim: &DimMap) -> Result<(), ProtocolError> {
    let Map::Block(map) = dim.map() else { return Ok(()) };
    if map.halo.is_none() {
        return Ok(());
    }
    let n = dim.n_coordinates();
    let n_cuts = if map.periodic { n } else { n - 1 };
    for coordinate in 0..n_cuts {
        let next = (coordinate + 1) % n;
        let (right, left) = (halo(dim, coordinate).1, halo(dim, next).0);
        if right != left {
            return Err(ProtocolError::HaloUneven { dim: at, coordinate, right, left });
        }
        for (width, neighbor) in [(right, next), (left, coordinate)] {
            let n_owned = dim.count(neighbor, Part::Owned);
            if width > n_owned {
                return Err(ProtocolError::HaloWide { dim: at, coordinate, width, n_owned });
            }
        }
    }
    Ok(())
}

/// Boxes of which each rank has one, in the order of the grid.
fn box_dims(layout: &Layout, rank: u64, n_ranks: u64) -> Result<Vec<Dim>, ProtocolError> {
    for place in 0..n_ranks {
        let n_pieces = layout.n_buffers(place)?;
        if n_pieces != 1 {
            return Err(ProtocolError::SeveralPieces { rank: place, n_pieces });
        }
        if layout.n_held(place)? != layout.n_owned(place)? {
            let why = format!("box {place} is owned in part only");
            return Err(ProtocolError::NotAGrid { why });
        }
    }
    let table = Holders::new(layout)?;
    let owners: Vec<Vec<u64>> = (0..table.table.n_partitions())
        .map(|number| table.ranks(&table.table.position(number)))
        .collect();
    if owners.len() as u64 != n_ranks || owners.iter().zip(0..).any(|(own, at)| own != &[at]) {
        let why = "the boxes do not follow the order of the ranks".to_string();
        return Err(ProtocolError::NotAGrid { why });
    }
    let position = table.table.position(rank);
    let (start, shape) = table.table.part(&position);
    let dims = (0..position.len()).map(|at| {
        let (start, stop) = (start[at], start[at] + shape[at]);
        let edge = Edge::Outside;
        let block = Block { start, stop, halo: (0, 0), boundary: (0, 0), periodic: false, edge };
        let (size, grid_size) = (table.table.shape()[at], table.table.tiling()[at]);
        Dim { size, grid_size, grid_rank: position[at], rule: Rule::Block(block) }
    });
    Ok(dims.collect())
}
