//! Reshapes and permutations across ranks.

use std::rc::Rc;

use partita_layout::IndexBox;

use super::Runner;
use super::array_ops::needs_copy;
use super::dist::{Cuts, DistArray, Places};
use super::exchange::Boxes;
use super::movement::sizes;
use super::problem::{Outcome, problem};
use crate::local::Array;

impl Runner<'_> {
    /// A distributed array in another shape, in its default partition.
    pub(super) fn reshape(
        &mut self,
        array: &Rc<DistArray>,
        shape: &[u64],
        cuts: &Cuts,
    ) -> Outcome<Rc<DistArray>> {
        let array = self.owned_once(array)?;
        let owned = self.places(&array)?.owned.clone();
        let wanted = cuts.default_boxes(shape, self.mover.n_ranks())?;
        let part = self.reshaped(array.own(), &array.shape, &owned, shape, &wanted)?;
        let start = wanted[self.rank()].start.clone();
        let made = DistArray::owned(shape, cuts, &start, &part);
        Ok(Rc::new(made.known(Places::owned(wanted))))
    }

    /// The same elements in another shape, without moving or copying any: rows stay rows, and lie in
    /// the default partition before and after.
    pub(super) fn reshape_view(
        &mut self,
        array: &Rc<DistArray>,
        shape: &[u64],
        cuts: &Cuts,
    ) -> Outcome<Rc<DistArray>> {
        let places = self.places(array)?;
        let wanted = cuts.default_boxes(shape, self.mover.n_ranks())?;
        let rows = |one: &IndexBox| (one.start.first().copied(), one.shape.first().copied());
        let stays = array.cuts == [0]
            && cuts.dims == [0]
            && array.shape.first() == shape.first()
            && places.owned_once(&array.shape)
            && places.owned.iter().zip(&wanted).all(|(own, new)| rows(own) == rows(new));
        if !stays {
            return Err(needs_copy("its elements would go to other ranks"));
        }
        let own = &wanted[self.rank()];
        let part = array.own().reshape(&sizes(own))?;
        if !part.shares_base(array.own()) {
            return Err(needs_copy("its elements do not lie in order"));
        }
        let made = DistArray::owned(shape, cuts, &own.start, &part);
        Ok(Rc::new(made.known(Places::owned(wanted))))
    }

    /// Boxes of one shape become boxes of another, through positions in C order.
    pub(super) fn reshaped(
        &mut self,
        own: &Array,
        shape: &[u64],
        owned: &[IndexBox],
        new_shape: &[u64],
        wanted: &[IndexBox],
    ) -> Outcome<Array> {
        let n_elements: u64 = shape.iter().product();
        if new_shape.iter().product::<u64>() != n_elements {
            return Err(problem(format!(
                "the shape {shape:?} cannot become {new_shape:?}; use a shape of as many elements"
            )));
        }
        let target = self.engine.empty(&sizes(&wanted[self.rank()]), own.dtype())?;
        let boxes = Boxes {
            shape: vec![n_elements],
            sources: owned.iter().map(|place| stretches(place, shape)).collect(),
            targets: wanted.iter().map(|place| stretches(place, new_shape)).collect(),
            dtype: own.dtype(),
        };
        let dense = self.engine.copy(own)?;
        let from = cut(&dense, &boxes.sources[self.rank()])?;
        let into = cut(&target, &boxes.targets[self.rank()])?;
        if n_elements > 0 {
            self.mover.run(boxes, &from, &into)?;
        }
        Ok(target)
    }

    /// A distributed array with its dimensions in another order, in its default partition.
    pub(super) fn permute(
        &mut self,
        array: &Rc<DistArray>,
        axes: &[usize],
        cuts: &Cuts,
    ) -> Outcome<Rc<DistArray>> {
        let shape: Vec<u64> = axes.iter().map(|axis| array.shape[*axis]).collect();
        let array = self.owned_once(array)?;
        let owned = self.places(&array)?.owned.clone();
        let wanted = cuts.default_boxes(&shape, self.mover.n_ranks())?;
        let part = self.permuted(array.own(), &owned, axes, &shape, &wanted)?;
        let start = wanted[self.rank()].start.clone();
        let made = DistArray::owned(&shape, cuts, &start, &part);
        Ok(Rc::new(made.known(Places::owned(wanted))))
    }

    /// Boxes become boxes of the array with permuted dimensions.
    pub(super) fn permuted(
        &mut self,
        own: &Array,
        owned: &[IndexBox],
        axes: &[usize],
        shape: &[u64],
        wanted: &[IndexBox],
    ) -> Outcome<Array> {
        let turned = |place: &IndexBox| IndexBox {
            start: axes.iter().map(|axis| place.start[*axis]).collect(),
            shape: axes.iter().map(|axis| place.shape[*axis]).collect(),
        };
        let full = |place: IndexBox| Some(place).filter(|place| place.n_elements() > 0);
        let boxes = Boxes {
            shape: shape.to_vec(),
            sources: owned.iter().map(|p| full(turned(p)).into_iter().collect()).collect(),
            targets: wanted.iter().map(|p| full(p.clone()).into_iter().collect()).collect(),
            dtype: own.dtype(),
        };
        let target = self.engine.empty(&sizes(&wanted[self.rank()]), own.dtype())?;
        let some = |array: Array| Some(array).filter(|array| array.n_elements() > 0);
        let from: Vec<Array> = some(own.permute(axes)).into_iter().collect();
        let into: Vec<Array> = some(target.clone()).into_iter().collect();
        self.mover.run(boxes, &from, &into)?;
        Ok(target)
    }
}

/// A box as stretches of positions in C order of the whole array.
fn stretches(place: &IndexBox, shape: &[u64]) -> Vec<IndexBox> {
    if place.n_elements() == 0 {
        return Vec::new();
    }
    // From this dimension on, everything of the box lies together.
    let mut inner = shape.len();
    while inner > 0 && (inner == shape.len() || place.shape[inner] == shape[inner]) {
        inner -= 1;
    }
    let length: u64 = place.shape[inner..].iter().product();
    let strides = crate::local::c_strides(&shape.iter().map(|n| *n as usize).collect::<Vec<_>>());
    let first: u64 = place.start.iter().zip(&strides).map(|(at, step)| at * *step as u64).sum();
    let mut starts = vec![first];
    for (step, size) in strides.iter().zip(&place.shape).take(inner) {
        let step = *step as u64;
        let along = |at: u64| (0..*size).map(move |i| at + i * step);
        starts = starts.into_iter().flat_map(along).collect();
    }
    starts.into_iter().map(|start| IndexBox::new(&[start], &[length])).collect()
}

/// A dense array cut into stretches, one after another.
fn cut(dense: &Array, stretches: &[IndexBox]) -> Outcome<Vec<Array>> {
    let flat = dense.reshape(&[dense.n_elements()])?;
    let mut at = 0;
    let mut parts = Vec::new();
    for stretch in stretches {
        let length = stretch.shape[0] as i64;
        parts.push(flat.slice(&[at], &[length], &[1])?);
        at += length;
    }
    Ok(parts)
}
