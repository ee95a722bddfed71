//! Operators as `linalg.generic`: which elements are read together, and what is done with them.

use super::lower::Lowering;
use super::operators::{Step, binary, cast, reduction, unary};
use super::{SEGMENTS, lengths};
use crate::attr::{Attr, Float};
use crate::enums::{EwBin, EwUny, Reduce};
use crate::kind::OpKind;
use crate::module::{NewOp, Op, Value};
use crate::types::{Scalar, Size, Type};

/// For each dimension of an operand, the loop that runs over it; nothing where it repeats.
type Reads = Vec<Option<usize>>;

/// A loop over the elements of a result.
struct Loop {
    /// What is read, and where.
    inputs: Vec<(Value, Reads)>,
    /// Where the result is written, of a loop per dimension of the result or of the operand.
    output: Reads,
    n_loops: usize,
    step: Step,
    /// What a reduction begins with.
    start: Option<u8>,
}

impl Lowering {
    /// Writes an operator as a loop; says whether it is one.
    pub(super) fn loops(&mut self, op: Op) -> bool {
        let Some(found) = self.loop_of(op) else { return false };
        let operands: Vec<Value> = found.inputs.iter().map(|(value, _)| *value).collect();
        // A reduction has a dimension less than its operand; nothing decides an open size.
        let deciding = if found.start.is_some() { &[] } else { operands.as_slice() };
        let Some(memory) = self.fresh(op, deciding) else { return false };
        if let Some(start) = found.start {
            self.begin_with(op, start, memory);
        }
        let new = self.standing_for(op, self.generic(&found, memory));
        let new = self.module.insert_before(op, new);
        self.body(new, found.step);
        self.replace(op, &[memory]);
        true
    }

    fn loop_of(&self, op: Op) -> Option<Loop> {
        self.module.results(op).first()?;
        match self.module.kind(op) {
            OpKind::NdarrayReduction => self.reduction_of(op),
            OpKind::NdarrayPermuteDims => self.permutation_of(op),
            kind => {
                let step = self.step_of(op, kind)?;
                let result = self.module.ty(self.module.result(op)).shape()?;
                let operands = self.module.operands(op).iter();
                let inputs = operands.map(|value| Some((*value, self.reads(*value, result)?)));
                let inputs = inputs.collect::<Option<_>>()?;
                let n_loops = result.len();
                let output = (0..n_loops).map(Some).collect();
                Some(Loop { inputs, output, n_loops, step, start: None })
            }
        }
    }

    fn step_of(&self, op: Op, kind: OpKind) -> Option<Step> {
        let number = self.module.attr(op, "op").and_then(Attr::as_int);
        let elements: Vec<Scalar> = self.elements(self.module.operands(op))?;
        let result = self.module.ty(self.module.result(op)).element()?;
        match (kind, elements.as_slice()) {
            (OpKind::NdarrayEwBin, [lhs, rhs]) if lhs == rhs => {
                let step = binary(EwBin::from_number(number?)?, *lhs)?;
                let given = if matches!(step, Step::Compare(..)) { Scalar::BOOL } else { *lhs };
                (given == result).then_some(step)
            }
            (OpKind::NdarrayEwUny, [one]) if *one == result => {
                unary(EwUny::from_number(number?)?, *one)
            }
            (OpKind::NdarrayCastElemtype, [one]) => cast(*one, result),
            (OpKind::NdarrayWhere, [Scalar::BOOL, lhs, rhs]) if lhs == rhs && *lhs == result => {
                Some(Step::All(OpKind::ArithSelect))
            }
            _ => None,
        }
    }

    fn elements(&self, values: &[Value]) -> Option<Vec<Scalar>> {
        values.iter().map(|value| self.module.ty(*value).element()).collect()
    }

    /// Where an operand is read while a loop runs over each dimension of the result.
    fn reads(&self, operand: Value, result: &[Size]) -> Option<Reads> {
        let shape = self.module.ty(operand).shape()?;
        let first = result.len().checked_sub(shape.len())?;
        let read = |(dim, size): (usize, &Size)| {
            let repeats = *size == Size::Known(1) && result[first + dim] != Size::Known(1);
            (!repeats).then_some(first + dim)
        };
        Some(shape.iter().enumerate().map(read).collect())
    }

    fn permutation_of(&self, op: Op) -> Option<Loop> {
        let [source] = *self.module.operands(op) else { return None };
        let axes = self.module.attr(op, "axes").and_then(Attr::as_i64s)?;
        let n_loops = self.module.ty(source).shape()?.len();
        let mut reads: Reads = vec![None; n_loops];
        for (number, axis) in axes.iter().enumerate() {
            *reads.get_mut(usize::try_from(*axis).ok()?)? = Some(number);
        }
        let has_open = self.module.ty(source).shape()?.contains(&Size::Dynamic);
        let fits = axes.len() == n_loops && reads.iter().all(Option::is_some) && !has_open;
        let output = (0..n_loops).map(Some).collect();
        let step = Step::First;
        fits.then_some(Loop { inputs: vec![(source, reads)], output, n_loops, step, start: None })
    }

    fn reduction_of(&self, op: Op) -> Option<Loop> {
        let [source] = *self.module.operands(op) else { return None };
        let number = self.module.attr(op, "op").and_then(Attr::as_int)?;
        let ty = self.module.ty(source);
        let n_loops = ty.shape()?.len();
        let axes = self.module.attr(op, "axes").map(|axes| axes.as_i64s());
        let goes =
            |dim: &usize| axes.is_none_or(|axes| axes.is_some_and(|a| a.contains(&(*dim as i64))));
        let output: Reads = (0..n_loops).filter(|dim| !goes(dim)).map(Some).collect();
        let result = self.module.ty(self.module.result(op));
        let fits = result.shape()?.len() == output.len() && result.element() == ty.element();
        let (step, start) = reduction(Reduce::from_number(number)?, ty.element()?)?;
        let reads = (0..n_loops).map(Some).collect();
        let inputs = vec![(source, reads)];
        fits.then_some(Loop { inputs, output, n_loops, step, start: Some(start) })
    }

    /// Fills the memory of a reduction with the number it begins with.
    fn begin_with(&mut self, op: Op, start: u8, memory: Value) {
        let element = self.module.ty(memory).element().unwrap_or(Scalar::F64);
        let number = match element.is_float() {
            true => Attr::Float(Float(f64::from(start)), element),
            false => Attr::Int(i64::from(start), element),
        };
        let number = NewOp::new(OpKind::ArithConstant).result(element.into()).attr("value", number);
        let number = self.helper(op, number);
        let fill = self.filling(number, memory).attr(super::HELPER, Attr::Unit);
        let fill = self.module.insert_before(op, fill);
        self.yield_first(fill);
    }

    /// A loop that writes one number, or the element of a 0-d array, everywhere.
    pub(super) fn filling(&self, value: Value, memory: Value) -> NewOp {
        let n_loops = self.module.ty(memory).shape().map_or(0, <[_]>::len);
        let output = (0..n_loops).map(Some).collect();
        let inputs = vec![(value, Vec::new())];
        self.generic(&Loop { inputs, output, n_loops, step: Step::First, start: None }, memory)
    }

    /// `linalg.generic` without its body.
    fn generic(&self, this: &Loop, memory: Value) -> NewOp {
        let mut maps: Vec<Attr> =
            this.inputs.iter().map(|(_, reads)| map(this.n_loops, reads)).collect();
        maps.push(map(this.n_loops, &this.output));
        let is_kept = |dim: &usize| this.output.contains(&Some(*dim));
        let kind = |dim: usize| if is_kept(&dim) { "parallel" } else { "reduction" };
        let kinds = (0..this.n_loops)
            .map(|dim| Attr::Other(format!("#linalg.iterator_type<{}>", kind(dim)).into()));
        let mut operands: Vec<Value> = this.inputs.iter().map(|(value, _)| *value).collect();
        operands.push(memory);
        let elements = self.elements(&operands).unwrap_or_default();
        let arguments: Vec<Type> = elements.into_iter().map(Type::Scalar).collect();
        NewOp::named("linalg.generic")
            .operands(&operands)
            .region(&arguments)
            .attr("indexing_maps", Attr::Array(maps.into()))
            .attr("iterator_types", Attr::Array(kinds.collect()))
            .attr(SEGMENTS, lengths(&[this.inputs.len(), 1]))
    }

    /// Lets a loop give the first element it reads.
    pub(super) fn yield_first(&mut self, generic: Op) {
        self.body(generic, Step::First);
    }

    fn body(&mut self, generic: Op, step: Step) {
        let block = self.module.regions(generic)[0];
        let arguments = self.module.arguments(block).to_vec();
        let Some((out, inputs)) = arguments.split_last() else { return };
        let (out_type, first) = (self.module.ty(*out).clone(), inputs[0]);
        let is_reduction = inputs.len() == 1 && matches!(step, Step::All(kind) if takes_two(kind));
        let operands = match step {
            Step::Twice(_) => vec![first, first],
            _ if is_reduction => vec![*out, first],
            _ => inputs.to_vec(),
        };
        let value = match step {
            Step::First => first,
            Step::All(kind) | Step::Twice(kind) | Step::Compare(kind, _) => {
                let mut new = NewOp::new(kind).operands(&operands).result(out_type);
                if let Step::Compare(_, predicate) = step {
                    new = new.attr("predicate", Attr::i64(predicate));
                }
                let op = self.module.append(block, new);
                self.module.result(op)
            }
        };
        self.module.append(block, NewOp::named("linalg.yield").operands(&[value]));
    }
}

fn takes_two(kind: OpKind) -> bool {
    kind.info().is_some_and(|info| info.operands.len() == 2)
}

/// `affine_map<(d0, d1) -> (d0, 0)>`
fn map(n_loops: usize, reads: &Reads) -> Attr {
    let loops: Vec<String> = (0..n_loops).map(|dim| format!("d{dim}")).collect();
    let word = |read: &Option<usize>| read.map_or("0".to_string(), |dim| format!("d{dim}"));
    let words: Vec<String> = reads.iter().map(word).collect();
    Attr::Other(format!("affine_map<({}) -> ({})>", loops.join(", "), words.join(", ")).into())
}
