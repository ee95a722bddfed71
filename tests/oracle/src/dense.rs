//! The dense model: every element of every buffer, written out.

use crate::case::{Case, CaseForm, CaseMap, CaseRule};

/// A layout with everything listed.
#[derive(Debug, Clone)]
pub struct Dense {
    /// Places in order.
    pub places: Vec<DensePlace>,
}

/// One place of a layout.
#[derive(Debug, Clone)]
pub struct DensePlace {
    /// Its rank.
    pub rank: u64,
    /// Its number among replicas, and the number of replicas.
    pub replica: u64,
    /// Its number among summands.
    pub summand: u64,
    /// Its buffers.
    pub buffers: Vec<DenseBuffer>,
}

/// One local buffer.
#[derive(Debug, Clone)]
pub struct DenseBuffer {
    /// Local shape.
    pub shape: Vec<u64>,
    /// Elements in C order: global index, and whether it is owned here.
    pub elements: Vec<(Vec<i64>, bool)>,
}

impl Dense {
    /// Lists everything.
    #[must_use]
    pub fn new(case: &Case) -> Self {
        match &case.form {
            CaseForm::Boxes { pieces } => boxes(pieces),
            CaseForm::Grid { maps, grid, ranks, partial } => {
                let axes = axes(maps, grid, partial);
                let places = (0..ranks.len())
                    .map(|place| {
                        let coords = coords(place as u64, grid);
                        grid_place(case, maps, (grid, partial), &axes, &coords, ranks[place])
                    })
                    .collect();
                Self { places }
            }
        }
    }

    /// First place that owns an index: rank, buffer, local position.
    #[must_use]
    pub fn owner(&self, index: &[i64]) -> Option<(u64, usize, Vec<u64>)> {
        self.places.iter().find_map(|place| {
            place.buffers.iter().enumerate().find_map(|(number, buffer)| {
                let owned = |(found, owned): &(Vec<i64>, bool)| *owned && found == index;
                let flat = buffer.elements.iter().position(owned)?;
                Some((place.rank, number, coords(flat as u64, &buffer.shape)))
            })
        })
    }

    /// The place of a rank.
    #[must_use]
    pub fn place(&self, rank: u64) -> Option<&DensePlace> {
        self.places.iter().find(|place| place.rank == rank)
    }

    /// Number of different summands.
    #[must_use]
    pub fn n_summands(&self) -> u64 {
        self.places.iter().map(|place| place.summand + 1).max().unwrap_or(1)
    }
}

/// Digits of a number, last fastest.
#[must_use]
pub fn coords(mut number: u64, lengths: &[u64]) -> Vec<u64> {
    let mut digits = vec![0; lengths.len()];
    for (digit, length) in digits.iter_mut().zip(lengths).rev() {
        *digit = number % length;
        number /= length;
    }
    digits
}

fn axes(maps: &[CaseMap], grid: &[u64], partial: &[usize]) -> Vec<Option<usize>> {
    let mut free = (0..grid.len()).filter(|axis| !partial.contains(axis));
    maps.iter()
        .enumerate()
        .map(|(dim, map)| match map {
            CaseMap::Whole => None,
            _ if grid.len() == maps.len() => Some(dim),
            _ => free.next(),
        })
        .collect()
}

fn grid_place(
    case: &Case,
    maps: &[CaseMap],
    (grid, partial): (&[u64], &[usize]),
    axes: &[Option<usize>],
    coords: &[u64],
    rank: u64,
) -> DensePlace {
    let (mut replica, mut summand) = (0, 0);
    for axis in 0..grid.len() {
        if partial.contains(&axis) {
            summand = summand * grid[axis] + coords[axis];
        } else if !axes.contains(&Some(axis)) {
            replica = replica * grid[axis] + coords[axis];
        }
    }
    let per_dim: Vec<Vec<(i64, bool)>> = maps
        .iter()
        .enumerate()
        .map(|(dim, map)| {
            let (k, p) = axes[dim].map_or((0, 1), |axis| (coords[axis], grid[axis]));
            held(map, case.shape[dim], k, p)
        })
        .collect();
    DensePlace { rank, replica, summand, buffers: vec![product(&per_dim)] }
}

fn product(per_dim: &[Vec<(i64, bool)>]) -> DenseBuffer {
    let shape: Vec<u64> = per_dim.iter().map(|list| list.len() as u64).collect();
    let n_elements: u64 = shape.iter().product();
    let elements = (0..n_elements)
        .map(|flat| {
            let at = coords(flat, &shape);
            let each = at.iter().zip(per_dim).map(|(position, list)| list[*position as usize]);
            let (index, owned): (Vec<i64>, Vec<bool>) = each.unzip();
            (index, owned.into_iter().all(|owned| owned))
        })
        .collect();
    DenseBuffer { shape, elements }
}

/// Indices in buffer order, and whether they are owned.
fn held(map: &CaseMap, n: u64, k: u64, p: u64) -> Vec<(i64, bool)> {
    match map {
        CaseMap::Whole => (0..n as i64).map(|i| (i, true)).collect(),
        CaseMap::Cyclic(b) => {
            (0..n).filter(|i| (i / b) % p == k).map(|i| (i as i64, true)).collect()
        }
        CaseMap::Lists(lists) => lists[k as usize]
            .iter()
            .map(|index| (*index, lists[..k as usize].iter().all(|l| !l.contains(index))))
            .collect(),
        CaseMap::Block { rule, halos, periodic } => {
            let sizes = block_sizes(rule, n, p);
            let start: u64 = sizes[..k as usize].iter().sum();
            let stop = start + sizes[k as usize];
            let (left, right) = halos[k as usize];
            let (from, to) = (start as i64 - left as i64, stop as i64 + right as i64);
            let owned = start as i64..stop as i64;
            if n == 0 {
                return vec![];
            }
            (from..to)
                .filter(|i| *periodic || (0..n as i64).contains(i))
                .map(|i| (i.rem_euclid(n as i64), owned.contains(&i)))
                .collect()
        }
    }
}

fn block_sizes(rule: &CaseRule, n: u64, p: u64) -> Vec<u64> {
    match rule {
        CaseRule::First => (0..p).map(|k| n / p + u64::from(k < n % p)).collect(),
        CaseRule::Last => (0..p).map(|k| n / p + u64::from(k + n % p >= p)).collect(),
        CaseRule::Ceil => {
            let size = n.div_ceil(p);
            (0..p).map(|k| n.saturating_sub(k * size).min(size)).collect()
        }
        CaseRule::Sizes(sizes) => sizes.clone(),
    }
}

fn boxes(pieces: &[Vec<(Vec<u64>, Vec<u64>)>]) -> Dense {
    let mut taken = std::collections::HashSet::new();
    let places = pieces
        .iter()
        .enumerate()
        .map(|(rank, own)| DensePlace {
            rank: rank as u64,
            replica: 0,
            summand: 0,
            buffers: own
                .iter()
                .map(|(start, shape)| {
                    let n_elements: u64 = shape.iter().product();
                    let elements = (0..n_elements)
                        .map(|flat| {
                            let at = coords(flat, shape);
                            let index: Vec<i64> =
                                at.iter().zip(start).map(|(a, s)| (a + s) as i64).collect();
                            let owned = taken.insert(index.clone());
                            (index, owned)
                        })
                        .collect();
                    DenseBuffer { shape: shape.clone(), elements }
                })
                .collect(),
        })
        .collect();
    Dense { places }
}
