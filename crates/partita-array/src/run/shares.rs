//! Results that several ranks have shares of: each rank gets the shares of its own box.
//!
//! A reduction over a cut dimension leaves every rank with a share of the result, as large as the
//! result. Small ones go to everybody at once; of large ones each rank gets what it will own, and
//! nobody sees the array itself.

use std::rc::Rc;

use partita_ir::Reduce;
use partita_kernel::{Dtype, Op, Scalar};
use partita_layout::IndexBox;

use super::Runner;
use super::dist::{Cuts, DistArray, Places, sliced};
use super::exchange::Boxes;
use super::movement::sizes;
use super::problem::Outcome;
use super::reduce::{combined, partial};
use super::value::Value;
use crate::local::{Array, Engine};

/// Results of fewer bytes go to everybody: one meeting costs more than the bytes.
const SMALL_BYTES: u64 = 1 << 12;

/// Shares of one box, from the lowest rank to the highest.
type Shares = Vec<(IndexBox, Array)>;

/// Where the result of a reduction goes; reduced dimensions have the size 1.
pub(super) struct Spread {
    pub shape: Vec<u64>,
    /// What each rank gets.
    pub wanted: Vec<IndexBox>,
    cuts: Cuts,
    /// Whether every rank gets all of it.
    is_everywhere: bool,
}

impl Spread {
    /// Each rank gets a box.
    pub fn of_boxes(shape: Vec<u64>, wanted: Vec<IndexBox>) -> Self {
        let cuts = Cuts { dims: Vec::new(), grid: Vec::new() };
        Self { shape, wanted, cuts, is_everywhere: false }
    }
}

impl Runner<'_> {
    /// How a result of this array without these axes is spread.
    pub(super) fn spread_of(
        &self,
        array: &DistArray,
        axes: &[usize],
        cuts: &Option<Cuts>,
        dtype: Dtype,
    ) -> Outcome<Spread> {
        let mut shape = array.shape.clone();
        axes.iter().for_each(|axis| shape[*axis] = 1);
        let n_bytes = shape.iter().product::<u64>().saturating_mul(dtype.size() as u64);
        let cuts = cuts.clone().unwrap_or_else(|| array.cuts());
        if n_bytes <= SMALL_BYTES {
            let all = IndexBox { start: vec![0; shape.len()], shape: shape.clone() };
            let wanted = vec![all; self.mover.n_ranks() as usize];
            return Ok(Spread { shape, wanted, cuts, is_everywhere: true });
        }
        // As it will lie once the reduced dimensions are gone.
        let dims: Vec<usize> = (0..shape.len()).filter(|dim| !axes.contains(dim)).collect();
        let left: Vec<u64> = dims.iter().map(|dim| shape[*dim]).collect();
        let left_cuts = self.cuts_for(&cuts, left.len());
        let mut wanted = Vec::new();
        for place in left_cuts.default_boxes(&left, self.mover.n_ranks())? {
            let mut own = IndexBox { start: vec![0; shape.len()], shape: vec![1; shape.len()] };
            for (at, dim) in dims.iter().enumerate() {
                (own.start[*dim], own.shape[*dim]) = (place.start[at], place.shape[at]);
            }
            wanted.push(own);
        }
        let cut_dims = left_cuts.dims.iter().map(|at| dims[*at]).collect();
        let cuts = Cuts { dims: cut_dims, grid: left_cuts.grid };
        Ok(Spread { shape, wanted, cuts, is_everywhere: false })
    }

    /// A result of which this rank has its part: an array that all have, or a distributed one.
    fn spread_out(&mut self, spread: Spread, part: Array) -> Outcome<Value> {
        if spread.is_everywhere {
            return Ok(Value::Array(part));
        }
        let start = spread.wanted[self.rank()].start.clone();
        let made = DistArray::owned(&spread.shape, &spread.cuts, &start, &part);
        Ok(Value::Dist(Rc::new(made.known(Places::owned(spread.wanted)))))
    }

    /// For this rank's box all shares of it. `places` are the boxes that ranks have shares of,
    /// and `gives` says whether one rank's share is of use to another.
    pub(super) fn shares(
        &mut self,
        own: Option<&Array>,
        places: &[IndexBox],
        spread: &Spread,
        gives: &dyn Fn(usize, usize) -> bool,
        dtype: Dtype,
    ) -> Outcome<Shares> {
        let is_full = |place: &&IndexBox| place.n_elements() > 0;
        let source = |from: usize| {
            let place = Some(&places[from]).filter(is_full);
            place.map(|place| stacked(from, place)).into_iter().collect()
        };
        let common = |from: usize, to: usize| {
            let place = places[from].intersection(&spread.wanted[to])?;
            Some(place).filter(|place| gives(from, to) && place.n_elements() > 0)
        };
        let ranks = 0..places.len();
        let target = |to: usize| {
            let boxes = ranks.clone().filter_map(|from| Some(stacked(from, &common(from, to)?)));
            boxes.collect()
        };
        let shape = [&[places.len() as u64], &spread.shape[..]].concat();
        let sources = ranks.clone().map(source).collect();
        let targets: Vec<Vec<IndexBox>> = ranks.clone().map(target).collect();
        let mine: Vec<IndexBox> =
            ranks.clone().filter_map(|from| common(from, self.rank())).collect();
        let into = mine.iter().map(|place| self.engine.empty(&sizes(place), dtype));
        let into: Vec<Array> = into.collect::<Result<_, _>>()?;
        let lifted: Vec<Array> = into.iter().map(|one| one.with_axis(0)).collect();
        let own: Vec<Array> = own.map(|own| own.with_axis(0)).into_iter().collect();
        self.mover.run(Boxes { shape, sources, targets, dtype }, &own, &lifted)?;
        Ok(mine.into_iter().zip(into).collect())
    }

    /// A reduction over cut dimensions.
    pub(super) fn reduced_across(
        &mut self,
        array: &Rc<DistArray>,
        how: Reduce,
        axes: &[usize],
        dtype: Dtype,
        cuts: &Option<Cuts>,
    ) -> Outcome<Value> {
        let spread = self.spread_of(array, axes, cuts, dtype)?;
        let places = self.places_without(array, axes)?;
        let own = match array.own().n_elements() {
            0 => None,
            _ => Some(partial(&self.engine, array.own(), how, axes, dtype)?),
        };
        let shares = self.shares(own.as_ref(), &places, &spread, &|_, _| true, dtype)?;
        let part = match shares.is_empty() {
            true => self.of_nothing(array, how, axes, dtype, &spread)?,
            false => {
                let engine = self.engine.clone();
                let own = &spread.wanted[self.rank()];
                joined(&engine, own, &shares, dtype, |a, b| combined(&engine, how, a, b))?
            }
        };
        self.spread_out(spread, part)
    }

    /// What every rank has a share of: its box with reduced dimensions of size 1.
    fn places_without(&mut self, array: &DistArray, axes: &[usize]) -> Outcome<Vec<IndexBox>> {
        let flat = |place: &IndexBox| {
            let mut flat = place.clone();
            for axis in axes.iter().filter(|_| place.n_elements() > 0) {
                (flat.start[*axis], flat.shape[*axis]) = (0, 1);
            }
            flat
        };
        Ok(self.places(array)?.owned.iter().map(flat).collect())
    }

    /// This rank's part of a reduction that no rank has a share of.
    fn of_nothing(
        &mut self,
        array: &DistArray,
        how: Reduce,
        axes: &[usize],
        dtype: Dtype,
        spread: &Spread,
    ) -> Outcome<Array> {
        let own = &spread.wanted[self.rank()];
        let mut shape = sizes(own);
        axes.iter().for_each(|axis| shape[*axis] = array.shape[*axis] as usize);
        if own.n_elements() == 0 {
            return Ok(self.engine.empty(&sizes(own), dtype)?);
        }
        let nothing = self.engine.empty(&shape, array.dtype())?;
        partial(&self.engine, &nothing, how, axes, dtype)
    }

    /// The place of the largest or smallest element over cut dimensions: each rank says its best
    /// element and where that is.
    pub(super) fn best_across(
        &mut self,
        array: &Rc<DistArray>,
        how: Reduce,
        axes: &[usize],
        dtype: Dtype,
        cuts: &Option<Cuts>,
    ) -> Outcome<Value> {
        let spread = self.spread_of(array, axes, cuts, Dtype::Int64)?;
        let places = self.places_without(array, axes)?;
        let best = if how == Reduce::ArgMax { Reduce::Max } else { Reduce::Min };
        let (engine, typed) = (self.engine.clone(), array.dtype());
        let own = match array.own().n_elements() {
            0 => None,
            _ => Some((
                partial(&engine, array.own(), best, axes, typed)?,
                self.global_positions(array, how, axes)?,
            )),
        };
        let (values, positions) = own.unzip();
        let all = |_: usize, _: usize| true;
        let values = self.shares(values.as_ref(), &places, &spread, &all, typed)?;
        let positions = self.shares(positions.as_ref(), &places, &spread, &all, Dtype::Int64)?;
        let part = match values.is_empty() {
            true => self.of_nothing(array, how, axes, Dtype::Int64, &spread)?,
            false => {
                let own = &spread.wanted[self.rank()];
                best_of(&engine, own, best, (&values, &positions))?
            }
        };
        let part = self.engine.cast(&part, dtype)?;
        self.spread_out(spread, part)
    }

    /// Where this rank's best elements are among the reduced axes of the whole array, in C order.
    fn global_positions(
        &mut self,
        array: &DistArray,
        how: Reduce,
        axes: &[usize],
    ) -> Outcome<Array> {
        let engine = self.engine.clone();
        let local = partial(&engine, array.own(), how, axes, Dtype::Int64)?;
        let own = array.owned_box();
        let number = |number: u64| engine.fill(&[], Scalar::from(number as i64));
        let mut axes = axes.to_vec();
        axes.sort_unstable();
        let (mut rest, mut position, mut step) = (local, number(0)?, 1);
        for axis in axes.into_iter().rev() {
            let size = number(own.shape[axis])?;
            let at = engine.apply(Op::Remainder, &[&rest, &size])?;
            rest = engine.apply(Op::FloorDivide, &[&rest, &size])?;
            let at = engine.apply(Op::Add, &[&at, &number(own.start[axis])?])?;
            let far = engine.apply(Op::Multiply, &[&at, &number(step)?])?;
            position = engine.apply(Op::Add, &[&position, &far])?;
            step *= array.shape[axis];
        }
        Ok(position)
    }
}

/// A box as that of one rank's layer in a stack of all ranks' shares.
fn stacked(rank: usize, place: &IndexBox) -> IndexBox {
    IndexBox {
        start: [&[rank as u64], &place.start[..]].concat(),
        shape: [&[1], &place.shape[..]].concat(),
    }
}

/// Shares of the same elements combined, those of different ones side by side.
pub(super) fn joined(
    engine: &Engine,
    own: &IndexBox,
    shares: &[(IndexBox, Array)],
    dtype: Dtype,
    combine: impl Fn(&Array, &Array) -> Outcome<Array>,
) -> Outcome<Array> {
    let mut found: Vec<(&IndexBox, Array)> = Vec::new();
    for (place, share) in shares {
        match found.iter_mut().find(|(known, _)| *known == place) {
            Some((_, sum)) => *sum = combine(sum, share)?,
            None => found.push((place, share.clone())),
        }
    }
    if let [(place, one)] = &found[..]
        && *place == own
    {
        return Ok(one.clone());
    }
    let whole = engine.empty(&sizes(own), dtype)?;
    for (place, share) in &found {
        sliced(&whole, own, place)?.write(share)?;
    }
    Ok(whole)
}

/// Of all ranks' best elements the place of the best; of equal ones that of the first.
fn best_of(
    engine: &Engine,
    own: &IndexBox,
    best: Reduce,
    (values, positions): (&Shares, &Shares),
) -> Outcome<Array> {
    let dtype = values[0].1.dtype();
    let extreme = joined(engine, own, values, dtype, |a, b| combined(engine, best, a, b))?;
    let nowhere = engine.fill(&[], Scalar::from(i64::MAX))?;
    let mut candidates: Shares = Vec::new();
    for ((place, value), (_, position)) in values.iter().zip(positions) {
        let extreme = sliced(&extreme, own, place)?;
        let is_best = engine.apply(Op::Equal, &[value, &extreme])?;
        // NaN is before all, and equal to nothing.
        let is_nan = engine.apply(Op::NotEqual, &[value, value])?;
        let is_best = engine.apply(Op::LogicalOr, &[&is_best, &is_nan])?;
        candidates.push((place.clone(), engine.apply(Op::Where, &[&is_best, position, &nowhere])?));
    }
    let first = |a: &Array, b: &Array| Ok(engine.apply(Op::Minimum, &[a, b])?);
    joined(engine, own, &candidates, Dtype::Int64, first)
}
