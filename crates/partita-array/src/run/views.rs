//! Slices of distributed arrays: views of each part, counted in the slice.

use std::cell::RefCell;
use std::rc::Rc;

use partita_layout::{IndexBox, Slice};

use super::dist::{Cuts, DistArray, Places, part_boxes};
use super::problem::{Outcome, Problem, problem};
use crate::local::Array;

/// A strided slice of an array, one per dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slicing(pub Vec<Slice>);

/// What a slice is taken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// A whole array: the slice stays inside along every dimension.
    Array,
    /// An array of one rank. Passes write windows on parts, of which one without entries may
    /// lie anywhere along the other dimensions.
    Window,
}

impl Slicing {
    pub fn new(
        offsets: &[i64],
        sizes: &[i64],
        strides: &[i64],
        (shape, reading): (&[u64], Reading),
    ) -> Outcome<Self> {
        let mut slices = Vec::with_capacity(shape.len());
        if [offsets.len(), sizes.len(), strides.len()].iter().any(|n| *n != shape.len()) {
            let (given, ndim) = (offsets.len(), shape.len());
            return Err(problem(format!(
                "a slice of {given} dimensions of an array of {ndim}; give {ndim}"
            )));
        }
        // An offset before the first entry of a slice backwards may belong to no entries at all.
        let is_empty = sizes.contains(&0);
        for (dim, &extent) in shape.iter().enumerate() {
            let unsigned = |number: i64, what: &str| {
                u64::try_from(number).map_err(|_| {
                    problem(format!(
                        "the {what} {number} of dimension {dim} is negative; use 0 or more"
                    ))
                })
            };
            let size = unsigned(sizes[dim], "size")?;
            if strides[dim] == 0 {
                return Err(problem(format!(
                    "the stride of dimension {dim} is 0; use another number"
                )));
            }
            let offset = if is_empty { offsets[dim].max(0) } else { offsets[dim] };
            let slice = Slice::new(unsigned(offset, "offset")?, size, strides[dim]);
            match size {
                0 if slice.offset > extent => return Err(outside(&slice, dim, extent)),
                0 => {}
                _ if is_empty && reading == Reading::Window => {}
                _ => slice.check(dim, extent).map_err(|_| outside(&slice, dim, extent))?,
            }
            slices.push(slice);
        }
        Ok(Self(slices))
    }

    pub fn shape(&self) -> Vec<u64> {
        self.0.iter().map(|slice| slice.size).collect()
    }

    /// Entries of the slice in a box, as a box of the slice.
    pub fn entries_in(&self, place: &IndexBox) -> IndexBox {
        let mut entries = IndexBox::new(&[], &[]);
        for (dim, slice) in self.0.iter().enumerate() {
            let (first, count) = slice.entries_in(place.start[dim], place.stop(dim));
            entries.start.push(first);
            entries.shape.push(count);
        }
        entries
    }

    /// The entries of the slice that a rank owns and holds of what it owns and holds.
    ///
    /// Counted along each dimension by itself, as passes count them, so that what a rank without
    /// entries says of its place is the same at every level.
    fn seen(
        &self,
        owned: &IndexBox,
        held: &IndexBox,
        target: Option<&IndexBox>,
    ) -> (IndexBox, IndexBox) {
        let mut found = [IndexBox::new(&[], &[]), IndexBox::new(&[], &[])];
        for (dim, slice) in self.0.iter().enumerate() {
            let first = owned.start[dim].clamp(held.start[dim], held.stop(dim));
            let last = owned.stop(dim).clamp(first, held.stop(dim));
            let marks = [held.start[dim], first, last, held.stop(dim)];
            let mut marks = marks.map(|mark| entries_before(slice, mark));
            if let Some(target) = target {
                marks = marks.map(|mark| mark.clamp(target.start[dim], target.stop(dim)));
            }
            if slice.stride < 0 {
                marks.reverse();
            }
            for (seen, (low, high)) in
                found.iter_mut().zip([(marks[1], marks[2]), (marks[0], marks[3])])
            {
                seen.start.push(low);
                seen.shape.push(high - low);
            }
        }
        found.into()
    }

    /// The elements of entries, of the part of the array at `place` that has them.
    pub fn view(&self, part: &Array, place: &IndexBox, entries: &IndexBox) -> Outcome<Array> {
        let is_empty = entries.n_elements() == 0;
        let offset = |dim: usize| match is_empty {
            true => 0,
            false => (self.0[dim].index(entries.start[dim]) - i128::from(place.start[dim])) as i64,
        };
        let offsets: Vec<i64> = (0..self.0.len()).map(offset).collect();
        let sizes: Vec<i64> = entries.shape.iter().map(|n| *n as i64).collect();
        let strides: Vec<i64> = self.0.iter().map(|slice| slice.stride).collect();
        // An empty view needs no elements of the part, which may have none along other dimensions.
        if is_empty {
            let sizes: Vec<usize> = entries.shape.iter().map(|n| *n as usize).collect();
            return Ok(part.engine().empty(&sizes, part.dtype())?);
        }
        Ok(part.slice(&offsets, &sizes, &strides)?)
    }
}

/// Entries of a slice before an index; backwards, those that are not below it.
fn entries_before(slice: &Slice, end: u64) -> u64 {
    let (start, end) = (i128::from(slice.offset), i128::from(end));
    let stride = i128::from(slice.stride);
    let reached = match stride {
        0 => 0,
        1.. => (end - start + stride - 1).div_euclid(stride),
        _ => (start - end).div_euclid(-stride) + 1,
    };
    reached.clamp(0, i128::from(slice.size)) as u64
}

fn outside(slice: &Slice, dim: usize, extent: u64) -> Problem {
    let Slice { offset, size, stride, .. } = *slice;
    problem(format!(
        "the slice of {size} entries from {offset} on with stride {stride} leaves dimension {dim} of \
         size {extent}; keep offset and offset + (size - 1) * stride at least 0 and below {extent}, \
         and the offset of no entries at most {extent}"
    ))
}

/// A view of what this rank owns of a slice.
pub(super) fn owned_view(array: &DistArray, slicing: &Slicing) -> Outcome<DistArray> {
    let own = array.owned_box();
    let entries = slicing.entries_in(&own);
    let part = slicing.view(array.own(), &own, &entries)?;
    let made = DistArray::owned(&slicing.shape(), &array.cuts(), &entries.start, &part);
    let known = array.places.borrow();
    let places = known.as_ref().map(|places| {
        Places::owned(places.owned.iter().map(|own| slicing.entries_in(own)).collect())
    });
    Ok(match places {
        Some(places) => made.known(places),
        None => made,
    })
}

/// A view without some of its dimensions, which have the size 1.
pub(super) fn reduced(view: &DistArray, kept: &[usize], cuts: &Cuts) -> Outcome<DistArray> {
    if kept.is_empty() {
        return Err(problem(
            "a view of one element of a distributed array lies on one rank alone; use ndarray.load",
        ));
    }
    let without = |place: &IndexBox| {
        let mut left = IndexBox {
            start: kept.iter().map(|dim| place.start[*dim]).collect(),
            shape: kept.iter().map(|dim| place.shape[*dim]).collect(),
        };
        // Who has nothing along a dimension that goes has nothing at all.
        if place.n_elements() == 0 {
            left.shape.fill(0);
        }
        left
    };
    let place = without(&view.owned_box());
    let is_whole = |at: usize| place.shape[at] == view.shape[kept[at]];
    let cut_elsewhere = (0..kept.len()).any(|at| !cuts.dims.contains(&at) && !is_whole(at));
    if place.n_elements() > 0 && cut_elsewhere {
        return Err(problem(
            "a dimension of the view is cut that its type does not cut; use ndarray.extract_slice \
             with all dimensions, and a reshape",
        ));
    }
    let gone: Vec<usize> = (0..view.shape.len()).filter(|dim| !kept.contains(dim)).collect();
    let part = match place.n_elements() {
        0 => view.own().engine().empty(&vec![0; kept.len()], view.dtype())?,
        _ => view.own().without_axes(&gone),
    };
    let shape: Vec<u64> = kept.iter().map(|dim| view.shape[*dim]).collect();
    let made = DistArray::owned(&shape, cuts, &place.start, &part);
    let known = view.places.borrow();
    let places =
        known.as_ref().map(|places| Places::owned(places.owned.iter().map(without).collect()));
    Ok(match places {
        Some(places) => made.known(places),
        None => made,
    })
}

/// A view of the entries of a slice that this rank holds, in whatever parts it has them; of those
/// in `target` only, if it is given.
pub(super) fn held_view(
    array: &DistArray,
    slicing: &Slicing,
    target: Option<&IndexBox>,
) -> Outcome<DistArray> {
    let boxes = part_boxes(&array.owned_box(), &array.held_box(), &array.cuts);
    let (owned, held) = slicing.seen(&array.owned_box(), &array.held_box(), target);
    let n_cuts = array.cuts.len();
    let mut parts: Vec<Array> = Vec::with_capacity(boxes.len());
    for (number, entries) in part_boxes(&owned, &held, &array.cuts).iter().enumerate() {
        // Backwards along a dimension, what lay before comes after.
        let from = turned(number, n_cuts, |axis| slicing.0[array.cuts[axis]].stride < 0);
        parts.push(slicing.view(&array.parts[from], &boxes[from], entries)?);
    }
    let places = match (&*array.places.borrow(), target) {
        (Some(places), None) => {
            let pairs = places.owned.iter().zip(&places.held);
            let (owned, held) = pairs.map(|(own, held)| slicing.seen(own, held, None)).unzip();
            Some(Rc::new(Places { owned, held }))
        }
        _ => None,
    };
    Ok(DistArray {
        shape: slicing.shape(),
        cuts: array.cuts.clone(),
        grid: array.grid.clone(),
        offsets: held.start,
        parts,
        places: RefCell::new(places),
    })
}

fn turned(number: usize, n_cuts: usize, is_turned: impl Fn(usize) -> bool) -> usize {
    let digit = |axis: usize| {
        let step = 3_usize.pow((n_cuts - 1 - axis) as u32);
        let at = number / step % 3;
        step * if is_turned(axis) { 2 - at } else { at }
    };
    (0..n_cuts).map(digit).sum()
}

/// Where the entries of a slice are that ranks hold.
pub(super) fn targets(places: &Rc<Places>, slicing: &Slicing) -> Vec<IndexBox> {
    places.held.iter().map(|held| slicing.entries_in(held)).collect()
}
