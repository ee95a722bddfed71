//! Reductions over axes that ranks have in parts.
//!
//! Each rank combines its own part; the results lie side by side in an array with one dimension
//! more (the *shares*), from which whoever owns the result takes what it needs and combines again.

use std::rc::Rc;

use partita_kernel::{Dtype, Kind, Op, Reduction, Scalar};
use partita_layout::IndexBox;
use smallvec::smallvec;

use super::super::node::{Action, Node, Operand, Operands, Place};
use super::super::window::{Dims, Window};
use super::divide::{Dividing, Points};
use super::shares::{Shares, combined_into, sizes};
use super::spread::Spread;
use crate::api::Number;
use crate::error::{LocalError, Result};

impl Dividing {
    pub(super) fn reduce(&mut self, node: &Node, how: Reduction, axes: u16) -> Result<()> {
        let Some(Operand::Array(place)) = node.operands.first() else {
            return self.reduce_at_target(node, axes);
        };
        let Some(points) = self.reduced_points(node, axes) else {
            return self.reduce_at_target(node, axes);
        };
        let needs = self.needs(place, &points);
        let spread = Rc::clone(&self.parts[place.base].spread);
        if spread.has(&needs) || node.space().contains(&0) {
            return self.at_points(node, &points);
        }
        let own = self.points_of(place);
        let is_combined = |axis: usize| axes >> axis & 1 == 1;
        let results = node.written().shape.clone();
        let shares = own.as_ref().and_then(|own| Shares::new(own, is_combined));
        match (own, shares) {
            (Some(own), Some(shares)) if shares.is_complete(&results) && covers(&own, node) => {
                self.combine(node, how, axes, &own, &shares)
            }
            _ => self.at_points(node, &points),
        }
    }

    /// The points from which each rank's results are combined; none if these are no box.
    fn reduced_points(&self, node: &Node, axes: u16) -> Option<Points> {
        let written = Place { base: node.target.base, window: node.written() };
        let mut points = self.points_of(&written)?;
        for part in points.iter_mut().flatten() {
            for axis in (0..part.start.len()).filter(|axis| axes >> axis & 1 == 1) {
                (part.start[axis], part.shape[axis]) = (0, node.space()[axis] as u64);
            }
        }
        Some(points)
    }

    fn reduce_at_target(&mut self, node: &Node, axes: u16) -> Result<()> {
        match self.reduced_points(node, axes) {
            Some(points) => self.at_points(node, &points),
            // Results of reductions are bases of their own, so their points are boxes.
            None => Err(LocalError::Unplanned { problem: "results that are no boxes".into() }),
        }
    }

    fn combine(
        &mut self,
        node: &Node,
        how: Reduction,
        axes: u16,
        own: &Points,
        shares: &Shares,
    ) -> Result<()> {
        let results = node.written().shape.clone();
        let mut shape: Dims<usize> = smallvec![shares.n_shares];
        shape.extend_from_slice(&results);
        let mut step = Combining { dividing: self, node, axes, own, shares, shape, results };
        match how {
            Reduction::Count => step.plain(how, Reduction::Sum),
            Reduction::Mean => step.mean(),
            Reduction::Variance => step.variance(),
            Reduction::ArgMin => step.argument(how, Reduction::ArgMinValue, Reduction::Minimum),
            Reduction::ArgMax => step.argument(how, Reduction::ArgMaxValue, Reduction::Maximum),
            _ => step.plain(how, how),
        }
    }
}

/// Whether all points are somebody's.
fn covers(own: &Points, node: &Node) -> bool {
    let n_own: u64 = own.iter().flatten().map(IndexBox::n_elements).sum();
    n_own == node.space().iter().product::<usize>() as u64
}

/// A reduction over axes that ranks have in parts.
struct Combining<'a> {
    dividing: &'a mut Dividing,
    node: &'a Node,
    axes: u16,
    own: &'a Points,
    shares: &'a Shares,
    /// Shares side by side, then the results.
    shape: Dims<usize>,
    results: Dims<usize>,
}

impl Combining<'_> {
    fn plain(&mut self, how: Reduction, again: Reduction) -> Result<()> {
        let shares = self.shares_of(how, self.node.dtype, self.node.operands.clone())?;
        self.combined(again, self.node.dtype, shares)
    }

    /// Sums, divided once: a mean of means would be rounded at every step.
    fn mean(&mut self) -> Result<()> {
        let dtype = self.node.dtype;
        if matches!(dtype, Dtype::Float16 | Dtype::BFloat16) {
            return self.weighted_mean();
        }
        let sums = self.shares_of(Reduction::Sum, dtype, self.node.operands.clone())?;
        let total = self.like_target(dtype);
        self.combined_to(Reduction::Sum, dtype, sums, &total)?;
        let count = self.number(self.n_combined() as f64, dtype)?;
        let target = self.target();
        let operands = smallvec![Operand::Array(total), count];
        self.dividing.node(&Node::derived(Action::Apply(Op::Divide), dtype, operands, target))
    }

    /// Means, each counted as often as it has elements: sums of half precision may be too large.
    fn weighted_mean(&mut self) -> Result<()> {
        let dtype = self.node.dtype;
        let means = self.shares_of(Reduction::Mean, dtype, self.node.operands.clone())?;
        let weights = self.weights(dtype)?;
        let weighted = self.beside(Op::Multiply, dtype, &[means, weights])?;
        self.combined(Reduction::Sum, dtype, weighted)
    }

    /// The squared distances of the shares from their own means, and of these from the whole's.
    fn variance(&mut self) -> Result<()> {
        let dtype = self.node.dtype;
        let operand = self.node.operands[0].clone();
        let zero = self.dividing.number(Scalar::from(0.0));
        let inner = smallvec![operand.clone(), zero];
        let inner = self.shares_of(Reduction::Variance, dtype, inner)?;
        let means = self.shares_of(Reduction::VarianceMean, dtype, smallvec![operand])?;
        let weights = self.weights(dtype)?;
        let weighted = self.beside(Op::Multiply, dtype, &[means, weights])?;
        let mean = self.like_target(dtype);
        self.combined_to(Reduction::Sum, dtype, weighted, &mean)?;
        let apart = self.new_shares(dtype);
        let all = |base: usize| self.all(base);
        let spread = self.repeated(&mean);
        let node = pointwise(Op::Subtract, dtype, &[all(means), spread], all(apart));
        self.dividing.node(&node)?;
        let squared = self.beside(Op::Multiply, dtype, &[apart, apart])?;
        let both = self.beside(Op::Add, dtype, &[squared, inner])?;
        let weighted = self.beside(Op::Multiply, dtype, &[both, weights])?;
        let second = self.like_target(dtype);
        self.combined_to(Reduction::Sum, dtype, weighted, &second)?;
        // Times n / (n - correction), in the correction's type.
        let n_combined = self.n_combined() as f64;
        let double = Dtype::Float64;
        let [wide, divisor, kept] = [(); 3].map(|()| self.like_target(double));
        let cast = |from: Place, to: Place, dtype: Dtype| {
            Node::derived(Action::Cast, dtype, smallvec![Operand::Array(from)], to)
        };
        let target = self.target();
        self.dividing.node(&cast_or_copy(cast(second, wide.clone(), double), dtype))?;
        let count = self.dividing.number(Scalar::from(n_combined));
        let nothing = self.dividing.number(Scalar::from(0.0));
        let less = Operands::from_vec(vec![count.clone(), self.node.operands[1].clone()]);
        let apply = |op: Op, operands: Operands, target: &Place| {
            Node::derived(Action::Apply(op), double, operands, target.clone())
        };
        self.dividing.node(&apply(Op::Subtract, less, &divisor))?;
        let bounded = smallvec![Operand::Array(divisor.clone()), nothing];
        self.dividing.node(&apply(Op::Maximum, bounded, &kept))?;
        let grown = smallvec![Operand::Array(wide.clone()), count];
        self.dividing.node(&apply(Op::Multiply, grown, &wide))?;
        let divided = smallvec![Operand::Array(wide.clone()), Operand::Array(kept)];
        self.dividing.node(&apply(Op::Divide, divided, &wide))?;
        self.dividing.node(&cast_or_copy(cast(wide, target, dtype), double))
    }

    /// The first of the ranks' smallest or largest elements.
    fn argument(&mut self, how: Reduction, value: Reduction, best: Reduction) -> Result<()> {
        let Some(Operand::Array(place)) = self.node.operands.first().cloned() else {
            return Ok(());
        };
        let dtype = self.dividing.parts[place.base].dtype;
        let local = self.shares_of(how, Dtype::Int64, self.node.operands.clone())?;
        let values = self.shares_of(value, dtype, self.node.operands.clone())?;
        let places = self.global_places(local)?;
        let extreme = self.like_target(dtype);
        self.combined_to(best, dtype, values, &extreme)?;
        let repeated = self.repeated(&extreme);
        let truths = self.new_shares(Dtype::Bool);
        let all = |base: usize| Place { base, window: Window::dense(&self.shape) };
        let equal = pointwise(Op::Equal, Dtype::Bool, &[all(values), repeated], all(truths));
        let (at_truths, at_values) = (all(truths), all(values));
        self.dividing.node(&equal)?;
        if matches!(dtype.kind(), Kind::Float | Kind::Complex) {
            let strange = self.new_shares(Dtype::Bool);
            let at_strange = Place { base: strange, window: Window::dense(&self.shape) };
            let nan = pointwise(Op::IsNan, Dtype::Bool, &[at_values], at_strange.clone());
            self.dividing.node(&nan)?;
            let either = [at_truths.clone(), at_strange];
            let either = pointwise(Op::LogicalOr, Dtype::Bool, &either, at_truths.clone());
            self.dividing.node(&either)?;
        }
        let chosen = self.new_shares(Dtype::Int64);
        let far = self.dividing.number(Scalar::from(i64::MAX));
        let at_places = Place { base: places, window: Window::dense(&self.shape) };
        let operands = smallvec![Operand::Array(at_truths), Operand::Array(at_places), far];
        let target = Place { base: chosen, window: Window::dense(&self.shape) };
        let action = Action::Apply(Op::Where);
        self.dividing.node(&Node::derived(action, Dtype::Int64, operands, target))?;
        self.combined(Reduction::Minimum, Dtype::Int64, chosen)
    }

    /// Positions among this rank's points as positions among all.
    fn global_places(&mut self, local: usize) -> Result<usize> {
        let is_combined = |axis: &usize| self.axes >> axis & 1 == 1;
        let axes: Vec<usize> = (0..self.node.space().len()).filter(is_combined).collect();
        let global = self.new_shares(Dtype::Int64);
        let rank = self.dividing.rank;
        let Some(part) = self.own[rank].clone() else {
            self.dividing.mark_written(global);
            return Ok(global);
        };
        let share = self.own_share(local);
        let shape = share.window.shape.clone();
        let apply = |op: Op, operands: Operands, target: &Place| {
            Node::derived(Action::Apply(op), Dtype::Int64, operands, target.clone())
        };
        let target = self.own_share(global);
        let zero = self.dividing.number(Scalar::from(0_i64));
        let (action, operands) = (Action::Copy, smallvec![zero]);
        self.dividing.push(Node::derived(action, Dtype::Int64, operands, target.clone()));
        let (mut inner_here, mut inner) = (1_i64, 1_i64);
        for axis in axes.into_iter().rev() {
            let (n_here, n_all) = (part.shape[axis] as i64, self.node.space()[axis] as i64);
            let spread = Rc::new(Spread::Whole);
            let at = self.dividing.add(Dtype::Int64, &shape, spread);
            let at = Place { base: at, window: Window::dense(&shape) };
            let first = Operand::Array(share.clone());
            let steps = [
                (Op::FloorDivide, inner_here),
                (Op::Remainder, n_here),
                (Op::Add, part.start[axis] as i64),
                (Op::Multiply, inner),
            ];
            for (turn, (op, number)) in steps.into_iter().enumerate() {
                let from = if turn == 0 { first.clone() } else { Operand::Array(at.clone()) };
                let number = self.dividing.number(Scalar::from(number));
                self.dividing.push(apply(op, smallvec![from, number], &at));
            }
            let sum = smallvec![Operand::Array(target.clone()), Operand::Array(at)];
            self.dividing.push(apply(Op::Add, sum, &target));
            (inner_here, inner) = (inner_here * n_here, inner * n_all);
        }
        Ok(global)
    }

    /// Each rank's own part, combined.
    fn shares_of(&mut self, how: Reduction, dtype: Dtype, operands: Operands) -> Result<usize> {
        let shares = self.new_shares(dtype);
        let mut local = Operands::new();
        for operand in operands {
            local.push(match operand {
                Operand::Array(place) => Operand::Array(self.dividing.read(&place, self.own)?),
                number @ Operand::Number(..) => number,
            });
        }
        let rank = self.dividing.rank;
        let Some((part, (_, results))) =
            self.own[rank].as_ref().zip(self.shares.places[rank].clone())
        else {
            self.dividing.mark_written(shares);
            return Ok(shares);
        };
        let window = combined_into(&sizes(part), &sizes(&results), self.axes);
        self.dividing.push(Node::derived(
            Action::Reduce(how, self.axes),
            dtype,
            local,
            Place { base: shares, window },
        ));
        Ok(shares)
    }

    /// Every rank's part of all points.
    fn weights(&mut self, dtype: Dtype) -> Result<usize> {
        let rank = self.dividing.rank;
        let weights = self.new_shares(dtype);
        let Some((part, (_, results))) =
            self.own[rank].as_ref().zip(self.shares.places[rank].clone())
        else {
            self.dividing.mark_written(weights);
            return Ok(weights);
        };
        let n_own = part.n_elements() / results.n_elements().max(1);
        let share = n_own as f64 / self.n_combined() as f64;
        let share = self.number(share, dtype)?;
        let target = self.own_share(weights);
        let (action, operands) = (Action::Copy, smallvec![share]);
        self.dividing.push(Node::derived(action, dtype, operands, target));
        Ok(weights)
    }

    /// A number of the work, in a type.
    fn number(&mut self, number: f64, dtype: Dtype) -> Result<Operand> {
        let number = Number::Float(number).to_scalar(dtype);
        let number =
            number.map_err(|error| LocalError::Unplanned { problem: error.to_string() })?;
        Ok(self.dividing.number(number))
    }

    fn n_combined(&self) -> usize {
        let n_points: usize = self.node.space().iter().product();
        n_points / self.results.iter().product::<usize>().max(1)
    }

    fn new_shares(&mut self, dtype: Dtype) -> usize {
        let boxes = self.shares.boxes(self.results.len(), None);
        let shape = self.shape.clone();
        self.dividing.add(dtype, &shape, Spread::owned(boxes))
    }

    /// This rank's share in its memory.
    fn own_share(&self, shares: usize) -> Place {
        let shape: Dims<usize> = sizes(&self.dividing.held(shares));
        Place { base: shares, window: Window::dense(&shape) }
    }

    fn all(&self, base: usize) -> Place {
        Place { base, window: Window::dense(&self.shape) }
    }

    /// An operation on shares, where these are.
    fn beside(&mut self, op: Op, dtype: Dtype, operands: &[usize]) -> Result<usize> {
        let made = self.new_shares(dtype);
        let places: Vec<Place> = operands.iter().map(|base| self.all(*base)).collect();
        self.dividing.node(&pointwise(op, dtype, &places, self.all(made)))?;
        Ok(made)
    }

    /// Where the results are.
    fn target(&self) -> Place {
        Place { base: self.node.target.base, window: self.node.written() }
    }

    /// New memory where the results are.
    fn like_target(&mut self, dtype: Dtype) -> Place {
        let target = &self.dividing.parts[self.node.target.base];
        let (shape, spread) = (target.shape.clone(), Rc::clone(&target.spread));
        let base = self.dividing.add(dtype, &shape, spread);
        Place { base, window: self.node.written() }
    }

    /// Results beside each of the shares.
    fn repeated(&self, place: &Place) -> Place {
        let window = place.window.broadcast(&self.shape);
        let window = window.unwrap_or_else(|| place.window.clone());
        Place { base: place.base, window }
    }

    fn combined(&mut self, how: Reduction, dtype: Dtype, shares: usize) -> Result<()> {
        let target = self.target();
        self.combined_to(how, dtype, shares, &target)
    }

    /// Combines shares where the results are.
    fn combined_to(
        &mut self,
        how: Reduction,
        dtype: Dtype,
        shares: usize,
        target: &Place,
    ) -> Result<()> {
        let mut window = self.repeated(target).window;
        window.strides[0] = 0;
        let node = Node::derived(
            Action::Reduce(how, 1),
            dtype,
            smallvec![Operand::Array(self.all(shares))],
            Place { base: target.base, window },
        );
        self.dividing.reduce_at_target(&node, 1)
    }
}

fn pointwise(op: Op, dtype: Dtype, operands: &[Place], target: Place) -> Node {
    let operands = operands.iter().cloned().map(Operand::Array).collect();
    Node::derived(Action::Apply(op), dtype, operands, target)
}

/// A cast to a type that the operand may have already.
fn cast_or_copy(mut node: Node, from: Dtype) -> Node {
    if node.dtype == from {
        node.action = Action::Copy;
    }
    node
}
