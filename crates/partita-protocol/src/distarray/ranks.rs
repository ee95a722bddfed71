//! The dictionaries of all ranks: they must fit together. If they do, they are a layout.

use std::collections::HashMap;
use std::sync::Arc;

use partita_layout::{
    self as layout, BlockRule, GridSpec, Halo, Layout, Map, RanksSpec, number_of,
};

use crate::distarray::dims::{Block, Dim, Edge, Rule};
use crate::distarray::read::Distarray;
use crate::error::ProtocolError;
use crate::finding::Findings;
use crate::value::tuple_words;

/// The layout of an array, and the one by which its halos are filled where that is another.
#[derive(Debug)]
pub struct Layouts {
    /// Who holds what.
    pub layout: Layout,
    /// The same buffers with the edges of periodic dimensions as halos.
    pub halo: Option<Layout>,
}

/// Compares the dictionaries of all ranks in order; `None` where one did not pass by itself.
pub fn check_ranks(ranks: &[Option<Distarray>], found: &mut Findings) {
    let before = found.count();
    let known: Vec<(usize, &Distarray)> =
        ranks.iter().enumerate().filter_map(|(rank, one)| Some((rank, one.as_ref()?))).collect();
    let Some((first, model)) = known.first() else { return };
    for (rank, one) in &known[1..] {
        compare(*rank, one, *first, model, found);
    }
    if found.count() > before || known.len() < ranks.len() {
        return;
    }
    if !check_places(&known, found) {
        return;
    }
    for at in 0..model.dims.len() {
        check_dim(at, &known, found);
    }
}

fn compare(rank: usize, one: &Distarray, first: usize, model: &Distarray, found: &mut Findings) {
    let mut differs = |path: &str, here: String, there: String| {
        let message = format!("{here} on rank {rank}, {there} on rank {first}; make them equal");
        found.add(format!("ranks[{rank}].{path}"), "ranks-differ", message);
    };
    if one.dims.len() != model.dims.len() {
        let words = |n: usize| format!("{n} dimensions");
        return differs("dim_data", words(one.dims.len()), words(model.dims.len()));
    }
    if let (Some(here), Some(there)) = (&one.dtype, &model.dtype)
        && here != there
    {
        differs("buffer", format!("elements of {here}"), format!("of {there}"));
    }
    for (at, (a, b)) in one.dims.iter().zip(&model.dims).enumerate() {
        let path = |key: &str| format!("dim_data[{at}].{key}");
        if a.size != b.size {
            let hint = match &a.rule {
                Rule::Block(block) if block.stop - block.start == a.size => " (the local length?)",
                _ => "",
            };
            differs(&path("size"), format!("size {}{hint}", a.size), format!("{}", b.size));
        }
        if a.grid_size != b.grid_size {
            let words = |n: u64| format!("proc_grid_size {n}");
            differs(&path("proc_grid_size"), words(a.grid_size), words(b.grid_size));
        }
        if kind(&a.rule) != kind(&b.rule) {
            let words = |rule: &Rule| format!("dist_type '{}'", kind(rule));
            differs(&path("dist_type"), words(&a.rule), words(&b.rule));
        }
    }
}

fn kind(rule: &Rule) -> char {
    match rule {
        Rule::Block(_) => 'b',
        Rule::Cyclic { .. } => 'c',
        Rule::Unstructured { .. } => 'u',
    }
}

/// The ranks must fill the grid in C order.
fn check_places(ranks: &[(usize, &Distarray)], found: &mut Findings) -> bool {
    let before = found.count();
    let grid: Vec<u64> = ranks[0].1.dims.iter().map(|dim| dim.grid_size).collect();
    let product = grid.iter().try_fold(1_u64, |product, n| product.checked_mul(*n));
    if product != Some(ranks.len() as u64) {
        let message = format!(
            "proc_grid_size {} for {} ranks; let their product be the number of ranks",
            tuple_words(&grid),
            ranks.len()
        );
        found.add("dim_data", "grid-product", message);
        return false;
    }
    for (rank, one) in ranks {
        let coords: Vec<u64> = one.dims.iter().map(|dim| dim.grid_rank).collect();
        let place = number_of(&coords, &grid);
        if place != *rank as u64 {
            let message = format!(
                "rank {rank} has the coordinates {} of the grid {}, which belong to rank {place}; \
                 number the ranks in C order",
                tuple_words(&coords),
                tuple_words(&grid)
            );
            found.add(format!("ranks[{rank}].dim_data"), "grid-order", message);
        }
    }
    found.count() == before
}

/// The dimension of each coordinate; all ranks of a coordinate must say the same.
fn check_dim(at: usize, ranks: &[(usize, &Distarray)], found: &mut Findings) {
    let mut by_coordinate: Vec<Option<(usize, &Dim)>> =
        vec![None; ranks[0].1.dims[at].grid_size as usize];
    for (rank, one) in ranks {
        let dim = &one.dims[at];
        let (first, known) = by_coordinate[dim.grid_rank as usize].get_or_insert((*rank, dim));
        if !same(dim, known) {
            let message = format!(
                "rank {rank} and rank {first} have coordinate {} and differ; make their dimension \
                 dicts equal",
                dim.grid_rank
            );
            found.add(format!("ranks[{rank}].dim_data[{at}]"), "dim-data-differ", message);
        }
    }
    let dims: Vec<(usize, &Dim)> = by_coordinate.into_iter().flatten().collect();
    match &dims[0].1.rule {
        Rule::Block(_) => check_blocks(at, &dims, found),
        Rule::Cyclic { .. } => check_cyclic(at, &dims, found),
        Rule::Unstructured { .. } => check_lists(at, &dims, found),
    }
}

/// Equal but for boundary padding, which may differ at the edges.
fn same(a: &Dim, b: &Dim) -> bool {
    match (&a.rule, &b.rule) {
        (Rule::Block(x), Rule::Block(y)) if !x.periodic && !y.periodic => {
            (x.start, x.stop, x.halo) == (y.start, y.stop, y.halo)
        }
        (x, y) => x == y,
    }
}

fn blocks<'a>(dims: &'a [(usize, &'a Dim)]) -> impl Iterator<Item = (usize, &'a Block)> + Clone {
    dims.iter().filter_map(|(rank, dim)| match &dim.rule {
        Rule::Block(block) => Some((*rank, block)),
        _ => None,
    })
}

fn check_blocks(at: usize, dims: &[(usize, &Dim)], found: &mut Findings) {
    let path = |rank: usize, key: &str| format!("ranks[{rank}].dim_data[{at}].{key}");
    let flag = |periodic| if periodic { "True" } else { "False" };
    for ((rank, a), (next, b)) in blocks(dims).zip(blocks(dims).skip(1)) {
        if a.periodic != b.periodic {
            let (here, there) = (flag(b.periodic), flag(a.periodic));
            let message =
                format!("periodic {here} on rank {next}, {there} on rank {rank}; make them equal");
            found.add(path(next, "periodic"), "ranks-differ", message);
        }
        if a.halo.1 != b.halo.0 {
            let message = format!(
                "right padding {} of rank {rank}, left padding {} of rank {next}; make them equal",
                a.halo.1, b.halo.0
            );
            found.add(path(next, "padding"), "padding-neighbor", message);
        } else if b.start != a.stop {
            let (reason, word, low, high) = if b.start > a.stop {
                ("blocks-gap", "no rank owns", a.stop, b.start)
            } else {
                ("blocks-overlap", "two ranks own", b.start, a.stop)
            };
            let message = format!(
                "{word} indices [{low}, {high}) of dimension {at}: rank {rank} stops at {}, rank {next} \
                 starts at {}; let the stop of one be the start of the next",
                a.stop, b.start
            );
            found.add(path(next, "start"), reason, message);
        }
        check_width(a.halo.1, b, next, path(rank, "padding"), found);
        check_width(b.halo.0, a, rank, path(next, "padding"), found);
    }
    check_ends(at, dims, found);
}

/// A halo must not reach beyond the neighbour.
fn check_width(width: u64, neighbor: &Block, rank: usize, path: String, found: &mut Findings) {
    let n_owned = neighbor.stop - neighbor.start;
    if width > n_owned {
        let message =
            format!("padding {width} towards rank {rank}, which owns {n_owned}; use no more");
        found.add(path, "padding-beyond-neighbor", message);
    }
}

/// On a periodic dimension the last rank is the neighbour of the first.
fn check_ends(at: usize, dims: &[(usize, &Dim)], found: &mut Findings) {
    let Some(((rank, first), (last_rank, last))) = blocks(dims).next().zip(blocks(dims).last())
    else {
        return;
    };
    if !first.periodic {
        return;
    }
    let is_padded = |edge: Edge, boundary: u64| edge == Edge::Outside || boundary > 0;
    let both = is_padded(first.edge, first.boundary.0) && is_padded(last.edge, last.boundary.1);
    if both && first.edge != last.edge {
        let message = format!(
            "the size counts the padding of one end, of rank {rank} or of rank {last_rank}, and not \
             that of the other; count both or none"
        );
        found.add(format!("ranks[{rank}].dim_data[{at}].padding"), "padding-neighbor", message);
        return;
    }
    let outside = (first.edge == Edge::Outside).then_some((first.halo.0, last.halo.1));
    let (left, right) = outside.unwrap_or((first.boundary.0, last.boundary.1));
    let path = format!("ranks[{rank}].dim_data[{at}].padding");
    // One side may pad alone: no counterpart then, and nothing to compare.
    if left != right && left != 0 && right != 0 && dims.len() > 1 {
        let message = format!(
            "left padding {left} of rank {rank}, right padding {right} of rank {last_rank}, which meet \
             on a periodic dimension; make them equal"
        );
        found.add(path.clone(), "padding-neighbor", message);
    }
    if outside.is_some() {
        check_width(left, last, last_rank, path.clone(), found);
        check_width(right, first, rank, path, found);
    }
}

fn check_cyclic(at: usize, dims: &[(usize, &Dim)], found: &mut Findings) {
    let before = found.count();
    let block = |dim: &Dim| match dim.rule {
        Rule::Cyclic { block, .. } => block,
        _ => 0,
    };
    for (rank, dim) in &dims[1..] {
        if block(dim) != block(dims[0].1) {
            let message = format!(
                "block_size {} on rank {rank}, {} on rank {}; make them equal",
                block(dim),
                block(dims[0].1),
                dims[0].0
            );
            found.add(format!("ranks[{rank}].dim_data[{at}].block_size"), "ranks-differ", message);
        }
    }
    if found.count() == before {
        check_turns(at, dims, block(dims[0].1), found);
    }
}

/// Every block of the first round must be some rank's first, and of one only.
fn check_turns(at: usize, dims: &[(usize, &Dim)], block: u64, found: &mut Findings) {
    let n_first = dims[0].1.size.div_ceil(block).min(dims.len() as u64);
    let mut starters: Vec<Option<usize>> = vec![None; n_first as usize];
    for (rank, dim) in dims {
        let Some(turn) = turn(dim) else { continue };
        if let Some(first) = starters[turn as usize].replace(*rank) {
            let message = format!(
                "rank {first} and rank {rank} start at {}; let every rank start at a block of its own",
                turn * block
            );
            let path = format!("ranks[{rank}].dim_data[{at}].start");
            return found.add(path, "cyclic-start", message);
        }
    }
    if let Some(turn) = starters.iter().position(Option::is_none) {
        let message =
            format!("no rank starts at {}; let one of them start there", turn as u64 * block);
        found.add(format!("dim_data[{at}].start"), "cyclic-start", message);
    }
}

/// Which block of the first round a cyclic coordinate has; none where it has none.
fn turn(dim: &Dim) -> Option<u64> {
    match dim.rule {
        Rule::Cyclic { block, start } if start < dim.size => Some(start / block),
        _ => None,
    }
}

fn check_lists(at: usize, dims: &[(usize, &Dim)], found: &mut Findings) {
    let lists = dims.iter().filter_map(|(rank, dim)| match &dim.rule {
        Rule::Unstructured { indices, one_to_one } => Some((*rank, indices, *one_to_one)),
        _ => None,
    });
    let mut owners: HashMap<i64, usize> = HashMap::new();
    let mut n_listed = 0_u64;
    let is_one_to_one = lists.clone().any(|(_, _, one_to_one)| one_to_one);
    for (rank, indices, _) in lists {
        n_listed += indices.len() as u64;
        for index in indices.iter() {
            let first = *owners.entry(*index).or_insert(rank);
            if first != rank && is_one_to_one {
                let message = format!(
                    "index {index} is on rank {first} and on rank {rank} though one_to_one is True; \
                     list it once or drop one_to_one"
                );
                let path = format!("ranks[{rank}].dim_data[{at}].indices");
                found.add(path, "indices-not-one-to-one", message);
                return;
            }
        }
    }
    let size = dims[0].1.size;
    if size != owners.len() as u64 && size != n_listed {
        let message = format!(
            "the ranks list {} distinct indices, the size is {size}; make them equal",
            owners.len()
        );
        found.add(format!("dim_data[{at}].indices"), "indices-total", message);
    }
}

/// The layout that dictionaries which passed [`check_ranks`] describe.
///
/// # Errors
/// What the layout refuses.
pub fn layouts(ranks: &[Distarray]) -> Result<Layouts, ProtocolError> {
    let ndim = ranks.first().map_or(0, |one| one.dims.len());
    let by_coordinate: Vec<Vec<&Dim>> = (0..ndim).map(|at| coordinates(at, ranks)).collect();
    let maps: Vec<(u64, Map)> = by_coordinate.iter().map(|dims| map(dims)).collect();
    let grid: Vec<u64> = by_coordinate.iter().map(|dims| dims.len() as u64).collect();
    let build = |maps: &[(u64, Map)]| -> Result<Layout, ProtocolError> {
        let shape: Vec<u64> = maps.iter().map(|(size, _)| *size).collect();
        let maps = maps.iter().map(|(_, map)| map.clone()).collect();
        let ranks = ranks_in_turn(&by_coordinate).map(RanksSpec::List);
        let spec = GridSpec { maps, grid: Some(grid.clone()), ranks, ..GridSpec::default() };
        Ok(Layout::new(&shape, &spec)?)
    };
    let folded: Vec<Option<(u64, Map)>> = by_coordinate.iter().map(|dims| folded(dims)).collect();
    let halo = folded.iter().any(Option::is_some).then(|| {
        let pairs = folded.into_iter().zip(&maps);
        build(
            &pairs
                .map(|(folded, plain)| folded.unwrap_or_else(|| plain.clone()))
                .collect::<Vec<_>>(),
        )
    });
    Ok(Layouts { layout: build(&maps)?, halo: halo.transpose()? })
}

/// The dimension as each coordinate has it, in the order of what they have.
fn coordinates(at: usize, ranks: &[Distarray]) -> Vec<&Dim> {
    let mut dims: Vec<&Dim> = ranks.iter().map(|one| &one.dims[at]).collect();
    dims.sort_by_key(|dim| dim.grid_rank);
    dims.dedup_by_key(|dim| dim.grid_rank);
    if matches!(dims[0].rule, Rule::Cyclic { .. }) {
        // Those without a block come last; the others have the first blocks, each one of them.
        dims.sort_by_key(|dim| turn(dim).unwrap_or(u64::MAX));
    }
    dims
}

/// The rank at each place of the grid, where that is not the place itself.
fn ranks_in_turn(by_coordinate: &[Vec<&Dim>]) -> Option<Vec<u64>> {
    let mut ranks = vec![0];
    for dims in by_coordinate {
        let longer = |rank: &u64| {
            let first = rank * dims.len() as u64;
            dims.iter().map(move |dim| first + dim.grid_rank)
        };
        ranks = ranks.iter().flat_map(longer).collect();
    }
    (0..).zip(&ranks).any(|(place, rank)| place != *rank).then_some(ranks)
}

fn map(dims: &[&Dim]) -> (u64, Map) {
    let size = dims[0].size;
    match &dims[0].rule {
        Rule::Cyclic { block, .. } => (size, Map::Cyclic { block: *block }),
        Rule::Unstructured { .. } => unstructured(dims),
        Rule::Block(_) => {
            let blocks: Vec<&Block> = blocks_of(dims).collect();
            let widths: Vec<(u64, u64)> = blocks.iter().map(|block| block.halo).collect();
            if dims.len() == 1 && widths[0] == (0, 0) && !blocks[0].periodic {
                return (size, Map::Whole);
            }
            let sizes: Vec<u64> = blocks.iter().map(|block| block.stop - block.start).collect();
            (size, block_map(sizes, widths, blocks[0].periodic))
        }
    }
}

fn blocks_of<'a>(dims: &'a [&'a Dim]) -> impl Iterator<Item = &'a Block> {
    dims.iter().filter_map(|dim| match &dim.rule {
        Rule::Block(block) => Some(block),
        _ => None,
    })
}

fn block_map(sizes: Vec<u64>, widths: Vec<(u64, u64)>, periodic: bool) -> Map {
    let halo = Halo::Each(widths.into());
    Map::Block(layout::Block { rule: BlockRule::Sizes(sizes.into()), halo, periodic })
}

fn unstructured(dims: &[&Dim]) -> (u64, Map) {
    let mut lists = Vec::new();
    let mut is_one_to_one = false;
    for dim in dims {
        if let Rule::Unstructured { indices, one_to_one } = &dim.rule {
            lists.push(indices.to_vec());
            is_one_to_one |= *one_to_one;
        }
    }
    let lists = if is_one_to_one {
        layout::Unstructured::one_to_one(&lists)
    } else {
        layout::Unstructured::new(&lists)
    };
    (lists.n_distinct(), Map::Unstructured(Arc::new(lists)))
}

/// A periodic dimension whose edges lie inside the size, with the edges as halos.
fn folded(dims: &[&Dim]) -> Option<(u64, Map)> {
    let blocks: Vec<&Block> = blocks_of(dims).collect();
    let (first, last) = (blocks.first()?, blocks.last()?);
    let (left, right) = (first.boundary.0, last.boundary.1);
    if !first.periodic || (left, right) == (0, 0) {
        return None;
    }
    let n_last = blocks.len() - 1;
    let mut sizes: Vec<u64> = blocks.iter().map(|block| block.stop - block.start).collect();
    let mut widths: Vec<(u64, u64)> = blocks.iter().map(|block| block.halo).collect();
    sizes[0] -= left;
    sizes[n_last] -= right;
    widths[0].0 += left;
    widths[n_last].1 += right;
    let size = dims[0].size - left - right;
    // Nothing is left to take from.
    (size > 0).then(|| (size, block_map(sizes, widths, true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dim(periodic: bool, boundary: (u64, u64)) -> Dim {
        let (halo, edge) = ((0, 0), Edge::Inside);
        let rule = Rule::Block(Block { start: 0, stop: 4, halo, boundary, periodic, edge });
        Dim { size: 4, grid_size: 1, grid_rank: 0, rule }
    }

    #[test]
    fn padding_at_the_ends_may_differ_where_nothing_wraps_around() {
        assert!(same(&dim(false, (1, 0)), &dim(false, (0, 2))));
        assert!(!same(&dim(true, (1, 0)), &dim(true, (0, 2))));
        assert!(!same(&dim(true, (1, 0)), &dim(false, (1, 0))));
        assert!(!same(&dim(false, (1, 0)), &dim(true, (1, 0))));
        assert!(same(&dim(true, (1, 1)), &dim(true, (1, 1))));
    }

    #[test]
    fn one_end_of_a_periodic_dimension_may_pad_alone() {
        let with = |edge: Edge, halo: (u64, u64)| {
            let (boundary, periodic) = ((0, 0), true);
            let rule = Rule::Block(Block { start: 0, stop: 4, halo, boundary, periodic, edge });
            Dim { size: 8, grid_size: 2, grid_rank: 0, rule }
        };
        let (first, last) = (with(Edge::Outside, (1, 1)), with(Edge::Inside, (1, 0)));
        let mut found = Findings::new(crate::Strictness::Lenient);
        check_ends(0, &[(0, &first), (1, &last)], &mut found);
        assert_eq!(found.count(), 0);
        let last = with(Edge::Outside, (1, 2));
        check_ends(0, &[(0, &first), (1, &last)], &mut found);
        assert_eq!(found.count(), 1);
    }
}
