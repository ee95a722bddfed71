//! Results that ranks have a share of each: where the shares lie beside each other.

use partita_layout::IndexBox;

use super::super::window::{Dims, Window, c_strides};
use super::divide::Points;
use super::product::nothing;

/// How the parts of ranks stand beside each other along axes.
pub(super) struct Shares {
    /// For each rank its place among those with the same results, and where these are.
    pub places: Vec<Option<(usize, IndexBox)>>,
    pub n_shares: usize,
}

impl Shares {
    /// None if the parts form no grid.
    pub fn new(points: &Points, is_combined: impl Fn(usize) -> bool) -> Option<Self> {
        let mut found: Vec<(IndexBox, Vec<u64>, usize)> = Vec::new();
        for (rank, part) in points.iter().enumerate() {
            let Some(part) = part.as_ref().filter(|part| part.n_elements() > 0) else { continue };
            let mut results = part.clone();
            let axes = (0..part.start.len()).filter(|axis| is_combined(*axis));
            let at: Vec<u64> = axes.clone().map(|axis| part.start[axis]).collect();
            axes.for_each(|axis| (results.start[axis], results.shape[axis]) = (0, 1));
            found.push((results, at, rank));
        }
        let mut places = vec![None; points.len()];
        let mut n_shares = 0;
        for (results, at, rank) in &found {
            let before = found.iter().filter(|(same, other, _)| same == results && other < at);
            let place = before.count();
            n_shares = n_shares.max(place + 1);
            let is_apart =
                found.iter().all(|(other, ..)| other == results || !other.meets(results));
            if !is_apart {
                return None;
            }
            places[*rank] = Some((place, results.clone()));
        }
        Some(Self { places, n_shares })
    }

    /// Whether every result has a share of every place.
    pub fn is_complete(&self, shape: &[usize]) -> bool {
        let sizes = self.places.iter().flatten().map(|(_, results)| results.n_elements());
        sizes.sum::<u64>() == (self.n_shares * shape.iter().product::<usize>()) as u64
    }

    /// Where the shares are: side by side along a new first dimension, or along an axis.
    pub fn boxes(&self, ndim: usize, axis: Option<usize>) -> Vec<IndexBox> {
        let place = |one: &Option<(usize, IndexBox)>| match (one, axis) {
            (None, axis) => nothing(ndim + usize::from(axis.is_none())),
            (Some((place, results)), None) => {
                let start = [&[*place as u64][..], &results.start].concat();
                IndexBox { start, shape: [&[1][..], &results.shape].concat() }
            }
            (Some((place, results)), Some(axis)) => {
                let mut share = results.clone();
                share.start[axis] = *place as u64;
                share
            }
        };
        self.places.iter().map(place).collect()
    }
}

/// Elements per dimension.
pub(super) fn sizes(part: &IndexBox) -> Dims<usize> {
    part.shape.iter().map(|n| *n as usize).collect()
}

/// The window of results for points: it stands still along combined axes.
pub(super) fn combined_into(points: &[usize], results: &[usize], axes: u16) -> Window {
    let mut strides = c_strides(results);
    for (axis, stride) in strides.iter_mut().enumerate() {
        if axes >> axis & 1 == 1 {
            *stride = 0;
        }
    }
    Window::new(0, points.into(), strides)
}
