//! Which indices of a dimension lie in a halo, that is, are held beyond their owner's own copy.

use partita_layout::{Block, DimMap, Indices, Map, Part};

use super::track::Band;

/// With more coordinates than this, only those near a block are asked for their halos. Halos of
/// one width reach a block from its neighbours first, so the answer stays exact for them.
const MANY: u64 = 256;
const NEAR: u64 = 64;

/// Blocks cut where halos begin and end.
pub(super) fn split(dim: &DimMap, blocks: &[Band]) -> Vec<Band> {
    if !dim.holds_more() {
        return blocks.to_vec();
    }
    blocks.iter().flat_map(|block| split_one(dim, block)).collect()
}

/// Says of each block whether some of it lies in a halo.
pub(super) fn mark(dim: &DimMap, blocks: &mut [Band]) {
    if dim.holds_more() {
        for block in blocks {
            block.in_halo = !reached(dim, block).is_empty();
        }
    }
}

fn split_one(dim: &DimMap, block: &Band) -> Vec<Band> {
    let mut bands = Vec::new();
    let mut at = block.first;
    let mut put = |stop: i128, in_halo: bool| {
        if stop > at {
            let is_start = at == block.first;
            let length = (stop - at) as u64;
            bands.push(Band { first: at, length, is_start, in_halo, ..*block });
            at = stop;
        }
    };
    for (start, stop) in reached(dim, block) {
        put(start, false);
        put(stop, true);
    }
    put(block.stop(), false);
    bands
}

/// The parts of a block that lie in halos: disjoint intervals in order.
fn reached(dim: &DimMap, block: &Band) -> Vec<(i128, i128)> {
    let mut parts: Vec<(i128, i128)> = near(dim, block.coordinate)
        .flat_map(|coordinate| halos(dim, coordinate))
        .map(|(start, stop)| (block.first.max(start.into()), block.stop().min(stop.into())))
        .filter(|(start, stop)| start < stop)
        .collect();
    parts.sort_unstable();
    let mut joined: Vec<(i128, i128)> = Vec::new();
    for (start, stop) in parts {
        match joined.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(stop),
            _ => joined.push((start, stop)),
        }
    }
    joined
}

fn near(dim: &DimMap, coordinate: u64) -> impl Iterator<Item = u64> {
    let n = dim.n_coordinates();
    let (first, count) =
        if n <= MANY { (0, n) } else { (coordinate + (n - NEAR) % n, 2 * NEAR + 1) };
    (0..count).map(move |step| ((u128::from(first) + u128::from(step)) % u128::from(n)) as u64)
}

/// The halo of one coordinate as intervals inside the extent.
pub(super) fn halos(dim: &DimMap, coordinate: u64) -> Vec<(u64, u64)> {
    let (Map::Block(Block { halo, periodic, .. }), Indices::Range { start, length, .. }) =
        (dim.map(), dim.indices(coordinate, Part::Owned))
    else {
        return Vec::new();
    };
    let (extent, stop) = (dim.extent(), start + length);
    let (left, right) = halo.at(coordinate);
    if !periodic || extent == 0 {
        return vec![(start - left.min(start), start), (stop, stop + right.min(extent - stop))];
    }
    let before = (start % extent + (extent - left % extent)) % extent;
    [(before, left), (stop % extent, right)]
        .into_iter()
        .flat_map(|(from, width)| wrapped(from, width, extent))
        .collect()
}

fn wrapped(from: u64, width: u64, extent: u64) -> [(u64, u64); 2] {
    if width >= extent {
        return [(0, extent), (0, 0)];
    }
    let head = width.min(extent - from);
    [(from, from + head), (0, width - head)]
}
