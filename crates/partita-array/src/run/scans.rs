//! Running sums and the like: each rank its own part, then what the ranks before it have.

use std::rc::Rc;

use partita_ir::Reduce;
use partita_kernel::{Dtype, Scalar};
use partita_layout::IndexBox;

use super::Runner;
use super::dist::{DistArray, Places};
use super::elementwise;
use super::problem::{Outcome, problem};
use super::reduce::{combined, partial};
use super::shares::{Spread, joined};
use super::value::{Number, Value, to_scalar};
use crate::local::{Array, Engine, Running};

/// What a running reduction is asked to do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scanning {
    pub how: Reduce,
    pub axis: usize,
    /// Whether it begins with the neutral element, so that there is one entry more.
    pub begins_neutral: bool,
    pub dtype: Dtype,
}

impl Runner<'_> {
    /// Running sums and the like, along one axis.
    pub(super) fn cumulative(&mut self, value: &Value, what: &Scanning) -> Outcome<Value> {
        let array = match value {
            // Along a dimension without entries there is nothing to communicate.
            Value::Dist(array) if array.shape.get(what.axis).is_some_and(|n| *n > 0) => {
                Rc::clone(array)
            }
            other => return self.running_here(other, what),
        };
        let array = self.owned_once(&array)?;
        let own = self.engine.cast(array.own(), what.dtype)?;
        let made = match own.n_elements() {
            0 => own,
            _ => running(&self.engine, &own, what.how, what.axis)?,
        };
        let made = self.with_ranks_before(&array, &made, what)?;
        let made = self.with_first(&array, made, what)?;
        Ok(Value::Dist(self.by_default(&made, &array.cuts())?))
    }

    fn running_here(&mut self, value: &Value, what: &Scanning) -> Outcome<Value> {
        let cuts = match value {
            Value::Dist(array) => Some(array.cuts()),
            _ => None,
        };
        let whole = self.local(value)?;
        let whole = self.engine.cast(&whole, what.dtype)?;
        let made = running(&self.engine, &whole, what.how, what.axis)?;
        let made = match what.begins_neutral {
            true => with_neutral(&self.engine, &made, what)?,
            false => made,
        };
        self.spread(made, cuts.as_ref())
    }

    /// Combines a rank's running values with the totals of those before it along the axis.
    fn with_ranks_before(
        &mut self,
        array: &DistArray,
        made: &Array,
        what: &Scanning,
    ) -> Outcome<Array> {
        let axis = what.axis;
        if !array.cuts.contains(&axis) {
            return Ok(made.clone());
        }
        let places = self.places(array)?;
        let flat = |place: &IndexBox| {
            let mut flat = place.clone();
            if place.n_elements() > 0 {
                (flat.start[axis], flat.shape[axis]) = (0, 1);
            }
            flat
        };
        let flat: Vec<IndexBox> = places.owned.iter().map(flat).collect();
        let mut shape = array.shape.clone();
        shape[axis] = 1;
        let total = match made.n_elements() {
            0 => None,
            _ => Some(partial(&self.engine, array.own(), what.how, &[axis], what.dtype)?),
        };
        let is_before =
            |from: usize, to: usize| places.owned[from].start[axis] < places.owned[to].start[axis];
        let spread = Spread::of_boxes(shape, flat.clone());
        let shares = self.shares(total.as_ref(), &flat, &spread, &is_before, what.dtype)?;
        if shares.is_empty() {
            return Ok(made.clone());
        }
        let engine = self.engine.clone();
        let own = &flat[self.rank()];
        let combine = |a: &Array, b: &Array| combined(&engine, what.how, a, b);
        let before = joined(&engine, own, &shares, what.dtype, combine)?;
        combine(&before, made)
    }

    /// The array with the neutral element in front, if it is wanted.
    fn with_first(
        &mut self,
        array: &DistArray,
        made: Array,
        what: &Scanning,
    ) -> Outcome<Rc<DistArray>> {
        let axis = what.axis;
        let mut owned = self.places(array)?.owned.clone();
        let (mut shape, mut part) = (array.shape.clone(), made);
        if what.begins_neutral {
            shape[axis] += 1;
            let is_first = |place: &IndexBox| place.start[axis] == 0 && place.n_elements() > 0;
            if is_first(&owned[self.rank()]) {
                part = with_neutral(&self.engine, &part, what)?;
            }
            for place in &mut owned {
                match is_first(place) {
                    true => place.shape[axis] += 1,
                    false => place.start[axis] += 1,
                }
            }
        }
        let start = owned[self.rank()].start.clone();
        let made = DistArray::owned(&shape, &array.cuts(), &start, &part);
        Ok(Rc::new(made.known(Places::owned(owned))))
    }
}

fn running(engine: &Engine, array: &Array, how: Reduce, axis: usize) -> Outcome<Array> {
    let op = match how {
        Reduce::Sum => return Ok(engine.run_along(array, Running::Sum, axis)?),
        Reduce::Prod => return Ok(engine.run_along(array, Running::Product, axis)?),
        Reduce::Max => partita_ir::EwBin::Maximum,
        Reduce::Min => partita_ir::EwBin::Minimum,
        other => {
            let name = other.name();
            return Err(problem(format!("there is no running {name}; use sum, prod, max or min")));
        }
    };
    let made = engine.copy(array)?;
    let row = |at: usize| -> Outcome<Array> {
        let (mut offsets, mut sizes) = (vec![0; array.ndim()], Vec::new());
        sizes.extend(array.shape().iter().map(|n| *n as i64));
        (offsets[axis], sizes[axis]) = (at as i64, 1);
        Ok(made.slice(&offsets, &sizes, &vec![1; array.ndim()])?)
    };
    for at in 1..array.shape()[axis] {
        let best = elementwise::binary(engine, op, &row(at - 1)?, &row(at)?, array.dtype())?;
        row(at)?.write(&best)?;
    }
    Ok(made)
}

/// The array with the neutral element in front.
fn with_neutral(engine: &Engine, array: &Array, what: &Scanning) -> Outcome<Array> {
    let neutral = match what.how {
        Reduce::Sum => Number::Int(0),
        Reduce::Prod => Number::Int(1),
        other => {
            let name = other.name();
            return Err(problem(format!("{name} has no neutral element; leave `initial` away")));
        }
    };
    let neutral: Scalar = to_scalar(neutral, array.dtype())?;
    let mut shape = array.shape().to_vec();
    shape[what.axis] += 1;
    let made = engine.fill(&shape, neutral)?;
    let mut offsets = vec![0; shape.len()];
    offsets[what.axis] = 1;
    let sizes: Vec<i64> = array.shape().iter().map(|n| *n as i64).collect();
    made.slice(&offsets, &sizes, &vec![1; shape.len()])?.write(array)?;
    Ok(made)
}
