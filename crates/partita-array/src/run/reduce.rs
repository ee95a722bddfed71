//! Reductions: each rank its own part, then all ranks together.

use std::rc::Rc;

use partita_ir::Reduce;
use partita_kernel::{Dtype, Kind, Op, Reduction};
use partita_layout::IndexBox;

use super::Runner;
use super::dist::{Cuts, DistArray, Places, sliced};
use super::elementwise;
use super::movement::sizes;
use super::operators::{Placing, shape_of};
use super::problem::{Outcome, problem};
use super::value::{Number, Value, to_scalar};
use crate::local::{Array, Engine};

/// What a reduction is asked to do.
#[derive(Debug, Clone)]
pub(super) struct Reducing {
    pub how: Reduce,
    pub axes: Vec<usize>,
    pub keeps_dims: bool,
    pub correction: f64,
    pub dtype: Dtype,
}

impl Runner<'_> {
    /// A reduction of an array of any kind.
    pub(super) fn reduction(
        &mut self,
        value: &Value,
        what: &Reducing,
        cuts: Option<Cuts>,
    ) -> Outcome<Value> {
        let kept = match what.how {
            Reduce::Mean => self.mean(value, what, &cuts)?,
            Reduce::Var | Reduce::Std => self.variance(value, what, &cuts)?,
            Reduce::ArgMax | Reduce::ArgMin => self.index_of_best(value, what, &cuts)?,
            _ => self.plain(value, what.how, &what.axes, what.dtype, &cuts)?,
        };
        match (&kept, what.keeps_dims) {
            (Value::Array(whole), true) => self.spread(whole.clone(), cuts.as_ref()),
            (Value::Array(whole), false) => {
                self.spread(whole.without_axes(&what.axes), cuts.as_ref())
            }
            (Value::Dist(array), true) if !array.shape.is_empty() => {
                let cuts = cuts.unwrap_or_else(|| array.cuts());
                let cuts = self.cuts_for(&cuts, array.shape.len());
                Ok(Value::Dist(self.by_default(array, &cuts)?))
            }
            (_, true) => Ok(kept),
            (_, false) => self.dropped(&kept, &what.axes, cuts),
        }
    }

    fn mean(&mut self, value: &Value, what: &Reducing, cuts: &Option<Cuts>) -> Outcome<Value> {
        let sum = self.plain(value, Reduce::Sum, &what.axes, what.dtype, cuts)?;
        self.divided(&sum, count(value, &what.axes)?, what.dtype)
    }

    fn variance(&mut self, value: &Value, what: &Reducing, cuts: &Option<Cuts>) -> Outcome<Value> {
        let (engine, dtype) = (self.engine.clone(), what.dtype);
        let of = element_type(value)?;
        let wide = if of.kind() == Kind::Complex { elementwise::common(of, dtype) } else { dtype };
        let mean = self.mean(value, &Reducing { dtype: wide, ..what.clone() }, cuts)?;
        let squares = |x: &[&Array]| -> Outcome<Array> {
            let distance = engine.apply(Op::Subtract, &[&engine.cast(x[0], wide)?, x[1]])?;
            Ok(engine.cast(&squared(&engine, &distance)?, dtype)?)
        };
        let whole_cuts = cuts_like(value);
        let squares =
            self.each(&[value.clone(), mean], &squares, dtype, whole_cuts, Placing::Free)?;
        let sum = self.plain(&squares, Reduce::Sum, &what.axes, dtype, cuts)?;
        let n = (count(value, &what.axes)? - what.correction).max(0.0);
        let variance = self.divided(&sum, n, dtype)?;
        if what.how == Reduce::Var {
            return Ok(variance);
        }
        let engine = self.engine.clone();
        let root = |x: &[&Array]| Ok(engine.apply(Op::SquareRoot, x)?);
        let cuts = cuts_like(&variance);
        self.each(&[variance], &root, dtype, cuts, Placing::Free)
    }

    fn divided(&mut self, sum: &Value, n: f64, dtype: Dtype) -> Outcome<Value> {
        let engine = self.engine.clone();
        let n = engine.fill(&[], to_scalar(Number::Float(n), dtype)?)?;
        let divide = |x: &[&Array]| Ok(engine.apply(Op::Divide, &[x[0], &n])?);
        let cuts = cuts_like(sum);
        self.each(std::slice::from_ref(sum), &divide, dtype, cuts, Placing::Free)
    }

    /// The index of the largest or smallest element.
    fn index_of_best(
        &mut self,
        value: &Value,
        what: &Reducing,
        cuts: &Option<Cuts>,
    ) -> Outcome<Value> {
        let array = match value {
            Value::Dist(array) if !array.shape.is_empty() => self.owned_once(array)?,
            _ => return self.plain(value, what.how, &what.axes, what.dtype, cuts),
        };
        match array.cuts.iter().any(|dim| what.axes.contains(dim)) {
            true => self.best_across(&array, what.how, &what.axes, what.dtype, cuts),
            false => self.along_uncut(&array, what.how, &what.axes, what.dtype),
        }
    }

    /// The array, each element on one rank.
    pub(super) fn owned_once(&mut self, array: &Rc<DistArray>) -> Outcome<Rc<DistArray>> {
        match self.places(array)?.owned_once(&array.shape) {
            true => Ok(Rc::clone(array)),
            false => self.by_default(array, &array.cuts()),
        }
    }

    /// An array that every rank has becomes a distributed one, if it is to be.
    pub(super) fn spread(&mut self, whole: Array, cuts: Option<&Cuts>) -> Outcome<Value> {
        let Some(cuts) = cuts else { return Ok(Value::Array(whole)) };
        let shape: Vec<u64> = whole.shape().iter().map(|n| *n as u64).collect();
        let cuts = self.cuts_for(cuts, shape.len());
        let wanted = cuts.default_boxes(&shape, self.mover.n_ranks())?;
        let own = &wanted[self.rank()];
        let all = IndexBox { start: vec![0; shape.len()], shape: shape.clone() };
        let part = sliced(&whole, &all, own)?;
        let made = DistArray::owned(&shape, &cuts, &own.start.clone(), &part);
        Ok(Value::Dist(Rc::new(made.known(Places::owned(wanted)))))
    }

    /// The same cuts, if an array of so many dimensions can have them.
    pub(super) fn cuts_for(&self, cuts: &Cuts, ndim: usize) -> Cuts {
        let fits = cuts.dims.iter().all(|dim| *dim < ndim) && !cuts.dims.is_empty();
        if fits { cuts.clone() } else { Cuts::rows(ndim, self.mover.n_ranks()) }
    }

    /// Sums, products, extremes, counts: reduced dimensions keep the size 1.
    fn plain(
        &mut self,
        value: &Value,
        how: Reduce,
        axes: &[usize],
        dtype: Dtype,
        cuts: &Option<Cuts>,
    ) -> Outcome<Value> {
        let array = match value {
            Value::Array(array) => {
                return Ok(Value::Array(partial(&self.engine, array, how, axes, dtype)?));
            }
            Value::Dist(array) => array,
            _ => return Err(problem("a number where an array is needed; use an array")),
        };
        if array.shape.is_empty() {
            let part = partial(&self.engine, array.own(), how, axes, dtype)?;
            return Ok(Value::Dist(Rc::new(DistArray::owned(&[], &array.cuts(), &[], &part))));
        }
        let array = self.owned_once(array)?;
        let cut_axes = array.cuts.iter().any(|dim| axes.contains(dim));
        if !cut_axes {
            return self.along_uncut(&array, how, axes, dtype);
        }
        self.reduced_across(&array, how, axes, dtype, cuts)
    }

    fn along_uncut(
        &mut self,
        array: &Rc<DistArray>,
        how: Reduce,
        axes: &[usize],
        dtype: Dtype,
    ) -> Outcome<Value> {
        let places = self.places(array)?;
        let flat = |place: &IndexBox| flattened(place, axes);
        let left = sizes(&flat(&array.owned_box()));
        // Where only a reduced dimension is empty, there are results: those of nothing.
        let part = match left.contains(&0) {
            true => self.engine.empty(&left, dtype)?,
            false => partial(&self.engine, array.own(), how, axes, dtype)?,
        };
        let mut shape = array.shape.clone();
        axes.iter().for_each(|axis| shape[*axis] = 1);
        let start = flat(&array.owned_box()).start;
        let made = DistArray::owned(&shape, &array.cuts(), &start, &part);
        let owned = places.owned.iter().map(flat).collect();
        Ok(Value::Dist(Rc::new(made.known(Places::owned(owned)))))
    }

    /// The result without the reduced dimensions.
    fn dropped(&mut self, kept: &Value, axes: &[usize], cuts: Option<Cuts>) -> Outcome<Value> {
        let array = match kept {
            Value::Array(array) => return Ok(Value::Array(array.without_axes(axes))),
            Value::Dist(array) => array,
            _ => return Err(problem("a number where an array is needed; use an array")),
        };
        let remains = |dim: &usize| !axes.contains(dim);
        let dims: Vec<usize> = (0..array.shape.len()).filter(remains).collect();
        let shape: Vec<u64> = dims.iter().map(|dim| array.shape[*dim]).collect();
        let cut_dims = array.cuts.iter().filter_map(|cut| dims.iter().position(|dim| dim == cut));
        let cut_dims: Vec<usize> = cut_dims.collect();
        if cut_dims.len() == array.cuts.len() {
            let places = self.places(array)?;
            let without = |place: &IndexBox| IndexBox {
                start: dims.iter().map(|dim| place.start[*dim]).collect(),
                shape: dims.iter().map(|dim| place.shape[*dim]).collect(),
            };
            let cuts = Cuts { dims: cut_dims, grid: array.grid.clone() };
            let part = array.own().without_axes(axes);
            let start = without(&array.owned_box()).start;
            let made = DistArray::owned(&shape, &cuts, &start, &part);
            let owned = places.owned.iter().map(without).collect();
            return Ok(Value::Dist(Rc::new(made.known(Places::owned(owned)))));
        }
        // The cut dimension is gone: every rank has its share of a small array anew.
        let whole = self.whole(array)?.without_axes(axes);
        let cuts = cuts.unwrap_or_else(|| Cuts::rows(shape.len(), self.mover.n_ranks()));
        self.spread(whole, Some(&cuts))
    }

    /// The same element of all ranks' arrays combined, in place.
    pub(super) fn allreduce(&mut self, array: &Array, how: Reduce) -> Outcome<()> {
        let bytes = array.to_bytes()?;
        let n_bytes = bytes.len() as u128;
        let shares = self.mover.gather_bytes("allreduce", bytes)?;
        let n_ranks = u128::from(self.mover.n_ranks());
        self.mover.count(n_bytes * n_ranks * (n_ranks - 1));
        let mut sum: Option<Array> = None;
        for share in &shares {
            let share = self.engine.from_bytes(array.shape(), array.dtype(), share)?;
            sum = Some(match sum {
                Some(sum) => combined(&self.engine, how, &sum, &share)?,
                None => share,
            });
        }
        match sum {
            Some(sum) => Ok(array.write(&sum)?),
            None => Ok(()),
        }
    }
}

fn element_type(value: &Value) -> Outcome<Dtype> {
    match value {
        Value::Array(array) => Ok(array.dtype()),
        Value::Dist(array) => Ok(array.dtype()),
        _ => Err(problem("a number where an array is needed; use an array")),
    }
}

/// The squares of numbers; of complex ones those of their absolute values.
fn squared(engine: &Engine, array: &Array) -> Outcome<Array> {
    if array.dtype().kind() != Kind::Complex {
        return Ok(engine.apply(Op::Multiply, &[array, array])?);
    }
    let square = |part: Op| {
        let part = engine.apply(part, &[array])?;
        engine.apply(Op::Multiply, &[&part, &part])
    };
    Ok(engine.apply(Op::Add, &[&square(Op::Real)?, &square(Op::Imag)?])?)
}

/// A box with reduced dimensions of size 1.
fn flattened(place: &IndexBox, axes: &[usize]) -> IndexBox {
    let mut flat = place.clone();
    for axis in axes {
        (flat.start[*axis], flat.shape[*axis]) = (0, 1);
    }
    flat
}

/// How what is computed from an array is cut; not at all if all ranks have the array.
fn cuts_like(value: &Value) -> Option<Cuts> {
    match value {
        Value::Dist(array) => Some(array.cuts()),
        _ => None,
    }
}

fn count(value: &Value, axes: &[usize]) -> Outcome<f64> {
    let shape = shape_of(value)?;
    Ok(axes.iter().map(|axis| shape[*axis] as f64).product())
}

/// One rank's share of a reduction.
pub(super) fn partial(
    engine: &Engine,
    array: &Array,
    how: Reduce,
    axes: &[usize],
    dtype: Dtype,
) -> Outcome<Array> {
    let (typed, reduction) = match how {
        Reduce::Sum => (dtype, Reduction::Sum),
        Reduce::Prod => (dtype, Reduction::Product),
        Reduce::Max => (array.dtype(), Reduction::Maximum),
        Reduce::Min => (array.dtype(), Reduction::Minimum),
        Reduce::All => (Dtype::Bool, Reduction::All),
        Reduce::Any => (Dtype::Bool, Reduction::Any),
        Reduce::CountNonzero => (array.dtype(), Reduction::Count),
        Reduce::ArgMax => (array.dtype(), Reduction::ArgMax),
        Reduce::ArgMin => (array.dtype(), Reduction::ArgMin),
        Reduce::Mean | Reduce::Std | Reduce::Var => {
            return Err(problem(format!("{} has no shares to combine; use sums", how.name())));
        }
    };
    let made = engine.reduce(&engine.cast(array, typed)?, reduction, axes)?;
    Ok(engine.cast(&made, dtype)?)
}

/// Two ranks' shares together.
pub(super) fn combined(engine: &Engine, how: Reduce, a: &Array, b: &Array) -> Outcome<Array> {
    let op = match how {
        Reduce::Sum | Reduce::CountNonzero => Op::Add,
        Reduce::Prod => Op::Multiply,
        Reduce::Max => Op::Maximum,
        Reduce::Min => Op::Minimum,
        Reduce::All => Op::LogicalAnd,
        Reduce::Any => Op::LogicalOr,
        other => {
            let name = other.name();
            return Err(problem(format!(
                "{name} of several ranks is not known; use sum, prod, max, min, all or any"
            )));
        }
    };
    if matches!(op, Op::LogicalAnd | Op::LogicalOr) && a.dtype() != Dtype::Bool {
        let (x, y) = (engine.cast(a, Dtype::Bool)?, engine.cast(b, Dtype::Bool)?);
        return Ok(engine.cast(&engine.apply(op, &[&x, &y])?, a.dtype())?);
    }
    Ok(engine.apply(op, &[a, b])?)
}
