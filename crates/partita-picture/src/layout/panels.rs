//! Panels: which two-dimensional slices of an array of more dimensions to show.
//!
//! One slice per coordinate of the leading dimensions, at the first index that it owns: slices
//! between them look the same, halo marks aside.

use std::collections::BTreeSet;

use partita_layout::{BlockRule, Boxes, DimMap, Form, Layout, Map, Part};

use super::track::{block_at, edges, smallest};

/// One slice over the leading dimensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Panel {
    /// Index in each leading dimension.
    pub at: Vec<i128>,
}

/// The slices worth showing, and how many there are in all.
#[derive(Debug)]
pub(super) struct Panels {
    pub shown: Vec<Panel>,
    pub n_panels: u128,
}

impl Panels {
    /// At most `most` slices of a layout without empty dimensions.
    pub(super) fn new(layout: &Layout, most: usize) -> Self {
        let n_leading = layout.ndim().saturating_sub(2);
        let mut shown = vec![Panel { at: Vec::new() }];
        let mut n_panels = 1_u128;
        for dim in 0..n_leading {
            let (picks, count) = match layout.form() {
                Form::Grid(form) => (picks(&form.dims()[dim], most), n_owning(&form.dims()[dim])),
                Form::Boxes(boxes) => picks_of_boxes(boxes, dim, layout.shape()[dim], most),
            };
            n_panels = n_panels.saturating_mul(count.into());
            shown = shown
                .iter()
                .flat_map(|panel| picks.iter().map(|pick| panel.with(*pick)))
                .take(most)
                .collect();
        }
        Self { shown, n_panels }
    }
}

impl Panel {
    fn with(&self, index: i128) -> Self {
        let mut at = self.at.clone();
        at.push(index);
        Self { at }
    }

    /// Such as `[0, :, :]`.
    pub(super) fn title(&self) -> String {
        let at: String = self.at.iter().map(|index| format!("{index}, ")).collect();
        format!("[{at}:, :]")
    }
}

/// The first index of different coordinates.
fn picks(dim: &DimMap, most: usize) -> Vec<i128> {
    let mut seen = BTreeSet::new();
    if let Map::Unstructured(lists) = dim.map() {
        let indices = smallest(lists, 64 * most).into_keys();
        let fresh = indices.filter(|index| seen.insert(lists.owner(*index).map(|owner| owner.0)));
        return fresh.take(most).map(i128::from).collect();
    }
    let mut picks = Vec::new();
    let mut at = 0;
    while at < dim.extent() && picks.len() < most {
        let block = block_at(dim, at);
        at = block.stop() as u64;
        if !seen.insert(Some(block.coordinate)) {
            break;
        }
        picks.push(block.first);
    }
    picks
}

/// Number of coordinates that own something.
fn n_owning(dim: &DimMap) -> u64 {
    let (n, extent) = (dim.n_coordinates(), dim.extent());
    match dim.map() {
        Map::Whole => 1,
        Map::Cyclic { block } => n.min(extent.div_ceil(*block)),
        Map::Block(block) => match &block.rule {
            BlockRule::First | BlockRule::Last => n.min(extent),
            BlockRule::Ceil => extent.div_ceil(extent.div_ceil(n).max(1)),
            BlockRule::Sizes(sizes) => sizes.iter().filter(|size| **size > 0).count() as u64,
        },
        Map::Unstructured(_) => {
            (0..n).filter(|coordinate| dim.count(*coordinate, Part::Owned) > 0).count() as u64
        }
    }
}

fn picks_of_boxes(boxes: &Boxes, dim: usize, extent: u64, most: usize) -> (Vec<i128>, u64) {
    let mut edges = edges(boxes, dim, extent);
    edges.remove(&extent);
    (edges.iter().take(most).map(|edge| i128::from(*edge)).collect(), edges.len() as u64)
}
