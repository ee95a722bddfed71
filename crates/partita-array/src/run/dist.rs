//! Distributed arrays while a program runs: which boxes this rank has, and which the others.
//!
//! For k cut dimensions a rank has 3^k parts: before, own, after along each, the last cut running
//! fastest. What it owns stands in the middle, the others are copies of what neighbours own.

use std::cell::RefCell;
use std::rc::Rc;

use partita_ir::{DistEnv, Size};
use partita_kernel::Dtype;
use partita_layout::IndexBox;
use partita_layout::dist::default_partition;

use super::problem::{Outcome, problem};
use crate::boxes::tile;
use crate::local::Array;

/// One rank's view of a distributed array.
#[derive(Debug)]
pub(super) struct DistArray {
    pub shape: Vec<u64>,
    /// Cut dimensions, in increasing order.
    pub cuts: Vec<usize>,
    /// Ranks along each cut dimension, for the default partition.
    pub grid: Vec<u64>,
    /// Global index of the first part.
    pub offsets: Vec<u64>,
    pub parts: Vec<Array>,
    /// What all ranks have, once it is known.
    pub places: RefCell<Option<Rc<Places>>>,
}

/// What every rank has of an array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Places {
    pub owned: Vec<IndexBox>,
    pub held: Vec<IndexBox>,
}

impl Places {
    /// Ranks own boxes and hold nothing else.
    pub fn owned(boxes: Vec<IndexBox>) -> Rc<Self> {
        Rc::new(Self { held: boxes.clone(), owned: boxes })
    }

    /// Whether every element is owned by one rank.
    pub fn owned_once(&self, shape: &[u64]) -> bool {
        tile(&self.owned, shape)
    }
}

impl DistArray {
    /// An array of which every rank owns a box and holds nothing else.
    pub fn owned(shape: &[u64], cuts: &Cuts, start: &[u64], part: &Array) -> Self {
        let n_parts = 3_usize.pow(cuts.dims.len() as u32);
        let empty = |number: usize| {
            let mut sizes: Vec<i64> = part.shape().iter().map(|n| *n as i64).collect();
            for (axis, at) in positions(number, cuts.dims.len()).into_iter().enumerate() {
                if at != 1 {
                    sizes[cuts.dims[axis]] = 0;
                }
            }
            let zeros = vec![0; sizes.len()];
            part.slice(&zeros, &sizes, &vec![1; sizes.len()])
        };
        let middle = n_parts / 2;
        let parts = (0..n_parts)
            .map(|number| match number == middle {
                true => part.clone(),
                false => empty(number).unwrap_or_else(|_| part.clone()),
            })
            .collect();
        Self {
            shape: shape.to_vec(),
            cuts: cuts.dims.clone(),
            grid: cuts.grid.clone(),
            offsets: start.to_vec(),
            parts,
            places: RefCell::default(),
        }
    }

    /// The same with what all ranks have.
    pub fn known(self, places: Rc<Places>) -> Self {
        Self { places: RefCell::new(Some(places)), ..self }
    }

    pub fn dtype(&self) -> Dtype {
        self.own().dtype()
    }

    pub fn own(&self) -> &Array {
        &self.parts[self.parts.len() / 2]
    }

    pub fn cuts(&self) -> Cuts {
        Cuts { dims: self.cuts.clone(), grid: self.grid.clone() }
    }

    /// Sizes before, own, after along a cut.
    fn sizes_along(&self, axis: usize) -> [u64; 3] {
        let step = 3_usize.pow((self.cuts.len() - 1 - axis) as u32);
        let middle = self.parts.len() / 2;
        let dim = self.cuts[axis];
        [middle - step, middle, middle + step].map(|part| self.parts[part].shape()[dim] as u64)
    }

    /// The box that this rank owns.
    pub fn owned_box(&self) -> IndexBox {
        let shape: Vec<u64> = self.own().shape().iter().map(|n| *n as u64).collect();
        let mut start = self.offsets.clone();
        for (axis, dim) in self.cuts.iter().enumerate() {
            start[*dim] += self.sizes_along(axis)[0];
        }
        IndexBox { start, shape }
    }

    /// The box of all parts together.
    pub fn held_box(&self) -> IndexBox {
        let mut shape: Vec<u64> = self.own().shape().iter().map(|n| *n as u64).collect();
        for (axis, dim) in self.cuts.iter().enumerate() {
            shape[*dim] = self.sizes_along(axis).iter().sum();
        }
        IndexBox { start: self.offsets.clone(), shape }
    }

    /// Parts that have elements, each with its box.
    pub fn pieces(&self) -> Vec<(IndexBox, Array)> {
        let boxes = part_boxes(&self.owned_box(), &self.held_box(), &self.cuts);
        boxes
            .into_iter()
            .zip(&self.parts)
            .filter(|(b, _)| b.n_elements() > 0)
            .map(|(b, part)| (b, part.clone()))
            .collect()
    }

    /// What this rank has of a box, in pieces.
    pub fn pieces_of(&self, wanted: &IndexBox) -> Outcome<Vec<(IndexBox, Array)>> {
        let mut found = Vec::new();
        for (place, part) in self.pieces() {
            if let Some(common) = place.intersection(wanted) {
                let view = sliced(&part, &place, &common)?;
                found.push((common, view));
            }
        }
        let n_found: u64 = found.iter().map(|(place, _)| place.n_elements()).sum();
        if n_found != wanted.n_elements() {
            let held = self.held_box();
            return Err(problem(format!(
                "this rank has the box {} of the array and needs {}; repartition it first",
                words(&held),
                words(wanted)
            )));
        }
        Ok(found)
    }
}

/// The part of an array at `place` that lies in `wanted`, which is inside.
pub(super) fn sliced(part: &Array, place: &IndexBox, wanted: &IndexBox) -> Outcome<Array> {
    let offsets: Vec<i64> =
        wanted.start.iter().zip(&place.start).map(|(w, p)| *w as i64 - *p as i64).collect();
    let sizes: Vec<i64> = wanted.shape.iter().map(|n| *n as i64).collect();
    Ok(part.slice(&offsets, &sizes, &vec![1; sizes.len()])?)
}

/// A box in words: offsets and sizes.
pub(super) fn words(one: &IndexBox) -> String {
    format!("at {:?} of {:?}", one.start, one.shape)
}

/// Which dimensions are cut, for how many ranks each.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Cuts {
    pub dims: Vec<usize>,
    pub grid: Vec<u64>,
}

impl Cuts {
    /// The specification's form: all ranks in a row cut the first dimension.
    pub fn rows(ndim: usize, n_ranks: u64) -> Self {
        let dims = if ndim == 0 { vec![] } else { vec![0] };
        Self { grid: vec![n_ranks; dims.len()], dims }
    }

    /// As a type says.
    pub fn of(env: &DistEnv, ndim: usize, n_ranks: u64) -> Outcome<Self> {
        let Some(grid) = &env.grid else { return Ok(Self::rows(ndim, n_ranks)) };
        let mut shape: Vec<Option<u64>> = grid.shape.iter().map(|size| size.known()).collect();
        let known: u64 = shape.iter().flatten().product();
        if let Some(open) = shape.iter().position(Option::is_none) {
            shape[open] = Some(n_ranks / known.max(1));
        }
        let shape: Option<Vec<u64>> = shape.into_iter().collect();
        let fits = |shape: &Vec<u64>| shape.iter().product::<u64>() == n_ranks;
        let shape = shape.filter(fits).ok_or_else(|| {
            let sizes = grid.shape.iter().map(Size::to_string).collect::<Vec<_>>().join("x");
            problem(format!("a grid of {sizes} does not have {n_ranks} ranks; run it on as many"))
        })?;
        Ok(Self { dims: grid.cut.clone(), grid: shape })
    }

    /// What a rank owns by default.
    pub fn default_box(&self, shape: &[u64], rank: u64) -> Outcome<IndexBox> {
        let mut place = IndexBox { start: vec![0; shape.len()], shape: shape.to_vec() };
        let mut rest = rank;
        for (dim, &n_ranks) in self.dims.iter().zip(&self.grid).rev() {
            let part = default_partition(n_ranks, rest % n_ranks.max(1), &shape[*dim..=*dim])?[0];
            (place.start[*dim], place.shape[*dim]) = (part.offset, part.size);
            rest /= n_ranks.max(1);
        }
        Ok(place)
    }

    /// What all ranks own by default.
    pub fn default_boxes(&self, shape: &[u64], n_ranks: u64) -> Outcome<Vec<IndexBox>> {
        (0..n_ranks).map(|rank| self.default_box(shape, rank)).collect()
    }
}

/// Boxes of all 3^k parts, empty ones too.
pub(super) fn part_boxes(owned: &IndexBox, held: &IndexBox, cuts: &[usize]) -> Vec<IndexBox> {
    let n_parts = 3_usize.pow(cuts.len() as u32);
    let part = |number: usize| {
        let mut place = held.clone();
        for (axis, at) in positions(number, cuts.len()).into_iter().enumerate() {
            let dim = cuts[axis];
            let (low, high) = (held.start[dim], held.stop(dim));
            let first = owned.start[dim].clamp(low, high);
            let last = owned.stop(dim).clamp(first, high);
            let (start, stop) = [(low, first), (first, last), (last, high)][at];
            (place.start[dim], place.shape[dim]) = (start, stop - start);
        }
        place
    };
    (0..n_parts).map(part).collect()
}

/// For each cut, 0 before, 1 own, 2 after.
fn positions(number: usize, n_cuts: usize) -> Vec<usize> {
    (0..n_cuts).rev().map(|axis| number / 3_usize.pow(axis as u32) % 3).collect()
}
