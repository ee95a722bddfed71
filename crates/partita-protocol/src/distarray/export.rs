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
    let orders = match layout.form() {
        Form::Grid(form) => orders(form, n_ranks),
        Form::Boxes(_) => None,
    };
    if orders.is_none() {
        check_order(layout, n_ranks)?;
    }
    match layout.form() {
        Form::Grid(form) => grid_dims(form, rank, &orders.unwrap_or_default()),
        Form::Boxes(_) => box_dims(layout, rank, n_ranks),
    }
}

/// How much of a rank's buffer lies beyond the ends of the array, left and right, per dimension.
///
/// A periodic halo wraps there. The protocol has no indices for it, so it is not handed over.
#[must_use]
pub fn beyond_ends(layout: &Layout, rank: u64) -> Vec<(u64, u64)> {
    let Form::Grid(form) = layout.form() else { return vec![(0, 0); layout.ndim()] };
    let Some(place) = form.place(rank) else { return vec![(0, 0); layout.ndim()] };
    let dims = form.dims().iter().zip(&place.coordinates);
    dims.map(|(dim, coordinate)| wrapped(dim, *coordinate)).collect()
}

fn wrapped(dim: &DimMap, coordinate: u64) -> (u64, u64) {
    let Map::Block(map) = dim.map() else { return (0, 0) };
    if !map.periodic {
        return (0, 0);
    }
    let (left, right) = halo(dim, coordinate);
    let is_last = coordinate + 1 == dim.n_coordinates();
    (if coordinate == 0 { left } else { 0 }, if is_last { right } else { 0 })
}

/// For each axis the process coordinate of each place, where the ranks are such a product.
///
/// Blocks follow each other in the order of the processes; cycles and lists may stand anywhere.
fn orders(form: &GridForm, n_ranks: u64) -> Option<Vec<Vec<u64>>> {
    let (grid, ranks) = (form.grid().shape(), form.ranks());
    if grid.len() != form.dims().len() || ranks.count() != n_ranks {
        return None;
    }
    let mut orders = Vec::with_capacity(grid.len());
    let mut stride = n_ranks;
    for (n, dim) in grid.iter().zip(form.dims()) {
        stride /= n;
        let order: Vec<u64> = (0..*n).map(|at| ranks.rank_at(at * stride) / stride % n).collect();
        let may_differ = matches!(dim.map(), Map::Cyclic { .. } | Map::Unstructured(_));
        if !may_differ && !order.iter().copied().eq(0..*n) {
            return None;
        }
        orders.push(order);
    }
    let mut wanted = vec![0];
    for order in &orders {
        let longer = |rank: &u64| {
            let first = rank * order.len() as u64;
            order.iter().map(move |at| first + at)
        };
        wanted = wanted.iter().flat_map(longer).collect();
    }
    ranks.iter().eq(wanted).then_some(orders)
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

fn grid_dims(form: &GridForm, rank: u64, orders: &[Vec<u64>]) -> Result<Vec<Dim>, ProtocolError> {
    let grid = form.grid();
    if let Some(axis) = grid.partial_axes().first() {
        return Err(ProtocolError::Partial { axis: *axis });
    }
    let Some(place) = form.place(rank) else { return Ok(Vec::new()) };
    let coords = grid.coords(form.ranks().place_of(rank).unwrap_or(rank));
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
        let made = one_dim(at, dim, place.coordinates[at])?;
        let own = orders.get(at).and_then(|order| order.get(made.grid_rank as usize));
        Ok(Dim { grid_rank: own.copied().unwrap_or(made.grid_rank), ..made })
    });
    dims.collect()
}

fn one_dim(at: usize, dim: &DimMap, coordinate: u64) -> Result<Dim, ProtocolError> {
    let rule = match dim.map() {
        Map::Whole => Rule::Block(block(dim, 0, (0, 0), false)),
        Map::Cyclic { block } => {
            Rule::Cyclic { block: *block, start: first_of(dim, coordinate, *block) }
        }
        Map::Unstructured(lists) => Rule::Unstructured {
            indices: lists.list(coordinate).into(),
            one_to_one: lists.is_one_to_one(),
        },
        Map::Block(map) => {
            check_halos(at, dim)?;
            let (halo, beyond) = (halo(dim, coordinate), wrapped(dim, coordinate));
            let inside = (halo.0 - beyond.0, halo.1 - beyond.1);
            Rule::Block(block(dim, coordinate, inside, map.periodic))
        }
    };
    Ok(Dim { size: dim.extent(), grid_size: dim.n_coordinates(), grid_rank: coordinate, rule })
}

/// Where a cyclic coordinate starts; beyond the size where it has nothing.
fn first_of(dim: &DimMap, coordinate: u64, block: u64) -> u64 {
    let start = coordinate.checked_mul(block).filter(|start| *start <= i64::MAX as u64);
    start.unwrap_or(dim.extent())
}

fn block(dim: &DimMap, coordinate: u64, halo: (u64, u64), periodic: bool) -> Block {
    let (start, length) = match dim.indices(coordinate, Part::Owned) {
        Indices::Range { start, length, .. } => (start, length),
        _ => (0, 0),
    };
    Block { start, stop: start + length, halo, boundary: (0, 0), periodic, edge: Edge::Inside }
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
    for coordinate in 0..dim.n_coordinates() - 1 {
        let next = coordinate + 1;
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
        let edge = Edge::Inside;
        let block = Block { start, stop, halo: (0, 0), boundary: (0, 0), periodic: false, edge };
        let (size, grid_size) = (table.table.shape()[at], table.table.tiling()[at]);
        Dim { size, grid_size, grid_rank: position[at], rule: Rule::Block(block) }
    });
    Ok(dims.collect())
}
