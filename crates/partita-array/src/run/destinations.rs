//! Results that are made only to be inserted into an array.
//!
//! While data are under way, such a result is computed early, and inserted late. It is written
//! where it will be in the array's next content, so that inserting it moves nothing
//! ([`Engine::place_for`](crate::local::Engine::place_for)). A new array that is put together of
//! such results, and then inserted, is a place of this kind as a whole.

use std::collections::HashMap;

use partita_ir::{Module, Op, OpKind, Use, Value as Name};

use super::Runner;
use super::interpret::Frame;
use super::problem::Outcome;
use super::value::Value;
use super::views::{Reading, Slicing};
use crate::local::Array;

/// For an operation, the insertion that is its result's only use.
#[derive(Debug, Default)]
pub(super) struct Destinations {
    inserts: HashMap<Op, Op>,
}

impl Destinations {
    pub fn of(module: &Module, function: Op) -> Self {
        let blocks = module.regions(function).iter();
        let ops = blocks.flat_map(|block| module.walk(*block));
        let inserts = ops.filter_map(|op| Some((op, insertion(module, op)?))).collect();
        Self { inserts }
    }

    pub fn after(&self, op: Op) -> Option<Op> {
        self.inserts.get(&op).copied()
    }
}

fn insertion(module: &Module, op: Op) -> Option<Op> {
    let computes = matches!(
        module.kind(op),
        OpKind::NdarrayEwBin
            | OpKind::NdarrayEwUny
            | OpKind::NdarrayWhere
            | OpKind::NdarrayCastElemtype
    );
    let [result] = module.results(op) else { return None };
    let inserts = |one: &&Use| module.kind(one.op) == OpKind::NdarrayInsertSlice;
    let (filled, read): (Vec<&Use>, Vec<&Use>) =
        module.uses(*result).iter().partition(|one| inserts(one) && one.operand == 0);
    let [one] = read[..] else { return None };
    let is_inserted = inserts(&one) && one.operand == 1;
    let computes = match is_blank(module, op) {
        true => filled.iter().all(|one| module.block_of(one.op) == module.block_of(op)),
        false => computes && filled.is_empty(),
    };
    let is_near = module.block_of(one.op) == module.block_of(op);
    let is_local = module.ty(*result).dist().is_none();
    (computes && is_inserted && is_near && is_local).then_some(one.op)
}

/// Whether an operation makes an array without content.
fn is_blank(module: &Module, op: Op) -> bool {
    module.kind(op) == OpKind::NdarrayCreate && module.operands_named(op, "value").is_empty()
}

impl Runner<'_> {
    /// A result, written where it will be inserted if that saves a copy.
    pub(super) fn placed(&mut self, op: Op, value: Value, frame: &mut Frame) -> Outcome<Value> {
        let Value::Array(array) = &value else { return Ok(value) };
        let Some(place) = self.place_of(op, array, frame) else { return Ok(value) };
        if !is_blank(self.module, op) {
            place.write(array)?;
        }
        Ok(Value::Array(place))
    }

    fn place_of(&mut self, op: Op, array: &Array, frame: &mut Frame) -> Option<Array> {
        let insert = frame.facts.destinations.after(op)?;
        let Value::Array(whole) = frame.find(self.module.operands(insert)[0])?.clone() else {
            return None;
        };
        // Without movements under way nothing is computed early: all becomes one loop.
        if self.mover.is_idle() && !self.engine.is_being_replaced(&whole) {
            return None;
        }
        let shape: Vec<u64> = whole.shape().iter().map(|n| *n as u64).collect();
        for name in &self.module.operands(insert)[2..] {
            self.foresee(*name, frame)?;
        }
        let slicing = self.slicing(insert, (&shape, Reading::Window), frame).ok()?;
        let target = inserted(&whole, &slicing)?;
        let fits = target.shape() == array.shape() && target.dtype() == array.dtype();
        if fits { self.engine.place_for(&target) } else { None }
    }
}

impl Runner<'_> {
    /// Computes a number before its turn, if it follows from what is known already.
    fn foresee(&mut self, name: Name, frame: &mut Frame) -> Option<()> {
        let mut open = vec![name];
        while let Some(&name) = open.last() {
            if frame.find(name).is_some() {
                open.pop();
                continue;
            }
            let op = self.module.defining_op(name).filter(|op| foreseeable(self.module, *op))?;
            let operands = self.module.operands(op).iter();
            let missing: Vec<Name> =
                operands.copied().filter(|name| frame.find(*name).is_none()).collect();
            match missing.is_empty() {
                true => self.number_op(op, self.module.kind(op), frame).ok()?,
                false => open.extend(missing),
            }
        }
        Some(())
    }
}

/// Whether an operation is plain arithmetic.
fn foreseeable(module: &Module, op: Op) -> bool {
    let is_number = |name: &Name| module.ty(*name).as_scalar().is_some();
    module.kind(op).dialect() == "arith" && module.results(op).iter().all(is_number)
}

/// What an insertion writes; none if nothing.
fn inserted(whole: &Array, slicing: &Slicing) -> Option<Array> {
    let offsets: Vec<i64> = slicing.0.iter().map(|slice| slice.offset as i64).collect();
    let sizes: Vec<i64> = slicing.0.iter().map(|slice| slice.size as i64).collect();
    let strides: Vec<i64> = slicing.0.iter().map(|slice| slice.stride).collect();
    whole.slice(&offsets, &sizes, &strides).ok().filter(|target| target.n_elements() > 0)
}
