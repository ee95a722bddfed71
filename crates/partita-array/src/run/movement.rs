//! Arrays between ranks: where everybody's parts are, repartitions, fetches.

use std::rc::Rc;

use partita_ir::Op;
use partita_layout::IndexBox;

use super::Runner;
use super::dist::{Cuts, DistArray, Places, part_boxes, sliced};
use super::exchange::Boxes;
use super::interpret::Frame;
use super::problem::{Outcome, problem};
use super::value::Value;
use crate::local::Array;

/// What a movement brings: boxes of every rank, and this rank's arrays for its own.
pub(super) struct Halos {
    pub boxes: Boxes,
    pub sources: Vec<Array>,
    pub targets: Vec<Array>,
}

impl Runner<'_> {
    /// What every rank has of an array; asks the others if it is not known.
    pub(super) fn places(&mut self, array: &DistArray) -> Outcome<Rc<Places>> {
        if let Some(places) = &*array.places.borrow() {
            return Ok(Rc::clone(places));
        }
        let (owned, held) = (array.owned_box(), array.held_box());
        let numbers = [owned.start, owned.shape, held.start, held.shape].concat();
        let all = self.mover.gather_numbers("places", &numbers)?;
        let ndim = array.shape.len();
        let read = |numbers: &[u64], at: usize| {
            let part = |at: usize| numbers.get(at * ndim..(at + 1) * ndim).unwrap_or_default();
            IndexBox::new(part(at), part(at + 1))
        };
        if all.iter().any(|numbers| numbers.len() != 4 * ndim) {
            return Err(problem("the ranks have arrays of different dimensions; run one program"));
        }
        let places = Rc::new(Places {
            owned: all.iter().map(|numbers| read(numbers, 0)).collect(),
            held: all.iter().map(|numbers| read(numbers, 2)).collect(),
        });
        *array.places.borrow_mut() = Some(Rc::clone(&places));
        Ok(places)
    }

    /// Boxes that together have every element, and this rank's arrays for its own.
    fn sources(&mut self, array: &DistArray) -> Outcome<(Vec<Vec<IndexBox>>, Vec<Array>)> {
        let places = self.places(array)?;
        let is_full = |place: &IndexBox| place.n_elements() > 0;
        if places.owned_once(&array.shape) {
            let boxes = places.owned.iter().map(|own| vec![own.clone()]);
            let boxes = boxes.map(|own| own.into_iter().filter(is_full).collect()).collect();
            let own = Some(array.own().clone()).filter(|own| own.n_elements() > 0);
            return Ok((boxes, own.into_iter().collect()));
        }
        let pairs = places.owned.iter().zip(&places.held);
        let boxes = pairs.map(|(owned, held)| {
            part_boxes(owned, held, &array.cuts).into_iter().filter(is_full).collect()
        });
        Ok((boxes.collect(), array.pieces().into_iter().map(|(_, part)| part).collect()))
    }

    /// Brings every rank a box; gives this rank's.
    pub(super) fn fetch(&mut self, array: &DistArray, wanted: &[IndexBox]) -> Outcome<Array> {
        let own = &wanted[self.rank()];
        let places = self.places(array)?;
        if places.owned_once(&array.shape) && places.owned == wanted {
            return Ok(array.own().clone());
        }
        let target = self.engine.empty(&sizes(own), array.dtype())?;
        let (sources, mine) = self.sources(array)?;
        let is_full = |place: &&IndexBox| place.n_elements() > 0;
        let targets = wanted.iter().map(|one| Some(one).filter(is_full).cloned());
        let targets = targets.map(|one| one.into_iter().collect()).collect();
        let shape = array.shape.clone();
        let boxes = Boxes { shape, sources, targets, dtype: array.dtype() };
        let into: Vec<Array> =
            Some(target.clone()).filter(|target| target.n_elements() > 0).into_iter().collect();
        if boxes.targets.iter().any(|own| !own.is_empty()) {
            self.mover.run(boxes, &mine, &into)?;
        }
        Ok(target)
    }

    /// The whole array on every rank.
    pub(super) fn whole(&mut self, array: &DistArray) -> Outcome<Array> {
        let all = IndexBox { start: vec![0; array.shape.len()], shape: array.shape.clone() };
        if array.shape.is_empty() {
            return Ok(array.own().clone());
        }
        self.fetch(array, &vec![all; self.mover.n_ranks() as usize])
    }

    /// The array with other boxes, which each rank then owns.
    pub(super) fn redistribute(
        &mut self,
        array: &Rc<DistArray>,
        wanted: Vec<IndexBox>,
        cuts: &Cuts,
    ) -> Outcome<Rc<DistArray>> {
        let places = self.places(array)?;
        if places.owned == wanted && places.held == wanted && array.cuts == cuts.dims {
            return Ok(Rc::clone(array));
        }
        let part = self.fetch(array, &wanted)?;
        let start = wanted[self.rank()].start.clone();
        let made = DistArray::owned(&array.shape, cuts, &start, &part);
        Ok(Rc::new(made.known(Places::owned(wanted))))
    }

    /// The array in its default partition.
    pub(super) fn by_default(
        &mut self,
        array: &Rc<DistArray>,
        cuts: &Cuts,
    ) -> Outcome<Rc<DistArray>> {
        let wanted = cuts.default_boxes(&array.shape, self.mover.n_ranks())?;
        self.redistribute(array, wanted, cuts)
    }

    /// Boxes, sources and fresh halos for asked-for boxes around what ranks own.
    pub(super) fn halos(
        &mut self,
        array: &DistArray,
        wanted: &[IndexBox],
    ) -> Outcome<(Halos, Vec<Array>)> {
        let places = self.places(array)?;
        let cuts = &array.cuts;
        let middle = 3_usize.pow(cuts.len() as u32) / 2;
        let mut targets: Vec<Vec<IndexBox>> = Vec::new();
        for (owned, wanted) in places.owned.iter().zip(wanted) {
            let parts = part_boxes(owned, wanted, cuts).into_iter().enumerate();
            let halos = parts.filter(|(at, part)| *at != middle && part.n_elements() > 0);
            targets.push(halos.map(|(_, part)| part).collect());
        }
        let own = part_boxes(&places.owned[self.rank()], &wanted[self.rank()], cuts);
        let mut parts = Vec::new();
        for (at, place) in own.iter().enumerate() {
            parts.push(match at == middle {
                true => self.own_part(array, place)?,
                false => self.engine.empty(&sizes(place), array.dtype())?,
            });
        }
        let halos = parts.iter().enumerate();
        let halos = halos.filter(|(at, part)| *at != middle && part.n_elements() > 0);
        let into = halos.map(|(_, part)| part.clone()).collect();
        let (sources, mine) = self.sources(array)?;
        let boxes = Boxes { shape: array.shape.clone(), sources, targets, dtype: array.dtype() };
        Ok((Halos { boxes, sources: mine, targets: into }, parts))
    }

    /// The part of a box that this rank owns, as a view.
    fn own_part(&self, array: &DistArray, place: &IndexBox) -> Outcome<Array> {
        if place.n_elements() == 0 {
            return Ok(self.engine.empty(&sizes(place), array.dtype())?);
        }
        sliced(array.own(), &array.owned_box(), place)
    }

    /// The array with a box of each rank's choice around what it owns.
    pub(super) fn repartition(
        &mut self,
        array: &Rc<DistArray>,
        wanted: &[IndexBox],
    ) -> Outcome<Rc<DistArray>> {
        let places = self.places(array)?;
        if !reachable(&places.owned, wanted, &array.cuts) {
            let made = self.redistribute(array, wanted.to_vec(), &array.cuts())?;
            return self.apart_from(array, made);
        }
        let (halos, mut parts) = self.halos(array, wanted)?;
        // A write into the result must not be seen in the array, on any number of ranks.
        let own = parts.len() / 2;
        parts[own] = self.engine.copy(&parts[own])?;
        if halos.boxes.targets.iter().any(|own| !own.is_empty()) {
            self.mover.run(halos.boxes, &halos.sources, &halos.targets)?;
        }
        let owned = places.owned.iter().zip(wanted);
        let middle = parts.len() / 2;
        let owned = owned.map(|(o, w)| part_boxes(o, w, &array.cuts)[middle].clone()).collect();
        let offsets = wanted[self.rank()].start.clone();
        let made = DistArray {
            shape: array.shape.clone(),
            cuts: array.cuts.clone(),
            grid: array.grid.clone(),
            offsets,
            parts,
            places: Default::default(),
        };
        Ok(Rc::new(made.known(Rc::new(Places { owned, held: wanted.to_vec() }))))
    }

    /// An array that shares no memory with another: a copy of it if it does.
    pub(super) fn apart_from(
        &mut self,
        array: &Rc<DistArray>,
        moved: Rc<DistArray>,
    ) -> Outcome<Rc<DistArray>> {
        let shares = |part: &Array| array.parts.iter().any(|other| part.shares_base(other));
        if moved.parts.iter().any(shares) { self.copied_spread(&moved) } else { Ok(moved) }
    }

    /// For each of this rank's boxes in an operation those of all ranks; what they were the turn
    /// before where that cannot have changed.
    pub(super) fn asked(
        &mut self,
        op: Op,
        own: &[IndexBox],
        frame: &Frame,
    ) -> Outcome<Rc<Vec<Vec<IndexBox>>>> {
        let is_steady = frame.facts.steady.has_exchange(op);
        if let Some(boxes) = frame.boxes.borrow().get(&op).filter(|_| is_steady) {
            return Ok(Rc::clone(boxes));
        }
        let boxes = Rc::new(self.everyones(own)?);
        if is_steady {
            frame.boxes.borrow_mut().insert(op, Rc::clone(&boxes));
        }
        Ok(boxes)
    }

    /// For each of this rank's boxes those of all ranks.
    fn everyones(&mut self, own: &[IndexBox]) -> Outcome<Vec<Vec<IndexBox>>> {
        let numbers = own.iter().flat_map(|one| [&one.start[..], &one.shape[..]].concat());
        let numbers: Vec<u64> = numbers.collect();
        let all = self.mover.gather_numbers("boxes", &numbers)?;
        if all.iter().any(|others| others.len() != numbers.len()) {
            return Err(problem(
                "the ranks ask for boxes of different dimensions; run one program",
            ));
        }
        let mut at = 0;
        let mut boxes = Vec::with_capacity(own.len());
        for one in own {
            let (start, middle, end) = (at, at + one.start.len(), at + 2 * one.start.len());
            let place = |n: &Vec<u64>| IndexBox::new(&n[start..middle], &n[middle..end]);
            boxes.push(all.iter().map(place).collect());
            at = end;
        }
        Ok(boxes)
    }

    /// An operand so that every rank has what it needs of it for its box of the result.
    pub(super) fn aligned(
        &mut self,
        operand: &Value,
        wanted: &[IndexBox],
        shape: &[u64],
    ) -> Outcome<Value> {
        let Value::Dist(array) = operand else { return Ok(operand.clone()) };
        if array.shape.is_empty() {
            return Ok(operand.clone());
        }
        let needed: Vec<IndexBox> =
            wanted.iter().map(|one| projected(one, shape, &array.shape)).collect();
        let places = self.places(array)?;
        let has = |at: usize| contains(&places.held[at], &needed[at]);
        if (0..needed.len()).all(has) {
            return Ok(operand.clone());
        }
        let cuts = array.cuts();
        let part = self.fetch(array, &needed)?;
        let start = needed[self.rank()].start.clone();
        let made = DistArray::owned(&array.shape, &cuts, &start, &part);
        Ok(Value::Dist(Rc::new(made.known(Places::owned(needed)))))
    }

    pub(super) fn rank(&self) -> usize {
        self.mover.rank as usize
    }
}

/// Sizes of a box as an array has them.
pub(super) fn sizes(place: &IndexBox) -> Vec<usize> {
    place.shape.iter().map(|n| *n as usize).collect()
}

/// What an operand of another shape contributes to a box of the result.
pub(super) fn projected(place: &IndexBox, shape: &[u64], operand: &[u64]) -> IndexBox {
    let skipped = shape.len().saturating_sub(operand.len());
    let mut needed = IndexBox { start: vec![0; operand.len()], shape: operand.to_vec() };
    for (dim, &size) in operand.iter().enumerate() {
        if size == shape[dim + skipped] {
            needed.start[dim] = place.start[dim + skipped];
            needed.shape[dim] = place.shape[dim + skipped];
        }
    }
    if place.n_elements() == 0 {
        needed.shape.iter_mut().for_each(|size| *size = 0);
    }
    needed
}

fn contains(outer: &IndexBox, inner: &IndexBox) -> bool {
    let inside =
        |dim: usize| outer.start[dim] <= inner.start[dim] && inner.stop(dim) <= outer.stop(dim);
    inner.n_elements() == 0 || (0..inner.start.len()).all(inside)
}

/// Whether all that ranks ask for lies before, in or behind what they own, along cut dimensions.
fn reachable(owned: &[IndexBox], wanted: &[IndexBox], cuts: &[usize]) -> bool {
    let fits = |(owned, wanted): (&IndexBox, &IndexBox)| {
        let inside = |dim: usize| {
            owned.start[dim] <= wanted.start[dim] && wanted.stop(dim) <= owned.stop(dim)
        };
        wanted.n_elements() == 0
            || (0..owned.start.len()).all(|dim| cuts.contains(&dim) || inside(dim))
    };
    owned.iter().zip(wanted).all(fits)
}
