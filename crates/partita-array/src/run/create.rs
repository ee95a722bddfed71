//! New arrays: filled ones, ranges, indices, random numbers. Each rank makes its own part.

use std::rc::Rc;

use partita_ir::{Op, OpKind};
use partita_kernel::{Dtype, Op as KernelOp, Scalar};
use partita_layout::IndexBox;

use super::Runner;
use super::dist::{DistArray, Places};
use super::interpret::Frame;
use super::movement::sizes;
use super::problem::{Outcome, problem};
use super::value::{Value, to_scalar};
use crate::local::Array;

impl Runner<'_> {
    pub(super) fn create(&mut self, op: Op, kind: OpKind, frame: &Frame) -> Outcome<Value> {
        let shape = self.created_shape(op, kind, frame)?;
        let dtype = self.result_dtype(op)?;
        let Some(cuts) = self.result_cuts(op)? else {
            let all = IndexBox { start: vec![0; shape.len()], shape: shape.clone() };
            return Ok(Value::Array(self.created(op, kind, &all, &shape, dtype, frame)?));
        };
        let boxes = cuts.default_boxes(&shape, self.mover.n_ranks())?;
        let own = boxes[self.rank()].clone();
        let part = self.created(op, kind, &own, &shape, dtype, frame)?;
        let made = DistArray::owned(&shape, &cuts, &own.start, &part);
        Ok(Value::Dist(Rc::new(made.known(Places::owned(boxes)))))
    }

    fn created_shape(&self, op: Op, kind: OpKind, frame: &Frame) -> Outcome<Vec<u64>> {
        if kind == OpKind::NdarrayLinspace {
            let num = frame.int(self.module.operands(op)[2])?;
            let size = u64::try_from(num)
                .map_err(|_| problem(format!("{num} numbers cannot be made; use 0 or more")))?;
            return Ok(vec![size]);
        }
        self.wanted_shape(op, self.module.operands_named(op, "shape"), frame)
    }

    /// The elements of a box.
    fn created(
        &mut self,
        op: Op,
        kind: OpKind,
        place: &IndexBox,
        shape: &[u64],
        dtype: Dtype,
        frame: &Frame,
    ) -> Outcome<Array> {
        match kind {
            OpKind::NdarrayLinspace => self.linspace(op, place, shape, dtype, frame),
            OpKind::NdarrayIota => {
                let axis = self.attr_int(op, "axis")?;
                let axis = usize::try_from(axis).ok().filter(|axis| *axis < shape.len());
                let axis =
                    axis.ok_or_else(|| problem("its axis is no dimension; use one below"))?;
                Ok(self.engine.cast(&self.indices(place, axis)?, dtype)?)
            }
            OpKind::NdarrayRandom => self.random(op, place, shape, dtype, frame),
            _ => match self.module.operands_named(op, "value") {
                [value] => {
                    let Value::Number(number) = frame.get(*value)? else {
                        return Err(problem("an array where a number is needed; load an element"));
                    };
                    let value = to_scalar(*number, dtype)?;
                    Ok(self.engine.fill(&sizes(place), value)?)
                }
                _ => Ok(self.engine.empty(&sizes(place), dtype)?),
            },
        }
    }

    /// Global indices along an axis, as int64.
    fn indices(&self, place: &IndexBox, axis: usize) -> Outcome<Array> {
        let index = self.engine.index(&sizes(place), axis)?;
        let start = self.engine.fill(&[], Scalar::from(place.start[axis] as i64))?;
        Ok(self.engine.apply(KernelOp::Add, &[&index, &start])?)
    }

    fn linspace(
        &mut self,
        op: Op,
        place: &IndexBox,
        shape: &[u64],
        dtype: Dtype,
        frame: &Frame,
    ) -> Outcome<Array> {
        let operands = self.module.operands(op);
        let number = |at: usize| frame.number(operands[at]);
        let (start, stop) = (number(0)?.float(), number(1)?.float());
        let includes_stop = self.module.attr(op, "endpoint").is_some();
        let n_steps = shape[0].saturating_sub(u64::from(includes_stop)).max(1);
        let step = (stop - start) / n_steps as f64;
        let engine = &self.engine;
        let index = engine.cast(&self.indices(place, 0)?, Dtype::Float64)?;
        let (start, step) = (Scalar::from(start), Scalar::from(step));
        let (start, step) = (engine.fill(&[], start)?, engine.fill(&[], step)?);
        let distance = engine.apply(KernelOp::Multiply, &[&index, &step])?;
        let made = engine.apply(KernelOp::Add, &[&distance, &start])?;
        Ok(engine.cast(&made, dtype)?)
    }

    /// Numbers in [0, 1) that belong to a key and to positions in C order.
    fn random(
        &mut self,
        op: Op,
        place: &IndexBox,
        shape: &[u64],
        dtype: Dtype,
        frame: &Frame,
    ) -> Outcome<Array> {
        let key = frame.int(self.module.operands(op)[0])?;
        let engine = self.engine.clone();
        let number = |number: u64| engine.fill(&[], Scalar::from(number));
        let mut counter = engine.fill(&sizes(place), Scalar::from(0_u64))?;
        for (axis, &size) in shape.iter().enumerate() {
            let index = engine.cast(&self.indices(place, axis)?, Dtype::UInt64)?;
            let scaled = engine.apply(KernelOp::Multiply, &[&counter, &number(size)?])?;
            counter = engine.apply(KernelOp::Add, &[&scaled, &index])?;
        }
        let key = number(key as u64)?.broadcast(&sizes(place))?;
        let bits = engine.apply(KernelOp::Random, &[&counter, &key])?;
        let bits = engine.apply(KernelOp::ShiftRight, &[&bits, &number(11)?])?;
        let whole = engine.cast(&bits, Dtype::Float64)?;
        let scale = engine.fill(&[], Scalar::from(1.0 / (1_u64 << 53) as f64))?;
        let made = engine.apply(KernelOp::Multiply, &[&whole, &scale])?;
        Ok(engine.cast(&made, dtype)?)
    }
}
